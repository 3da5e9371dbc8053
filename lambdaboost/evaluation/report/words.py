"""The texts and tables of a report: findings, the queries that changed most, the data, the run."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from lambdaboost._installed import ENGINES, engine_version
from lambdaboost.datasets import Queries
from lambdaboost.datasets.digest import digest_of_queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.comparison.compare import Comparison, means_over
from lambdaboost.evaluation.comparison.difference import Difference
from lambdaboost.evaluation.comparison.significance import Significance
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.comparison.table import Cell, Table
from lambdaboost.evaluation.measure import Measure

LIBRARIES = ("lambdaboost", "numpy", "numba", "scipy")


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


def means(system: System, measures: Iterable[Measure]) -> Table:
    """The means of a single system."""
    chosen = tuple(measures)
    values = [measure(system.scores, system.queries) for measure in chosen]
    cells = (Cell("–" if np.isnan(value) else f"{100 * value:.2f}") for value in values)
    weight = system.query_weight
    counts = {measure: int((~np.isnan(system.per_query(measure)) & (weight > 0)).sum()) for measure in chosen}
    caption = means_over(counts, system.n_queries, weighted=bool(np.ptp(weight) > 0))
    return Table(("System", *map(repr, chosen)), ((Cell(system.name), *cells),), caption)


def changed_most(d: Difference, q: Queries, n: int = 10) -> Table:
    """The queries with the largest differences, by id."""
    at = {int(query): i for i, query in enumerate(d.queries)}
    rows = []
    for query in map(int, d.changed_most(n)):
        i = at[query]
        if d.per_query[i] != 0:
            figures = (d.before[i], d.after[i])
            cells = (Cell(str(q.sizes[query])), *(Cell(f"{100 * f:.2f}") for f in figures))
            rows.append((Cell(query_name(q, query)), *cells, Cell(f"{100 * d.per_query[i]:+.2f}")))
    by = "id" if q.ids is not None else "position, from 0"
    caption = f"The queries that changed most in {d.measure!r}, times 100; queries are named by {by}."
    return Table(("Query", "Documents", d.baseline, d.system, "Difference"), tuple(rows), caption)


def query_name(q: Queries, query: int) -> str:
    """The id of a query, or its index."""
    return str(query) if q.ids is None else str(q.ids[query])


def data_facts(q: Queries) -> dict[str, str]:
    """The queries and labels that the systems are measured on."""
    sizes = q.sizes
    facts = {
        "Queries": f"{q.n_queries:,}",
        "Documents": f"{q.n_documents:,}",
        "Documents of a query": f"{sizes.min()} to {sizes.max()}, median {np.median(sizes):g}",
        "Queries without a relevant document": f"{_without(q, 'relevance'):,}",
        "Grades": _grades(q),
    }
    for name in list(q.labels)[1:]:
        known = q.labels[name][~np.isnan(q.labels[name])]
        share = np.count_nonzero(known) / q.n_documents
        facts[f"Label source {name}"] = (
            f"{known.size:,} labelled documents, {share:.1%} of all above 0; {_without(q, name):,} queries without one"
        )
    return facts | {"SHA-256 of queries and labels": digest_of_queries(q)}


def software() -> dict[str, str]:
    """The versions of the libraries and of the loaded engines."""
    engines = {name: engine_version(name) for name in ENGINES if sys.modules.get(name)}
    return {"Python": platform.python_version()} | {name: version(name) for name in LIBRARIES} | engines


def today() -> str:
    """Date and time in UTC, or those of SOURCE_DATE_EPOCH (reproducible-builds.org)."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    at = datetime.fromtimestamp(int(given), UTC) if given.isdecimal() else datetime.now(UTC)
    return f"{at:%Y-%m-%d %H:%M} UTC"


def flat(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Flatten to names and texts; a nested entry is prefixed with the name of its mapping."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{name} · ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{before}{name}", ", ".join(map(str, value))
        else:
            yield f"{before}{name}", str(value)


def _change(measure: Measure, s: Significance) -> str:
    p = f"adjusted p = {s.adjusted:.2g}".replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")
    return f"{measure!r} ({100 * s.difference:+.2f}, {p})"


def _without(q: Queries, source: str) -> int:
    """Number of queries without a label above 0."""
    return int((np.fmax.reduceat(np.nan_to_num(q.labels[source]), q.offsets[:-1]) <= 0).sum())


def _grades(q: Queries) -> str:
    grades = q.labels[RELEVANCE]
    known = grades[~np.isnan(grades)]
    grades, counts = np.unique(known, return_counts=True)
    if grades.size > 12:
        return f"{grades.size} values, {grades.min():g} to {grades.max():g}"
    parts = [f"{count:,} of {grade:g}" for grade, count in zip(grades, counts, strict=True)]
    if known.size < q.n_documents:
        parts.append(f"{q.n_documents - known.size:,} missing")
    return ", ".join(parts)
