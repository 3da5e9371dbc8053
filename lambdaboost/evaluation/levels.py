"""The documents of a query by level, those of one label: which pair with which, known before any score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries


class Levels(NamedTuple):
    """The levels of all queries, best first within each query.

    A document pairs with every document of the levels after its own and before the level's `reach`: it should be above
    all of them.
    """

    # (n_documents,) level within the query, -1 for one that pairs with none; in bytes where they hold every level.
    of_document: NDArray[np.signedinteger]
    first: NDArray[np.int64]  # (n_queries + 1,) the levels of query q are first[q]:first[q + 1]
    size: NDArray[np.int32]  # (n_levels,) its documents
    # (n_levels,) the first level after its run of partners, counted within the query
    reach: NDArray[np.int32]

    def as_int32(self) -> Levels:
        """The same with `of_document` as int32, for which kernels are compiled."""
        return self._replace(of_document=self.of_document.astype(np.int32, copy=False))

    def query_of_level(self) -> NDArray[np.int64]:
        """The query of each level."""
        return np.repeat(np.arange(self.first.size - 1), np.diff(self.first))

    def count_pairs(self) -> NDArray[np.float64]:
        """The number of pairs of each query."""
        query = self.query_of_level()
        documents_to = np.append(0, np.cumsum(self.size, dtype=np.float64))
        partners = documents_to[self.first[query] + self.reach] - documents_to[1:]
        return np.bincount(query, self.size * partners, self.first.size - 1).astype(np.float64)


def levels_of(q: Queries, source: str, within: tuple[str, ...] = (), skip_zero: bool = False) -> Levels:
    """Levels by the labels of `source`, pairs only among documents that tie in every source of `within`.

    Documents without a label (NaN) in any of these sources are left out, with `skip_zero` those labelled 0 in `source`
    too. If a query has no label at all in a source of `within`, its documents tie in that source. Cached in `q`.
    """

    def build() -> Levels:
        # Part by part: sorting needs many times the memory of what it gives.
        parts, n_levels = [], 0
        for _, _, part in q.chunks():
            found = _levels_of_part(part, source, within, skip_zero)
            narrow = np.int8 if found.of_document.max() <= np.iinfo(np.int8).max else np.int32
            parts.append(
                found._replace(of_document=found.of_document.astype(narrow), first=found.first[1:] + n_levels)
            )
            n_levels += found.size.size
        of_document, first, *others = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        first = np.append(0, first)
        first.flags.writeable = False  # as offsets are, so that kernels are compiled for one type
        return Levels(of_document, first, *others)

    levels: Levels = q.memo(("levels", source, within, skip_zero), build)
    return levels


def _levels_of_part(q: Queries, source: str, within: tuple[str, ...], skip_zero: bool) -> Levels:
    value = q.source(source, allow_negative=True)
    has = ~np.isnan(value)
    if skip_zero:
        has &= value != 0
    outer = []
    for name in within:
        labels = q.source(name, allow_negative=True)
        # All documents tie in a query without any label.
        labelled = np.logical_or.reduceat(~np.isnan(labels), q.offsets[:-1])
        outer.append(np.where(np.repeat(labelled, q.sizes), labels, np.float32(0)))
        has &= ~np.isnan(outer[-1])

    # The documents by query, outer labels, label; each level is a run of them, and so is each tie of the outer labels.
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

    # Where levels begin and end, and the levels of each query and of each tie, numbered through all queries.
    level_start = starts(keys)
    level_end = np.append(level_start[1:], n)[: level_start.size]
    tie_start = starts(keys[:-1])
    level_query = keys[0][level_start]
    first = np.searchsorted(level_query, np.arange(q.n_queries + 1))
    # The levels of a tie end where the next tie starts.
    level_of_tie = np.append(np.searchsorted(level_start, tie_start), level_start.size)
    reach = level_of_tie[np.searchsorted(tie_start, level_start, side="right")]
    of_document = np.full(q.n_documents, -1, dtype=np.int32)
    level_of_sorted = np.repeat(np.arange(level_start.size), level_end - level_start)
    of_document[rows[order]] = level_of_sorted - first[keys[0]]
    return Levels(
        of_document,
        first.astype(np.int64),
        (level_end - level_start).astype(np.int32),
        (reach - first[level_query]).astype(np.int32),
    )
