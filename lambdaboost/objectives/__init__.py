"""Ranking objectives: rules of λ and curvature, their combinations, and schedules.

Each file holds one public objective; packages hold what several share: `base` classes and checks, pair `kernels`,
`swaps` of measures, `inference` of the structured hinges, the engines' `native` objectives, calls by `stock` engines.
"""

if __name__ != "lambdaboost.objectives":
    raise ImportError(
        "import lambdaboost.objectives, not the folder 'objectives': numba would cache its kernels twice"
    )

from lambdaboost.objectives.approx_ndcg import ApproxNDCG
from lambdaboost.objectives.base.hinge import Hinge
from lambdaboost.objectives.base.objective import Objective
from lambdaboost.objectives.base.registry import OBJECTIVES, parse
from lambdaboost.objectives.blend import Blend
from lambdaboost.objectives.click_tier import ClickTier
from lambdaboost.objectives.combo import Combo
from lambdaboost.objectives.finite_difference import FiniteDifference
from lambdaboost.objectives.gradient_step import GradientStep
from lambdaboost.objectives.gumbel_ranks import GumbelRanks
from lambdaboost.objectives.inverse_propensity import InversePropensity
from lambdaboost.objectives.lambdaloss import LambdaLoss
from lambdaboost.objectives.lambdarank import LambdaRank
from lambdaboost.objectives.listmle import ListMLE
from lambdaboost.objectives.listnet import ListNet
from lambdaboost.objectives.mcrank import McRank, OrdinalMcRank
from lambdaboost.objectives.normalized_pairs import NormalizedPairs
from lambdaboost.objectives.pairwise_hinge import PairwiseHinge
from lambdaboost.objectives.position_gam import PositionGAM
from lambdaboost.objectives.ranknet import RankNet
from lambdaboost.objectives.recipes import graded, iteration_dependent
from lambdaboost.objectives.schedules import Constant, Exponential, Linear
from lambdaboost.objectives.scorecard import Scorecard
from lambdaboost.objectives.sigmoid_local import SigmoidLocal
from lambdaboost.objectives.spsa import SPSA
from lambdaboost.objectives.structured_hinge import StructuredHinge
from lambdaboost.objectives.unbiased_lambdarank import UnbiasedLambdaRank
from lambdaboost.objectives.xendcg import XENDCG

__all__ = [
    "OBJECTIVES",
    "SPSA",
    "XENDCG",
    "ApproxNDCG",
    "Blend",
    "ClickTier",
    "Combo",
    "Constant",
    "Exponential",
    "FiniteDifference",
    "GradientStep",
    "GumbelRanks",
    "Hinge",
    "InversePropensity",
    "LambdaLoss",
    "LambdaRank",
    "Linear",
    "ListMLE",
    "ListNet",
    "McRank",
    "NormalizedPairs",
    "Objective",
    "OrdinalMcRank",
    "PairwiseHinge",
    "PositionGAM",
    "RankNet",
    "Scorecard",
    "SigmoidLocal",
    "StructuredHinge",
    "UnbiasedLambdaRank",
    "graded",
    "iteration_dependent",
    "parse",
]
