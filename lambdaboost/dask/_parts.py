"""Dask collections as rows on the workers, each query on one worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.dask._results import as_worker, identities, results
from lambdaboost.datasets import Queries
from lambdaboost.datasets._given import numbers, query_ids
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.objectives import Objective


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of whole queries, those of a query adjacent."""

    X: Any
    y: NDArray[Any]
    qid: NDArray[Any]
    weight: NDArray[Any] | None
    sources: dict[str, NDArray[Any]] = field(default_factory=dict)
    position: Positions | None = None

    @property
    def queries(self) -> Queries:
        """The queries, with checked labels."""
        return Queries(self.y, ids=self.qid, weight=self.weight, position=self.position, **self.sources)


@dataclass(frozen=True, eq=False)
class Spread:
    """The rows on each worker and its identity, by its address, and the number of all documents."""

    on: dict[str, Any]
    identities: dict[str, str]
    documents: int


def spread(client: Any, objective: Objective, collections: dict[str, Any], sources: Any) -> Spread:
    """Compute collections on the workers, and check every row and query before any training.

    `collections` are X, y, qid, weight and position; the last two may be None.
    """
    names = () if sources is None else getattr(sources, "columns", sources)
    by_name = {name: sources[name] for name in names}
    for name in objective.sources:
        if name != RELEVANCE and name not in by_name:
            raise ValueError(f"{objective!r} reads the source {name!r}: give it in sources={{{name!r}: …}}")
    if objective.reads_positions and collections["position"] is None:
        raise ValueError(f"{objective!r} reads positions: give the rank of each row, from 1, as position=")
    of_sources = {f"sources[{name!r}]": values for name, values in by_name.items()}
    delayed = _aligned(
        {name: values for name, values in (collections | of_sources).items() if values is not None}
    )
    parts = client.compute(
        [_delayed(_rows)(number, list(by_name), **of) for number, of in enumerate(delayed)]
    )
    # Only ids and lengths are transferred, and the errors of wrong partitions.
    ids, lengths = (results(client, client.map(look, parts, pure=False)) for look in (_ids, _length))
    _check_whole(ids)
    by_worker: dict[str, list[Any]] = {}
    where = client.who_has(parts)
    if lost := [part for part in parts if not where.get(part.key)]:
        raise RuntimeError(f"a worker died and {len(lost)} of {len(parts)} partitions with it: train again")
    for part, its_ids in zip(parts, ids, strict=True):
        if its_ids.size:
            by_worker.setdefault(next(iter(where[part.key])), []).append(part)
    if not by_worker:
        raise ValueError("X has no rows: there is nothing to train on")
    known = identities(client, list(by_worker))
    stacked = {worker: on(client, worker, _stacked, of) for worker, of in by_worker.items()}
    results(client, client.map(_length, list(stacked.values()), pure=False), list(stacked))
    return Spread(stacked, known, sum(lengths))


def on(client: Any, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The future of a call on a given worker."""
    return client.submit(function, *arguments, workers=[worker], allow_other_workers=False, pure=False)


def everywhere(
    client: Any, parts: Spread, function: Callable[..., Any], arguments: Callable[[int, str], tuple[Any, ...]]
) -> Any:
    """Call `function(rows, *arguments(rank, worker))` on all workers at once; return the result of the first."""
    from distributed import MultiLock

    # Otherwise two trainings could wait for each other's workers forever.
    with MultiLock(list(parts.on), client=client):
        futures = [
            on(
                client,
                worker,
                as_worker,
                parts.identities.get(worker),
                function,
                rows,
                *arguments(rank, worker),
            )
            for rank, (worker, rows) in enumerate(parts.on.items())
        ]
        return results(client, futures, list(parts.on), end_stuck=True)[0]


def threads() -> int:
    """The number of threads of the worker that runs this."""
    from distributed import get_worker

    return int(get_worker().state.nthreads)


def _aligned(collections: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The partitions of each collection, by its name; all must have the same number."""
    parted = {name: _partitions(name, collection) for name, collection in collections.items()}
    n = len(parted["X"])
    for name, parts in parted.items():
        if len(parts) != n:
            raise ValueError(
                f"{name} has {len(parts)} partitions, X has {n}: partition them alike, row by row"
            )
    return [{name: parts[i] for name, parts in parted.items()} for i in range(n)]


def _partitions(name: str, collection: Any) -> list[Any]:
    if not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{name} is {type(collection).__name__}, expected a Dask array, DataFrame or Series; "
            "on one machine use lambdaboost.lightgbm.train or lambdaboost.xgboost.train"
        )
    if name == "X" and getattr(collection, "numblocks", (1, 1))[1:] not in ((), (1,)):
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def _delayed(function: Callable[..., Any]) -> Any:
    from dask import delayed

    return delayed(function, pure=False)


