"""Click logs and position bias.

This layer imports `lambdaboost.datasets` only; objectives and measures import it.
"""

from lambdaboost.clicks.click_log import ClickLog, Counts, Sessions
from lambdaboost.clicks.harvesting import intervention_harvesting
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.clicks.regression_em import regression_em
from lambdaboost.clicks.simulation import PositionBased, simulate

__all__ = [
    "ClickLog",
    "Counts",
    "PositionBased",
    "Propensities",
    "Sessions",
    "intervention_harvesting",
    "regression_em",
    "simulate",
]
