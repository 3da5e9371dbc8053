"""`Objective.__call__` and `Measure.__call__`: what a stock engine, or scikit-learn, passes and expects back.

Neither engine passes its booster, but both call from methods of `Booster`, so it is found among the calling frames:

    Booster.update ──> Objective.__call__ ──> gradient_of ──> Objective.gradient
                                                  ├─ queries_of: the Queries of the data set, made once
                                                  ├─ round: the booster's own count of iterations
                                                  └─ traps, before the first step of this objective on these queries
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from functools import cached_property
from textwrap import shorten
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost import _lightgbm, _xgboost
from lambdaboost._team import team_of
from lambdaboost._threads import UNSET, Threads, using
from lambdaboost.datasets import Columns, Queries
from lambdaboost.engine_data import (
    WITHOUT_SLICES,
    is_lightgbm,
    is_xgboost,
    queries_of,
    queries_of_arrays,
)
from lambdaboost.traps import Case, internals_of, refuse_traps, warn_of_traps

Gradient = tuple[NDArray[np.float32], NDArray[np.float32]]
MARKS = (_lightgbm.OF_BOOSTERS, _xgboost.OF_BOOSTERS)
# XGBoost's early stopping maximises metrics whose name begins so, and minimises all others.
MAXIMISED = ("ndcg", "map", "pre", "auc")
SECOND = "-lambdaboost"  # of a name that an engine's own metric has


def gradient_of(rule: Any, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> Gradient:
    """Gradient and hessian for ``(preds, data)`` or ``(y_true, y_pred, weight, group)``, in the booster's round."""
    booster = calling_booster("update")
    known = None if booster is None else caller(booster)
    with using(*UNSET if known is None else known.threads):
        if hasattr(y_pred, "get_label"):
            scores, data = y_true, y_pred
            q = queries_of(data)
        else:
            scores, data = y_pred, None
            q = queries_of_arrays(y_true, weight, group)
        number = 0 if known is None else int(getattr(booster, known.count)())
        derivatives: Gradient
        if known is not None and known.has_checked(rule, q):
            derivatives = rule.gradient(scores, q, number)
            return derivatives
        check_sources(rule, q, data)
        rule.check_training(q)
        derivatives = rule.gradient(scores, q, number)
        if known is None:
            return derivatives
        hessian = float(derivatives[1].sum(dtype=np.float64))
        case = Case.of(booster, rule, data, q, number, hessian)
        refuse_traps(case)
        if not any(one == rule for one, _ in known.checked):  # once, though weights may change in every round
            warn_of_traps(case)
        if not known.checked and internals_of(booster) is _lightgbm:
            _lightgbm.restart_dart(booster)
        known.note(rule, q)
        return derivatives


def value_of(measure: Any, scores: Any, queries: Any, weight: Any = None, group: Any = None) -> Any:
    """The mean over queries as the caller expects it: see `Measure.__call__`."""
    if isinstance(queries, Queries):
        return measure.mean(scores, queries)
    if hasattr(scores, "predict"):
        return mean_of(measure, scores, queries, weight)
    booster = calling_booster()
    with using(*UNSET if booster is None else caller(booster).threads):
        if group is not None:
            q = queries_of_arrays(scores, weight, group)
            check_sources(measure, q, None)
            return unique_name(booster, measure.name), measure.mean(queries, q), True
        if is_lightgbm(queries) or is_xgboost(queries):
            q = queries_of(queries)
            check_sources(measure, q, queries)
            value = measure.mean(scores, q)
            if is_xgboost(queries):
                return unique_name(booster, xgboost_name(measure)), value
            return unique_name(booster, measure.name), value, True
    raise TypeError(
        f"a measure cannot be called with scores and a {type(queries).__name__}: give (scores, Queries), "
        "(preds, lightgbm.Dataset), (preds, xgboost.DMatrix), (y_true, y_pred, weight, group) or (ranker, X, y)"
    )


def xgboost_name(measure: Any) -> str:
    """The name of a measure in XGBoost's results, which its early stopping maximises.

    >>> from lambdaboost import ERR, NDCG
    >>> xgboost_name(NDCG(k=3)), xgboost_name(ERR(k=10))
    ('ndcg@3', 'pre-err@10')
    """
    return measure.name if measure.name.startswith(MAXIMISED) else f"pre-{measure.name}"


def unique_name(booster: Any, name: str) -> str:
    """A name in an engine's results: another one if the engine evaluates its own metric of that name."""
    return name if booster is None or name not in caller(booster).own_metrics else f"{name}{SECOND}"


