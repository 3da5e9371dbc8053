"""Everything undocumented that lambdaboost uses of LightGBM, as in LightGBM 4.6 and 4.7; the engine is not imported.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from lambdaboost._warn import variables_of

# A method of LightGBM's boosters that XGBoost's do not have.
BOOSTER_METHOD = "rollback_one_iter"
# The attribute in which `Booster.update` records that it has removed the booster's own objective.
OBJECTIVE_NOTED = "_Booster__set_objective_to_none"
MIN_LEAF_SIZE = "min_data_in_leaf"
DEFAULTS = {MIN_LEAF_SIZE: 20, "min_sum_hessian_in_leaf": 1e-3}
# Parameters that only LightGBM's own ranking objective reads, with the counterpart in lambdaboost.
_TRUNCATION = "the measure truncates: give LambdaRank(NDCG(k={value}))"
ONLY_NATIVE = {
    "lambdarank_truncation_level": _TRUNCATION,
    "max_position": _TRUNCATION,
    "lambdarank_norm": "leave it out, or train with LightGBM's own 'lambdarank'",
    "sigmoid": "give LambdaRank(sigma={value})",
    "lambdarank_position_bias_regularization": "leave it out",
    "objective_seed": "give XENDCG(seed={value})",
}

# The metrics of LightGBM 4.7 with their aliases; Python has no list of them.
_METRICS = """
none na null custom l1 mean_absolute_error mae regression_l1 l2 mean_squared_error mse regression_l2 regression rmse
root_mean_squared_error l2_root quantile mape mean_absolute_percentage_error huber fair poisson gamma gamma_deviance
tweedie r2 ndcg lambdarank rank_xendcg xendcg xe_ndcg xe_ndcg_mart xendcg_mart map mean_average_precision auc
average_precision binary_logloss binary binary_error auc_mu multi_logloss multiclass softmax multiclassova
multiclass_ova ova ovr multi_error cross_entropy xentropy cross_entropy_lambda xentlambda kullback_leibler kldiv
"""
METRICS = frozenset(_METRICS.split())


# Parameters.


@cache
def aliases() -> dict[str, list[str]]:
    """All names of each parameter, the main one first."""
    from lightgbm.basic import _ConfigAliases

    return dict(_ConfigAliases._get_all_param_aliases())


def parameter_names() -> frozenset[str]:
    """All names of parameters with their aliases."""
    return frozenset(name for names in aliases().values() for name in names)


def given(params: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter under the first of its names that has one; None without."""
    values = (params.get(alias) for alias in aliases()[name])
    return next((value for value in values if value not in (None, "")), None)


def is_true(value: Any) -> bool:
    """Whether LightGBM reads a parameter as true."""
    return str(value).lower() in ("true", "1", "+")


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together; LightGBM counts them where `params` list them alone."""
    listed = str(given(params, "machines") or "")
    return max(int(given(params, "num_machines") or 1), listed.count(",") + 1)


@contextmanager
def network(machines: Sequence[str], port: int) -> Iterator[None]:
    """The network of these ``host:port`` for the boosters of this thread; this machine listens at `port`."""
    from lightgbm.basic import _LIB, _safe_call

    minutes = 120
    _safe_call(
        _LIB.LGBM_NetworkInit(ctypes.c_char_p(",".join(machines).encode()), port, minutes, len(machines))
    )
    try:
        yield
    finally:
        _LIB.LGBM_NetworkFree()


# Data sets.


def is_constructed(data: Any) -> bool:
    """Whether the data set is constructed, without constructing it."""
    return data._handle is not None


def parent_of(data: Any) -> Any:
    """The data set of which a subset has the rows ``used_indices``; None for one that is no subset."""
    return None if data.used_indices is None else data.reference


# Boosters in training.


def is_booster(value: object) -> bool:
    """Whether an object is a `lightgbm.Booster`."""
    return hasattr(type(value), BOOSTER_METHOD)


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters that the user gave."""
    return booster.params or {}


def round_of(booster: Any) -> int:
    """The booster's own count of rounds, with those of the model that it continues, without trees of no split."""
    return int(booster.current_iteration())


def threads_given(booster: Any) -> Any:
    """The number of threads among the parameters of a booster; None if there is none."""
    return given(params_of(booster), "num_threads")


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of LightGBM's own metrics that the booster evaluates, as in its results."""
    return getattr(booster, "_Booster__name_inner_eval", None) or ()


def metrics_in_training(booster: Any) -> Sequence[Any]:
    """The callables that the `lightgbm.train` or `lightgbm.cv` that waits evaluates."""
    found = variables_of("lightgbm.engine", "train", "cv").get("feval")
    return found if isinstance(found, list | tuple) else [found]


def note_objective(booster: Any) -> None:
    """Keep the first `Booster.update` from resetting the booster's parameters.

    The reset would change the random features of `feature_fraction`, and fail if no feature is usable.
    """
    setattr(booster, OBJECTIVE_NOTED, True)


def restart_dart(booster: Any) -> None:
    """Let DART drop the same trees in every run, once the scores of its first round are computed.

    It does not initialise the variable that records whether trees were dropped in a round, so that the first round
    draws a random number or not. Computing scores sets the variable, and resetting the parameters restarts the draws.
    """
    if given(params_of(booster), "boosting") == "dart" and set(feature_infos(booster)) != {"none"}:
        booster.reset_parameter({"objective": "none"})


def feature_infos(booster: Any) -> list[str]:
    """The range of each feature: ``[low:high]`` of numbers, ``0:1:2`` of categories, ``none`` of unusable ones."""
    found = re.search("^feature_infos=(.*)$", booster.model_to_string(num_iteration=1), re.MULTILINE)
    return found[1].split() if found else []


def alone(model: bytes) -> bytes:
    """The file of a model without the cluster, as of one trained on a single machine."""
    model = re.sub(rb"(?m)^\[num_machines: .*\]$", b"[num_machines: 1]", model)
    return re.sub(rb"(?m)^\[tree_learner: .*\]$", b"[tree_learner: serial]", model)
