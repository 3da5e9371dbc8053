"""Comparison of systems on the same queries: differences, significance, tables."""
