"""The HTML report: page, pictures, tables and texts."""
