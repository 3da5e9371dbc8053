"""The weights of NDCG-Loss2 and NDCG-Loss2++ (Wang et al. 2018), and of both at a cutoff (Jagerman et al. 2022).

With r_i, r_j the ranks of a pair and D(r) = 1/log2(1 + r):

    w = (a |D@k(r_i) − D@k(r_j)| + b δ_ij c_ij) |G_i − G_j|,    δ_ij = D(|r_i − r_j|) − D(|r_i − r_j| + 1),

a = 0, b = 1 in NDCG-Loss2 and a = 1, b = w_δ in NDCG-Loss2++; c_ij = 1/(1 − D(r)) where the lower rank r is past the
cutoff k, 1 elsewhere.

The numbers of a distance are computed, not looked up: a table cannot be read in a loop that fills vector lanes, since
the compiler does not know that the sums which the loop writes are not in it. With x = 1 + |r_i − r_j|, L = log2 x and
ℓ = log2((x + 1)/x), δ = ℓ/(L (L + ℓ)), which loses no digits where x is large.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.objectives.kernels.elementary import log2, near_polynomial
from lambdaboost.objectives.swaps.dcg import discounts_to
from lambdaboost.objectives.swaps.swap import ONE, RANKS, Swap

TWO = np.float32(2)
# log2((1 + z) / (1 − z)) / z by z², z up to 1/5, within 4e-8.
B0, B1, B2, B3 = near_polynomial(
    lambda zz: 2 * np.arctanh(np.sqrt(zz)) / np.sqrt(zz) / np.log(2), 3, 0.0, 0.04
)


class RankDistance(
    Swap,
    NamedTuple(
        "RankDistance",
        [
            ("discounts", NDArray[np.float64]),  # D by rank from 0
            ("k", np.float32),  # infinite where there is none
            ("of_discounts", np.float32),  # a
            ("of_distance", np.float32),  # b
            ("cutoff", int),
        ],
    ),
):
    """Pairs of near ranks weigh most; the first number of a rank is the rank from 0, the second D, past k too."""

    terms_of = RANKS
    is_sum = False

    @classmethod
    def of(cls, q: Queries, k: int | None, of_discounts: float, of_distance: float) -> RankDistance:
        """The swap for lists as long as those of `q`, truncated at rank k; pairs below it count."""
        shares = np.float32(of_discounts), np.float32(of_distance)
        return cls(discounts_to(None, q), np.float32(k or np.inf), *shares, q.n_documents)

    def rank_terms(self, first, by_rank, discount, second):
        """The ranks themselves and their discounts."""
        for r in range(min(discount.size, self.discounts.size)):
            discount[r], second[r] = r, self.discounts[r]
        return self.cutoff

    def rank_delta(self, i, j):
        """What the discounts differ by, and what a distance of the ranks is worth."""
        # A column that pads a loop may have the rank of the row, and must have a finite weight.
        x = np.float32(max(abs(i.discount - j.discount), ONE)) + ONE
        log2_x = log2(x)
        z = ONE / (TWO * x + ONE)
        zz = z * z
        step = z * (B0 + zz * (B1 + zz * (B2 + zz * B3)))  # ℓ
        # 1/c, the lower rank being the one of the smaller D.
        is_past = np.float32(max(i.discount, j.discount) >= self.k)
        inverse_c = ONE - is_past * min(i.second, j.second)
        of_distance = self.of_distance * step / (log2_x * (log2_x + step) * inverse_c)
        at_i, at_j = np.float32(i.discount < self.k) * i.second, np.float32(j.discount < self.k) * j.second
        return self.of_discounts * abs(at_i - at_j) + of_distance
