"""Pairs with a document in the first k ranks, weighed as by NDCG of the whole list (both engines' truncation)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lambdaboost._jit import inlined


@inlined
def _mark_top(k, h):  # type: ignore[no-untyped-def]
    for r in range(h.size):
        h[r] = 1 if r < k else 0


class TopPairs(NamedTuple):
    """|gain_i − gain_j| · |D_i − D_j| where one of both ranks is among the first k; h marks these."""

    k: np.int64

    @staticmethod
    def has_h() -> bool:
        """Whether `step` reads h."""
        return True

    @staticmethod
    def gap(swap, gain_i, gain_j):  # type: ignore[no-untyped-def]
        """The gain of the better document less that of the other."""
        return gain_i - gain_j

    @staticmethod
    def step(swap, d_i, h_i, d_j, h_j):  # type: ignore[no-untyped-def]
        """The difference of the discounts, or 0 for two documents past rank k."""
        return max(h_i, h_j) * abs(d_i - d_j)

    @staticmethod
    def figures(swap, first, gains, by_rank, discounts, cutoff, d_room, h_room):  # type: ignore[no-untyped-def]
        """D of each rank, and which ranks are among the first k."""
        _mark_top(swap.k, h_room)
        return discounts, h_room, cutoff
