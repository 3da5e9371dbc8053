"""All pairs of one query for a swap whose d differs with the two levels that meet."""

from __future__ import annotations

import numpy as np

from lambdaboost._jit import inlined
from lambdaboost.objectives.kernels.pair_weight import terms_of_level, terms_of_rows
from lambdaboost.objectives.kernels.tiles import BLOCK, ROWS, rows_by_columns, rows_since_carry


@inlined
def _by_rank_and_level(start, end, ranks):
    """The slots of a layout by rank, and the level of each slot."""
    m = end[-1]
    level = np.empty(m, np.int32)
    last = 0
    for a in range(start.size):
        level[start[a] : end[a]] = a
        last = max(last, int(ranks[end[a] - 1]))
    slot_at = np.full(last + 1, -1, np.int32)
    for slot in range(m):
        slot_at[int(ranks[slot])] = slot
    by_rank = np.empty(m, np.int32)
    at = 0
    for slot in slot_at:
        if slot >= 0:
            by_rank[at] = slot
            at += 1
    return by_rank, level


@inlined
def two_by_two(rule, truncated, levels, above_cutoff, slots):
    """All pairs of a query where any two levels have discounts of their own, made anew for each meeting.

    The swap's `rank_terms` give ranks as h; `pair_weight` says what a level's terms are.
    """
    start, end, swap = levels.start, levels.end, rule.swap
    rows, columns = slots.rows, slots.columns
    d = columns.read.d
    m = end[-1]
    by_rank, level = _by_rank_and_level(start, end, columns.read.h)
    own, now = np.empty(m, np.float32), np.empty(m, np.float32)
    passed = np.empty(start.size, np.int64)
    largest = (end - start).max()
    of_rows = np.empty((start.size, min(BLOCK, largest) if largest >= ROWS else 1), np.float32)
    since = 0
    for a in range(start.size - 1, -1, -1):
        terms_of_level(swap, a, by_rank, level, now)
        own[start[a] : end[a]] = now[start[a] : end[a]]
        if end[a] == m:
            continue
        passed[:] = 0
        at = 0
        if end[a] - start[a] < ROWS:
            # A few rows meet all columns one by one: a meeting for each level of columns would cost more.
            for i in range(start[a], end[a]):
                at = terms_of_rows(swap, i, i + 1, a, (by_rank, level, at, passed), of_rows)
                d[i] = now[i]
                for b in range(a + 1, start.size):
                    for j in range(start[b], end[b]):
                        d[j] = (now[j] - own[j]) + of_rows[b, 0]
                since = rows_since_carry(1, since, columns)
                rows_by_columns(rule, i, i + 1, rows, end[a], m, columns)
            continue
        d[end[a] : m] = now[end[a] : m] - own[end[a] : m]
        for i in range(start[a], end[a], BLOCK):
            last = min(i + BLOCK, end[a])
            since = rows_since_carry(last - i, since, columns)
            at = terms_of_rows(swap, i, last, a, (by_rank, level, at, passed), of_rows)
            for b in range(a + 1, start.size):
                d[i:last] = now[i:last] - of_rows[b, : last - i]
                rows_by_columns(rule, i, last, rows, start[b], end[b], columns)
