"""Ranking objectives for stock LightGBM and XGBoost: the λ-gradients of the papers, drop-in and fast."""

from lambdaboost.datasets import Queries

__version__ = "0.1.0"
__all__ = ["Queries", "__version__"]
