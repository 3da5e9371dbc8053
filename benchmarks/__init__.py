"""Benchmarks of speed and memory against the engines' own objectives: `python -m benchmarks --help`."""
