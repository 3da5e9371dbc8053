"""Facts about the data, the software and the date of a report."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from lambdaboost._installed import ENGINES, engine_version
from lambdaboost.datasets import Queries
from lambdaboost.datasets.digest import digest_of_queries
from lambdaboost.datasets.queries import RELEVANCE

LIBRARIES = ("lambdaboost", "numpy", "numba", "scipy")


def data_facts(q: Queries) -> dict[str, str]:
    """The queries and labels that the systems are measured on."""
    sizes, weight = q.sizes, q.query_weight
    facts = {
        "Queries": f"{q.n_queries:,}",
        "Documents": f"{q.n_documents:,}",
        "Documents of a query": f"{sizes.min()} to {sizes.max()}, median {np.median(sizes):g}",
        "Queries without a relevant document": f"{_without(q, 'relevance'):,}",
        "Grades": _grades(q),
    }
    if np.ptp(weight) > 0:
        none = int((weight == 0).sum())
        facts["Query weights"] = (
            f"{weight.min():.3g} to {weight.max():.3g}; {none:,} of weight 0, not counted"
        )
    for name in list(q.labels)[1:]:
        known = q.labels[name][~np.isnan(q.labels[name])]
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


def _grades(q: Queries) -> str:
    known = q.labels[RELEVANCE][~np.isnan(q.labels[RELEVANCE])]
    grades, counts = np.unique(known, return_counts=True)
    if grades.size > 12:
        return f"{grades.size} values, {grades.min():g} to {grades.max():g}"
    parts = [f"{count:,} of {grade:g}" for grade, count in zip(grades, counts, strict=True)]
    if known.size < q.n_documents:
        parts.append(f"{q.n_documents - known.size:,} missing")
    return ", ".join(parts)