def check_sources(reader: Any, q: Queries, data: Any) -> None:
    """Raise if an objective or a measure reads label sources or positions that the data set does not have."""
    lost = [name for name in reader.sources if name not in q.labels]
    no_position = getattr(reader, "reads_positions", False) and q.positions is None
    if not lost and not no_position:
        return
    names = [*lost, *(["position"] if no_position else [])]
    what = f"the label source {lost[0]!r}" if lost else "positions"
    call = ", ".join(f"{name}=…" for name in names)
    if data is None:
        remedy = "LGBMRanker passes none but y: use lambdaboost.lightgbm.LambdaRanker, which takes them as columns of X"
    elif is_lightgbm(data):
        remedy = f"give it by attach(data, {call}), also on validation sets"
    else:
        remedy = (
            f"give it by attach(data, {call}), also on validation sets; a slice of a DMatrix, as in xgboost.cv, loses "
            f"it: {WITHOUT_SLICES}"
        )
    raise ValueError(
        f"{shorten(repr(reader), 80, placeholder=' …')} reads {what}, which the data set does not have: {remedy}"
    )


def mean_of(measure: Any, estimator: Any, X: Any, grades: Any, **row_fields: Any) -> float:
    """The mean of a measure of an estimator's scores; queries are in the columns that it names, or in `row_fields`."""
    columns = columns_of(estimator)
    q, _, rows = columns.labels(X, grades, strict=False, name="X", **row_fields)
    for source in measure.sources:
        if source not in q.labels:
            raise _missing_column(f"label source {source!r}", "sources", columns.sources.get(source))
    if getattr(measure, "reads_positions", False) and q.positions is None:
        raise _missing_column("positions", "position", columns.position)
    scores = estimator.predict(X)
    return float(measure.mean(scores if rows is None else np.asarray(scores)[rows], q))


def _missing_column(what: str, argument: str, column: str | None) -> ValueError:
    if column is None:
        return ValueError(f"X has no {what}: name the column in {argument}= of the ranker")
    return ValueError(f"X has no column {column!r}, which {argument}= names: give a table with it")


def columns_of(estimator: Any) -> Columns:
    """The columns that a ranker names, also as the last step of a pipeline or within a search."""
    steps = getattr(estimator, "steps", None)
    inner = steps[-1][1] if isinstance(steps, list) and steps else getattr(estimator, "estimator", None)
    if inner is not None:
        return columns_of(inner)
    named = ("query", "sources", "position", "unseen")
    return Columns(**{name: getattr(estimator, name) for name in named if hasattr(estimator, name)})


# The booster that calls.


class Caller:
    """What is known of a booster in training: how it counts rounds, its threads, and which objectives were checked."""

    def __init__(self, booster: Any) -> None:
        self.booster = weakref.ref(booster)
        engine = internals_of(booster)
        # The booster's own count of rounds, from 0, with those of the model that it continues. LightGBM does not count
        # a round whose tree has no split.
        self.count = "current_iteration" if engine is _lightgbm else "num_boosted_rounds"
        try:
            given = int(engine.threads_given(booster))
        except (TypeError, ValueError):  # none, or text
            given = 0
        number = given if given > 0 else None
        self.threads = Threads(number, team_of(engine.library(), number))
        self.checked: list[tuple[Any, weakref.ref[Queries]]] = []

    @cached_property
    def own_metrics(self) -> Sequence[str]:
        """The names of the engine's own metrics, which it evaluates before others."""
        booster = self.booster()
        return tuple(internals_of(booster).own_metrics(booster))

    def note(self, rule: Any, q: Queries) -> None:
        """Record that an objective was checked on these queries; of one objective the latest are kept."""
        self.checked = [(one, queries) for one, queries in self.checked if one != rule]
        self.checked.append((rule, weakref.ref(q)))

    def has_checked(self, rule: Any, q: Queries) -> bool:
        """Whether this objective, or an equal one, was checked on these queries."""
        for one, queries in self.checked:  # noqa: SIM110  # a generator is a call more in every round
            if queries() is q and (one is rule or one == rule):
                return True
        return False


_callers: weakref.WeakKeyDictionary[Any, Caller] = weakref.WeakKeyDictionary()


def caller(booster: Any) -> Caller:
    """What is known of a booster of either engine."""
    known = _callers.get(booster)
    if known is None:
        known = _callers[booster] = Caller(booster)
    return known


def calling_booster(method: str = "") -> Any:
    """The innermost booster of which a method, or that method alone, waits for this call; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_varnames[:1] == ("self",) and code.co_name == (method or code.co_name):
            owner = frame.f_locals.get("self")
            for mark in MARKS:
                if hasattr(type(owner), mark):
                    return owner
        frame = frame.f_back
    return None
