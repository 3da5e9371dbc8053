"""Ranking objectives: rules of λ and curvature, their combinations, and schedules.

Each file holds one public objective. `objective` is their base class, `pair_objective` that of sums over pairs, and
`bound` what a training calls in every round. `schedules` and `recipes` hold what objectives are made of, and `parsing`
reads them from text. Two packages hold what several share: `kernels`, the sums over pairs, and `swaps` of measures.
"""

# ruff: isort: skip_file

if __name__ != "lambdaboost.objectives":
    raise ImportError(
        "import lambdaboost.objectives, not the folder 'objectives': numba would cache its kernels twice"
    )

from lambdaboost.objectives.approx_ndcg import ApproxNDCG as ApproxNDCG
from lambdaboost.objectives.objective import OBJECTIVES as OBJECTIVES, Needs as Needs, Objective as Objective
from lambdaboost.objectives.blend import Blend as Blend
from lambdaboost.objectives.click_tier import ClickTier as ClickTier
from lambdaboost.objectives.gradient_step import GradientStep as GradientStep
from lambdaboost.objectives.inverse_propensity import InversePropensity as InversePropensity
from lambdaboost.objectives.lambdaloss import LambdaLoss as LambdaLoss
from lambdaboost.objectives.lambdarank import LambdaRank as LambdaRank
from lambdaboost.objectives.listmle import ListMLE as ListMLE
from lambdaboost.objectives.listnet import ListNet as ListNet
from lambdaboost.objectives.ranknet import RankNet as RankNet
from lambdaboost.objectives.parsing import parse as parse
from lambdaboost.objectives.recipes import (
    RECIPES,
    graded as graded,
    iteration_dependent as iteration_dependent,
)
from lambdaboost.objectives.schedules import (
    SCHEDULES,
    Constant as Constant,
    Exponential as Exponential,
    Linear as Linear,
)
from lambdaboost.objectives.scorecard import Scorecard as Scorecard
from lambdaboost.objectives.sigmoid_local import SigmoidLocal as SigmoidLocal
from lambdaboost.objectives.xendcg import XENDCG as XENDCG
from lambdaboost.objectives.yetiloss import YetiLoss as YetiLoss

OTHERS = ("Needs", "OBJECTIVES", "Objective", "parse")
# No plain assignment: type checkers, which cannot compute it, would take it for an empty list.
globals()["__all__"] = sorted({*OBJECTIVES, *SCHEDULES, *RECIPES, *OTHERS})
