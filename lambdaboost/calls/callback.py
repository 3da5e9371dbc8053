"""`Objective.__call__` and `Measure.__call__`: what a stock engine, or scikit-learn, passes and expects back.

Neither engine passes its booster or its boosting round, but both call from methods of `Booster`, so these are read from
the calling frames.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost import _lightgbm, _xgboost
from lambdaboost._team import team_of
from lambdaboost._threads import UNSET, Threads, using
from lambdaboost._value import text_of
from lambdaboost.calls.data import is_lightgbm, is_xgboost, queries_of, queries_of_arrays
from lambdaboost.calls.traps import check_drop_in
from lambdaboost.datasets import Queries
from lambdaboost.datasets.named_columns import NamedColumns

Gradient = tuple[NDArray[np.float32], NDArray[np.float32]]
ENGINES = (_lightgbm, _xgboost)
MARKS = tuple(engine.OF_BOOSTERS for engine in ENGINES)
# Not an identifier, so it cannot clash with a variable of `update`.
_MARK = "lambdaboost: round of this update"


def gradient_of(rule: Any, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> Gradient:
    """Gradient and hessian for ``(preds, data)`` or ``(y_true, y_pred, weight, group)``, in the caller's round."""
    call = round_of_update()
    with using(*UNSET if call is None else call.training.threads):
        if hasattr(y_pred, "get_label"):
            scores, q = y_true, queries_of(y_pred, rule.sources if is_xgboost(y_pred) else ())
        else:
            scores, q = y_pred, queries_of_arrays(y_true, weight, group)
        if call is None or not call.training.checked:
            rule.check_training(q)
        if call is not None and not call.training.checked:
            check_drop_in(call.booster, y_pred, rule, q)
            call.training.checked = True
        derivatives: Gradient = rule.gradient(scores, q, 0 if call is None else call.number)
    if call is not None:
        call.answered()
    return derivatives


def figure_of(measure: Any, scores: Any, queries: Any, weight: Any = None, group: Any = None) -> Any:
    """The mean over queries as the caller expects it: see `Measure.__call__`."""
    if isinstance(queries, Queries):
        return measure.mean(scores, queries)
    if hasattr(scores, "predict"):
        q = _queries_in(scores, queries, weight, measure)
        return measure.mean(scores.predict(queries), q)
    with called_by(calling_booster()):
        if group is not None:
            y_true, y_pred = scores, queries
            q = queries_of_arrays(y_true, weight, group)
            return lightgbm_name(measure), measure.mean(y_pred, q), True
        if is_lightgbm(queries):
            return lightgbm_name(measure), measure.mean(scores, queries_of(queries, measure.sources)), True
        if is_xgboost(queries):
            return xgboost_name(measure), measure.mean(scores, queries_of(queries, measure.sources))
    raise TypeError(
        f"a measure cannot be called with scores and a {type(queries).__name__}: give (scores, Queries), "
        "(preds, lightgbm.Dataset), (preds, xgboost.DMatrix), (y_true, y_pred, weight, group) or (ranker, X, y)"
    )


def lightgbm_name(measure: Any) -> str:
    """The name of a measure in LightGBM's results."""
    return text_of(measure).replace(" ", "")


def xgboost_name(measure: Any) -> str:
    """The name of a measure in XGBoost's results."""
    name = lightgbm_name(measure).lower()
    # XGBoost's early stopping minimises every metric whose name begins differently.
    return name if name.startswith(("ndcg", "map", "pre", "auc")) else f"pre-{name}"


def _queries_in(estimator: Any, X: Any, grades: Any, measure: Any) -> Queries:
    """The queries of a frame, with what a measure reads, from the columns that the estimator names."""
    columns = NamedColumns.of(estimator)
    if columns.query_of_row("X", X) is None:
        raise ValueError(
            f"X has no column {columns.query!r}: a measure as scoring= needs a pandas or polars DataFrame with the "
            "query of each row"
        )
    return columns.scored(X, grades, measure)


# The booster that calls, and its round.


