"""Undocumented parts of stock LightGBM that lambdaboost reads, as of LightGBM 4.6 and 4.7.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._stock.frames import waiting

# The parameter of the number of threads: the main name, then its aliases in LightGBM's order of preference.
THREADS = ("num_threads", "n_jobs", "nthread", "nthreads", "num_thread")


def library() -> Any:
    """The engine's loaded library; None before it is imported."""
    return getattr(sys.modules.get("lightgbm.basic"), "_LIB", None)


def is_booster(value: object) -> bool:
    """Whether an object is a `lightgbm.Booster`, by methods that XGBoost's does not have."""
    return hasattr(type(value), "current_iteration") and hasattr(type(value), "rollback_one_iter")


def threads_given(booster: Any) -> Any:
    """The number of threads among the parameters of a booster; None if there is none."""
    return next((booster.params[name] for name in THREADS if booster.params.get(name) is not None), None)


class Fit(NamedTuple):
    """A call of `LGBMRanker.fit` that is training.

    Attributes
    ----------
    eval_metric : object
        The argument of `fit`.
    parameters : dict
        Those of the ranker.
    feval, callbacks : object
        What `lightgbm.train` got; callbacks with those that it creates for parameters.

    """

    eval_metric: Any
    parameters: dict[str, Any]
    feval: Any
    callbacks: Any


def ranker_in_training() -> Fit | None:
    """The `LGBMRanker.fit` that is training, from local variables of LightGBM's functions; None outside of any."""
    fit, train = _variables("lightgbm.sklearn", "fit"), _variables("lightgbm.engine", "train")
    if fit is None or train is None:
        return None
    callbacks = train.get("callbacks_set") or train.get("callbacks") or ()
    return Fit(fit.get("eval_metric"), fit["self"].get_params(), train.get("feval"), callbacks)


def _variables(module: str, function: str) -> dict[str, Any] | None:
    """The local variables of the innermost function of that name that is waiting; None where there is none."""
    for frame in waiting():
        if frame.f_code.co_name == function and frame.f_globals.get("__name__") == module:
            return dict(frame.f_locals)
    return None


def rows_of_parent(data: Any) -> tuple[NDArray[Any], Any] | None:
    """The rows that a subset has of another data set, and that data set; None for one that is no subset."""
    if data.used_indices is None or data.reference is None:
        return None
    return np.asarray(data.used_indices), data.reference
