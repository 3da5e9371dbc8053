"""Copies of the engines' own ranking objectives, operation for operation."""
