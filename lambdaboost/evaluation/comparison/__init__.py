"""Systems compared query by query: differences, their significance, tables."""
