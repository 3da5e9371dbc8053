"""The weight of a pair: |ΔZ|, the change of a measure when its documents swap, times a factor of the better document.

A *swap* is a NamedTuple, so that the compiler knows it by its type. It says what |ΔZ| is in three static functions:

- `rank_terms` writes two values for every rank of a query, its *discount* and a *second* term, and returns the rank
  past which two documents gain nothing by a swap;
- `rank_delta` is the part of |ΔZ| that discount and second term of the two ranks decide, the other being the difference
  of the gains. It does not branch: `min`, `max` and `abs` fill vector lanes, conditions do not;
- `tree_terms`, where time grows as the length of a list (`tree`): over the difference of the gains, |ΔZ| of a level at
  the upper rank and one at the lower is w_0 + Σ_k w_k (D_k of the upper − D_k of the lower), which it writes to w.

Its `traits` are what the loops know when they are compiled: ``by_gain=False`` if gain differences do not count,
``has_second=True`` if `rank_delta` reads the second term, ``fixed_by_rank=True`` if both are the same in all queries,
``by_document=True`` if the discount is a document's whatever its rank, ``counts_pairs=True`` if |ΔZ| depends on all
documents between the two, and ``n_terms``, how many values D a rank has in the tree: 0, 1 (the discount), 2 (both),
None if there is no `tree_terms`.

`Unit` and `Dcg` stand here, the swaps of other measures in `objectives.swaps`, one a file.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import by_type, inlined, inlined_strict_fp, known_by_type
from lambdaboost.datasets import Queries

ONE = np.float32(1)


class Unfactored(NamedTuple):
    """No factors: the swap alone weights a pair."""

    @staticmethod
    def times(factors, w, x):
        """The weight."""
        return w

    @staticmethod
    def factor_of(factors, i):
        """One."""
        return ONE


class Factors(NamedTuple):
    """The weight of a pair is multiplied by the factor of its better document."""

    factor: NDArray[np.float32]  # (n_documents,)

    @staticmethod
    def times(factors, w, x):
        """The weight times a factor."""
        return w * x

    @staticmethod
    def factor_of(factors, i):
        """That of a document."""
        return factors.factor[i]


class PairFactors(Protocol):
    """Factors as a value, which a `PairRule` can hold: hashable, with a repr that reads back."""

    def of(self, q: Queries) -> Factors | Unfactored:
        """The factors of some queries; `Unfactored` where all of them are 1."""
        ...


class PairWeights(NamedTuple):
    """A swap and what it reads of documents and ranks."""

    swap: Any
    gains: NDArray[np.float64]  # (n_documents,); of no length where the swap does not read them
    # By rank, at as many ranks as `swaps.registry.ranks_from_0` has; of no length where the swap makes its own.
    discounts: NDArray[np.float64]
    cutoff: int  # two documents past this rank gain nothing by a swap
    factors: Factors | Unfactored = Unfactored()


class Ranked(NamedTuple):
    """One query in its order, as `rank_terms` reads it."""

    first: Any  # its first document
    by_rank: Any  # (n,) the document at each rank, counted within the query
    gains: Any  # (n,) by document
    discounts: Any  # by rank
    cutoff: Any  # the measure's


class Document(NamedTuple):
    """What a pair reads of one of its documents."""

    e: Any  # E = e^{σs} up to a factor of the query
    gain: Any  # in float32 kernels the sum of `gain` and a much smaller `gain_rest`
    gain_rest: Any
    discount: Any
    second: Any
    factor: Any  # by which the weight is multiplied where it is the better


def traits(**values: Any) -> Any:
    """Decorate a swap with its traits, which are attributes of the class."""

    def decorated(swap: Any) -> Any:
        for name, value in values.items():
            setattr(swap, name, value)
        return swap

    return decorated


times = by_type(lambda factors: factors.times)
factor_of = by_type(lambda factors: factors.factor_of)
rank_terms = by_type(lambda swap: swap.rank_terms)
rank_delta = by_type(lambda swap: swap.rank_delta)
tree_terms = by_type(lambda swap: swap.tree_terms)
by_gain = known_by_type(lambda swap: getattr(swap, "by_gain", True))
has_second = known_by_type(lambda swap: getattr(swap, "has_second", False))
counts_pairs = known_by_type(lambda swap: getattr(swap, "counts_pairs", False))
by_document = known_by_type(lambda swap: getattr(swap, "by_document", False))
is_factored = known_by_type(lambda factors: factors is Factors)


@inlined_strict_fp
def split_gain(gain):
    """A float64 as the sum of a float32 and a much smaller one."""
    rounded = np.float32(gain)
    return rounded, np.float32(gain - rounded)


@inlined_strict_fp
def _difference(gain_i, rest_i, gain_j, rest_j):
    """The difference of two sums of a large number and a small one: in another order it would lose the small ones."""
    return (gain_i - gain_j) + (rest_i - rest_j)


@inlined
def gain_delta(swap, i, j):
    """The part of |ΔZ| that the gains of a better document and a worse one decide."""
    return _difference(i.gain, i.gain_rest, j.gain, j.gain_rest) if by_gain(swap) else ONE


@traits(by_gain=False, fixed_by_rank=True, n_terms=0)
class Unit(NamedTuple):
    """Every pair weighs 1 (RankNet)."""

    @staticmethod
    def rank_terms(swap, query, discount, second):
        """Nothing by rank."""
        return query.cutoff

    @staticmethod
    def rank_delta(swap, i, j):
        """One."""
        return ONE

    @staticmethod
    def tree_terms(swap, upper, lower, second, w):
        """One."""
        w[0] = 1


@traits(fixed_by_rank=True, n_terms=1)
class Dcg(NamedTuple):
    """A pair weighs |G_i − G_j| · |D_i − D_j|, the gains normalised: NDCG, CNDCG and Precision."""

    @staticmethod
    def rank_terms(swap, query, discount, second):
        """Discounts, whichever documents stand there.

        They are counted from the last rank's: float32 holds the differences of low ranks best close to 0.
        """
        last = query.discounts[discount.size - 1]
        for rank in range(discount.size):
            discount[rank] = query.discounts[rank] - last
        return query.cutoff

    @staticmethod
    def rank_delta(swap, i, j):
        """How far the discounts of two ranks differ."""
        return abs(i.discount - j.discount)

    @staticmethod
    def tree_terms(swap, upper, lower, second, w):
        """The discount alone, which falls from rank to rank."""
        w[1] = 1


@traits(by_document=True, n_terms=1)
class MeanDcg(NamedTuple):
    """A pair weighs |G_i − G_j| · |m_i − m_j|, m the mean discount of a document over rankings (`noise`)."""

    mean: NDArray[np.float32]  # (n_documents,)

    @staticmethod
    def rank_terms(swap, query, discount, second):
        """Mean discounts, in the order given, in which those that are 0 may come last."""
        n = discount.size
        for rank in range(n):
            discount[rank] = swap.mean[query.first + query.by_rank[rank]]
        while n > 0 and discount[n - 1] == 0:
            n -= 1
        return n

    @staticmethod
    def rank_delta(swap, i, j):
        """How far the discounts of two documents differ."""
        return abs(i.discount - j.discount)
