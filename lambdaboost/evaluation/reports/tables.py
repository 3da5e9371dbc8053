"""The findings, tables and facts of a report."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._installed import ENGINES, engine_version
from lambdaboost._words import listed, shown
from lambdaboost.datasets import Queries
from lambdaboost.datasets.digest import digest_of_queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.comparison.paired import Comparison, Difference, means_over
from lambdaboost.evaluation.comparison.significance import Significance
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.comparison.table import Table, percent
from lambdaboost.evaluation.measure import Measure

GROUPS = 12  # of queries; with more distinct values, numbers are grouped by quartile and strings by frequency
FEATURES = 20  # that are shown
TOP = 5  # number of ranks shown, and of the best documents below them
LIBRARIES = ("lambdaboost", "numpy", "numba", "scipy")
Importance = Mapping[str, float]


def findings(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """Each system's name, and the measures on which it is significantly better or worse than the baseline."""
    for system in comparison.systems:
        found = {measure: comparison.significance[system, measure] for measure in comparison.measures}
        better = ", ".join(_change(measure, s) for measure, s in found.items() if s.is_better)
        worse = ", ".join(_change(measure, s) for measure, s in found.items() if s.is_worse)
        neither = ", ".join(repr(measure) for measure, s in found.items() if not s.mark)
        parts = (
            better and f"is better in {better}",
            worse and f"is worse in {worse}",
            neither and f"shows no significant difference from {comparison.baseline} in {neither}",
        )
        yield system, "; ".join(filter(None, parts)) + "."


def _change(measure: Measure, s: Significance) -> str:
    return f"{measure!r} ({100 * s.difference:+.2f}, adjusted p = {s.adjusted:.2g})"


def means(system: System, measures: Iterable[Measure]) -> Table:
    """The means of a single system."""
    counts = {measure: int(_counted([system], measure).sum()) for measure in measures}
    row = (system.name, *(percent(measure(system.scores, system.queries)) for measure in counts))
    caption = means_over(counts, system.n_queries, weighted=bool(np.ptp(system.query_weight) > 0))
    return Table(("System", *map(repr, counts)), (row,), caption)


def changed_most(d: Difference, q: Queries, n: int = 10) -> Table:
    """The queries with the largest differences, by id."""
    order = [i for i in np.argsort(-np.abs(d.per_query), kind="stable")[:n] if d.per_query[i] != 0]
    rows = [
        (
            query_name(q, int(d.queries[i])),
            str(q.sizes[d.queries[i]]),
            percent(d.before[i]),
            percent(d.after[i]),
            f"{100 * d.per_query[i]:+.2f}",
        )
        for i in order
    ]
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
    for group in sorted(set(groups[counted]), key=_by_number):
        chosen = counted & (groups == group)
        means = [float(np.average(v[chosen], weights=weight[chosen])) for v in values]
        rows.append((f"{name}: {group}", str(int(chosen.sum())), *_beside(means, 2)))
    kind = "Weighted mean" if np.ptp(weight) > 0 else "Mean"
    caption = f"{kind} {measure!r} by {name}, times 100."
    untested = f" Differences from {base.name} are not tested for significance." if others else ""
    return Table(header, tuple(rows), caption + untested)


def _beside(figures: Sequence[float], digits: int) -> list[str]:
    """The first of figures times 100, and each other one with its difference from the first."""
    first, *others = figures
    pairs = ((f"{100 * x:.{digits}f}", f"{100 * (x - first):+z.{digits}f}") for x in others)
    return [f"{100 * first:.{digits}f}", *(cell for pair in pairs for cell in pair)]


def _by_number(group: str) -> tuple[float, str]:
    try:
        return float(group.split(" to ")[0]), group
    except ValueError:
        return float("inf"), group


