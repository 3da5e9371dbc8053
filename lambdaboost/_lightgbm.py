"""Everything undocumented that lambdaboost uses of LightGBM, as in LightGBM 4.6 and 4.7; the engine is not imported.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from lambdaboost._warn import waiting

# A method of LightGBM's boosters that XGBoost's do not have.
OF_BOOSTERS = "rollback_one_iter"
# Parameters: the main name, then its aliases in LightGBM's order of preference.
BOOSTING = ("boosting", "boosting_type", "boost")
# The attribute in which `Booster.update` records that it has removed the booster's own objective.
OBJECTIVE_NOTED = "_Booster__set_objective_to_none"
METRIC = ("metric", "metrics", "metric_types")
ALIASES = {
    "objective": ("objective", "objective_type", "app", "application", "loss"),
    "metric": METRIC,
    "rounds": (
        *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round"),
        *("num_rounds", "nrounds", "num_boost_round", "n_estimators", "max_iter"),
    ),
    "early stopping": ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change"),
    "seed": ("seed", "random_seed", "random_state"),
    "rate": ("learning_rate", "shrinkage_rate", "eta"),
    "least leaf": (
        *("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
    ),
    "least hessian": (
        *("min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian"),
        "min_child_weight",
    ),
}
DEFAULTS = {"rate": 0.1, "least leaf": 20, "least hessian": 1e-3}
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
THREADS = ("num_threads", "n_jobs", "nthread", "nthreads", "num_thread")


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


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together; LightGBM counts them where `params` list them alone."""
    listed = str(params.get("machines") or params.get("workers") or params.get("nodes") or "")
    counted = params.get("num_machines") or params.get("num_machine")
    return max(int(counted or 1), listed.count(",") + 1)


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
    return hasattr(type(value), OF_BOOSTERS)


def threads_given(booster: Any) -> Any:
    """The number of threads among the parameters of a booster; None if there is none."""
    return next((booster.params[name] for name in THREADS if booster.params.get(name) is not None), None)


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters that the user gave."""
    return booster.params or {}


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of LightGBM's own metrics that the booster evaluates, as in its results."""
    return getattr(booster, "_Booster__name_inner_eval", None) or ()


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
    if any((booster.params or {}).get(name) == "dart" for name in BOOSTING) and _has_usable_feature(booster):
        booster.reset_parameter({"objective": "none"})


def _has_usable_feature(booster: Any) -> bool:
    infos = re.search("^feature_infos=(.*)$", booster.model_to_string(num_iteration=1), re.MULTILINE)
    return infos is None or set(infos[1].split()) != {"none"}


def metrics_in_training(booster: Any) -> list[Any]:
    """The callables that `lightgbm.train` or `lightgbm.cv` evaluates, which waits."""
    train = _variables("train", "lightgbm.engine") or _variables("cv", "lightgbm.engine") or {}
    given = train.get("feval")
    return list(given) if isinstance(given, list | tuple) else [given]


def _variables(function: str, module: str) -> dict[str, Any] | None:
    """The local variables of a function that waits; None if it does not."""
    for frame in waiting():
        if frame.f_code.co_name == function and frame.f_globals.get("__name__") == module:
            return dict(frame.f_locals)
    return None


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


def alone(model: bytes) -> bytes:
    """The file of a model without the cluster, as of one trained on a single machine."""
    model = re.sub(rb"(?m)^\[num_machines: .*\]$", b"[num_machines: 1]", model)
    return re.sub(rb"(?m)^\[tree_learner: .*\]$", b"[tree_learner: serial]", model)
