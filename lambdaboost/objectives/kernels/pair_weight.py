"""What weighs a pair: two functions of a swap that are compiled into the loops, and what they read.

A *swap* says what exchanging two documents is worth in a measure. It is a NamedTuple, so that the compiler knows it by
its type, with static functions:

- `rank_terms`: d and h of each rank of a query, and the rank past which two documents have nothing to swap for;
- `gap` and `step`, whose product weighs a pair: `gap` by the two gains, `step` by the d and h of the two ranks;
- where each two levels have a d of their own, `terms_of_level` and `terms_of_rows`, which make it;
- and its `Traits`.

`gap` and `step` do not branch: `min`, `max` and `abs` fill vector lanes, conditions do not. `Unit` and `Dcg` stand
here, the swaps of other measures in `objectives.swaps`, one a file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, known_by_type
from lambdaboost.objectives.kernels.pair_factors import Unfactored
from lambdaboost.objectives.kernels.two_floats import TwoFloats, difference

ONE = np.float32(1)


class PairWeights(NamedTuple):
    """A swap and what it reads of documents and ranks."""

    swap: Any
    gains: TwoFloats  # (n_documents,)
    discounts: TwoFloats  # by rank, as long as the longest query; of no length where the swap makes its own
    cutoff: int  # two documents past this rank have nothing to swap for
    factors: Any = Unfactored()  # or `Factors`


class Traits(NamedTuple):
    """What the loops know of a swap when they are compiled."""

    has_h: bool  # whether `step` reads h
    fixed_by_rank: bool  # whether d and h of a rank are the same whichever documents a query has
    by_levels: bool  # whether each two levels have a d of their own, made anew where they meet
    is_constant: bool  # whether ranks do not count
    of_differences: bool  # whether a pair weighs by how far d + h of two ranks differ
    own_cutoff: bool  # whether `rank_terms` may give a cutoff above the measure's


def traits(
    has_h: bool = False,
    fixed_by_rank: bool = False,
    by_levels: bool = False,
    is_constant: bool = False,
    of_differences: bool = False,
    own_cutoff: bool = False,
    **shared: Any,
) -> Any:
    """Decorate a swap with its traits and with functions that it shares with others."""

    def decorated(swap: Any) -> Any:
        swap.traits = Traits(has_h, fixed_by_rank, by_levels, is_constant, of_differences, own_cutoff)
        for name, function in shared.items():
            setattr(swap, name, staticmethod(function))
        return swap

    return decorated


# The gaps, steps and terms that several swaps share.


def gain_gap(swap, gain_i, rest_i, gain_j, rest_j):
    """The gain of the better document less that of the other, each in one float32."""
    return gain_i - gain_j


def exact_gain_gap(swap, gain_i, rest_i, gain_j, rest_j):
    """The gain of the better document less that of the other, each in two float32."""
    return difference(gain_i, rest_i, gain_j, rest_j)


def d_step(swap, d_i, h_i, d_j, h_j):
    """How far the d of two ranks differ."""
    return abs(d_i - d_j)


def exact_d_step(swap, d_i, h_i, d_j, h_j):
    """How far two ranks differ in d, h being what one float32 does not hold of it."""
    return abs(difference(d_i, h_i, d_j, h_j))


def discounts_by_rank(swap, first, gains, by_rank, discounts, cutoff, d_memory, h_memory):
    """D of each rank, whichever document stands there; no h."""
    return discounts[0], discounts[0], cutoff


@traits(fixed_by_rank=True, is_constant=True, rank_terms=discounts_by_rank)
class Unit(NamedTuple):
    """Every pair weighs 1 (RankNet)."""

    @staticmethod
    def gap(swap, gain_i, rest_i, gain_j, rest_j):
        """One."""
        return ONE

    @staticmethod
    def step(swap, d_i, h_i, d_j, h_j):
        """One."""
        return ONE


@traits(fixed_by_rank=True, gap=gain_gap, step=d_step, rank_terms=discounts_by_rank)
class Dcg(NamedTuple):
    """A pair weighs |gain_i − gain_j| · |D_i − D_j|, the gains normalised: NDCG, CNDCG, WTA and Precision."""


@traits(has_h=True, fixed_by_rank=True, of_differences=True, gap=exact_gain_gap, step=exact_d_step)
class TwoFloatDcg(NamedTuple):
    """`Dcg` of discounts or gains so close to each other that a float32 each would not hold their difference."""

    @staticmethod
    def rank_terms(swap, first, gains, by_rank, discounts, cutoff, d_memory, h_memory):
        """D of each rank, whichever document stands there, its rest as h."""
        return discounts[0], discounts[1], cutoff


def gap(swap: Any, gain_i: Any, rest_i: Any, gain_j: Any, rest_j: Any) -> Any:
    """The factor of a pair's weight that all rows of one level share; gains come as two floats."""
    return type(swap).gap(swap, gain_i, rest_i, gain_j, rest_j)


@by_type(gap)
def _gap(swap, gain_i, rest_i, gain_j, rest_j):
    return swap.instance_class.gap


def step(swap: Any, d_i: Any, h_i: Any, d_j: Any, h_j: Any) -> Any:
    """The factor of a pair's weight that its two ranks decide."""
    return type(swap).step(swap, d_i, h_i, d_j, h_j)


@by_type(step)
def _step(swap, d_i, h_i, d_j, h_j):
    return swap.instance_class.step


has_h = known_by_type(lambda swap: swap.traits.has_h)
fixed_by_rank = known_by_type(lambda swap: swap.traits.fixed_by_rank)
by_levels = known_by_type(lambda swap: swap.traits.by_levels)
is_constant = known_by_type(lambda swap: swap.traits.is_constant)
of_differences = known_by_type(lambda swap: swap.traits.of_differences)


def rank_terms(
    swap: Any, first: Any, gains: Any, by_rank: Any, discounts: Any, cutoff: Any, d_memory: Any, h_memory: Any
) -> Any:
    """What the ranking of a query, whose documents start at `first`, contributes to its swaps.

    d and h of each rank, and the rank past which two documents have nothing to swap for.
    """
    return type(swap).rank_terms(swap, first, gains, by_rank, discounts, cutoff, d_memory, h_memory)


@by_type(rank_terms)
def _rank_terms(swap, first, gains, by_rank, discounts, cutoff, d_memory, h_memory):
    return swap.instance_class.rank_terms


def terms_of_level(swap: Any, a: Any, by_rank: Any, level: Any, now: Any) -> Any:
    """Write the term of level a at the rank of every slot to `now`; `by_rank` are the slots by rank.

    The d of levels a and b is the term of a less that of b. Only where each two levels have a d of their own.
    """
    return type(swap).terms_of_level(swap, a, by_rank, level, now)


@by_type(terms_of_level)
def _terms_of_level(swap, a, by_rank, level, now):
    if swap.instance_class.traits.by_levels:
        return swap.instance_class.terms_of_level
    return lambda swap, a, by_rank, level, now: None


def terms_of_rows(swap: Any, first: Any, last: Any, a: Any, passed: Any, terms: Any) -> Any:
    """Write the terms of all levels worse than a at the rows first:last of a, one call after the other by rank.

    `passed` are the slots by rank, their levels, the rank at which the rows before these end, and the documents of each
    level down to there, which it counts on. Returns the rank at which these rows end.
    """
    return type(swap).terms_of_rows(swap, first, last, a, passed, terms)


@by_type(terms_of_rows)
def _terms_of_rows(swap, first, last, a, passed, terms):
    return swap.instance_class.terms_of_rows
