"""The parts of a report: its page, its pictures, and what its sections say."""
