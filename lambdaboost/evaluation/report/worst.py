"""The worst-ranked queries of a system, with their documents and labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.report.words import query_name

TOP = 5  # number of ranks shown, and of the best documents below them


def document_names(documents: ArrayLike | None, q: Queries) -> NDArray[np.str_]:
    """The given names, or row numbers from 0; raises ValueError unless there is one name per document."""
    if documents is None:
        return np.array([f"row {row}" for row in range(q.n_documents)])
    names = np.asarray(documents, dtype=np.str_)
    if names.shape != (q.n_documents,):
        raise ValueError(
            f"documents has shape {names.shape}, expected ({q.n_documents},): one name per document"
        )
    return names


def worst_queries(system: System, measure: Measure, n: int = 3) -> NDArray[np.int64]:
    """The queries with the lowest values, among those with a label, above 0 where labels are gains.

    >>> q = Queries([1, 0, 0, 1, 0, 0], sizes=[2, 2, 2])
    >>> from lambdaboost.evaluation import NDCG
    >>> worst_queries(System("a", [2, 1, 2, 1, 2, 1], q), NDCG(), n=1)
    array([1])
    """
    q = system.queries
    values = system.per_query(measure)
    labels = q.labels[measure.source]
    useful = ~np.isnan(labels) if measure.allows_negative else labels > 0
    labelled = np.logical_or.reduceat(useful, q.offsets[:-1])
    candidates = np.flatnonzero(labelled & ~np.isnan(values))
    return candidates[np.argsort(values[candidates], kind="stable")[:n]]


def documents_table(
    query: int, system: System, measure: Measure, names: NDArray[np.str_], others: Sequence[System] = ()
) -> Table:
    """The first ranks of a query, and the best documents below them."""
    q = system.queries
    rows = np.arange(q.offsets[query], q.offsets[query + 1])
    ranks = {s.name: _ranks(s, rows) for s in (system, *others)}
    order = np.argsort(ranks[system.name])
    below = order[TOP:]
    labels = np.nan_to_num(q.labels[measure.source][rows])
    missed = below[np.argsort(-labels[below], kind="stable")]
    missed = missed[labels[missed] > 0][:TOP]
    shown = [*order[:TOP], *sorted(missed, key=lambda at: ranks[system.name][at])]
    header = ("Document", "Rank", *(f"Rank, {s.name}" for s in others), *q.labels, "Score")
    scores = np.asarray(system.scores)[rows]
    table = tuple(
        (
            Cell(str(names[rows[at]])),
            *(Cell(str(of[at])) for of in ranks.values()),
            *(Cell("–" if np.isnan(v[rows[at]]) else f"{v[rows[at]]:.3g}") for v in q.labels.values()),
            Cell(f"{scores[at]:.4g}"),
        )
        for at in shown
    )
    value = measure.per_query(system.scores, q)[query]
    caption = (
        f"Query {query_name(q, query)}, {rows.size} documents: {measure!r} × 100 is {100 * value:.2f}. The first "
        f"{min(TOP, rows.size)} ranks"
        + (f", and the best of {measure.source} below them." if missed.size else ".")
    )
    return Table(header, table, caption)


def _ranks(system: System, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each document of a query, from 1."""
    order = np.argsort(-np.asarray(system.scores)[rows], kind="stable")
    ranks = np.empty(rows.size, dtype=np.int64)
    ranks[order] = np.arange(1, rows.size + 1)
    return ranks
