"""All pairs of one query in tiles: each level against all that are worse."""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import uncounted
from lambdaboost.objectives.kernels.tiles import BLOCK, LANES, carry, rows_by_columns, run_stop
from lambdaboost.objectives.kernels.wide import wide_levels


@uncounted
def rows_since_carry(more, since, sums, totals, width):
    """How many rows the totals have not seen once `more` are added; carries the sums before they grow too long."""
    if since + more > BLOCK:
        carry(sums, totals, 0, width)
        return more
    return since + more


@uncounted
def _in_blocks(
    swap, force, first, last, rows, lo, stop, columns, row_sums, column_sums, totals, width, since,
):  # fmt: skip
    """Rows first:last against columns lo:stop; `since` counts the rows that `totals` have not seen, and is returned."""
    for block in range(first, last, BLOCK):
        block_end = min(block + BLOCK, last)
        since = rows_since_carry(block_end - block, since, column_sums, totals, width)
        rows_by_columns(swap, force, block, block_end, rows, lo, stop, columns, row_sums, column_sums)
    return since


@uncounted
def _above_cutoff(rule, levels, slots):
    """Pairs whose better document stands above the cutoff; without a cutoff all pairs."""
    start, end, run_end, top_end, _ = levels
    sums = slots.sums
    m = np.int64(end[-1])
    since = 0
    for level in range(start.size):
        lo, hi = np.int64(end[level]), np.int64(run_end[level])
        if lo < hi:
            since = _in_blocks(
                rule.swap, rule.force, np.int64(start[level]), np.int64(top_end[level]), slots.rows,
                lo, run_stop(lo, hi, m), slots.columns, sums, sums, slots.totals, m, since,
            )  # fmt: skip


@uncounted
def _below_cutoff(rule, levels, top, slots):
    """Pairs whose worse document alone stands above the cutoff; two documents below it have nothing to swap for.

    The documents above it stand together in `top`.
    """
    start, end, run_end, top_end, _ = levels
    first, top_columns, top_sums, top_totals = top
    columns, totals = slots.columns, slots.totals
    n_levels = start.size
    first[0] = 0
    for level in range(n_levels):
        first[level + 1] = first[level] + top_end[level] - start[level]
    m = np.int64(first[n_levels])
    for level in range(n_levels):
        on = start[level] - first[level]
        for slot in range(first[level], first[level + 1]):
            for x in range(len(columns)):
                top_columns[x][slot] = columns[x][slot + on]
    for slot in range(m, m + LANES):
        top_columns[0][slot] = 0
    for x in range(2):
        for slot in range(m + LANES):
            top_sums[x][slot] = top_totals[x][slot] = 0
    since = 0
    for level in range(n_levels):
        lo = np.int64(first[level + 1])
        hi = np.int64(first[np.searchsorted(start, run_end[level])])
        if lo < hi:
            since = _in_blocks(
                rule.swap, rule.force, np.int64(top_end[level]), np.int64(end[level]), slots.rows,
                lo, run_stop(lo, hi, m), top_columns, slots.sums, top_sums, top_totals, m, since,
            )  # fmt: skip
    for x in range(2):
        for level in range(n_levels):
            on = start[level] - first[level]
            for slot in range(first[level], first[level + 1]):
                totals[x][slot + on] += top_totals[x][slot] + top_sums[x][slot]


@uncounted
def level_by_level(rule, wide, cut, levels, top, slots):
    """All pairs of a query: each level against all that are worse."""
    if wide:
        wide_levels(rule, cut, levels, slots)
    else:
        _above_cutoff(rule, levels, slots)
        if cut:
            _below_cutoff(rule, levels, top, slots)
