"""`System` and `Figures`: a ranking system given by its scores, or by its values per query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import saying
from lambdaboost._words import shown
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import Measure, check_scores, mean_of


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """A ranking system: its name, its scores, and the queries that it ranks.

    Scores are finite, or −inf for a document that was not retrieved, (n_documents,).

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
            raise TypeError(f"queries of {shown(self.name)} is a {kind}: give Queries(relevance, sizes=…)")
        with saying(f"system {shown(self.name)}"):
            scores = check_scores(self.scores, self.queries).copy()
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    def __repr__(self) -> str:
        return f"System({shown(self.name)}, {self.n_queries} queries)"

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
            raise ValueError(f"values of {shown(self.name)} is empty: give figures for at least one measure")
        values = {m: np.array(v, dtype=np.float64) for m, v in self.values.items()}
        for measure, figures in values.items():
            if figures.ndim != 1 or figures.size == 0 or np.isinf(figures).any():
                raise ValueError(
                    f"{measure!r} of {shown(self.name)}: give one finite value (or NaN) per query"
                )
            figures.flags.writeable = False
        sizes = {figures.size for figures in values.values()}
        if len(sizes) > 1:
            raise ValueError(
                f"measures of {shown(self.name)} have {sorted(sizes)} values: give one per query for each"
            )
        object.__setattr__(self, "values", MappingProxyType(values))
        if self.weight is not None:
            object.__setattr__(self, "weight", _checked_weight(self.name, self.weight, sizes.pop()))

    def __repr__(self) -> str:
        return f"Figures({shown(self.name)}, {self.n_queries} queries)"

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
            raise ValueError(f"{shown(self.name)} has no values of {measure!r}, only of {known}")
        return np.asarray(self.values[measure])

    def mean(self, measure: Measure) -> float:
        """The mean over the queries that are not NaN, as ``measure(scores, queries)``.

        >>> from lambdaboost.evaluation import MRR
        >>> Figures("published", {MRR(): [0.5, float("nan"), 1.0]}).mean(MRR())
        0.75
        """
        weight = self.query_weight
        return mean_of(self.per_query(measure), np.ones(self.n_queries) if weight is None else weight)

    @classmethod
    def concat(cls, name: str, *parts: Figures) -> Figures:
        """Join figures, on the measures that all parts have."""
        if not parts:
            raise ValueError(f"nothing to concatenate as {shown(name)}: give at least one part")
        shared = [m for m in parts[0].values if all(m in part.values for part in parts)]
        values = {m: np.concatenate([part.per_query(m) for part in parts]) for m in shared}
        if all(part.weight is None for part in parts):
            return cls(name, values)
        weights = (np.ones(p.n_queries) if p.query_weight is None else p.query_weight for p in parts)
        return cls(name, values, np.concatenate(list(weights)))


def check_same_queries(first: System | Figures, *others: System | Figures) -> NDArray[np.float64]:
    """The weight of each query, float64 (n_queries,); raises where systems rank different queries, saying where."""
    ranked, weighted, weight = None, None, np.ones(first.n_queries)
    for system in (first, *others):
        if system.n_queries != weight.size:
            raise _different(first, system, f"{first.n_queries} and {system.n_queries} queries")
        if isinstance(system, System):
            if ranked and (how := _apart(ranked.queries, system.queries)):
                raise _different(ranked, system, how)
            ranked = ranked or system
        given = system.query_weight
        if given is not None:
            if weighted and (apart := np.flatnonzero(given != weight)).size:
                at = apart[0]
                raise _different(weighted, system, f"query {at} weighs {weight[at]:g} and {given[at]:g}")
            weighted, weight = weighted or system, given
    return weight


def _apart(a: Queries, b: Queries) -> str:
    """The first difference of their documents and labels; empty if there is none."""
    if a is b:
        return ""
    if (at := np.flatnonzero(a.sizes != b.sizes)).size:
        return f"query {at[0]} has {a.sizes[at[0]]} and {b.sizes[at[0]]} documents"
    if a.labels.keys() != b.labels.keys():
        return f"sources {list(a.labels)} and {list(b.labels)}"
    positions = [(q.position_names, None if q.position is None else q.position.tobytes()) for q in (a, b)]
    if positions[0] != positions[1]:
        return "other positions"
    for source, labels in a.labels.items():
        others = b.labels[source]
        if (at := np.flatnonzero((labels != others) & ~(np.isnan(labels) & np.isnan(others)))).size:
            return f"{source}[{at[0]}] is {labels[at[0]]:g} and {others[at[0]]:g}"
    return ""


def _different(a: System | Figures, b: System | Figures, how: str) -> ValueError:
    return ValueError(
        f"{shown(a.name)} and {shown(b.name)} rank different queries ({how}): compare on the same ones"
    )


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"name is {name!r}: give the system a name for tables, such as 'LightGBM'")


def _checked_weight(name: str, given: ArrayLike, n_queries: int) -> NDArray[np.float64]:
    weight = np.array(given, dtype=np.float64)
    if weight.shape != (n_queries,):
        raise ValueError(
            f"weight of {shown(name)} has shape {weight.shape}: give one weight a query, ({n_queries},)"
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        query = int(np.flatnonzero(bad)[0])
        raise ValueError(f"weight[{query}] of {shown(name)} is {weight[query]:g}: give finite weights ≥ 0")
    weight.flags.writeable = False
    return weight
