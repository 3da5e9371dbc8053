"""Click logs, position bias and click models.

It stands on `lambdaboost.datasets` alone; objectives and measures stand on it.
"""

from lambdaboost.clicks.click_log import ClickLog, Sessions
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.clicks.simulation import (
    Cascade,
    PositionBased,
    SwapExperiment,
    TrustBias,
    simulate,
    simulate_swaps,
)

__all__ = [
    "Cascade",
    "ClickLog",
    "Counts",
    "PositionBased",
    "Propensities",
    "Sessions",
    "SwapExperiment",
    "TrustBias",
    "simulate",
    "simulate_swaps",
]
