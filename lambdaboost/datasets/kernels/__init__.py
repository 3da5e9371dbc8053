"""Compiled parsing of text."""
