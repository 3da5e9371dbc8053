"""Speed and memory on your machine, beside the engines' own objectives: `python -m benchmarks --help`."""
