"""Synthetic ranking data: the same seed gives bit-identical data."""

from lambdaboost.datasets.synthetic.cubic import cubic_polynomial
from lambdaboost.datasets.synthetic.web_search import web_search_log

__all__ = ["cubic_polynomial", "web_search_log"]
