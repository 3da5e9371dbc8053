"""Click logs, position bias and click models.

It stands on `lambdaboost.datasets` alone; objectives and measures stand on it.
"""

from lambdaboost.clicks.propensities import Propensities

__all__ = ["Propensities"]
