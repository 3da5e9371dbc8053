r"""The swap of average precision.

Let C(r) be the number of relevant documents up to rank r, S(r) the sum of 1/ρ over their ranks ρ ≤ r, R all of them.
A relevant document that falls from rank p to r takes C(p)/p away, adds C(r)/r, and costs each relevant document between
1/ρ; one that rises from r to p the other way around, its own count one higher at p:

    R w = (C(p)/p − S(p)) − (C(r)/r − S(r))              where the relevant document stands above,
    R w = ((C(p) + 1)/p − S(p)) − ((C(r) + 1)/r − S(r))  where it stands below.

With h = 1/(2r) and d = C/r − S + h both are |d_i − d_j| − (h_i − h_j), i the relevant document, whichever stands above.
"""

from __future__ import annotations

from typing import NamedTuple

from lambdaboost._jit import inlined


@inlined
def _average_precision_figures(gains, by_rank, d, h):  # type: ignore[no-untyped-def]
    relevant, reciprocals = 0, 0.0
    for r in range(by_rank.size):
        if gains[by_rank[r]] > 0:
            relevant += 1
            reciprocals += 1 / (r + 1)
        h[r] = 0.5 / (r + 1)
        d[r] = (relevant + 0.5) / (r + 1) - reciprocals


class AveragePrecision(NamedTuple):
    """MAP; a relevant document's gain is 1/R."""

    @staticmethod
    def has_h() -> bool:
        """Whether `step` reads h."""
        return True

    @staticmethod
    def gap(swap, gain_i, rest_i, gain_j, rest_j):  # type: ignore[no-untyped-def]
        """The gain of the better document less that of the other."""
        return gain_i - gain_j

    @staticmethod
    def step(swap, d_i, h_i, d_j, h_j):  # type: ignore[no-untyped-def]
        """R w of a relevant document i and another j."""
        return abs(d_i - d_j) - (h_i - h_j)

    @staticmethod
    def figures(swap, first, gains, by_rank, discounts, cutoff, d_room, h_room):  # type: ignore[no-untyped-def]
        """C/r − S + 1/(2r) and 1/(2r) of each rank."""
        _average_precision_figures(gains, by_rank, d_room, h_room)
        return d_room, h_room, cutoff
