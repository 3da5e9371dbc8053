"""All pairs of one query for a swap whose d differs with the two levels that meet (PairAccuracy)."""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import inlined
from lambdaboost.objectives.kernels.level_pairs import rows_since_carry
from lambdaboost.objectives.kernels.tiles import BLOCK, ROWS, rows_by_columns, run_stop
from lambdaboost.objectives.kernels.wide import wide_pairs
from lambdaboost.objectives.swaps.pair_accuracy import by_rank_and_level, no_better, no_better_at_rows


@inlined
def _meet(rule, wide, first, last, lo, hi, m, slots):
    """Rows first:last against columns lo:hi of a layout of m."""
    if wide:
        wide_pairs(rule, first, last, lo, hi, slots)
    else:
        rows_by_columns(
            rule.swap, rule.force, first, last, slots.rows, lo, run_stop(lo, hi, m),
            slots.columns, slots.sums, slots.sums,
        )  # fmt: skip


@inlined
def two_by_two(rule, wide, cut, levels, top, slots):
    """All pairs of a query where any two levels have discounts of their own, made anew for each meeting."""
    start, end = levels.start, levels.end
    d, ranks = slots.columns[3], slots.columns[4]
    sums, totals = slots.sums, slots.totals
    m = end[-1]
    by_rank, level = by_rank_and_level(start, end, ranks)
    own, now = np.empty(m, np.float32), np.empty(m, np.float32)
    passed = np.empty(start.size, np.int64)
    largest = (end - start).max()
    of_rows = np.empty((start.size, min(BLOCK, largest) if largest >= ROWS else 1), np.float32)
    since = 0
    for a in range(start.size - 1, -1, -1):
        no_better(a, by_rank, level, now)
        own[start[a] : end[a]] = now[start[a] : end[a]]
        if end[a] == m:
            continue
        passed[:] = 0
        at = 0
        if end[a] - start[a] < ROWS:
            # A few rows meet all columns one by one: a meeting for each level of columns would cost more.
            for i in range(start[a], end[a]):
                at = no_better_at_rows(i, i + 1, a, at, by_rank, level, passed, of_rows)
                d[i] = now[i]
                for b in range(a + 1, start.size):
                    for j in range(start[b], end[b]):
                        d[j] = (now[j] - own[j]) + of_rows[b, 0]
                since = rows_since_carry(1, since, sums, totals, m)
                _meet(rule, wide, i, i + 1, end[a], m, m, slots)
            continue
        d[end[a] : m] = now[end[a] : m] - own[end[a] : m]
        for i in range(start[a], end[a], BLOCK):
            last = min(i + BLOCK, end[a])
            since = rows_since_carry(last - i, since, sums, totals, m)
            at = no_better_at_rows(i, last, a, at, by_rank, level, passed, of_rows)
            for b in range(a + 1, start.size):
                d[i:last] = now[i:last] - of_rows[b, : last - i]
                _meet(rule, wide, i, last, start[b], end[b], m, slots)
