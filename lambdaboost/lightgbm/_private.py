"""Everything undocumented that lambdaboost uses of LightGBM, as in LightGBM 4.6 and 4.7.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import lightgbm as lgb
import numpy as np
from lightgbm import basic
from lightgbm.callback import CallbackEnv
from numpy.typing import NDArray

# The attribute in which `Booster.update` records that it has removed the booster's own objective.
OBJECTIVE_NOTED = "_Booster__set_objective_to_none"

# The local variable of `lightgbm.train` and `lightgbm.cv` that holds the callable among the parameters.
OBJECTIVE_VARIABLE = "fobj"

# The classes are not public; `lightgbm.early_stopping` and `lightgbm.reset_parameter` are functions.
EarlyStopping = type(lgb.early_stopping(1))
ResetParameter = type(lgb.reset_parameter(learning_rate=[0.1]))


def is_constructed(data: lgb.Dataset) -> bool:
    """Whether the data set is constructed, without constructing it."""
    return data._handle is not None


def is_continued(data: lgb.Dataset) -> bool:
    """Whether the initial scores come from a model that LightGBM continues."""
    return data._predictor is not None


def construct_valid(valid: lgb.Dataset, data: lgb.Dataset, params: Mapping[str, Any]) -> None:
    """Construct validation data as `lightgbm.train` does."""
    valid._update_params(dict(params)).set_reference(data).construct()


def note_objective(booster: lgb.Booster) -> None:
    """Keep the first `Booster.update` from resetting the booster's parameters."""
    setattr(booster, OBJECTIVE_NOTED, True)


def callback_env(env: Any, iteration: int, end: int, results: Any) -> Any:
    """The environment of callbacks in a round of a training from round 0 to `end`."""
    return CallbackEnv(
        model=env.model,
        params=env.params,
        iteration=iteration,
        begin_iteration=0,
        end_iteration=end,
        evaluation_result_list=results,
    )


def eval_result(values: Any) -> Any:
    """An item of ``evaluation_result_list``: a class of its own since LightGBM 4.7, a tuple before."""
    return getattr(lgb, "EvalResult", lambda *items: items)(*values)


@cache
def parameter_names() -> frozenset[str]:
    """All names of parameters with their aliases; empty, so that none is refused, if LightGBM has no such list."""
    aliases: Any = getattr(basic, "_ConfigAliases", None)
    names = aliases._get_all_param_aliases() if hasattr(aliases, "_get_all_param_aliases") else {}
    return frozenset(name for main, others in names.items() for name in (main, *others))


def take_over(ranker: Any, booster: lgb.Booster, history: dict[str, Any], features: int, named: bool) -> None:
    """Set the attributes that `LGBMRanker.fit` sets, for its properties to read."""
    ranker._n_features_in = features
    ranker._fitted_with_feature_names = named
    ranker._Booster = booster
    ranker._n_features = booster.num_feature()
    ranker._evals_result = history
    ranker._best_iteration = booster.best_iteration
    ranker._best_score = booster.best_score
    ranker.fitted_ = True


@dataclass(frozen=True)
class Tree:
    """A booster's last tree: the outputs of its leaves, and the parameters of the training as printed."""

    outputs: NDArray[np.float64]
    rate: float
    l2: float
    max_step: float


def last_tree(booster: lgb.Booster) -> Tree:
    """The last tree, read from the text of the model."""
    text = _last_tree_text(booster)
    lines = dict(line.split("=", 1) for line in text[text.index("Tree=") :].splitlines() if "=" in line)
    outputs = np.array(lines["leaf_value"].split(), dtype=np.float64)
    parameters = _parameters(text)
    l2, max_step = float(parameters["lambda_l2"]), float(parameters["max_delta_step"])
    return Tree(outputs, float(lines["shrinkage"]), l2, max_step)


def parameters_of(booster: lgb.Booster) -> Mapping[str, str]:
    """All parameters as LightGBM understood them, by their main names, from the text of the model."""
    return _parameters(_last_tree_text(booster))


def with_parameters(text: str, changed: Mapping[str, str]) -> str:
    """The text of a model with these parameters in place of its own."""
    for name, value in changed.items():
        text = re.sub(rf"^\[{name}: .*\]$", f"[{name}: {value}]", text, flags=re.MULTILINE)
    return text


def _last_tree_text(booster: lgb.Booster) -> str:
    return booster.model_to_string(num_iteration=1, start_iteration=max(booster.current_iteration() - 1, 0))


def _parameters(text: str) -> dict[str, str]:
    return {name: value.strip() for name, value in re.findall(r"^\[(\w+):(.*)\]$", text, flags=re.MULTILINE)}
