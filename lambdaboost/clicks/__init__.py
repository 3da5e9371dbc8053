"""Click logs, position bias and click models.

This layer imports `lambdaboost.datasets` only; objectives and measures import it.
"""

from lambdaboost.clicks.affine_bias import AffineBias
from lambdaboost.clicks.cascade_model import CascadeModel
from lambdaboost.clicks.click_log import ClickLog, Sessions
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.dynamic_bayesian import DynamicBayesian
from lambdaboost.clicks.expectation_maximization import regression_em
from lambdaboost.clicks.harvesting import intervention_harvesting
from lambdaboost.clicks.propensities import PowerFit, Propensities
from lambdaboost.clicks.simulation import SwapExperiment, simulate, simulate_swaps
from lambdaboost.clicks.swaps import swap_experiment
from lambdaboost.clicks.trust_bias import trust_harvesting
from lambdaboost.datasets.click_models import Cascade, PositionBased, TrustBias

__all__ = [
    "AffineBias",
    "Cascade",
    "CascadeModel",
    "ClickLog",
    "Counts",
    "DynamicBayesian",
    "PositionBased",
    "PowerFit",
    "Propensities",
    "Sessions",
    "SwapExperiment",
    "TrustBias",
    "intervention_harvesting",
    "regression_em",
    "simulate",
    "simulate_swaps",
    "swap_experiment",
    "trust_harvesting",
]
