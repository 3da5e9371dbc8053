"""The findings and the tables of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._words import listed, shown
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.comparison.paired import Comparison, Difference, means_over
from lambdaboost.evaluation.comparison.significance import Significance
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.comparison.table import Cell, Table, percent
from lambdaboost.evaluation.measure import Measure

GROUPS = 12  # of queries; with more distinct values, numbers are grouped by quartile and strings by frequency
FEATURES = 20  # that are shown
TOP = 5  # number of ranks shown, and of the best documents below them


def findings(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Each system's name, and the measures on which it is significantly better or worse than the baseline."""
    for system in comparison.systems:
        found = {measure: comparison.significance[system, measure] for measure in comparison.measures}
        better = [_change(measure, s) for measure, s in found.items() if s.is_better]
        worse = [_change(measure, s) for measure, s in found.items() if s.is_worse]
        neither = [repr(measure) for measure, s in found.items() if not s.mark]
        parts = [
            f"is better in {', '.join(better)}" if better else "",
            f"is worse in {', '.join(worse)}" if worse else "",
            f"shows no significant difference from {comparison.baseline} in {', '.join(neither)}"
            if neither
            else "",
        ]
        yield system, "; ".join(filter(None, parts)) + "."


def _change(measure: Measure, s: Significance) -> str:
    return f"{measure!r} ({100 * s.difference:+.2f}, adjusted p = {s.adjusted:.2g})"


def means(system: System, measures: Iterable[Measure]) -> Table:
    """The means of a single system."""
    chosen = tuple(measures)
    cells = (Cell(percent(measure(system.scores, system.queries))) for measure in chosen)
    counts = {measure: int(_counted([system], measure).sum()) for measure in chosen}
    caption = means_over(counts, system.n_queries, weighted=bool(np.ptp(system.query_weight) > 0))
    return Table(("System", *map(repr, chosen)), ((Cell(system.name), *cells),), caption)


def changed_most(d: Difference, q: Queries, n: int = 10) -> Table:
    """The queries with the largest differences, by id."""
    order = [i for i in np.argsort(-np.abs(d.per_query), kind="stable")[:n] if d.per_query[i] != 0]
    rows = []
    for i in order:
        query = int(d.queries[i])
        texts = query_name(q, query), str(q.sizes[query]), percent(d.before[i]), percent(d.after[i])
        rows.append((*map(Cell, texts), Cell(f"{100 * d.per_query[i]:+.2f}")))
    by = "id" if q.ids is not None else "position, from 0"
    caption = f"The queries that changed most in {d.measure!r}, times 100; queries are named by {by}."
    return Table(("Query", "Documents", d.baseline, d.system, "Difference"), tuple(rows), caption)


def query_name(q: Queries, query: int) -> str:
    """The id of a query, or its index."""
    return str(query) if q.ids is None else str(q.ids[query])


def _counted(systems: Sequence[System], measure: Measure) -> NDArray[np.bool_]:
    """Whether a query counts in a mean: it has a weight, and the measure is defined for every system."""
    defined = [~np.isnan(system.per_query(measure)) for system in systems]
    return np.all([*defined, systems[0].query_weight > 0], axis=0)


# Segments


def checked_segments(segments: Mapping[str, ArrayLike] | None, q: Queries) -> dict[str, NDArray[Any]]:
    """The group of each query by segment; raises ValueError unless there is one value per query."""
    found = {}
    for name, values in (segments or {}).items():
        array = np.asarray(values)
        if array.shape != (q.n_queries,):
            raise ValueError(
                f"segments[{shown(name)}] has shape {array.shape}, expected ({q.n_queries},): one value per query"
            )
        found[name] = groups(array)
    return found


def groups(values: NDArray[Any]) -> NDArray[Any]:
    """The group of each value: the value itself, a quartile of the numbers, or "other".

    >>> groups(np.array(["shop", "news", "shop"])).tolist()
    ['shop', 'news', 'shop']
    >>> groups(np.arange(16.0)).tolist()[::4]
    ['0 to 3', '4 to 7', '8 to 11', '12 to 15']
    """
    import pandas as pd

    known = pd.Series(values).dropna()
    many = known.nunique() > GROUPS
    if not np.issubdtype(values.dtype, np.number):
        named = known.map(str)
        frequent = named.groupby(named).size().nlargest(GROUPS - 1).index
        named = named.where(named.isin(frequent), "other") if many else named
    elif many:
        quartile = pd.qcut(known, 4, labels=False, duplicates="drop")
        named = known.groupby(quartile).transform(lambda part: f"{part.min():g} to {part.max():g}")
    else:
        named = known.map("{:g}".format)
    return named.reindex(range(values.size), fill_value="missing").to_numpy(dtype=object)


