"""Click logs, position bias and click models.

This layer imports `lambdaboost.datasets` only; objectives and measures import it.
"""

from lambdaboost.clicks.cascade_model import CascadeModel
from lambdaboost.clicks.click_log import ClickLog, Sessions
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.dynamic_bayesian import DynamicBayesian
from lambdaboost.clicks.intervention_harvesting import intervention_harvesting
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.clicks.regression_em import regression_em
from lambdaboost.clicks.simulation import (
    Cascade,
    PositionBased,
    SwapExperiment,
    TrustBias,
    simulate,
    simulate_swaps,
)
from lambdaboost.clicks.swap_experiment import swap_experiment

__all__ = [
    "Cascade",
    "CascadeModel",
    "ClickLog",
    "Counts",
    "DynamicBayesian",
    "PositionBased",
    "Propensities",
    "Sessions",
    "SwapExperiment",
    "TrustBias",
    "intervention_harvesting",
    "regression_em",
    "simulate",
    "simulate_swaps",
    "swap_experiment",
]
