"""The papers' experiments with the public API, one folder per paper: `python -m experiments.svore2011 --help`."""
