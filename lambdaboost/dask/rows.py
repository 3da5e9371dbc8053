"""Whole queries on the workers: the partitions of Dask's collections, each read and checked where it lies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lambdaboost._checks import check_new_source, saying
from lambdaboost.dask.waiting import WorkerDied
from lambdaboost.datasets import Queries
from lambdaboost.datasets.arrays import numbers, query_ids
from lambdaboost.datasets.collection import stacked
from lambdaboost.datasets.positions import positions_of
from lambdaboost.datasets.queries import check_distinct

ARGUMENTS = {"relevance": "y", "ids": "qid"}  # of `train` and `evaluate`, by those of `Queries`
WHOLE = "keep the rows of a query in one partition, as frame.shuffle('qid') does before X, y and qid are taken from it"
Check = Callable[[Queries], object]  # raises if the queries of a partition cannot be used


class Rows(NamedTuple):
    """Features of any kind, or scores, with their queries."""

    features: Any
    queries: Queries

    def table(self, names: str) -> Any:
        """The features, which a frame names itself: see `Collection.table`."""
        return self.features


class Part(NamedTuple):
    """A partition with rows: its `Rows` on a worker, and the worker's address."""

    number: int
    rows: Any
    worker: str
    documents: int


def named(y: Any, qid: Any, weight: Any, sources: Any, position: Any) -> dict[str, Any]:
    """The collections that are given, by the arguments of `Queries`."""
    columns = {"relevance": y, "ids": qid, "weight": weight, "position": position}
    for name in () if sources is None else getattr(sources, "columns", sources):
        check_new_source(name)
        columns[name] = sources[name]
    return {name: values for name, values in columns.items() if values is not None}


def check_sources(reader: Any, given: Mapping[str, Any]) -> None:
    """Raise if an objective or a measure reads a source that is not given."""
    for name in reader.sources:
        if name not in given:
            raise ValueError(f"{reader!r} reads the source {name!r}: give it in sources={{{name!r}: …}}")


def spread(client: Any, features: Mapping[str, Any], columns: Mapping[str, Any], check: Check) -> list[Part]:
    """Compute collections on the workers, where every row and query is checked: the partitions that have rows.

    `features` is a collection under the name of its argument.
    """
    from dask import delayed

    given = {**features, **columns}
    parts = client.compute(
        [
            delayed(_part, pure=False)(number, tuple(given), values, check)
            for number, values in enumerate(_partitions(given))
        ]
    )
    # Only ids and names are transferred, and the errors of wrong partitions.
    found = client.gather(client.map(_described, parts, pure=False))
    check_distinct({f"partition {number}": ids for number, (ids, *_) in enumerate(found)}, WHOLE)
    if len({names is None for _, documents, names in found if documents}) > 1:
        raise ValueError(
            "position is a rank in one partition and a name in another: give the same kind in all"
        )
    held_by = client.who_has(parts)
    if not all(held_by.get(part.key) for part in parts):
        raise WorkerDied("a worker died with its partitions: train again")
    held = [
        Part(number, part, next(iter(held_by[part.key])), documents)
        for number, (part, (_, documents, _)) in enumerate(zip(parts, found, strict=True))
        if documents
    ]
    if not held:
        raise ValueError(f"{next(iter(features))} has no rows: give at least one partition with rows")
    return held


def joined(parts: Sequence[Rows]) -> Rows:
    """The partitions of a worker as one."""
    q = Queries.concat([part.queries for part in parts])
    features = [part.features for part in parts]
    if hasattr(features[0], "iloc"):
        import pandas as pd

        return Rows(pd.concat(features), q)
    return Rows(stacked(features), q)


def _partitions(given: Mapping[str, Any]) -> list[Any]:
    """The partitions of collections, the first of which are features: for each, those of all collections."""
    for name, collection in given.items():
        if not hasattr(collection, "to_delayed"):
            raise TypeError(
                f"{_argument(name)} is {type(collection).__name__}, expected a Dask array, DataFrame or Series; "
                "without a cluster use lambdaboost.lightgbm, lambdaboost.xgboost and lambdaboost.evaluation"
            )
    first, *others = given.values()
    if all(hasattr(collection, "divisions") for collection in given.values()):
        _check_alike({name: frame.npartitions for name, frame in given.items()})
        # In one expression: apart, Dask would join small files of one column, and not those of many.
        beside = first.map_partitions(
            _beside, *others, meta=first._meta, enforce_metadata=False, align_dataframes=False
        )
        return list(beside.to_delayed())
    if getattr(first, "numblocks", (1, 1))[1:] not in ((), (1,)):
        first = first.rechunk({1: -1})
    partitions = [np.ravel(collection.to_delayed()) for collection in (first, *others)]
    _check_alike(dict(zip(given, map(len, partitions), strict=True)))
    return list(zip(*partitions, strict=True))


def _check_alike(partitions: Mapping[str, int]) -> None:
    """Raise if collections differ in their numbers of partitions."""
    first = next(iter(partitions))
    for name, number in partitions.items():
        if number != partitions[first]:
            raise ValueError(
                f"{_argument(name)} has {number} partitions, {first} has {partitions[first]}: partition them alike, "
                "row by row"
            )


def _argument(name: str) -> str:
    return ARGUMENTS.get(name, name)


def _beside(*partitions: Any) -> tuple[Any, ...]:
    return partitions


def _part(number: int, names: Sequence[str], values: Sequence[Any], check: Check) -> Rows | None:
    """One partition, its queries in the order of their first rows; None without rows."""
    called, *others = names
    X, *given = values
    columns = {}
    for name, column in zip(others, given, strict=True):
        argument = f"partition {number}: {_argument(name)}"
        flat = column if column.ndim == 1 else np.ma.ravel(np.ma.asanyarray(column))
        read: Any = {"ids": query_ids, "position": positions_of}.get(name, numbers)
        columns[name] = read(argument, flat)
        rows = len(getattr(columns[name], "codes", columns[name]))
        if rows != X.shape[0]:
            raise ValueError(f"{argument} has {rows} rows, {called} has {X.shape[0]}")
    if not X.shape[0]:
        return None
    _, first, query = np.unique(columns["ids"], return_index=True, return_inverse=True)
    order = np.argsort(first[query], kind="stable")
    if np.any(order[1:] < order[:-1]):
        X = X.iloc[order] if hasattr(X, "iloc") else X[order]
        columns = {name: column.take(order) for name, column in columns.items()}
    with saying(f"partition {number}"):
        q = Queries(columns.pop("relevance"), **columns)
        check(q)
    return Rows(X, q)


def _described(part: Rows | None) -> tuple[Any, int, Any]:
    """The ids of a partition's queries, its number of documents, and the names of its positions."""
    if part is None:
        return np.empty(0), 0, None
    return part.queries.ids, part.queries.n_documents, part.queries.position_names
