"""Rankers trained on simulated clicks with position bias, and tested on the hidden grades."""
