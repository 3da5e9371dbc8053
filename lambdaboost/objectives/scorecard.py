"""Scorecard: the weighted sum of any number of objectives."""

from __future__ import annotations

from math import inf

import numpy as np

from lambdaboost._checks import check_tuple
from lambdaboost.datasets import Queries
from lambdaboost.objectives.base.objective import Floats, LambdaMu, Objective, check_part
from lambdaboost.objectives.base.wrapper import Composite
from lambdaboost.objectives.combiners.combiner import Combiner
from lambdaboost.objectives.combiners.gradients import Gradients
from lambdaboost.objectives.kernels.no_pair import NoPair
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.schedules import Schedule, check_weight, constant_weight, weight_at


class WeightedSum(Composite, registered=False):
    """A sum of `parts` with weights of the round: those of a `combiner`, or `weights_at`."""

    @property
    def combiner(self) -> Combiner | None:
        """What weighs the parts, if it is no numbers or schedules."""
        raise NotImplementedError

    def weights_at(self, iteration: int) -> tuple[float, ...]:
        """The weight of each part at a round, ≥ 0; without a combiner."""
        raise NotImplementedError

    def constant_weights(self) -> tuple[float | None, ...]:
        """The weight of each part; None where it is not the same in all rounds."""
        raise NotImplementedError

    def check_combiner(self) -> None:
        """Raise where there is a combiner that does not fit the parts."""
        if self.combiner is not None:
            self.combiner.check_parts(len(self.parts))
            if self.combiner.reads_costs:
                for part in self.parts:
                    _ = part.measure

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Whether any part does, or costs are read."""
        return (self.combiner is not None and self.combiner.reads_costs) or super().ranks_ties_by_row

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        own = () if self.combiner is None else self.combiner.sources
        return tuple(dict.fromkeys((*super().sources, *own)))

    def without_pair(self, q: Queries) -> tuple[NoPair, ...]:
        """Those of its parts that have no pair, but for parts that a constant weight of 0 leaves out anyway."""
        parts = zip(self.parts, self.constant_weights(), strict=True)
        return tuple(dict.fromkeys(found for part, w in parts if w != 0 for found in part.without_pair(q)))

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document at a round."""
        if self.combiner is not None:
            found = Gradients(self.parts, scores, q, iteration)
            return found.combined(self.combiner.weigh(found))
        live = [(w, part) for w, part in zip(self.weights_at(iteration), self.parts, strict=True) if w > 0]
        if not live:
            return np.zeros(q.n_documents), np.zeros(q.n_documents)
        weights, parts = zip(*live, strict=True)
        together = _one_rule(weights, parts)
        if together is not None:
            return together.lambdas(scores, q)
        return Gradients(parts, scores, q, iteration).summed(weights, weights)


def _one_rule(weights: tuple[float, ...], parts: tuple[Objective, ...]) -> PairRule | None:
    """The rule of both parts in one pass over the pairs, where only their forces differ."""
    one, two = (parts[0].rule, parts[-1].rule) if len(parts) == 2 else (None, None)
    if one is None or two is None or abs(sum(weights) - 1) > 1e-12:
        return None
    return one.blended(two, weights[1])


class Scorecard(WeightedSum):
    r"""A weighted sum of objectives, each over its own label source: the 2011 paper's scorecard (§1, §7).

    :math:`\lambda = \sum_k w_k \lambda_k` and μ in the same way.

    Parameters
    ----------
    objectives : tuple of Objective
    weights : tuple of floats ≥ 0 or schedules, one for each objective; or a combiner
        A combiner, such as `Scaled`, `MinNorm` or `ExactPareto`, scales λ to one norm, and can depend on their costs.

    Examples
    --------
    >>> from lambdaboost import ClickTier, CNDCG, LambdaRank, Scorecard
    >>> tiers = (LambdaRank(), ClickTier(), ClickTier(source="fresh", within=("relevance", "clicks")))
    >>> Scorecard(tiers, (0.8, 0.15, 0.05)).sources
    ('relevance', 'clicks', 'fresh')

    """

    objectives: tuple[Objective, ...]
    weights: tuple[float | Schedule, ...] | Combiner

    def __post_init__(self) -> None:
        object.__setattr__(self, "objectives", check_tuple("objectives", self.objectives, "(LambdaRank(),)"))
        if not self.objectives:
            raise ValueError("objectives is empty: give at least one")
        for at, objective in enumerate(self.objectives):
            check_part(f"objectives[{at}]", objective)
        if self.combiner is not None:
            self.check_combiner()
            return
        weights = check_tuple("weights", self.weights, "(1.0,), or a combiner such as Scaled((0.8, 0.2))")
        object.__setattr__(self, "weights", weights)
        if len(self.objectives) != len(weights):
            raise ValueError(
                f"{len(self.objectives)} objectives but {len(weights)} weights: give one weight each"
            )
        for at, weight in enumerate(weights):
            check_weight(f"weights[{at}]", weight)

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives."""
        return self.objectives

    @property
    def combiner(self) -> Combiner | None:
        """The weights, if they are a combiner."""
        return self.weights if isinstance(self.weights, Combiner) else None

    def constant_weights(self) -> tuple[float | None, ...]:
        """The weight of each part; None where it is not the same in all rounds."""
        if isinstance(self.weights, Combiner):
            return (None,) * len(self.parts)
        return tuple(map(constant_weight, self.weights))

    def weights_at(self, iteration: int) -> tuple[float, ...]:
        """The weights of a round."""
        assert isinstance(self.weights, tuple)
        return tuple(weight_at(weight, iteration, high=inf) for weight in self.weights)