class Training:
    """What is known of a booster in training: its threads, how many rounds it has done, whether it was `checked`.

    LightGBM does not count iterations whose tree had no split, so rounds and iterations differ. Changes between two
    rounds show in the iterations: further rounds add to them, and ``rollback_one_iter`` subtracts from them.
    """

    def __init__(self, booster: Any) -> None:
        self._booster = weakref.ref(booster)
        engine = next(one for one in ENGINES if hasattr(type(booster), one.OF_BOOSTERS))
        self._count = engine.ROUNDS
        self.threads = _threads_of(booster, engine)
        self.checked = False
        self.interruption: BaseException | None = None
        self._count_from()

    def _count_from(self, rounds: int | None = None) -> None:
        """Count from that many rounds; by default from the iterations that it reports."""
        self._iterations = self._reported()
        self._done = self._iterations if rounds is None else rounds

    @property
    def round(self) -> int:
        """The boosting round that it computes next, from 0, counting those of a continued model."""
        return max(0, self._done + self._reported() - self._iterations)

    def ends(self, number: int) -> Generator[None, None, None]:
        """A round that is computed, with or without a tree, when this generator is deleted.

        A destructor would lose what a signal's handler raises at its first instruction; a generator goes on in a `try`.
        """
        try:
            yield
        except GeneratorExit:
            try:
                if self._booster() is not None:
                    self._count_from(number + 1)
            except BaseException as error:  # nothing can be raised here
                self.interruption = error

    def _reported(self) -> int:
        return int(getattr(self._booster(), self._count)())


_trainings: weakref.WeakKeyDictionary[Any, Training] = weakref.WeakKeyDictionary()


def training_of(booster: Any) -> Training:
    """What is known of a booster of either engine."""
    known = _trainings.get(booster)
    if known is None:
        known = _trainings[booster] = Training(booster)
    return known


class Round:
    """One call of `Booster.update`, which is one boosting round however often it asks for a gradient.

    It is stored among the local variables of `update` only, so it is deleted when `update` returns. Only then can a
    round whose tree had no split, which LightGBM drops, be distinguished from one that is rolled back later.
    """

    def __init__(self, booster: Any) -> None:
        self.booster = booster
        self.training = training_of(booster)
        self.number = self.training.round
        self._end: Generator[None, None, None] | None = None

    def answered(self) -> None:
        """Count the round when it ends; one that fails is not counted."""
        if self._end is None:
            self._end = self.training.ends(self.number)
            next(self._end)


def round_of_update() -> Round | None:
    """The round of the `Booster.update` that led here, through any number of other functions; None outside any."""
    frame = _booster_waiting("update")
    if frame is None:
        return None
    variables = frame.f_locals
    if _MARK not in variables:
        variables[_MARK] = Round(variables["self"])
    found: Round = variables[_MARK]
    if (late := found.training.interruption) is not None:
        found.training.interruption = None
        raise late
    return found


def calling_booster() -> Any:
    """The booster whose method is calling this function, directly or indirectly; None if there is none."""
    frame = _booster_waiting()
    return None if frame is None else frame.f_locals["self"]


@contextmanager
def called_by(booster: Any) -> Iterator[None]:
    """Use the threads of the booster that called, in this block; without a booster, those outside it."""
    with using(*UNSET if booster is None else training_of(booster).threads):
        yield


def _threads_of(booster: Any, engine: Any) -> Threads:
    """The number of threads of a booster, None if it was not set, and the team that trains it."""
    try:
        given = int(engine.threads_given(booster))
    except (TypeError, ValueError):  # none, or text
        given = 0
    number = given if given > 0 else None
    return Threads(number, team_of(engine.library(), number))


def _booster_waiting(method: str = "") -> FrameType | None:
    """The innermost method of a booster that is waiting, or that method alone."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_varnames[:1] == ("self",) and code.co_name == (method or code.co_name):
            kind = type(frame.f_locals.get("self"))
            if any(map(partial(hasattr, kind), MARKS)):
                return frame
        frame = frame.f_back
    return None
