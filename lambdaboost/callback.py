"""`Objective.__call__` and `Measure.__call__`: what a stock engine, or scikit-learn, passes and expects back.

Neither engine passes its booster, but both call from methods of `Booster`, so it is found among the calling frames:

    Booster.update ──> Objective.__call__, which is call_objective
                           ├─ known_data: the Queries of the data set, made once, and what is bound to them
                           ├─ round: the booster's own count of iterations
                           ├─ Bound.gradient: λ and μ of the round
                           └─ traps, before the first step of this objective on these queries
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Container
from dataclasses import replace
from textwrap import shorten
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import in_use, using
from lambdaboost.attaching import WITHOUT_SLICES, KnownData, known_arrays, known_data
from lambdaboost.datasets import Columns, Queries
from lambdaboost.engines import ENGINES, engine_of, engine_of_data
from lambdaboost.traps import (
    Case,
    refuse_traps,
    warn_of_cut_queries,
    warn_of_sorted_rows,
    warn_of_traps,
)

Gradient = tuple[NDArray[np.float32], NDArray[np.float32]]
# The methods by which the boosters of each engine are known.
BOOSTER_METHODS = tuple(engine.BOOSTER_METHOD for engine in ENGINES.values())
UPDATE_METHODS = {engine.UPDATE_METHOD for engine in ENGINES.values()}
RENAMED = "-lambdaboost"  # suffix where the engine has a metric of that name


def call_objective(
    objective: Any, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
) -> Gradient:
    """Gradient and hessian, called as the engines do.

    ``(preds, train_data)`` with a lightgbm.Dataset or an xgboost.DMatrix, as `lightgbm.train` and `xgboost.train`
    call it, or ``(y_true, y_pred, weight, group)`` as `LGBMRanker` does. The boosting round is that of the calling
    `Booster.update`, however often it asks; 0 outside of one.

    Raises
    ------
    ValueError
        As `gradient`, and where the curvature changes sign or the booster's parameters ruin the training.

    """
    if hasattr(y_pred, "get_label"):
        scores, data, known = y_true, y_pred, known_data(y_pred)
    else:
        scores, data, known = y_pred, None, known_arrays(y_true, weight, group)
    booster = calling_booster(UPDATE_METHODS)
    if booster is None:
        return _bind(objective, data, known.queries, scores).gradient(scores)
    state = _states.get(booster) or booster_state(booster)
    token = in_use.set(state.threads)
    try:
        iteration = state.round_of(booster)
        # Bound in an earlier round of this training, to these labels, weights and positions.
        for known_objective, bound in known.bound.get(state, ()):
            if known_objective is objective or known_objective == objective:
                derivatives: Gradient = bound.gradient(scores, iteration)
                return derivatives
        bound = _bind(objective, data, known.queries, scores)
        derivatives = bound.gradient(scores, iteration)

        # What ruins a training shows at the first gradient of an objective on these queries.
        engine: Any = engine_of(booster)
        params, hessian_sum = engine.params_of(booster), float(derivatives[1].sum(dtype=np.float64))
        case = Case(booster, engine, params, objective, data, known.queries, iteration, hessian_sum)
        refuse_traps(case)
        if not state.objectives:
            engine.after_first_scores(booster)
        # Once for each objective, though weights may change in every round.
        if objective not in state.objectives:
            warn_of_traps(case)
            state.objectives.append(objective)
        known.bound.setdefault(state, []).append((objective, bound))
        return derivatives
    finally:
        in_use.reset(token)


def _bind(objective: Any, data: Any, q: Queries, scores: Any) -> Any:
    """Bind an objective to the queries of a data set, if an engine can train it on them."""
    if np.ndim(scores) == 2:
        raise ValueError(
            f"num_class: the scores have shape {np.shape(scores)}, but a document has one: leave it out"
        )
    check_sources(objective, q, remedy=remedy_of(data))
    objective.refuse_on_engines()
    return objective.on(q)


def call_measure(measure: Any, scores: Any, queries: Any, weight: Any = None, group: Any = None) -> Any:
    """The mean over queries as the caller expects it: see `Measure.__call__`."""
    if isinstance(queries, Queries):
        return measure.mean(scores, queries)
    if hasattr(scores, "predict"):
        return score_estimator(measure, scores, queries, weight)
    if group is None and not hasattr(queries, "get_label"):
        raise TypeError(
            f"a measure cannot be called with scores and a {type(queries).__name__}: give (scores, Queries), "
            "(preds, lightgbm.Dataset), (preds, xgboost.DMatrix), (y_true, y_pred, weight, group) or (ranker, X, y)"
        )
    booster, state, threads = calling_booster(), None, None
    if booster is not None:
        state = booster_state(booster)
        threads = state.threads
    with using(threads):
        if group is not None:  # as LGBMRanker calls it, with (y_true, y_pred)
            data, known, scores = None, known_arrays(scores, weight, group), queries
        else:
            data, known = queries, known_data(queries)
        name = name_in_results(measure, data, known, state)
        value = measure.mean(scores, known.queries)
        if known.engine is None:
            return name, value, True
        return known.engine.metric_result(name, value)


def name_in_results(measure: Any, data: Any, known: KnownData, state: BoosterState | None) -> str:
    """The name of a measure in an engine's results; its data set is looked at when a training asks first."""
    if state is not None:
        for known_measure, name in known.names.get(state, ()):
            if known_measure is measure or known_measure == measure:
                return name
    check_sources(measure, known.queries, remedy=remedy_of(data))
    if state is None:
        return str(measure.name)
    warn_of_sorted_rows(measure, known.queries)
    booster: Any = state.booster()
    engine: Any = engine_of(booster)
    # As the engine has it, and another one if the engine evaluates its own metric of that name.
    name = engine.metric_result(measure.name, 0.0)[0]
    if name in engine.own_metrics(booster):
        name += RENAMED
    known.names.setdefault(state, []).append((measure, name))
    return str(name)


