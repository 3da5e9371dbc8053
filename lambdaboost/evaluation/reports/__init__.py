"""The HTML report: the page, its pictures and its tables."""
