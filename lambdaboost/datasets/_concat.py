"""Helpers of `Collection.concat`: checks that the parts agree, and their features and queries joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.positions import Positions
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
    """The query id of each row, or None if the queries have no ids."""
    return None if queries.ids is None else np.repeat(queries.ids, queries.sizes)


def check_alike(parts: Sequence[Part]) -> None:
    """Raise if parts differ in their features, feature names or label sources, or only some have ids or positions."""
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
                f"collections[{i}] and collections[0] differ in feature_names: give both the same names"
            )
        if set(part.queries.labels) != set(first.queries.labels):
            raise ValueError(
                f"collections[{i}] has the label sources {', '.join(part.queries.labels)}, collections[0] has "
                f"{', '.join(first.queries.labels)}: give both the same"
            )
        if (part.queries.ids is None) != (first.queries.ids is None):
            raise ValueError(
                f"only one of collections[{i}] and collections[0] has query ids: give both or neither"
            )
        if (part.queries.positions is None) != (first.queries.positions is None):
            raise ValueError(
                f"only one of collections[{i}] and collections[0] has positions: give both or neither"
            )


def stacked(features: list[Any]) -> Any:
    """Feature matrices stacked by row; sparse if any is sparse."""
    if all(isinstance(part, np.ndarray) for part in features):
        return np.concatenate(features)
    from scipy import sparse

    return sparse.vstack([sparse.csr_matrix(part) for part in features], format="csr")


def concat_queries(parts: list[Queries]) -> Queries:
    """The queries of all parts, in order."""
    _check_distinct([part.ids for part in parts if part.ids is not None])
    ids = [of_rows for part in parts if (of_rows := row_ids(part)) is not None]
    weights = [np.ones(q.n_documents, dtype=np.float32) if q.weight is None else q.weight for q in parts]
    labels = {name: np.concatenate([q.labels[name] for q in parts]) for name in parts[0].labels}
    return Queries(
        labels.pop(RELEVANCE),
        sizes=None if ids else np.concatenate([q.sizes for q in parts]),
        ids=np.concatenate(ids) if ids else None,
        weight=None if all(q.weight is None for q in parts) else np.concatenate(weights),
        position=concat_positions(parts),
        **labels,
    )


def concat_positions(parts: Sequence[Queries]) -> Positions | None:
    """The positions of all parts; None if none has any."""
    given = [q.positions for q in parts if q.positions is not None]
    if given and len(given) < len(parts):
        raise ValueError("only some parts have positions: give all of them positions, or none")
    return Positions.concat(given) if given else None


def _check_distinct(ids: list[NDArray[Any]]) -> None:
    """Raise if two parts share an id: adjacent, their queries would merge into one."""
    seen: dict[Any, int] = {}
    for i, part in enumerate(ids):
        for query in part.tolist():
            if seen.setdefault(query, i) != i:
                raise ValueError(
                    f"query {query!r} is in collections[{seen[query]}] and collections[{i}]: "
                    "remove it from one, or give the queries different ids"
                )