# Feature importance


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
            gains = {str(feature): float(gain) for feature, gain in of_features.items()}
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"{what} is {str(of_features)[:80]}: {remedy}") from None
        if not all(0 <= gain < float("inf") for gain in gains.values()):
            raise ValueError(f"{what} has values that are negative or not finite: {remedy}")
        total = sum(gains.values()) or 1.0
        shares[system] = {feature: gain / total for feature, gain in gains.items()}
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
    features = dict.fromkeys(feature for of_system in shares.values() for feature in of_system)
    by_feature = {f: [of_system.get(f, 0.0) for of_system in shares.values()] for f in features}
    used = [f for f in sorted(by_feature, key=lambda f: -max(by_feature[f])) if max(by_feature[f]) > 0]
    header = ("Feature", first, *(name for other in others for name in (other, f"{other} − {first}")))
    rows = tuple((f, *_beside(by_feature[f], 1)) for f in used[:FEATURES])
    left = len(features) - len(rows)
    more = f"; {left} less important features are left out." if left else "."
    return Table(header, rows, f"Share of the gain of all splits, times 100{more}")


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
    rows = slice(q.offsets[query], q.offsets[query + 1])
    scores = np.asarray(system.scores)[rows]
    # Ranks from 1: the place of each document in the order of its scores.
    ranks = [
        1 + np.argsort(np.argsort(-np.asarray(s.scores)[rows], kind="stable")) for s in (system, *others)
    ]
    labels = np.nan_to_num(q.labels[measure.source][rows])
    missed = np.flatnonzero((ranks[0] > TOP) & (labels > 0))
    missed = missed[np.lexsort((ranks[0][missed], -labels[missed]))][:TOP]
    chosen = [*np.flatnonzero(ranks[0] <= TOP), *missed]
    cells = tuple(
        (
            str(names[rows][at]),
            *(str(of[at]) for of in ranks),
            *("–" if np.isnan(v[rows][at]) else f"{v[rows][at]:.3g}" for v in q.labels.values()),
            f"{scores[at]:.4g}",
        )
        for at in sorted(chosen, key=ranks[0].__getitem__)
    )
    header = ("Document", "Rank", *(f"Rank, {s.name}" for s in others), *q.labels, "Score")
    value = percent(measure.per_query(system.scores, q)[query])
    caption = (
        f"Query {query_name(q, query)}, {scores.size} documents: {measure!r} × 100 is {value}. The first "
        f"{min(TOP, scores.size)} ranks{f', and the best of {measure.source} below them' if missed.size else ''}."
    )
    return Table(header, cells, caption)


# Facts


def data_facts(q: Queries) -> dict[str, str]:
    """The queries and labels that the systems are measured on."""
    sizes, weight = q.sizes, q.query_weight
    facts = {
        "Queries": f"{q.n_queries:,}",
        "Documents": f"{q.n_documents:,}",
        "Documents of a query": f"{sizes.min()} to {sizes.max()}, median {np.median(sizes):g}",
        "Queries without a relevant document": f"{_without(q, RELEVANCE):,}",
        "Grades": _grades(q.labels[RELEVANCE]),
    }
    if np.ptp(weight) > 0:
        none = int((weight == 0).sum())
        facts["Query weights"] = (
            f"{weight.min():.3g} to {weight.max():.3g}; {none:,} of weight 0, not counted"
        )
    for name, labels in list(q.labels.items())[1:]:
        known = labels[~np.isnan(labels)]
        share = np.count_nonzero(known) / q.n_documents
        facts[f"Label source {name}"] = (
            f"{known.size:,} labelled documents, {share:.1%} of all above 0; {_without(q, name):,} queries without one"
        )
    return facts | {"SHA-256 of queries and labels": digest_of_queries(q)}


def run_facts() -> dict[str, str]:
    """The date, or that of SOURCE_DATE_EPOCH (reproducible-builds.org), and the versions of the software."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    at = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    facts = {"Written": f"{at:%Y-%m-%d %H:%M} UTC", "Python": platform.python_version()}
    facts |= {name: version(name) for name in LIBRARIES}
    return facts | {name: engine_version(name) for name in ENGINES if sys.modules.get(name)}


def flat(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts; a nested entry is prefixed with the name of its mapping."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{name} · ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{before}{name}", ", ".join(map(str, value))
        else:
            yield f"{before}{name}", str(value)


def _without(q: Queries, source: str) -> int:
    """Number of queries without a label above 0."""
    return int((np.fmax.reduceat(np.nan_to_num(q.labels[source]), q.offsets[:-1]) <= 0).sum())


def _grades(labels: NDArray[np.float32]) -> str:
    grades, counts = np.unique(labels[~np.isnan(labels)], return_counts=True)
    if grades.size > 12:
        return f"{grades.size} values, {grades.min():g} to {grades.max():g}"
    parts = [f"{count:,} of {grade:g}" for grade, count in zip(grades, counts, strict=True)]
    if missing := labels.size - counts.sum():
        parts.append(f"{missing:,} missing")
    return ", ".join(parts)