def segment_table(name: str, groups: NDArray[Any], systems: Sequence[System], measure: Measure) -> Table:
    """The number of queries in each group, and the weighted mean of every system on them."""
    values = [system.per_query(measure) for system in systems]
    counted, weight = _counted(systems, measure), systems[0].query_weight
    base, *others = systems
    header = ("Queries with", "Queries", base.name, *(n for s in others for n in (s.name, "difference")))
    rows = []
    for group in dict.fromkeys(sorted(groups, key=_by_number)):
        chosen = counted & (groups == group)
        if not chosen.any():
            continue
        means = [float(np.average(v[chosen], weights=weight[chosen])) for v in values]
        rows.append((Cell(f"{name}: {group}"), Cell(str(int(chosen.sum()))), *_beside(means, 2)))
    kind = "Weighted mean" if np.ptp(weight) > 0 else "Mean"
    caption = f"{kind} {measure!r} by {name}, times 100."
    untested = f" Differences from {base.name} are not tested for significance." if others else ""
    return Table(header, tuple(rows), caption + untested)


def _beside(figures: Sequence[float], digits: int) -> list[Cell]:
    """The first of figures times 100, and each other one with its difference from the first."""
    first, *others = (Cell(f"{100 * figure:.{digits}f}") for figure in figures)
    changes = (Cell(f"{100 * (figure - figures[0]):+z.{digits}f}") for figure in figures[1:])
    return [first, *(cell for both in zip(others, changes, strict=True) for cell in both)]


def _by_number(group: str) -> tuple[float, str]:
    try:
        return float(group.split(" to ")[0]), group
    except ValueError:
        return float("inf"), group


# Feature importance

Importance = Mapping[str, float]


def checked_importance(
    importance: Mapping[str, Importance] | None, names: tuple[str, ...]
) -> dict[str, dict[str, float]]:
    """Importance shares of each system's features, which sum to 1, in the order of `names`.

    Raises
    ------
    ValueError, TypeError
        If a system is unknown, or a value is negative or not a number.

    """
    remedy = "give {'system': {'feature': gain}}, such as a booster's gain of each feature"
    shares: dict[str, dict[str, float]] = {}
    for system, of_features in (importance or {}).items():
        what = f"importance[{shown(system)}]"
        if system not in names:
            raise ValueError(f"{what} is of no system: choose among {listed(names)}")
        try:
            gains = np.array([float(gain) for gain in of_features.values()])
            features = [str(feature) for feature in of_features]
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"{what} is {str(of_features)[:80]}: {remedy}") from None
        if not (np.isfinite(gains) & (gains >= 0)).all():
            raise ValueError(f"{what} has values that are negative or not finite: {remedy}")
        shares[system] = dict(zip(features, gains / (gains.sum() or 1.0), strict=True))
    return {name: shares[name] for name in names if name in shares}


def importance_table(shares: Mapping[str, Mapping[str, float]]) -> Table:
    """The features with the largest shares, times 100, and their differences from the first system.

    >>> print(importance_table({"a": {"bm25": 0.75, "age": 0.25}, "b": {"bm25": 0.5, "age": 0.5}}).markdown())
    | Feature | a | b | b − a |
    |:---|---:|---:|---:|
    | bm25 | 75.0 | 50.0 | -25.0 |
    | age | 25.0 | 50.0 | +25.0 |
    <BLANKLINE>
    Share of the gain of all splits, times 100.
    """
    first, *others = shares
    features = list(dict.fromkeys(feature for of_system in shares.values() for feature in of_system))
    largest = {f: max(of_system.get(f, 0.0) for of_system in shares.values()) for f in features}
    chosen = [f for f in sorted(features, key=lambda f: -largest[f]) if largest[f] > 0][:FEATURES]
    header = ("Feature", first, *(name for other in others for name in (other, f"{other} − {first}")))
    rows = [(Cell(f), *_beside([of_system.get(f, 0.0) for of_system in shares.values()], 1)) for f in chosen]
    left = len(features) - len(chosen)
    more = f"; {left} less important features are left out." if left else "."
    return Table(header, tuple(rows), f"Share of the gain of all splits, times 100{more}")


# The worst queries


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
    """The queries with the lowest values, among those with a weight and a label, above 0 where labels are gains.

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
    candidates = np.flatnonzero(labelled & _counted([system], measure))
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
    chosen = [*order[:TOP], *sorted(missed, key=lambda at: ranks[system.name][at])]
    scores = np.asarray(system.scores)[rows]
    cells = tuple(
        (
            Cell(str(names[rows[at]])),
            *(Cell(str(of[at])) for of in ranks.values()),
            *(Cell("–" if np.isnan(v[rows[at]]) else f"{v[rows[at]]:.3g}") for v in q.labels.values()),
            Cell(f"{scores[at]:.4g}"),
        )
        for at in chosen
    )
    header = ("Document", "Rank", *(f"Rank, {s.name}" for s in others), *q.labels, "Score")
    value = percent(measure.per_query(system.scores, q)[query])
    caption = (
        f"Query {query_name(q, query)}, {rows.size} documents: {measure!r} × 100 is {value}. The first "
        f"{min(TOP, rows.size)} ranks{f', and the best of {measure.source} below them' if missed.size else ''}."
    )
    return Table(header, cells, caption)


def _ranks(system: System, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of each document of a query, from 1."""
    order = np.argsort(-np.asarray(system.scores)[rows], kind="stable")
    ranks = np.empty(rows.size, dtype=np.int64)
    ranks[order] = np.arange(1, rows.size + 1)
    return ranks
