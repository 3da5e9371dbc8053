"""Warnings and errors for what an engine would do silently, with the remedy; docs/traps.md lists all of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import queries_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.objectives import GradientStep, Objective

# Fewer or shorter queries may be sorted by chance, or be synthetic.
SORTED_QUERIES, SORTED_DOCUMENTS = 10, 5
WITHOUT_SPLIT = "no tree has a split"


def refuse_arguments(params: Mapping[str, Any], arguments: Container[str]) -> None:
    """Raise if `params` holds an argument of lambdaboost's functions, which an engine would ignore."""
    for name in params:
        if name in arguments:
            raise ValueError(
                f"params has {name}={params[name]!r}, which the engine does not know: give it as {name}= of the call"
                + (", or n_estimators= of a ranker" if name == "rounds" else "")
            )


def warn_of_native_parameters(params: Mapping[str, Any], remedies: Mapping[str, str]) -> None:
    """Warn of parameters that only the engine's own ranking objective reads."""
    for name, remedy in remedies.items():
        if params.get(name) is not None:
            warn(f"{name}: only the engine's own objective reads it, so here it does nothing; {remedy}")


def warn_of_slow_steps(objective: Objective, params: Mapping[str, Any], names: Sequence[str]) -> None:
    """Warn if the engine's default learning rate, made for Newton leaves, meets leaves of unnormalised mean λ."""
    if not isinstance(objective, GradientStep) or objective.normalize != "none":
        return
    if all(params.get(name) is None for name in names):
        warn(
            f"learning_rate: the engine's default suits Newton leaves, but leaves of {objective!r} are 12 to 30 times "
            "smaller, because they are not divided by a hessian; give a higher rate, or use normalize='query'"
        )


def warn_of_sorted_rows(q: Queries, objective: Objective) -> None:
    """Warn if the rows of every query are sorted by descending grade."""
    if not objective.ranks_ties_by_row:
        return
    step = np.diff(q.labels[RELEVANCE])
    step[q.offsets[1:-1] - 1] = 0  # from one query to the next
    if (step > 0).any():
        return
    falls = np.add.reduceat(np.append(step < 0, False), q.offsets[:-1])
    mixed = np.count_nonzero(falls)
    if mixed >= SORTED_QUERIES and q.n_documents >= SORTED_DOCUMENTS * q.n_queries:
        warn(
            f"row order: the rows of all {mixed} queries with more than one grade are sorted by descending grade. In "
            "the first round all scores tie and the order of rows is the ranking, so it looks perfect; shuffle the "
            "rows inside queries: rows = q.shuffled_rows(seed)"
        )


def warn_of_narrow_labels(name: str, labels: Any) -> None:
    """Warn if labels are so large that they lose digits as float32, the type in the engines and in `Queries`."""
    a = np.asarray(labels)
    if (
        a.dtype == np.float32
        or a.dtype.kind not in "iuf"
        # A float16 would have no such number to compare with.
        or not float(np.fmax.reduce(a, axis=None, initial=0)) > 2**24
    ):
        return
    changed = a.astype(np.float32).astype(np.float64) != a
    if (changed & ~np.isnan(a.astype(np.float64))).any():
        warn(
            f"{name}: labels above 2**24 = 16777216 lose digits as float32, in which engines keep them, so that "
            "different ones may tie; use smaller labels, such as their ranks"
        )


def warn_of_missing_grades(labels: Any) -> None:
    """Warn of NaN in the labels of a stock LightGBM data set before it is constructed."""
    if labels is None:
        return
    a = np.asarray(labels)
    if a.dtype.kind == "f" and np.isnan(a).any():
        warn(
            "NaN labels: a lightgbm.Dataset turns them into grade 0; make it a lambdaboost.lightgbm.Dataset, where "
            "they stay missing"
        )


def warn_without_split(least: str, data: Any, sources: Sequence[str]) -> None:
    """Warn that no tree has a split, and why: no pair in the labels of `sources`, or the minimum leaf (`least`)."""
    q = queries_of(data, sources)
    if not any(_differs_in_a_query(q.labels[name], q) for name in sources if name in q.labels):
        named = " or ".join(sources)
        least = (
            f"No query has two documents of different {named}: there is no order to learn from these labels."
        )
    warn(f"{WITHOUT_SPLIT}, so all documents score the same. {least}")


def _differs_in_a_query(labels: NDArray[np.float32], q: Queries) -> bool:
    high, low = (limit.reduceat(labels, q.offsets[:-1]) for limit in (np.fmax, np.fmin))
    return bool((high > low).any())
