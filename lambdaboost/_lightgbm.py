"""Everything undocumented that lambdaboost uses of LightGBM, as in LightGBM 4.6 and 4.7; the engine is not imported.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._warn import waiting

# A method of LightGBM's boosters that XGBoost's do not have.
OF_BOOSTERS = "rollback_one_iter"
ROUNDS = "current_iteration"  # the method that counts a booster's iterations
# Parameters: the main name, then its aliases in LightGBM's order of preference.
BOOSTING = ("boosting", "boosting_type", "boost")
THREADS = ("num_threads", "n_jobs", "nthread", "nthreads", "num_thread")
# The attribute in which `Booster.update` records that it has removed the booster's own objective.
OBJECTIVE_NOTED = "_Booster__set_objective_to_none"
# What a file of `Dataset.save_binary` begins with.
BINARY = b"______LightGBM_Binary_File_Token______\n"


def library() -> Any:
    """The engine's loaded library; None before it is imported."""
    return getattr(sys.modules.get("lightgbm.basic"), "_LIB", None)


@cache
def parameter_names() -> frozenset[str]:
    """All names of parameters with their aliases; empty, so that none is refused, if LightGBM has no such list."""
    aliases: Any = getattr(sys.modules.get("lightgbm.basic"), "_ConfigAliases", None)
    names = aliases._get_all_param_aliases() if hasattr(aliases, "_get_all_param_aliases") else {}
    return frozenset(name for main, others in names.items() for name in (main, *others))


def is_true(value: Any) -> bool:
    """Whether LightGBM reads a parameter as true."""
    return str(value).lower() in ("true", "1", "+")


def machines_of(params: Mapping[str, Any]) -> int:
    """The workers of the training; LightGBM counts them where `params` list them alone."""
    listed = str(params.get("machines") or params.get("workers") or params.get("nodes") or "")
    counted = params.get("num_machines") or params.get("num_machine")
    return max(int(counted or 1), listed.count(",") + 1)


# Data sets.


def is_constructed(data: Any) -> bool:
    """Whether the data set is constructed, without constructing it."""
    return data._handle is not None


class ScoredInBatches:
    """A base of data sets: a model that is continued scores `Rows` in batches; LightGBM would read them all at once."""

    def _set_init_score_by_predictor(self, predictor: Any, data: Any, used_indices: Any) -> Any:
        if predictor is None or not hasattr(data, "batches"):
            return super()._set_init_score_by_predictor(predictor, data, used_indices)  # type: ignore[misc]
        scores = [predictor.predict(batch, raw_score=True) for batch in data.batches()]
        return self.set_init_score(np.concatenate(scores))  # type: ignore[attr-defined]


def is_binary_file(data: Any) -> bool:
    """Whether features are a file that `Dataset.save_binary` wrote: of bins, which no model can score."""
    if not isinstance(data, str | Path) or not Path(data).is_file():
        return False
    with Path(data).open("rb") as file:
        return file.read(len(BINARY)) == BINARY


def rows_of_parent(data: Any) -> tuple[Any, Any]:
    """The rows that a subset has of another data set, and that data set; None for one that is no subset."""
    if data.used_indices is None or data.reference is None:
        return None, None
    return np.asarray(data.used_indices), data.reference


# Boosters in training.


def is_booster(value: object) -> bool:
    """Whether an object is a `lightgbm.Booster`."""
    return hasattr(type(value), OF_BOOSTERS)


def threads_given(booster: Any) -> Any:
    """The number of threads among the parameters of a booster; None if there is none."""
    return next((booster.params[name] for name in THREADS if booster.params.get(name) is not None), None)


def note_objective(booster: Any) -> None:
    """Keep the first `Booster.update` from resetting the booster's parameters."""
    setattr(booster, OBJECTIVE_NOTED, True)


def ranker_in_training() -> tuple[Any, dict[str, Any], Any, Any] | None:
    """Of the `LGBMRanker.fit` that is training its eval_metric, parameters, feval and callbacks; None outside of any.

    They are read from the local variables of the functions that wait.
    """
    wanted = {"fit": "lightgbm.sklearn", "train": "lightgbm.engine"}
    found: dict[str, dict[str, Any]] = {}
    for frame in waiting():
        name = frame.f_code.co_name
        if name in wanted.keys() - found.keys() and frame.f_globals.get("__name__") == wanted[name]:
            found[name] = dict(frame.f_locals)
    if found.keys() != wanted.keys():
        return None
    fit, train = found["fit"], found["train"]
    callbacks = train.get("callbacks_set") or train.get("callbacks") or ()
    return fit.get("eval_metric"), fit["self"].get_params(), train.get("feval"), callbacks


def take_over(ranker: Any, booster: Any, history: dict[str, Any], features: int, named: bool) -> None:
    """Set the attributes that `LGBMRanker.fit` sets, for its properties to read."""
    ranker._n_features_in = features
    ranker._fitted_with_feature_names = named
    ranker._Booster = booster
    ranker._n_features = booster.num_feature()
    ranker._evals_result = history
    ranker._best_iteration = booster.best_iteration
    ranker._best_score = booster.best_score
    ranker.fitted_ = True


# The text of a model.


def with_parameters(text: str, changed: Mapping[str, str]) -> str:
    """The text of a model with these parameters in place of its own."""
    for name, value in changed.items():
        text = re.sub(rf"^\[{name}: .*\]$", f"[{name}: {value}]", text, flags=re.MULTILINE)
    return text
