"""`evaluate`: measures of scores on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import saying
from lambdaboost.dask.rows import Rows, check_sources, named, spread
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Figures, Measure
from lambdaboost.evaluation.naming import measures_in


def evaluate(
    client: Any,
    scores: Any,
    y: Any,
    *,
    qid: Any,
    measures: Measure | str | Iterable[Measure | str],
    weight: Any = None,
    sources: Any = None,
    position: Any = None,
    name: str = "scores",
) -> Figures:
    """Evaluate scores on the workers of a Dask cluster, which return the values of their queries alone.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    scores : dask Array or Series of shape (n_documents,)
        Finite scores, or −inf for a document that was not retrieved.
    y, qid, weight, sources, position
        As in `train`.
    measures : Measure, str or iterable of them
        The measures, or their names, such as ``"ndcg@10"``.
    name : str
        The name of the system in tables of `compare`.

    Returns
    -------
    Figures
        The values of each query, in the order of the rows, and its weight; ``.mean(measure)`` is what
        ``measure(scores, queries)`` is in one process.

    Raises
    ------
    ValueError, TypeError
        If a query is split over partitions, partitions do not match, or a label or score is wrong; for a
        measure whose values depend on all queries; and as the measure.

    Examples
    --------
    >>> scores = X.map_partitions(booster.predict, meta=(None, float))  # doctest: +SKIP
    >>> evaluate(client, scores, y, qid=qid, measures="ndcg@10").mean(NDCG(10))  # doctest: +SKIP
    0.4712

    """
    chosen = measures_in(measures)
    given = named(y, qid, weight, sources, position)
    for measure in chosen:
        if measure.pooled:
            raise ValueError(
                f"measures has {measure!r}, whose value of a query depends on all others, which no worker has: "
                "measure it in one process"
            )
        check_sources(measure, given)
    parts = spread(client, {"scores": scores}, given, _any)
    rows, numbers = [part.rows for part in parts], [part.number for part in parts]
    found = client.gather(client.map(_figures, rows, numbers, measures=chosen, pure=False))
    values, weights = (np.concatenate(columns, axis=-1) for columns in zip(*found, strict=True))
    return Figures(name, dict(zip(chosen, values, strict=True)), None if weight is None else weights)


def _any(q: Queries) -> None:
    """Take any queries: the measures check them together with the scores."""


def _figures(
    part: Rows, number: int, measures: Sequence[Measure]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values of a partition's queries, (measures, queries), and their weights."""
    scores, q = part
    with saying(f"partition {number}"):
        return np.array([measure.per_query(scores, q) for measure in measures]), q.query_weight
