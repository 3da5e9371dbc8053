"""A swap: |ΔZ|, the change of a measure when two documents of a query change places, which weights their pair.

A *swap* is a NamedTuple, so that the compiler knows it by its type. Its fields are what it reads of documents and
ranks: a `cutoff`, the rank past which two documents gain nothing, in each of them, and `gains` (n_documents,) in those
whose `rank_terms` read the documents at the ranks. It says what |ΔZ| is in three static functions:

- `rank_terms` writes two values for every rank of a query, its *discount* and a *second* term, and returns the rank
  past which two documents gain nothing by a swap. It is given the query's first document and, by rank, its documents
  counted from there;
- `rank_delta` is the part of |ΔZ| that discount and second term of the two ranks decide, the other being the difference
  of the gains. It does not branch: `min`, `max` and `abs` fill vector lanes, conditions do not;
- `sweep_terms`, where time grows as the length of a list (`kernels.sweep`): over the difference of the gains, |ΔZ| of a
  level at the upper rank and one at the lower is w_0 + Σ_k w_k (D_k of the upper − D_k of the lower), which it writes
  to w.

Its `traits` are what the loops know when they are compiled: ``by_gain=False`` if gain differences do not count,
``has_second=True`` if `rank_delta` reads the second term, ``fixed_by_rank=True`` if both are the same in all queries,
``by_document=True`` if the discount is a document's whatever its rank, ``counts_pairs=True`` if |ΔZ| depends on all
documents between the two, and ``n_terms``, how many figures D a rank has in the sweep: 0, 1 (the discount), 2 (both),
None if there is no `sweep_terms`.

`Unit` stands here, the swaps of measures in the other files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, inlined, inlined_strict_fp, known_by_type

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


def traits(**values: Any) -> Any:
    """Decorate a swap with its traits, which are attributes of the class."""

    def decorated(swap: Any) -> Any:
        for name, value in values.items():
            setattr(swap, name, value)
        return swap

    return decorated


rank_terms = by_type(lambda swap: swap.rank_terms)
rank_delta = by_type(lambda swap: swap.rank_delta)
sweep_terms = by_type(lambda swap: swap.sweep_terms)
by_gain = known_by_type(lambda swap: getattr(swap, "by_gain", True))
n_sweep_terms = known_by_type(lambda swap: swap.n_terms)
has_second = known_by_type(lambda swap: getattr(swap, "has_second", False))
counts_pairs = known_by_type(lambda swap: getattr(swap, "counts_pairs", False))
by_document = known_by_type(lambda swap: getattr(swap, "by_document", False))


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

    cutoff: int

    @staticmethod
    def rank_terms(swap, first, by_rank, discount, second):
        """Nothing by rank."""
        return swap.cutoff

    @staticmethod
    def rank_delta(swap, i, j):
        """One."""
        return ONE

    @staticmethod
    def sweep_terms(swap, upper, lower, second, w):
        """One."""
        w[0] = 1
