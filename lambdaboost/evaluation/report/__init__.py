"""The HTML report: its page, its pictures, and what its sections say."""
