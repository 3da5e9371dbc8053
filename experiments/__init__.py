"""The papers' experiments over lambdaboost's public API, one folder a paper: `python -m experiments.svore2011 --help`."""
