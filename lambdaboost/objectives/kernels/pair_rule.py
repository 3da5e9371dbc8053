"""`PairRule`: which pairs count, their weights and their force; `prepared` sums λ and μ over them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure, PairAccuracy
from lambdaboost.evaluation.levels import Levels, levels_of
from lambdaboost.objectives.kernels.sigmoid import Force, Local, Logistic
from lambdaboost.objectives.swaps import gains_and_swap
from lambdaboost.objectives.swaps.swap import Swap, Unit


def no_factors(q: Queries) -> NDArray[np.float32]:
    """An empty array, in place of factors that are all 1: for these kernels would take 1 to 10 % longer."""
    return np.empty(0, np.float32)


@dataclass(frozen=True)
class PairRule:
    """λ and μ summed over pairs of documents that differ in `source` and tie in every source of `within`."""

    source: str
    metric: Measure | None = None  # its |ΔZ| weights a pair; None: every weight is 1
    within: tuple[str, ...] = ()
    skip_zero: bool = False  # leave out documents labelled 0 in `source`
    sigma: float = 1.0
    center: float = 0.0  # c of ρ = 1/(1 + e^{σ(s_i − s_j) + c}), at most 50; a margin m of the scores is −σm
    local: bool = False  # the force of SigmoidLocal, ρ(1 − ρ), in place of ρ
    # A function of queries that gives a factor of each document, by which the weight of a pair is multiplied where the
    # document is the better: float32 (n_documents,), or an empty array.
    factors: Callable[[Queries], NDArray[np.float32]] = no_factors
    # The weight of a pair is the mean over rankings by scores with noise of this scale (`noise`); 0: without noise.
    beta: float = 0.0
    draws: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        # A level has the gain of any of its documents, so all must have the same.
        if self.metric is not None and self.metric.source != self.source:
            raise ValueError(
                f"metric {self.metric!r} reads {self.metric.source!r}, but pairs differ in {self.source!r}: give a "
                "measure of that source"
            )
        # Its swaps count the pairs of all labels of the source.
        if isinstance(self.metric, PairAccuracy) and (self.within or self.skip_zero):
            raise ValueError(
                f"metric {self.metric!r} counts all pairs of {self.source!r}, and this rule leaves some out: give "
                "another measure, or None"
            )

    @property
    def force(self) -> Force:
        """λ and μ of a pair as functions of its score difference."""
        force = Local if self.local else Logistic
        return force(float(self.sigma), float(self.center), np.float32(math.exp(self.center)))

    def levels(self, q: Queries) -> Levels:
        """Which documents pair with which."""
        return levels_of(q, self.source, self.within, self.skip_zero)

    def read(self, q: Queries) -> tuple[Levels, NDArray[np.float64], Swap]:
        """What is known of the pairs of some queries before any score; cached in `q`.

        Their levels, the gain of each level less that of the worst one that it pairs with, and the swap.
        """

        def build() -> tuple[Levels, NDArray[np.float64], Swap]:
            levels = self.levels(q)
            if self.metric is None:
                return levels, np.zeros(levels.size.size), Unit(q.n_documents)
            gains, make = gains_and_swap(self.metric)
            return levels, level_gains(partial(gains, self.metric), q, levels), make(self.metric, q)

        key = ("pairs", self.source, self.within, self.skip_zero, self.metric)
        pairs: tuple[Levels, NDArray[np.float64], Swap] = q.memo(key, build)
        return pairs

    def has_pair(self, q: Queries) -> bool:
        """Whether any pair has a weight above 0, by its labels, its gains and its query."""
        levels, gain, _ = self.read(q)
        if self.metric is None:
            found = levels.count_pairs() > 0
        else:  # gains are those above the worst level of a run
            found = np.bincount(levels.query_of_level(), gain > 0, q.n_queries) > 0
        return bool((found & (q.query_weight > 0)).any())

    def why_no_pair(self, q: Queries) -> str:
        """Why no pair has a weight above 0, and what to do about it; empty where one has.

        Such a part of a combination has no effect, and no engine says so.
        """

        def would_have(**changes: Any) -> bool:
            """Whether there would be a pair with these changes, whatever the gains of the labels."""
            return replace(self, metric=None, **changes).has_pair(q)

        if self.has_pair(q):
            return ""
        source, labels = repr(self.source), q.source(self.source, allow_negative=True)
        if np.isnan(labels).all():
            return f"{source} is missing (NaN) in every row; give its labels, or leave this objective out"
        # The first of the settings without which there would be a pair.
        if self.skip_zero and would_have(skip_zero=False):
            return (
                f"zeros='missing' leaves out documents with 0 in {source}, and the others do not differ; "
                "give zeros='label', for which 0 is a label like any other"
            )
        if self.within and would_have(within=(), skip_zero=False):
            tied = " and ".join(map(repr, self.within))
            return (
                f"documents with equal labels in {tied} have no different labels in {source}; "
                f"give labels in {tied} that are not made from {source}, or leave this objective out"
            )
        # What is left: equal labels, or labels whose gains are equal.
        differently = ""
        if self.metric is not None:
            differently = f" that {self.metric!r} values differently"
        return (
            f"no query with a weight above 0 has two documents with different labels in {source}{differently}; "
            "look at the labels and the queries; where NaN means 0, such as no click, give 0"
        )


def level_gains(gains: Callable[[Queries], NDArray[Any]], q: Queries, levels: Levels) -> NDArray[np.float64]:
    """The gain of each level less that of the worst level of its run, (n_levels,); `gains` gives those of documents.

    Swaps read differences alone. Kernels in float32 hold a gain as a sum of two numbers, so that the difference of
    gains of 1 and 1.0000001 keeps its digits too.
    """
    of_level = np.zeros(levels.size.size)
    for first, last, part in q.chunks():
        level = levels.of_document[q.offsets[first] : q.offsets[last]]
        try:
            of_document = gains(part)
        except ValueError:
            gains(q)  # names the row among all
            raise
        paired = level >= 0
        of_level[(np.repeat(levels.first[first:last], part.sizes) + level)[paired]] = of_document[paired]
    worst = levels.first[levels.query_of_level()] + levels.reach - 1
    return of_level - of_level[worst]
