"""Objectives read back from their text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lambdaboost.evaluation import MEASURES, read_value
from lambdaboost.objectives import recipes
from lambdaboost.objectives.approx_ndcg import ApproxNDCG
from lambdaboost.objectives.blend import Blend
from lambdaboost.objectives.click_tier import ClickTier
from lambdaboost.objectives.combo import Combo
from lambdaboost.objectives.finite_difference import FiniteDifference
from lambdaboost.objectives.gradient_step import GradientStep
from lambdaboost.objectives.gumbel_ranks import GumbelRanks
from lambdaboost.objectives.lambdaloss import LambdaLoss
from lambdaboost.objectives.lambdarank import LambdaRank
from lambdaboost.objectives.listmle import ListMLE
from lambdaboost.objectives.listnet import ListNet
from lambdaboost.objectives.mcrank import GradeModel, McRank, OrdinalMcRank
from lambdaboost.objectives.normalized_pairs import NormalizedPairs
from lambdaboost.objectives.objective import Objective
from lambdaboost.objectives.pairwise_hinge import PairwiseHinge
from lambdaboost.objectives.ranknet import RankNet
from lambdaboost.objectives.schedules import Constant, Exponential, Linear
from lambdaboost.objectives.scorecard import Scorecard
from lambdaboost.objectives.sigmoid_local import SigmoidLocal
from lambdaboost.objectives.spsa import SPSA
from lambdaboost.objectives.structured_hinge import StructuredHinge

OBJECTIVES: dict[str, type[Objective]] = {
    cls.__name__: cls
    for cls in (
        SPSA,
        ApproxNDCG,
        Blend,
        ClickTier,
        Combo,
        FiniteDifference,
        GradientStep,
        GumbelRanks,
        LambdaLoss,
        LambdaRank,
        ListMLE,
        ListNet,
        NormalizedPairs,
        PairwiseHinge,
        RankNet,
        Scorecard,
        SigmoidLocal,
        StructuredHinge,
    )
}
GRADE_MODELS = {cls.__name__: cls for cls in (McRank, OrdinalMcRank)}
SCHEDULES = {cls.__name__: cls for cls in (Constant, Exponential, Linear)}
RECIPES: dict[str, Callable[..., Objective]] = {
    "graded": recipes.graded,
    "iteration_dependent": recipes.iteration_dependent,
}


def parse(text: str) -> Any:
    """The objective or grade model that a text names: its `repr`, a bare name for its defaults, or a recipe.

    Nothing is evaluated but the known names, numbers, strings and tuples.

    Raises
    ------
    ValueError
        Where the text does not read, with what would.

    Examples
    --------
    >>> parse("LambdaRank")
    LambdaRank()
    >>> parse("Blend(LambdaRank(), SigmoidLocal(NDCG(k=3)), Linear(0.1, 0.001))")
    Blend(first=LambdaRank(), second=SigmoidLocal(metric=NDCG(k=3)), weight=Linear(start=0.1, rate=0.001))

    """
    value = read_value(text, {**OBJECTIVES, **GRADE_MODELS, **RECIPES, **SCHEDULES, **MEASURES})
    if not isinstance(value, Objective | GradeModel):
        known = ", ".join((*OBJECTIVES, *GRADE_MODELS, *RECIPES))
        raise ValueError(f"{text!r} is {value!r}, not an objective: give one of {known}")
    return value