def _rows(number: int, names: Sequence[str], **of: Any) -> Rows:
    """One partition, with its queries in the order of their first rows, and the rows of each query adjacent."""
    n = of["X"].shape[0]
    positions = None
    if (position := of.pop("position", None)) is not None:
        positions = positions_of(f"partition {number}: position", position)
    labels = {name: _column(f"partition {number}: {name}", of[name]) for name in of if name != "X"}
    lengths = {name: values.size for name, values in labels.items()}
    lengths |= {} if positions is None else {"position": positions.codes.size}
    for name, rows in lengths.items():
        if rows != n:
            raise ValueError(f"partition {number}: {name} has {rows} rows, X has {n}")
    qid = labels["qid"]
    _, first, query = np.unique(qid, return_index=True, return_inverse=True)
    order = np.argsort(first[query], kind="stable") if n else np.arange(0)
    X = of["X"]
    if np.any(order[1:] < order[:-1]):
        X = X.iloc[order] if hasattr(X, "iloc") else X[order]
        labels = {name: values[order] for name, values in labels.items()}
        positions = None if positions is None else positions.take(order)
    sources = {name: labels[f"sources[{name!r}]"] for name in names}
    return Rows(X, labels["y"], labels["qid"], labels.get("weight"), sources, positions)


def _column(name: str, values: Any) -> NDArray[Any]:
    """One value per row, as an array without masks, whose only null is NaN."""
    flat = values if values.ndim == 1 else np.ma.ravel(np.ma.asanyarray(values))
    return query_ids(name, flat) if name.endswith(": qid") else numbers(name, flat)


def _ids(rows: Rows) -> NDArray[Any]:
    """The queries of a partition, in order."""
    _, first = np.unique(rows.qid, return_index=True)
    return rows.qid[np.sort(first)]


def _length(rows: Rows) -> int:
    return len(rows.y)


def _check_whole(ids: Sequence[NDArray[Any]]) -> None:
    """Raise if a query is in two partitions, naming the first one."""
    home: dict[Any, int] = {}
    for number, of_partition in enumerate(ids):
        for query in of_partition.tolist():
            if home.setdefault(query, number) != number:
                raise ValueError(
                    f"query {query!r} is split over partitions {home[query]} and {number}: keep the rows of a query "
                    "in one partition, as frame.shuffle('qid') does before X, y and qid are taken from it"
                )


def _stacked(parts: Sequence[Rows]) -> Rows:
    """The partitions of a worker as one."""
    weights = [part.weight for part in parts if part.weight is not None]
    positions = [part.position for part in parts if part.position is not None]
    rows = Rows(
        _stack([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.qid for part in parts]),
        np.concatenate(weights) if weights else None,
        {name: np.concatenate([part.sources[name] for part in parts]) for name in parts[0].sources},
        Positions.concat(positions) if positions else None,
    )
    _ = rows.queries  # raises for a wrong label now: during training the other workers would wait
    return rows


def _stack(parts: Sequence[Any]) -> Any:
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    if hasattr(parts[0], "tocsr"):
        from scipy import sparse

        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)
