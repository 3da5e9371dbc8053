"""The swap of discounted gains: NDCG, CNDCG; Precision and Recall, whose discount is 1 in k ranks and 0 below."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import shorten_repr
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, NDCG, Precision, Recall
from lambdaboost.evaluation.binary import count_judged, relevant
from lambdaboost.evaluation.lanes import LONGEST_IN_LANES
from lambdaboost.objectives.swaps.swap import DOCUMENTS, RANKS, Swap


# `discounts` are by rank, at as many ranks as `ranks_from_0` has.
class Dcg(Swap, NamedTuple("Dcg", [("discounts", NDArray[np.float64]), ("cutoff", int)])):
    """A pair weighs |G_i − G_j| · |D_i − D_j|, the gains normalised."""

    terms_of = RANKS

    @classmethod
    def of(cls, metric: NDCG | CNDCG, q: Queries) -> Dcg:
        """The discounts of a measure of the DCG family."""
        return cls(discounts_to(metric.k, q), metric.k or q.n_documents)

    @classmethod
    def of_hits(cls, metric: Precision | Recall, q: Queries) -> Dcg:
        """A document counts its gain in the first k ranks, and nothing below."""
        return cls(q.memo(("first ranks", metric.k), lambda: (ranks_from_0(q) < metric.k) * 1.0), metric.k)

    def rank_terms(self, first, by_rank, discount, second):
        """Discounts, whichever documents stand there.

        They are counted from the last rank's: float32 holds the differences of low ranks best close to 0.
        """
        last = self.discounts[discount.size - 1]
        for rank in range(discount.size):
            discount[rank] = self.discounts[rank] - last
        return self.cutoff


# `mean` is (n_documents,).
class MeanDcg(Swap, NamedTuple("MeanDcg", [("mean", NDArray[np.float32]), ("cutoff", int)])):
    """A pair weighs |G_i − G_j| · |m_i − m_j|, m the mean discount of a document over rankings (`kernels.noise`)."""

    terms_of = DOCUMENTS

    def rank_terms(self, first, by_rank, discount, second):
        """Mean discounts, in the order given, if those that are 0 come last, they are below the cutoff."""
        n = by_rank.size
        for rank in range(n):
            discount[rank] = self.mean[first + by_rank[rank]]
        while n > 0 and discount[n - 1] == 0:
            n -= 1
        return n


def check_dcg(name: str, metric: object) -> None:
    """Raise where `metric` is not a measure of the DCG family, or has values of its own."""
    if not isinstance(metric, NDCG | CNDCG):
        raise TypeError(
            f"{name} is {shorten_repr(metric)}, expected a measure of the DCG family such as NDCG() or CNDCG()"
        )
    if type(metric).values is not NDCG.values:
        raise TypeError(
            f"{name} is {shorten_repr(metric)}, which has values of its own, and would be trained as NDCG: give NDCG() "
            "or CNDCG(), or write an objective for it, a subclass of Objective"
        )


def normalized_gains(metric: NDCG | CNDCG, q: Queries) -> NDArray[np.float64]:
    """The gain of each document over the ideal DCG of its query, 0 where that is 0; (n_documents,)."""
    ideal = np.repeat(metric.ideal(q), q.sizes)
    return np.divide(metric.gains(q), ideal, where=ideal > 0, out=np.zeros(ideal.size))


def hits_over_k(metric: Precision, q: Queries) -> NDArray[np.float64]:
    """1/k for each relevant document, else 0; (n_documents,)."""
    return relevant(metric, q).astype(np.float64) / metric.k


def hits_over_relevant(metric: Recall, q: Queries) -> NDArray[np.float64]:
    """1/R for each of the R relevant documents of a query, else 0; (n_documents,)."""
    n_relevant = np.maximum(count_judged(metric, q)[0], 1)
    return relevant(metric, q) / np.repeat(n_relevant, q.sizes)


def ranks_from_0(q: Queries) -> NDArray[np.int64]:
    """0, 1, … for discounts by rank: as many as the longest query has, and at least as many as lanes read."""
    return np.arange(max(q.sizes.max(), LONGEST_IN_LANES))


def discounts_to(k: int | None, q: Queries) -> NDArray[np.float64]:
    """1/log2(1 + r) for ranks r from 1, 0 past the cutoff k."""

    def build() -> NDArray[np.float64]:
        d = 1 / np.log2(2 + ranks_from_0(q))
        if k is not None:
            d[k:] = 0
        return d

    found: NDArray[np.float64] = q.memo(("discounts", k), build)
    return found
