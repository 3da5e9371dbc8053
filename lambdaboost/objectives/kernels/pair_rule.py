"""`PairRule`: which pairs count, their weights and their force; `prepared` sums λ and μ over them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.kernels.levels import Levels, levels_of
from lambdaboost.objectives.kernels.pair_weight import PairFactors, PairWeights, by_gain
from lambdaboost.objectives.kernels.sigmoid import Local, Logistic, Sigmoid
from lambdaboost.objectives.swaps.registry import level_gains, pair_weights, unweighted


class Pairs(NamedTuple):
    """The pairs of some queries: between which levels, and with which weights."""

    levels: Levels
    gain: NDArray[np.float64]  # of each level, less that of the worst one that it pairs with
    weights: PairWeights


class RankNoise(NamedTuple):
    """The rankings that weight pairs: drawn by scores plus beta times Gumbel noise (`noise`)."""

    beta: float
    draws: int
    seed: int


@dataclass(frozen=True)
class PairRule:
    """λ and μ summed over pairs of documents that differ in `source` and tie in every source of `within`."""

    source: str
    metric: Measure | None = None  # its |ΔZ| weights a pair; None: every weight is 1
    within: tuple[str, ...] = ()
    skip_zero: bool = False
    sigma: float = 1.0
    center: float = 0.0  # c of ρ = 1/(1 + e^{σ(s_i − s_j) + c}), at most 50; a margin m of the scores is −σm
    local: bool = False  # the force of SigmoidLocal, ρ(1 − ρ), in place of ρ
    factors: PairFactors | None = None  # of the better document, which multiply the weight of a pair
    noise: RankNoise | None = (
        None  # a pair is weighted by the mean over noisy rankings; None: by that of the scores
    )

    def __post_init__(self) -> None:
        # A level has the gain of any of its documents, so all must have the same.
        if self.metric is not None and self.metric.source != self.source:
            raise ValueError(
                f"metric {self.metric!r} reads {self.metric.source!r}, but pairs differ in {self.source!r}: give a "
                "measure of that source"
            )

    @property
    def force(self) -> Logistic | Local:
        """λ and μ of a pair as functions of ρ."""
        return Local() if self.local else Logistic()

    @property
    def sigmoid(self) -> Sigmoid:
        """What ρ is."""
        return Sigmoid(float(self.sigma), float(self.center), np.float32(math.exp(self.center)))

    def levels(self, q: Queries) -> Levels:
        """Which documents pair with which."""
        return levels_of(q, self.source, self.within, self.skip_zero)

    def read(self, q: Queries) -> Pairs:
        """The pairs of some queries, which are known before any score; cached in `q`."""

        def build() -> Pairs:
            levels = self.levels(q)
            weights = unweighted(q) if self.metric is None else pair_weights(self.metric, q)
            return Pairs(levels, level_gains(self.metric, weights, q, levels), weights)

        key = ("pairs", self.source, self.within, self.skip_zero, self.metric)
        pairs: Pairs = q.memo(key, build)
        return pairs

    def has_pair(self, q: Queries) -> bool:
        """Whether any pair has a weight above 0, by its labels, its gains and its query."""
        levels, gain, weights = self.read(q)
        found = levels.pairs() > 0
        # Gains are those above the worst level of a run.
        if self.metric is not None and by_gain(weights.swap):
            found = np.bincount(levels.query(), gain > 0, q.n_queries) > 0
        return bool((found & (q.query_weight > 0)).any())
