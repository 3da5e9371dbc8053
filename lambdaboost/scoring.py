"""Measures as engines and scikit-learn call them: `Measure.__call__`, and the queries of an estimator's table."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost._jit import using
from lambdaboost._warn import warn
from lambdaboost.callback import (
    BoosterState,
    KnownData,
    booster_state,
    calling_booster,
    check_sources,
    read_call,
)
from lambdaboost.datasets import Columns, Queries
from lambdaboost.traps import warn_of_sorted_rows

RENAMED = "-lambdaboost"  # suffix where the engine has a metric of that name


def call_measure(measure: Any, first: Any, second: Any, weight: Any = None, group: Any = None) -> Any:
    """The mean as an engine or scikit-learn expects it: see `Measure.__call__`, which lists the callers."""
    if hasattr(first, "predict"):  # (ranker, X, grades), from scikit-learn
        return score_estimator(measure, first, second, grades=weight)
    if group is None and not hasattr(second, "get_label"):
        raise TypeError(
            f"a measure cannot be called with scores and an object of type {type(second).__name__}: give "
            "(scores, Queries), (preds, lightgbm.Dataset), (preds, xgboost.DMatrix), (y_true, y_pred, weight, group) "
            "or (ranker, X, y); estimators that pass no queries, such as XGBRanker, take no measure: train by "
            "LambdaRanker or xgboost.train"
        )

    # From an engine, which may be training.
    booster, state, threads = calling_booster(), None, None
    if booster is not None:
        state = booster_state(booster)
        threads = state.threads
    with using(threads):
        scores, known = read_call(first, second, weight, group)
        name = name_in_results(measure, known, state)
        value = measure.mean(scores, known.queries)
        if known.engine is None:
            return name, value, True
        return known.engine.metric_result(name, value)


def name_in_results(measure: Any, known: KnownData, state: BoosterState | None) -> str:
    """The name of a measure in an engine's results; its data set is looked at when a training asks first."""
    if state is None:
        check_sources(measure, known.queries, engine=known.engine)
        return str(measure.name)
    names = known.names.setdefault(state, [])
    for other, name in names:
        if other is measure or other == measure:
            return name
    check_sources(measure, known.queries, engine=known.engine)
    warn_of_sorted_rows(measure, known.queries)
    if measure.undefined_on(known.queries).all():
        warn(
            f"labels: {measure!r} is undefined on every query of an evaluated data set, so it is the same after each "
            "round, and early stopping ends at the first; look at the labels and queries of the set"
        )
    # As the engine has it, and another one if the engine evaluates its own metric of that name.
    name = str(state.engine.metric_result(measure.name, 0.0)[0])
    if name in state.engine.own_metrics(state.booster()):
        name += RENAMED
    for other, taken in names:
        if taken == name:
            raise ValueError(f"{other!r} and {measure!r} are both called {name!r} in results: leave one out")
    names.append((measure, name))
    return name


def score_estimator(measure: Any, estimator: Any, X: Any, grades: Any, **row_fields: Any) -> float:
    """The mean of a measure of an estimator's scores.

    Queries and weights are in the columns that it names, or in `row_fields`: group, qid and weight, as arrays.
    """
    columns = columns_of(estimator)
    # Only what the measure reads, since X may lack the other columns.
    read = {name: column for name, column in columns.sources.items() if name in measure.sources}
    position = None
    if measure.reads_positions:
        position = columns.position
    q, _, rows = replace(columns, sources=read, position=position).read_labels(
        X, grades, name="X", **row_fields
    )
    check_sources(measure, q, "X")
    warn_of_cut_queries(ranker_of(estimator), X, q)
    scores = estimator.predict(X)
    if rows is not None:
        scores = np.asarray(scores)[rows]
    return float(measure.mean(scores, q))


# Of each ranker that was fitted in this process, the index of the training frame, and the ids and sizes of its queries.
_trained_rows: weakref.WeakKeyDictionary[Any, tuple[Any, Any, Any]] = weakref.WeakKeyDictionary()


def remember_rows(ranker: Any, X: Any, q: Queries) -> None:
    """Remember the rows that a ranker was fitted on, for `warn_of_cut_queries`."""
    _trained_rows.pop(ranker, None)
    if q.ids is not None and hasattr(X, "index") and hasattr(X, "columns"):
        _trained_rows[ranker] = X.index, q.ids, q.sizes


def warn_of_cut_queries(ranker: Any, X: Any, q: Queries) -> None:
    """Warn where a frame has rows of queries of which the ranker was trained on others, as folds of rows make them.

    Frames that were numbered apart have rows of the same index, and may have queries of the same id.
    """
    if not hasattr(ranker, "_engine"):  # another estimator, which may have no hash
        return
    trained = _trained_rows.get(ranker)
    if trained is None or q.ids is None or not hasattr(X, "index") or X.index.isin(trained[0]).any():
        return
    import pandas as pd

    _, ids, sizes = trained
    place = pd.Index(ids).get_indexer(pd.Index(q.ids))
    cut = np.count_nonzero((place >= 0) & (sizes[place] != q.sizes))
    if cut:
        warn(
            f"queries: {cut} of {q.n_queries} were trained on with other rows than these: KFold and train_test_split "
            "cut queries, and the score says nothing of new ones; split whole queries, by GroupKFold with groups= the "
            "column of queries"
        )


def columns_of(estimator: Any) -> Columns:
    """The columns that a ranker names, also as the last step of a pipeline or within a search."""
    ranker = ranker_of(estimator)
    if not hasattr(ranker, "query"):
        return Columns()
    named = ("query", "sources", "position", "weight")
    return Columns(**{name: getattr(ranker, name) for name in named if hasattr(ranker, name)})


def ranker_of(estimator: Any) -> Any:
    """The last step of a pipeline, and the estimator of a search, which may have been fitted; any other unchanged."""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        return ranker_of(steps[-1][1])
    inner = getattr(estimator, "best_estimator_", getattr(estimator, "estimator", None))
    if inner is not None:
        return ranker_of(inner)
    return estimator
