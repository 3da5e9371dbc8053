"""Ranking objectives: rules of λ and curvature, their combinations, and schedules.

Each file holds one public objective; packages hold `combiners` of several, and what several
share: `base` classes and checks, pair `kernels`,
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
from lambdaboost.objectives.combiners.chebyshev import Chebyshev
from lambdaboost.objectives.combiners.exact_pareto import ExactPareto
from lambdaboost.objectives.combiners.from_sources import FromSources, draw_preferences
from lambdaboost.objectives.combiners.min_norm import MinNorm
from lambdaboost.objectives.combiners.scaled import Scaled
from lambdaboost.objectives.combiners.shrunk import Shrunk
from lambdaboost.objectives.combiners.stochastic_labels import StochasticLabels
from lambdaboost.objectives.combo import Combo
from lambdaboost.objectives.constrained import Constrained
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
    "Chebyshev",
    "ClickTier",
    "Combo",
    "Constant",
    "Constrained",
    "ExactPareto",
    "Exponential",
    "FiniteDifference",
    "FromSources",
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
    "MinNorm",
    "NormalizedPairs",
    "Objective",
    "OrdinalMcRank",
    "PairwiseHinge",
    "PositionGAM",
    "RankNet",
    "Scaled",
    "Scorecard",
    "Shrunk",
    "SigmoidLocal",
    "StochasticLabels",
    "StructuredHinge",
    "UnbiasedLambdaRank",
    "draw_preferences",
    "graded",
    "iteration_dependent",
    "parse",
]
