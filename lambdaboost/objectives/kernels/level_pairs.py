"""All pairs of one query in tiles: each level against all that are worse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, uncounted
from lambdaboost.objectives.kernels.span import pad
from lambdaboost.objectives.kernels.tiles import BLOCK, LANES, Side, rows_by_columns, rows_since_carry


class Whole(NamedTuple):
    """All pairs of a query count."""


class Truncated(NamedTuple):
    """Two documents below the cutoff have nothing to swap for; queries of this kind have kernels of their own."""


def is_truncated(reach: Any) -> bool:
    """Whether a cutoff leaves pairs out; known to the compiler."""
    return isinstance(reach, Truncated)


@by_type(is_truncated)
def _is_truncated(reach):
    if reach.instance_class is Truncated:
        return lambda reach: True
    return lambda reach: False


@uncounted
def _in_blocks(rule, first, last, rows, lo, hi, columns, since):
    """Rows first:last against columns lo:hi; `since` counts the rows that the totals lack, and is returned."""
    for block in range(first, last, BLOCK):
        block_end = min(block + BLOCK, last)
        since = rows_since_carry(block_end - block, since, columns)
        rows_by_columns(rule, block, block_end, rows, lo, hi, columns)
    return since


@uncounted
def _above_cutoff(rule, levels, slots):
    """Pairs whose better document stands above the cutoff; without a cutoff all pairs."""
    start, end, run_end, cutoff_end, _ = levels
    since = 0
    for level in range(start.size):
        lo, hi = np.int64(end[level]), np.int64(run_end[level])
        if lo < hi:
            first, last = np.int64(start[level]), np.int64(cutoff_end[level])
            since = _in_blocks(rule, first, last, slots.rows, lo, hi, slots.columns, since)


@uncounted
def _documents_above(rule, levels, columns, above_cutoff):
    """Bring the documents above the cutoff together, where each level starts in `above_cutoff.first`."""
    start, cutoff_end, first = levels.start, levels.cutoff_end, above_cutoff.first
    n_levels = start.size
    first[0] = 0
    for level in range(n_levels):
        first[level + 1] = first[level] + cutoff_end[level] - start[level]
    m = np.int64(first[n_levels])
    for level in range(n_levels):
        on = start[level] - first[level]
        for slot in range(first[level], first[level + 1]):
            for x in range(len(columns)):
                above_cutoff.side.read[x][slot] = columns[x][slot + on]
    pad(rule.span, above_cutoff.side.read, m, m + LANES)
    for x in range(2):
        for slot in range(m + LANES):
            above_cutoff.side.sums[x][slot] = above_cutoff.side.totals[x][slot] = 0
    return Side(above_cutoff.side.read, above_cutoff.side.sums, above_cutoff.side.totals, m)


@uncounted
def _below_cutoff(rule, levels, above_cutoff, slots):
    """Pairs whose worse document alone stands above the cutoff; two documents below it have nothing to swap for.

    The documents above it stand together in `above_cutoff`.
    """
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
            since = _in_blocks(rule, below, last, slots.rows, lo, hi, columns, since)
    for x in range(2):
        for level in range(start.size):
            on = start[level] - first[level]
            for slot in range(first[level], first[level + 1]):
                totals[x][slot + on] += columns.totals[x][slot] + columns.sums[x][slot]


@uncounted
def level_by_level(rule, truncated, levels, above_cutoff, slots):
    """All pairs of a query: each level against all that are worse."""
    _above_cutoff(rule, levels, slots)


@uncounted
def level_by_level_to_cutoff(rule, truncated, levels, above_cutoff, slots):
    """All pairs of a query of which one document stands above the cutoff."""
    _above_cutoff(rule, levels, slots)
    if truncated:
        _below_cutoff(rule, levels, above_cutoff, slots)
