"""Floor 3: λ and curvature rules, their combination, schedules, and the pair kernels.

Imports `lambdaboost.evaluation` and `lambdaboost.datasets`.
"""

if __name__ != "lambdaboost.objectives":
    raise ImportError(
        "import lambdaboost.objectives, not the folder 'objectives': numba would cache its kernels twice"
    )

from lambdaboost.objectives.blend import Blend
from lambdaboost.objectives.click_tier import ClickTier
from lambdaboost.objectives.gradient_step import GradientStep
from lambdaboost.objectives.lambdarank import LambdaRank
from lambdaboost.objectives.objective import Objective
from lambdaboost.objectives.parse import OBJECTIVES, parse
from lambdaboost.objectives.ranknet import RankNet
from lambdaboost.objectives.recipes import graded, iteration_dependent
from lambdaboost.objectives.schedules import Constant, Exponential, Linear
from lambdaboost.objectives.scorecard import Scorecard
from lambdaboost.objectives.sigmoid_local import SigmoidLocal

__all__ = [
    "OBJECTIVES",
    "Blend",
    "ClickTier",
    "Constant",
    "Exponential",
    "GradientStep",
    "LambdaRank",
    "Linear",
    "Objective",
    "RankNet",
    "Scorecard",
    "SigmoidLocal",
    "graded",
    "iteration_dependent",
    "parse",
]
