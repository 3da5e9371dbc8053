"""A swap: |ΔZ|, the change of a measure when two documents of a query change places, which weights their pair.

A *swap* is a NamedTuple, so that the compiler knows it by its type. Its fields are what it reads of documents and
ranks: in each of them a `cutoff`, the rank past which two documents gain nothing. What |ΔZ| is, it says in static
functions. `TurnedPairs` of PairAccuracy is none: it has a kernel of its own.

One function writes two values for every rank of a query, its *discount* and a *second* term, and returns the rank past
which two documents gain nothing by a swap. It is given the query's first document and, by rank, its documents counted
from there. Its name says what the values are of:

- `terms_of_ranks`: of the ranks alone, and so the same in all queries;
- `terms_of_query`: of the documents at the ranks too;
- `terms_of_documents`: of each document, whatever its rank.

By default |ΔZ| of documents i and j is |gain difference| · |D_i − D_j|, D the discount. A swap with another rule
defines

- `rank_delta`, what the discounts and second terms of both decide. It does not branch: `min`, `max` and `abs` fill
  vector lanes, conditions do not;
- `sweep_terms`, if time can grow as the length of a list (`kernels.sweep`). Over the difference of the gains, |ΔZ| of a
  level at the upper rank and one at the lower is w_0 + Σ_k w_k (D_k of the upper − D_k of the lower), D_1 the discount,
  D_2 the second term; D_1 falls from rank to rank. It returns w_0, w_1 and w_2, as many as it needs;
- `gain_delta`, if what the gains decide is not their difference.

`Unit` stands here, the swaps of measures in the other files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, inlined_strict_fp, known_by_type

ONE = np.float32(1)
# Documents of a list: longer ones are faster by tiles (`kernels.lanes`, `kernels.tiles`).
LONGEST_IN_LANES = 40


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


def gain_difference(swap, i, j):
    """The part of |ΔZ| that the gains of a better document and a worse one decide."""
    return _difference(i.gain, i.gain_rest, j.gain, j.gain_rest)


def discount_difference(swap, i, j):
    """How far the discounts of two ranks differ."""
    return abs(i.discount - j.discount)


def discount_alone(swap, upper, lower, second):
    """The discount alone, which falls from rank to rank."""
    return 0.0, 1.0


def which_terms(swap: type) -> str:
    """The name of the function that writes its discounts and second terms."""
    return next(
        name for name in ("terms_of_ranks", "terms_of_query", "terms_of_documents") if hasattr(swap, name)
    )


def is_a_sum(swap: type) -> bool:
    """Whether |ΔZ| is a sum of terms of both ranks (`sweep_terms`)."""
    return hasattr(swap, "sweep_terms") or not hasattr(swap, "rank_delta")


rank_terms = by_type(lambda swap: getattr(swap, which_terms(swap)))
by_document = known_by_type(lambda swap: which_terms(swap) == "terms_of_documents")
gain_delta = by_type(lambda swap: getattr(swap, "gain_delta", gain_difference))
rank_delta = by_type(lambda swap: getattr(swap, "rank_delta", discount_difference))
sweep_terms = by_type(lambda swap: getattr(swap, "sweep_terms", discount_alone))
# The number of D_k that the sweep needs: 0, 1 or 2.
n_sweep_terms = known_by_type(
    lambda swap: len(getattr(swap, "sweep_terms", discount_alone)(None, 0, 0, np.ones(1))) - 1
)


class Unit(NamedTuple):
    """Every pair weighs 1 (RankNet)."""

    cutoff: int

    @staticmethod
    def terms_of_ranks(swap, first, by_rank, discount, second):
        """Nothing by rank."""
        return swap.cutoff

    @staticmethod
    def gain_delta(swap, i, j):
        """One, whatever the gains."""
        return ONE

    @staticmethod
    def rank_delta(swap, i, j):
        """One."""
        return ONE

    @staticmethod
    def sweep_terms(swap, upper, lower, second):
        """One."""
        return (1.0,)
