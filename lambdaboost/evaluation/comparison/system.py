"""`System` and `Figures`: a ranking system given by its scores, or by its values per query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets._concat import concat_positions
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.measure import Measure


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """A ranking system: its name, its scores, and the queries that it ranks.

    Parameters
    ----------
    name : str
        Its name in tables.
    scores : array of shape (n_documents,)
        Finite scores; −inf for a document that was not retrieved.
    queries : Queries
        The documents and their labels.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid; names the system.

    Examples
    --------
    >>> System("LightGBM", [0.2, 0.1], Queries([1, 0], sizes=[2]))
    System('LightGBM', 1 queries)

    """

    name: str
    scores: ArrayLike
    queries: Queries

    def __post_init__(self) -> None:
        _check_name(self.name)
        if not isinstance(self.queries, Queries):
            kind = type(self.queries).__name__
            raise TypeError(f"queries of {self.name!r} is a {kind}: give Queries(relevance, sizes=…)")
        try:
            scores = _checks.scores(self.scores, self.queries).copy()
        except ValueError as error:
            raise ValueError(f"system {self.name!r}: {error}") from None
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    def __repr__(self) -> str:
        return f"System({self.name!r}, {self.n_queries} queries)"

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.queries.n_queries

    @property
    def query_weight(self) -> NDArray[np.float64]:
        """The weight of each query, float64 (n_queries,)."""
        return self.queries.query_weight

    def per_query(self, measure: Measure) -> NDArray[np.float64]:
        """The measure for each query, float64 (n_queries,); NaN where it is undefined and `empty` says so."""
        return measure.per_query(self.scores, self.queries)

    @classmethod
    def concat(cls, name: str, *parts: System) -> System:
        """Join systems, such as the test parts of five folds, one after the other.

        >>> fold = System("fold", [0.2, 0.1], Queries([1, 0], sizes=[2]))
        >>> System.concat("all folds", fold, fold)
        System('all folds', 2 queries)
        """
        _check_parts(name, parts)
        return cls(name, np.concatenate([part.scores for part in parts]), _joined([p.queries for p in parts]))


@dataclass(frozen=True, eq=False, repr=False)
class Figures:
    """A ranking system of which only the values per query are known.

    Parameters
    ----------
    name : str
        Its name in tables.
    values : mapping of Measure to array of shape (n_queries,)
        The measure for each query; NaN where it is undefined.
    weight : array of shape (n_queries,), optional
        The weight of each query, finite and ≥ 0; without it, that of the systems compared with.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid; names the system.

    Examples
    --------
    >>> from lambdaboost.evaluation import NDCG
    >>> Figures("published", {NDCG(3): [0.5, 0.25, 1.0]})
    Figures('published', 3 queries)

    """

    name: str
    values: Mapping[Measure, ArrayLike]
    weight: ArrayLike | None = None

    def __post_init__(self) -> None:
        _check_name(self.name)
        if not self.values:
            raise ValueError(f"values of {self.name!r} is empty: give figures for at least one measure")
        values = {m: np.array(v, dtype=np.float64) for m, v in self.values.items()}
        for measure, figures in values.items():
            if figures.ndim != 1 or figures.size == 0 or np.isinf(figures).any():
                raise ValueError(f"{measure!r} of {self.name!r}: give one finite value (or NaN) per query")
            figures.flags.writeable = False
        sizes = {figures.size for figures in values.values()}
        if len(sizes) > 1:
            raise ValueError(
                f"measures of {self.name!r} have {sorted(sizes)} values: give one per query for each"
            )
        object.__setattr__(self, "values", MappingProxyType(values))
        if self.weight is not None:
            object.__setattr__(self, "weight", _checked_weight(self.name, self.weight, sizes.pop()))

    def __repr__(self) -> str:
        return f"Figures({self.name!r}, {self.n_queries} queries)"

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return np.size(next(iter(self.values.values())))

    @property
    def query_weight(self) -> NDArray[np.float64] | None:
        """The weight of each query, float64 (n_queries,), or None where none was given."""
        return None if self.weight is None else np.asarray(self.weight)

    def per_query(self, measure: Measure) -> NDArray[np.float64]:
        """The measure for each query, float64 (n_queries,)."""
        if measure not in self.values:
            known = ", ".join(map(repr, self.values))
            raise ValueError(f"{self.name!r} has no values of {measure!r}, only of {known}")
        return np.asarray(self.values[measure])

    @classmethod
    def concat(cls, name: str, *parts: Figures) -> Figures:
        """Join figures, on the measures that all parts have."""
        _check_parts(name, parts)
        shared = [m for m in parts[0].values if all(m in part.values for part in parts)]
        values = {m: np.concatenate([part.per_query(m) for part in parts]) for m in shared}
        if all(part.weight is None for part in parts):
            return cls(name, values)
        weights = (np.ones(p.n_queries) if p.query_weight is None else p.query_weight for p in parts)
        return cls(name, values, np.concatenate(list(weights)))


def check_same_queries(first: System | Figures, *others: System | Figures) -> NDArray[np.float64]:
    """The weight of each query, float64 (n_queries,); raises where systems rank different queries, saying where."""
    systems = (first, *others)
    for other in others:
        if first.n_queries != other.n_queries:
            raise _different(first, other, f"{first.n_queries} and {other.n_queries} queries")
    ranked = [system for system in systems if isinstance(system, System)]
    for other in ranked[1:]:
        if other.queries is not ranked[0].queries:
            _check_same_documents(ranked[0], other)
    weighted = [system for system in systems if system.query_weight is not None]
    for other in weighted[1:]:
        _check_same_weights(weighted[0], other)
    weight = weighted[0].query_weight if weighted else None
    return np.ones(first.n_queries) if weight is None else weight


def _check_same_documents(a: System, b: System) -> None:
    sizes = a.queries.sizes, b.queries.sizes
    if not np.array_equal(*sizes):
        query = int(np.flatnonzero(sizes[0] != sizes[1])[0])
        raise _different(a, b, f"query {query} has {sizes[0][query]} and {sizes[1][query]} documents")
    if a.queries.labels.keys() != b.queries.labels.keys():
        raise _different(a, b, f"sources {list(a.queries.labels)} and {list(b.queries.labels)}")
    if not _same_positions(a.queries, b.queries):
        raise _different(a, b, "other positions")
    for source, labels in a.queries.labels.items():
        others = b.queries.labels[source]
        if not np.array_equal(labels, others, equal_nan=True):
            row = int(np.flatnonzero((labels != others) & ~(np.isnan(labels) & np.isnan(others)))[0])
            raise _different(a, b, f"{source}[{row}] is {labels[row]:g} and {others[row]:g}")


def _same_positions(a: Queries, b: Queries) -> bool:
    if a.positions is None or b.positions is None:
        return a.positions is b.positions
    return a.position_names == b.position_names and np.array_equal(a.positions.codes, b.positions.codes)


def _check_same_weights(a: System | Figures, b: System | Figures) -> None:
    weights = np.array([a.query_weight, b.query_weight], dtype=np.float64)
    if not np.array_equal(*weights):
        query = int(np.flatnonzero(weights[0] != weights[1])[0])
        raise _different(a, b, f"query {query} weighs {weights[0][query]:g} and {weights[1][query]:g}")


def _different(a: System | Figures, b: System | Figures, how: str) -> ValueError:
    return ValueError(f"{a.name!r} and {b.name!r} rank different queries ({how}): compare on the same ones")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"name is {name!r}: give the system a name for tables, such as 'LightGBM'")


def _checked_weight(name: str, given: ArrayLike, n_queries: int) -> NDArray[np.float64]:
    weight = np.array(given, dtype=np.float64)
    if weight.shape != (n_queries,):
        raise ValueError(
            f"weight of {name!r} has shape {weight.shape}: give one weight a query, ({n_queries},)"
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        query = int(np.flatnonzero(bad)[0])
        raise ValueError(f"weight[{query}] of {name!r} is {weight[query]:g}: give finite weights ≥ 0")
    weight.flags.writeable = False
    return weight


def _check_parts(name: str, parts: tuple[object, ...]) -> None:
    if not parts:
        raise ValueError(f"nothing to concatenate as {name!r}: give at least one part")


def _joined(parts: list[Queries]) -> Queries:
    """All queries one after the other, without their ids, which folds may share."""
    sources = list(parts[0].labels)
    for part in parts:
        if list(part.labels) != sources:
            raise ValueError(f"parts have sources {sources} and {list(part.labels)}: give each the same")
    weight = None
    if any(part.weight is not None for part in parts):
        weights = [np.ones(p.n_documents) if p.weight is None else p.weight for p in parts]
        weight = np.concatenate(weights)
    labels = {source: np.concatenate([part.labels[source] for part in parts]) for source in sources}
    sizes = np.concatenate([part.sizes for part in parts])
    return Queries(labels.pop("relevance"), sizes, weight=weight, position=concat_positions(parts), **labels)
