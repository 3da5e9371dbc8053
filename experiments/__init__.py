"""The papers' experiments over the public API, one folder a paper: `python -m experiments.svore2011 --help`."""
