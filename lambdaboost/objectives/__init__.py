"""Ranking objectives: rules of λ and curvature, their combinations, and schedules.

Each file holds one public objective. `objective` is their base class, `pair_objective` that of sums over pairs, and
`bound` what a training calls in every round. `schedules` and `recipes` hold what objectives are made of, and `parsing`
reads them from text. Two packages hold what several share: `kernels`, the sums over pairs, and `swaps` of measures.
"""

if __name__ != "lambdaboost.objectives":
    raise ImportError(
        "import lambdaboost.objectives, not the folder 'objectives': numba would cache its kernels twice"
    )

from lambdaboost.objectives.approx_ndcg import ApproxNDCG
from lambdaboost.objectives.blend import Blend
from lambdaboost.objectives.click_tier import ClickTier
from lambdaboost.objectives.gradient_step import GradientStep
from lambdaboost.objectives.inverse_propensity import InversePropensity
from lambdaboost.objectives.lambdaloss import LambdaLoss
from lambdaboost.objectives.lambdarank import LambdaRank
from lambdaboost.objectives.listmle import ListMLE
from lambdaboost.objectives.listnet import ListNet
from lambdaboost.objectives.objective import OBJECTIVES, Needs, Objective
from lambdaboost.objectives.parsing import parse
from lambdaboost.objectives.ranknet import RankNet
from lambdaboost.objectives.recipes import graded, iteration_dependent
from lambdaboost.objectives.schedules import Constant, Exponential, Linear
from lambdaboost.objectives.scorecard import Scorecard
from lambdaboost.objectives.sigmoid_local import SigmoidLocal
from lambdaboost.objectives.xendcg import XENDCG
from lambdaboost.objectives.yetiloss import YetiLoss

__all__ = [
    "OBJECTIVES",
    "XENDCG",
    "ApproxNDCG",
    "Blend",
    "ClickTier",
    "Constant",
    "Exponential",
    "GradientStep",
    "InversePropensity",
    "LambdaLoss",
    "LambdaRank",
    "Linear",
    "ListMLE",
    "ListNet",
    "Needs",
    "Objective",
    "RankNet",
    "Scorecard",
    "SigmoidLocal",
    "YetiLoss",
    "graded",
    "iteration_dependent",
    "parse",
]
