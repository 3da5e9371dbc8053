"""A swap: |ΔZ|, the change of a measure when two documents of a query change places, which weights their pair.

A *swap* is a named tuple of what it reads of documents and ranks, so that the compiler knows it by its type, and
derives from `Swap`, whose functions say what |ΔZ| is; the swaps of measures are in the other files. A swap writes two
values for every rank of a query, its *discount* D and a *second* term. By default |ΔZ| of documents i and j is
|gain difference| · |D_i − D_j|.

`by_type` makes functions of kernels of them: `rank_delta(swap, i, j)` is that of the swap's class, compiled into the
kernel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, inlined_strict_fp

ONE = np.float32(1)

# What the discount and the second term of a rank depend on.
RANKS = 0  # the rank alone: they are the same in all queries
QUERY = 1  # the documents at the ranks too
DOCUMENTS = 2  # the document alone, whatever its rank
PAIRS = 3  # the other document of the pair too


class Document(NamedTuple):
    """What a pair reads of one of its documents."""

    e: Any  # E = e^{σs} up to a factor of the query
    gain: Any  # in float32 kernels the sum of `gain` and a much smaller `gain_rest`
    gain_rest: Any
    discount: Any
    second: Any
    factor: Any  # by which the weight is multiplied where it is the better


@inlined_strict_fp
def split_gain(gain):
    """A float64 as the sum of a float32 and a much smaller one."""
    rounded = np.float32(gain)
    return rounded, np.float32(gain - rounded)


@inlined_strict_fp
def _difference(gain_i, rest_i, gain_j, rest_j):
    """The difference of two sums of a large number and a small one: in another order it would lose the small ones."""
    return (gain_i - gain_j) + (rest_i - rest_j)


class Swap:
    """What |ΔZ| is; a measure's own defines `rank_terms`, and what else is not as here. They are compiled."""

    cutoff: int  # the rank past which two documents gain nothing by a swap
    terms_of = QUERY  # what `rank_terms` depend on
    # Whether |ΔZ| is a sum of terms of both ranks (`sweep_terms`), so that time can grow as the length of a list.
    is_sum = True

    def rank_terms(self, first, by_rank, discount, second):
        """Write the discount and the second term of every rank; the rank past which a swap gains nothing.

        `first` is the query's first document, and `by_rank` are its documents, counted from there.
        """
        raise NotImplementedError

    def pair_terms(self, first, rank, level, memory, discount, second):
        """Write them anew for the pairs in which the document at `rank` is the better one, if they are of `PAIRS`.

        `level` is that of each rank's document, -1 without a label, and `memory` has room for a number of each level.
        """

    def gain_delta(self, i, j):
        """The part of |ΔZ| that the gains of a better document i and a worse one j decide."""
        return _difference(i.gain, i.gain_rest, j.gain, j.gain_rest)

    def rank_delta(self, i, j):
        """The part that their ranks decide, by the discounts and second terms of both.

        It does not branch: `min`, `max` and `abs` fill vector lanes, conditions do not.
        """
        return abs(i.discount - j.discount)

    def sweep_terms(self, upper, lower, second):
        """The same as a sum, for `kernels.sweep`: w_0, w_1 and w_2, as many as it needs.

        Over the difference of the gains, |ΔZ| of a level at the upper rank and one at the lower is w_0 +
        Σ_k w_k (D_k of the upper − D_k of the lower), D_1 the discount, which falls from rank to rank, D_2 the second
        term. `second` is that of each level.
        """
        return 0.0, 1.0


rank_terms = by_type(lambda swap: swap.rank_terms)
pair_terms = by_type(lambda swap: swap.pair_terms)
gain_delta = by_type(lambda swap: swap.gain_delta)
rank_delta = by_type(lambda swap: swap.rank_delta)
sweep_terms = by_type(lambda swap: swap.sweep_terms)


def _constant(answer):
    """A function of a swap that gives this answer; the compiler knows it, so that no loop asks."""
    return lambda swap: answer


by_document = by_type(lambda swap: _constant(swap.terms_of == DOCUMENTS))
# The number of D_k that the sweep needs: 0, 1 or 2.
n_sweep_terms = by_type(lambda swap: _constant(len(swap.sweep_terms(None, 0, 0, np.ones(1))) - 1))


class Unit(Swap, NamedTuple("Unit", [("cutoff", int)])):
    """Every pair weighs 1 (RankNet)."""

    terms_of = RANKS

    def rank_terms(self, first, by_rank, discount, second):
        """Nothing by rank."""
        return self.cutoff

    def gain_delta(self, i, j):
        """One, whatever the gains."""
        return ONE

    def rank_delta(self, i, j):
        """One."""
        return ONE

    def sweep_terms(self, upper, lower, second):
        """One."""
        return (1.0,)
