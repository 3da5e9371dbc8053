"""The two systems of the 2011 paper."""

from __future__ import annotations

from collections.abc import Callable

from lambdaboost.clicks import Propensities
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives.blend import Blend
from lambdaboost.objectives.click_tier import ClickTier, Zeros
from lambdaboost.objectives.gradient_step import GradientStep
from lambdaboost.objectives.inverse_propensity import InversePropensity
from lambdaboost.objectives.lambdarank import LambdaRank
from lambdaboost.objectives.objective import Objective
from lambdaboost.objectives.pair_objective import PairObjective
from lambdaboost.objectives.schedules import Linear, Schedule
from lambdaboost.objectives.sigmoid_local import SigmoidLocal


def graded(
    weight: float | Schedule = 0.1,
    source: str = "clicks",
    metric: NDCG = NDCG(),
    propensities: Propensities | None = None,
    zeros: Zeros = "label",
) -> Blend:
    """The graded measure of relevance and clicks (2011 paper, eq. 10 and Table 1): NDCG first, clicks break its ties.

    `source` is the label source that breaks ties, with values in [0, 1], and `metric` the NDCG of the grades. With
    `propensities`, clicks are weighted by the inverse propensity of their position. `zeros` says what no click is, as
    in `ClickTier`; the paper's rule (§4.2) is ``zeros="missing"``. In a query without grades, clicks alone order the
    documents.

    >>> graded()
    Blend(first=LambdaRank(), second=ClickTier(), weight=0.1)
    >>> graded(0.2, source="sales", metric=NDCG(k=10)).second
    ClickTier(metric=CNDCG(source='sales'), source='sales')
    >>> from lambdaboost.clicks import Propensities
    >>> graded(propensities=Propensities((1.0, 0.5))).second
    InversePropensity(objective=ClickTier(), propensities=Propensities(values=(1.0, 0.5)))
    """
    tier: PairObjective = ClickTier(source=source, zeros=zeros)
    if propensities is not None:
        tier = InversePropensity(tier, propensities)
    return Blend(LambdaRank(metric), tier, weight)


def iteration_dependent(
    schedule: float | Schedule = Linear(0.1, 0.001), metric: NDCG = NDCG()
) -> GradientStep:
    """The iteration-dependent objective λ^L + λ^S of the 2011 paper (eq. 12 and Table 2), with gradient steps.

    `schedule` is the weight of λ^S by round, and `metric` its measure: ``iteration_dependent(metric=NDCG(3))`` is the
    paper's λ^L + λ^{S@3}. λ^L is that of NDCG of the whole list.

    >>> iteration_dependent()
    GradientStep(objective=Blend(first=LambdaRank(), second=SigmoidLocal(), weight=Linear(start=0.1, rate=0.001)))
    """
    return GradientStep(Blend(LambdaRank(), SigmoidLocal(metric), schedule))


RECIPES: dict[str, Callable[..., Objective]] = {
    recipe.__name__: recipe for recipe in (graded, iteration_dependent)
}
