"""Which documents pair with which: documents of a query sorted into levels, known before any score is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries


class Levels(NamedTuple):
    """The levels of all queries, best first within each query.

    In the layout of a query its documents stand level by level. A document pairs with every document between the end
    of its own level and the level's `run_end`: it should be above all of them.
    """

    of_document: NDArray[np.int32]  # (n_documents,) level within the query, -1 for one that pairs with none
    slot: NDArray[np.int32]  # (n_documents,) a place in its level, in input order, or -1
    first: NDArray[np.int64]  # (n_queries + 1,) the levels of query q are first[q]:first[q + 1]
    start: NDArray[np.int32]  # (n_levels,) where the level starts in the query's layout
    end: NDArray[np.int32]  # (n_levels,) where it ends, and its run of partners starts
    run_end: NDArray[np.int32]  # (n_levels,) where its run of partners ends
    row: NDArray[np.int64]  # (n_levels,) the row of one of its documents: all have the same label and gain


def levels(q: Queries, source: str, within: tuple[str, ...] = (), skip_zero: bool = False) -> Levels:
    """Levels by the labels of `source`, pairs only among documents that tie in every source of `within`.

    Documents without a label (NaN) in any of these sources are left out, with `skip_zero` those labelled 0 in `source`
    too. If a query has no label at all in a source of `within`, its documents tie in that source. Cached in `q`.
    """
    return q.memo(("levels", source, within, skip_zero), lambda: _levels(q, source, within, skip_zero))


def _levels(q: Queries, source: str, within: tuple[str, ...], skip_zero: bool) -> Levels:
    value = q.source(source, allow_negative=True)
    outer = [_tied_where_unlabelled(q, q.source(name, allow_negative=True)) for name in within]
    has = ~np.isnan(value)
    for labels in outer:
        has &= ~np.isnan(labels)
    if skip_zero:
        has &= value != 0
    rows = np.flatnonzero(has)
    query = q.query_of_row[rows]
    keys: list[NDArray[Any]] = [query, *(-labels[rows] for labels in outer), -value[rows]]
    order = np.lexsort(keys[::-1])
    keys = [key[order] for key in keys]
    n = rows.size

    def starts(columns: list[NDArray[Any]]) -> NDArray[np.int64]:
        """Where any of the sorted columns changes."""
        changed = np.zeros(n, dtype=bool)
        changed[:1] = True
        for column in columns:
            changed[1:] |= column[1:] != column[:-1]
        return np.flatnonzero(changed)

    level_start = starts(keys)
    level_end = np.append(level_start[1:], n)[: level_start.size]
    tie_start = starts(keys[:-1])
    tie_end = np.append(tie_start[1:], n)
    level_query = keys[0][level_start]
    first = np.searchsorted(level_query, np.arange(q.n_queries + 1))
    query_start = np.searchsorted(keys[0], np.arange(q.n_queries))[level_query]
    run_end = tie_end[np.searchsorted(tie_start, level_start, side="right") - 1] if n else level_end
    of_document = np.full(q.n_documents, -1, dtype=np.int32)
    level_of_sorted = np.repeat(np.arange(level_start.size), level_end - level_start)
    of_document[rows[order]] = level_of_sorted - first[keys[0]]
    slot = np.full(q.n_documents, -1, dtype=np.int32)
    slot[rows[order]] = np.arange(n) - np.searchsorted(keys[0], keys[0])
    return Levels(
        of_document,
        slot,
        first.astype(np.int64),
        (level_start - query_start).astype(np.int32),
        (level_end - query_start).astype(np.int32),
        (run_end - query_start).astype(np.int32),
        rows[order[level_start]],
    )


def _tied_where_unlabelled(q: Queries, labels: NDArray[np.float32]) -> NDArray[np.float32]:
    """The labels, all 0 in queries that have none."""
    labelled = np.logical_or.reduceat(~np.isnan(labels), q.offsets[:-1])
    return labels if labelled.all() else np.where(np.repeat(labelled, q.sizes), labels, np.float32(0))
