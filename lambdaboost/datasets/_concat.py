"""The parts of `Collection.concat`: what must agree, and how features and queries follow one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.queries import RELEVANCE, Queries


class Part(Protocol):
    """What is compared of a `Collection`."""

    @property
    def n_features(self) -> int: ...
    @property
    def feature_names(self) -> tuple[str, ...] | None: ...
    @property
    def queries(self) -> Queries: ...


def row_ids(queries: Queries) -> NDArray[Any] | None:
    """The id of each row's query, where there are ids."""
    return None if queries.ids is None else np.repeat(queries.ids, queries.sizes)


def check_alike(parts: Sequence[Part]) -> None:
    """Refuse parts that differ in features, names, label sources or whether they have ids."""
    if not parts:
        raise ValueError("collections is empty: give at least one Collection")
    first = parts[0]
    for i, part in enumerate(parts[1:], 1):
        if part.n_features != first.n_features:
            raise ValueError(
                f"collections[{i}] has {part.n_features} features, collections[0] has {first.n_features}: "
                "read them with the same n_features="
            )
        if part.feature_names != first.feature_names:
            raise ValueError(
                f"collections[{i}] and collections[0] differ in feature_names: name the columns alike"
            )
        if set(part.queries.labels) != set(first.queries.labels):
            raise ValueError(
                f"collections[{i}] has the sources {', '.join(part.queries.labels)}, collections[0] has "
                f"{', '.join(first.queries.labels)}: give all the same"
            )
        if (part.queries.ids is None) != (first.queries.ids is None):
            raise ValueError(
                f"only one of collections[{i}] and collections[0] has query ids: give both or neither"
            )


def stacked(features: list[Any]) -> Any:
    """Feature matrices one below the other, sparse if any is."""
    if all(isinstance(part, np.ndarray) for part in features):
        return np.concatenate(features)
    from scipy import sparse

    return sparse.vstack([sparse.csr_matrix(part) for part in features], format="csr")


def concat_queries(parts: list[Queries]) -> Queries:
    """The queries of all parts in a row."""
    _check_distinct([part.ids for part in parts if part.ids is not None])
    ids = [of_rows for part in parts if (of_rows := row_ids(part)) is not None]
    weights = [np.ones(q.n_documents, dtype=np.float32) if q.weight is None else q.weight for q in parts]
    labels = {name: np.concatenate([q.labels[name] for q in parts]) for name in parts[0].labels}
    return Queries(
        labels.pop(RELEVANCE),
        sizes=None if ids else np.concatenate([q.sizes for q in parts]),
        ids=np.concatenate(ids) if ids else None,
        weight=None if all(q.weight is None for q in parts) else np.concatenate(weights),
        **labels,
    )


def _check_distinct(ids: list[NDArray[Any]]) -> None:
    """Refuse an id in two parts: at their seam two queries would become one."""
    seen: dict[Any, int] = {}
    for i, part in enumerate(ids):
        for query in part.tolist():
            if seen.setdefault(query, i) != i:
                raise ValueError(
                    f"query {query!r} is in collections[{seen[query]}] and collections[{i}]: "
                    "leave it out of one, or give the queries different ids"
                )
