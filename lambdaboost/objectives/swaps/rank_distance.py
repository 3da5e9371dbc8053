"""The weights of NDCG-Loss2 and NDCG-Loss2++ (Wang et al. 2018), and of both at a cutoff (Jagerman et al. 2022).

With r_i, r_j the ranks of a pair and D(r) = 1/log2(1 + r):

    w = (a |D@k(r_i) − D@k(r_j)| + b δ_ij c_ij) |G_i − G_j|,    δ_ij = D(|r_i − r_j|) − D(|r_i − r_j| + 1),

a = 0, b = 1 in NDCG-Loss2 and a = 1, b = μ in NDCG-Loss2++; c_ij = 1/(1 − D(r)) where the lower rank r is past the
cutoff k, 1 elsewhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.swaps.dcg import discounts_to
from lambdaboost.objectives.swaps.swap import traits


@traits(has_second=True, fixed_by_rank=True, n_terms=None)
class RankDistance(NamedTuple):
    """Pairs of near ranks weigh most; the first figure of a rank is the rank from 0, the second its discount."""

    discounts: NDArray[np.float64]  # D@k by rank from 0
    by_distance: NDArray[np.float32]  # δ by |r_i − r_j|
    by_lower: NDArray[np.float32]  # c by the lower rank, counted from 0
    of_discounts: np.float32  # a
    of_distance: np.float32  # b
    cutoff: int

    @staticmethod
    def rank_terms(swap, first, by_rank, discount, second):
        """The ranks themselves and their discounts."""
        for r in range(min(discount.size, swap.discounts.size)):
            discount[r], second[r] = r, swap.discounts[r]
        return swap.cutoff

    @staticmethod
    def rank_delta(swap, i, j):
        """What the discounts differ by, and what a distance of the ranks is worth."""
        delta = (
            swap.by_distance[np.int32(abs(i.discount - j.discount))]
            * swap.by_lower[np.int32(max(i.discount, j.discount))]
        )
        return swap.of_discounts * abs(i.second - j.second) + swap.of_distance * delta


def rank_distance(q: Queries, k: int | None, of_discounts: float, of_distance: float) -> RankDistance:
    """The swap for lists as long as those of `q`, truncated at rank k; pairs below it count."""

    def build() -> tuple[Any, Any]:
        distance = np.arange(1.0, max(q.sizes.max(), 2))
        by_distance = np.append(0.0, 1 / np.log2(1 + distance) - 1 / np.log2(2 + distance))
        by_lower = np.ones(by_distance.size)
        if k is not None:
            past = np.arange(k + 1.0, by_lower.size + 1)
            by_lower[k:] = 1 / (1 - 1 / np.log2(1 + past))
        return by_distance.astype(np.float32), by_lower.astype(np.float32)

    by_distance, by_lower = q.memo(("rank distance", k), build)
    return RankDistance(
        discounts_to(k, q), by_distance, by_lower, np.float32(of_discounts), np.float32(of_distance), q.n_documents
    )  # fmt: skip
