"""Pairs of one query whose worse document alone stands above the cutoff of a measure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lambdaboost._jit import known_by_type, uncounted
from lambdaboost.objectives.kernels.pair_factors import is_factored
from lambdaboost.objectives.kernels.span import pad
from lambdaboost.objectives.kernels.tiles import LANES, Side, blocks_by_columns


class Whole(NamedTuple):
    """All pairs of a query count."""


class Truncated(NamedTuple):
    """Pairs of two documents below the cutoff do not count; such queries have kernels of their own."""


is_truncated = known_by_type(lambda reach: reach is Truncated)


@uncounted
def _documents_above(rule, levels, columns, above_cutoff):
    """Copy the documents above the cutoff next to each other; `above_cutoff.first` is where each level starts."""
    start, cutoff_end, first = levels.start, levels.cutoff_end, above_cutoff.first
    n_levels = start.size
    first[0] = 0
    for level in range(n_levels):
        first[level + 1] = first[level] + cutoff_end[level] - start[level]
    m = np.int64(first[n_levels])
    for level in range(n_levels):
        on = start[level] - first[level]
        for slot in range(first[level], first[level + 1]):
            for x in range(len(columns) - 2):
                above_cutoff.side.read[x][slot] = columns[x][slot + on]
            if is_factored(rule.factors):
                above_cutoff.side.read.up[slot] = columns.up[slot + on]
                above_cutoff.side.read.down[slot] = columns.down[slot + on]
    pad(rule.span, above_cutoff.side.read, m, m + LANES)
    for x in range(2):
        for slot in range(m + LANES):
            above_cutoff.side.sums[x][slot] = above_cutoff.side.totals[x][slot] = 0
    return Side(above_cutoff.side.read, above_cutoff.side.sums, above_cutoff.side.totals, m)


@uncounted
def below_cutoff(rule, levels, above_cutoff, slots):
    """Add λ and μ of the pairs whose worse document alone stands above the cutoff."""
    start, end, run_end, cutoff_end, _ = levels
    first, totals = above_cutoff.first, slots.columns.totals
    columns = _documents_above(rule, levels, slots.columns.read, above_cutoff)
    since = following = 0
    for level in range(start.size):
        while following < start.size and start[following] < run_end[level]:  # runs end ever later
            following += 1
        lo, hi = np.int64(first[level + 1]), np.int64(first[following])
        if lo < hi:
            below, last = np.int64(cutoff_end[level]), np.int64(end[level])
            since = blocks_by_columns(rule, below, last, slots.rows, lo, hi, columns, since)
    for x in range(2):
        for level in range(start.size):
            on = start[level] - first[level]
            for slot in range(first[level], first[level + 1]):
                totals[x][slot + on] += columns.totals[x][slot] + columns.sums[x][slot]
