"""`NonInferiority`: trade-offs between two measures, and how far along them the first measure is proven to be kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import counted
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.measure import mean_of
from lambdaboost.evaluation.significance import LEVEL, interval, one_sided_p, paired, weighted_mean

# The weights of the second goal: close together where the loss of the first measure is small, and no more than half.
WEIGHTS = (0.0, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Step:
    """A trade-off against the first goal alone: what the first measure loses, and the second gains.

    `loss_upper` is the upper end of the one-sided 95% interval of the loss, `p` the one-sided p-value of the hypothesis
    that the first measure loses the tolerance or more.
    """

    weight: float
    loss: float
    gain: float
    loss_upper: float
    p: float

    @property
    def is_proven(self) -> bool:
        """Whether the loss is significantly smaller than the tolerance."""
        return self.p < LEVEL


@dataclass(frozen=True, eq=False)
class NonInferiority:
    r"""Trade-offs from the first goal alone upwards, tested in this order until the first that is not proven.

    With the first measure :math:`a_q` of a held-out query by the first goal alone and :math:`b_q` by a trade-off, a
    paired one-sided t-test of non-inferiority has the hypothesis

    .. math:: H_0:\ \operatorname{mean}(a_q - b_q) \ge \text{keep}

    at the level of 5%. As the order is fixed and the tests end with the first that does not reject, the probability of
    any false proof is at most 5% without a correction (Maurer, Hothorn and Lehmacher 1995). The setting of the first
    goal was chosen on the same queries, so that its values are rather too high, and the tests cautious.

    `weights` rise from 0; `values`, float64 (k, 2, n), are both measures of each of k trade-offs by held-out query, NaN
    where a measure is undefined; `query_weight` is float64 (n,).

    Examples
    --------
    >>> from lambdaboost.evaluation import CNDCG, NDCG
    >>> noise = np.random.default_rng(0).normal(0, 0.02, (3, 400))
    >>> values = np.array([[0.8, 0.5], [0.799, 0.55], [0.79, 0.6]])[:, :, None] + noise[:, None]
    >>> proof = NonInferiority((NDCG(10), CNDCG(10)), 0.005, (0.0, 0.1, 0.3), values, np.ones(400))
    >>> proof.chosen, proof.steps[1].is_proven
    (1, False)

    """

    measures: tuple[Measure, ...]
    keep: float
    weights: tuple[float, ...]
    values: Floats
    query_weight: Floats

    @cached_property
    def means(self) -> tuple[tuple[float, ...], ...]:
        """Both means of each trade-off."""
        return tuple(tuple(mean_of(row, self.query_weight) for row in rows) for rows in self.values)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The tested trade-offs: those that are proven, and the first that is not."""
        found: list[Step] = []
        for at in range(1, len(self.weights)):
            found.append(self._step(at))
            if not found[-1].is_proven:
                break
        return tuple(found)

    @cached_property
    def chosen(self) -> int:
        """The number of the trade-off with the highest second measure, of the first goal alone and the proven ones."""
        proven = 1 + sum(step.is_proven for step in self.steps)
        return max(range(proven), key=lambda at: self.means[at][1])

    @property
    def verdict(self) -> str:
        """What is proven, in one or two sentences."""
        first, second = map(repr, self.measures)
        step = self.steps[max(self.chosen - 1, 0)]
        queries = counted(self._paired(1, 0)[0].size, "held-out query", "held-out queries")
        change = f"by an amount that cannot be estimated from {queries}"
        if np.isfinite(step.loss_upper):
            ends = f"at worst by {-step.loss_upper:+.4f} (one-sided 95% interval, {queries})"
            change = f"by {-step.loss:+.4f}, {ends}"
        if self.chosen:
            return (
                f"{second} rises by {step.gain:.4f} with a weight of {step.weight:g}, and {first} is proven to lose "
                f"less than {self.keep:g}: it changes {change}."
            )
        proven = f"is proven to keep {first} within {self.keep:g}"
        failed = f"that {proven} raises {second}" if step.is_proven else proven
        return (
            f"No trade-off {failed}: the model is that of the first goal alone. "
            f"With a weight of {step.weight:g} {first} changes {change}."
        )

    def _step(self, at: int) -> Step:
        x, weight = self._paired(at, 0)
        if not x.size:
            return Step(self.weights[at], np.nan, np.nan, np.nan, 1.0)
        loss, upper = weighted_mean(-x, weight).mean, -interval(x, weight, 2 * LEVEL)[0]
        gains, of = self._paired(at, 1)
        gain = weighted_mean(gains, of).mean if gains.size else float("nan")
        return Step(self.weights[at], loss, gain, upper, one_sided_p(x + self.keep, weight))

    def _paired(self, at: int, measure: int) -> tuple[Floats, Floats]:
        """The difference of a measure from the first goal alone on each query with both values, and the weights."""
        return paired(self.values[at, measure], self.values[0, measure], self.query_weight)