def check_sources(reader: Any, q: Queries, where: str = "the data set", *, remedy: str) -> None:
    """Raise if an objective or a measure reads label sources or positions that the queries do not have.

    In the remedy ``{argument}`` is "sources" or "position", and ``{attach}`` the call that attaches what is missing.
    """
    lost = [name for name in getattr(reader, "sources", ()) if name not in q.labels]
    if reads_positions(reader) and q.positions is None:
        lost.append("position")
    if lost:
        argument, what = "sources", f"the label source {lost[0]!r}"
        if lost[0] == "position":
            argument, what = "position", "positions"
        attach = f"attach(data, {', '.join(f'{name}=…' for name in lost)})"
        raise ValueError(
            f"{shorten(repr(reader), 80, placeholder=' …')} reads {what}, which {where} does not have: "
            f"{remedy.format(argument=argument, attach=attach)}"
        )


def reads_positions(reader: Any) -> bool:
    """Whether an objective or a measure reads the positions at which rows were shown."""
    if hasattr(reader, "needs"):
        return bool(reader.needs.positions)
    return bool(getattr(reader, "reads_positions", False))


def remedy_of(data: Any) -> str:
    """The remedy for a lost source of a data set; None for the arrays of LGBMRanker."""
    if data is None:
        return "LGBMRanker passes only y: use lambdaboost.lightgbm.LambdaRanker, which takes columns of X"
    remedy = "give it by {attach}, also on validation sets"
    engine: Any = engine_of_data(data)
    if engine.sliced_from() is not None:
        remedy += f"; a slice of a DMatrix, as in xgboost.cv, loses it: {WITHOUT_SLICES}"
    return remedy


def score_estimator(measure: Any, estimator: Any, X: Any, grades: Any, **row_fields: Any) -> float:
    """The mean of a measure of an estimator's scores; queries are in the columns that it names, or in `row_fields`."""
    columns = columns_of(estimator)
    # Only what the measure reads, since X may lack the other columns.
    read = {name: column for name, column in columns.sources.items() if name in measure.sources}
    position = None
    if reads_positions(measure):
        position = columns.position
    q, _, rows = replace(columns, sources=read, position=position).split(X, grades, name="X", **row_fields)
    check_sources(measure, q, "X", remedy="name its column in {argument}= of the ranker")
    warn_of_cut_queries(getattr(ranker_of(estimator), "_fitted_rows", None), X, q)
    scores = estimator.predict(X)
    if rows is not None:
        scores = np.asarray(scores)[rows]
    return float(measure.mean(scores, q))


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


# The booster that calls.


class BoosterState:
    """A booster during training: how it counts rounds, its threads, and its objectives."""

    def __init__(self, booster: Any) -> None:
        self.booster = weakref.ref(booster)
        engine: Any = engine_of(booster)
        self.round_of = engine.round_counter(booster)
        try:
            given = int(engine.threads_given(booster))
        except (TypeError, ValueError):  # none, or text
            given = 0
        # Those that were set outside of the training, where its parameters set none.
        self.threads = given if given > 0 else in_use.get()
        self.objectives: list[Any] = []  # of which traps were warned


_states: weakref.WeakKeyDictionary[Any, BoosterState] = weakref.WeakKeyDictionary()


def booster_state(booster: Any) -> BoosterState:
    """The state of a booster of either engine."""
    state = _states.get(booster)
    if state is None:
        state = _states[booster] = BoosterState(booster)
    return state


def calling_booster(methods: Container[str] | None = None) -> Any:
    """The innermost booster of which a method, or one of these, waits for this call; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_varnames[:1] == ("self",) and (methods is None or code.co_name in methods):
            owner = frame.f_locals.get("self")
            for name in BOOSTER_METHODS:
                if hasattr(type(owner), name):
                    return owner
        frame = frame.f_back
    return None
