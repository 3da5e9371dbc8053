"""LightGBM, as `Engine` of `base` asks for it: tried with LightGBM 4.6 and 4.7.

What is undocumented has a leading underscore in LightGBM, or is read from its model text. If a later version changes a
name, `tests/test_engines.py` reports which one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from socket import socket
from typing import Any
from urllib.parse import urlparse

import numpy as np

from lambdaboost._installed import package
from lambdaboost._warn import variables_of
from lambdaboost.datasets.arrays import labels_of, only_column
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.engines.base import Fields, OnRound

# What a model answers is part of this engine too.
from lambdaboost.engines.lightgbm_model import (  # noqa: F401
    ABSENT_IN_TEXT,
    SUFFIXES,
    UNNAMED,
    categories,
    contributions,
    feature_infos,
    feature_names,
    first_is_unused,
    merged,
    n_rounds,
    read,
    scores,
    trees,
    write,
)

NAME, TITLE = "lightgbm", "LightGBM"
NATIVE_OBJECTIVES: tuple[str, ...] = ("lambdarank", "rank_xendcg")
NO_GROUPS = (
    "the lightgbm.Dataset has no groups: give group=[documents of each query]; if LightGBM read it from a file, call "
    "its construct().get_group() before lightgbm.cv"
)

# Methods of LightGBM's data sets and boosters that XGBoost's do not have.
DATA_METHOD, BOOSTER_METHOD = "set_categorical_feature", "rollback_one_iter"
ROUNDS_METHOD = "current_iteration"  # which leaves out rounds whose tree has no split
THREADS = "num_threads"
# The attribute in which `Booster.update` records that it has removed the booster's own objective.
OBJECTIVE_NOTED = "_Booster__set_objective_to_none"
MIN_LEAF_SIZE = "min_data_in_leaf"
DEFAULTS: dict[str, float] = {MIN_LEAF_SIZE: 20, "min_sum_hessian_in_leaf": 1e-3}
RESERVED: tuple[str, ...] = ("objective", "metric", "num_iterations", "early_stopping_round", "seed")
# What only LightGBM's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE: dict[str, tuple[bool | None, str]] = {
    "lambdarank_truncation_level": (None, "the measure truncates: give {truncated}(NDCG(k={value}))"),
    "lambdarank_norm": (False, "leave it out, or train with LightGBM's own 'lambdarank'"),
    "sigmoid": (None, "give {scaled}(sigma={value})"),
    "lambdarank_position_bias_regularization": (None, "leave it out"),
    "objective_seed": (None, "give XENDCG(seed={value})"),
}

# The metrics of LightGBM 4.7 with their aliases; Python has no list of them.
METRICS = """
none na null custom l1 mean_absolute_error mae regression_l1 l2 mean_squared_error mse regression_l2 regression rmse
root_mean_squared_error l2_root quantile mape mean_absolute_percentage_error huber fair poisson gamma gamma_deviance
tweedie r2 ndcg lambdarank rank_xendcg xendcg xe_ndcg xe_ndcg_mart xendcg_mart map mean_average_precision auc
average_precision binary_logloss binary binary_error auc_mu multi_logloss multiclass softmax multiclassova
multiclass_ova ova ovr multi_error cross_entropy xentropy cross_entropy_lambda xentlambda kullback_leibler kldiv
"""


# Parameters.


@cache
def aliases() -> dict[str, list[str]]:
    """All names of each parameter, the main one first."""
    return dict(package(NAME).basic._ConfigAliases._get_all_param_aliases())


def parameter_names() -> frozenset[str]:
    """All names of parameters with their aliases."""
    return frozenset(name for names in aliases().values() for name in names)


def given(params: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter under the first of its names that has one; None without."""
    values = (params.get(alias) for alias in aliases()[name])
    return next((value for value in values if value not in (None, "")), None)


def is_metric(text: str) -> bool:
    """Whether a text names one of LightGBM's own metrics, whose cutoffs are in ``eval_at``."""
    return text in ("None", *METRICS.split())


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together; LightGBM counts them where `params` list them alone."""
    listed = str(given(params, "machines") or "")
    return max(int(given(params, "num_machines") or 1), listed.count(",") + 1)


# Data sets.


def fields_of(data: Any) -> Fields:
    """The fields of a data set, as given while LightGBM has not read it."""
    rows, parent = data.used_indices, None
    if rows is not None:
        parent = data.reference
    if data._handle is not None:  # it is constructed
        field = data.get_field
        return Fields(field("group"), field("label"), field("weight"), parent, rows)
    offsets = labels = weight = None
    if data.group is not None:
        offsets = np.concatenate([[0], np.cumsum(data.group)]).astype(np.int64)
    if data.label is not None:
        labels = labels_of("label", only_column(data.label))
    if data.weight is not None:
        weight = np.asarray(only_column(data.weight))
    return Fields(offsets, labels, weight, parent, rows)


def sliced_from() -> None:
    """LightGBM's subsets know their parents."""


def dataset(
    features: Any, q: Queries, *, names: Sequence[str] | None = None, reference: Any = None, **more: Any
) -> Any:
    """A data set of the grades, 0 where missing; `more` are further arguments of `lightgbm.Dataset`."""
    if names and hasattr(features, "columns"):  # by which LightGBM knows the categories
        features.columns = list(names)
    if names:
        more["feature_name"] = list(names)
    # LightGBM's own lambdarank reads its own field of positions, 0 where a row was not shown.
    grades = np.nan_to_num(q.labels[RELEVANCE])
    own = {"group": q.sizes, "weight": q.weight, "position": q.position, "reference": reference}
    return package(NAME).Dataset(features, grades, **own, **more)


# Boosters in training.


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters that the user gave."""
    return booster.params or {}


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of LightGBM's own metrics that the booster evaluates, as in its results."""
    return getattr(booster, "_Booster__name_inner_eval", None) or ()


def metrics_in_training(booster: Any) -> Sequence[Any]:
    """The callables that the `lightgbm.train` or `lightgbm.cv` that waits evaluates."""
    found = variables_of("lightgbm.engine", "train", "cv").get("feval")
    if not isinstance(found, list | tuple):
        found = [found]
    return found


def evaluates_nothing() -> bool:
    """Whether the `lightgbm.train` or `lightgbm.cv` that waits has data to evaluate, and neither metric nor feval."""
    found = variables_of("lightgbm.engine", "train", "cv")
    has_data = bool(found.get("valid_sets")) or "cvbooster" in found
    return has_data and not found["feval"] and given(found["params"], "metric") is None


def restart_dart(booster: Any) -> None:
    """Let DART drop the same trees in every run, once the scores of its first round are computed.

    It does not initialise the variable that records whether trees were dropped in a round, so that the first round
    draws a random number or not. Computing scores sets the variable, and resetting the parameters restarts the draws.
    """
    if given(params_of(booster), "boosting") == "dart" and set(feature_infos(booster)) != {"none"}:
        booster.reset_parameter({"objective": "none"})


def metric_result(name: str, value: float) -> tuple[str, float, bool]:
    """The result of a metric that is maximised, as LightGBM expects it."""
    return name, value, True


def train(
    objective: Callable[..., Any] | str,
    params: Mapping[str, Any],
    rounds: int,
    data: Any,
    valid: Any = None,
    measure: Callable[..., Any] | None = None,
    early_stopping: int | None = None,
    on_round: OnRound | None = None,
) -> Any:
    """The booster of `lightgbm.train`, without output; after early stopping it ends at its best round.

    The measure is evaluated on the data `valid`, if there are any.
    """
    lgb = package(NAME)

    def each(env: Any) -> None:
        results = env.evaluation_result_list
        if on_round is not None:
            on_round(results[0][2] if results else None)

    callbacks: list[Any] = [each]
    if callable(objective):
        callbacks.append(prevent_reset)
    if early_stopping is not None:
        callbacks.append(lgb.early_stopping(early_stopping, verbose=False))
    settings = {"verbosity": -1, **params}
    if data._handle is None:  # not constructed, and a training with smaller leaves may use it later
        settings = {"feature_pre_filter": False} | settings
    settings |= {"objective": objective, "metric": "None"}
    evaluated: dict[str, Any] = {}
    if valid is not None:
        evaluated = {"valid_sets": [valid], "valid_names": ["valid"], "feval": measure}
    return lgb.train(settings, data, rounds, callbacks=callbacks, **evaluated)


def prevent_reset(env: Any) -> None:
    """A callback for objectives that are called, with which LightGBM draws as for its own.

    It keeps the first `Booster.update` from resetting the booster's parameters, which would change the random features
    of `feature_fraction`, and fail if no feature is usable.
    """
    if env.iteration == env.begin_iteration:
        setattr(env.model, OBJECTIVE_NOTED, True)


prevent_reset.before_iteration = True  # type: ignore[attr-defined]


# Its `LambdaRanker`.

QUIET = {"verbose": -1}


def tree_params(leaves: int, documents: int, hessian: float, rows: float) -> dict[str, Any]:
    """Parameters of trees that grow leaf by leaf; their smallest leaf is one of documents."""
    drawn = int(rows < 1)  # without subsample_freq LightGBM draws no rows
    return {
        "num_leaves": leaves,
        "min_child_samples": documents,
        "subsample": rows,
        "subsample_freq": drawn,
    }


def measure_fit(ranker: Any, measure: Any, patience: int | None) -> dict[str, Any]:
    """The arguments of `fit` that evaluate a measure, with a callback that ends the training and keeps all trees.

    LightGBM's own early stopping drops those after the best round.
    """
    stopped, values = package(NAME).callback.EarlyStopException, list[float]()

    def stop(env: Any) -> None:
        values.append(env.evaluation_result_list[0][2])
        stalled = len(values) - 1 - int(np.argmax(np.nan_to_num(values, nan=-np.inf)))
        if patience is not None and stalled >= patience:
            raise stopped(env.iteration, env.evaluation_result_list)

    stop.order = 30  # type: ignore[attr-defined]  # after what records the values
    return {"eval_metric": [measure], "callbacks": [stop]}


def first_rounds(n: int) -> dict[str, Any]:
    """The argument of `predict` for the model of the first n rounds."""
    return {"num_iteration": n}


def set_booster(ranker: Any, booster: Any, history: dict[str, Any]) -> None:
    """Give a ranker a booster and the results of its rounds."""
    ranker._Booster, ranker._evals_result, ranker.fitted_ = booster, history, True
    ranker._best_iteration, ranker._best_score = booster.best_iteration, booster.best_score
    ranker._n_features = ranker._n_features_in = booster.num_feature()


# Clusters.

OF_CLUSTER: dict[str, Any] = {"tree_learner": "data"}


def open_network(client: Any, workers: list[str]) -> dict[str, Any]:
    """All addresses, and a socket that keeps a worker's port until LightGBM listens there."""
    pinned = [{"workers": [worker], "pure": False} for worker in workers]
    sockets = [client.submit(_keep_port, **here) for here in pinned]
    ports = client.gather(
        [client.submit(_port_of, *one, **here) for *one, here in zip(sockets, pinned, strict=True)]
    )
    machines = [f"{urlparse(worker).hostname}:{port}" for worker, port in zip(workers, ports, strict=True)]
    return {worker: (machines, kept) for worker, kept in zip(workers, sockets, strict=True)}


def _keep_port() -> socket:
    kept = socket()
    kept.bind(("", 0))
    return kept


def _port_of(kept: socket) -> int:
    return int(kept.getsockname()[1])


@contextmanager
def join_network(network: Any) -> Iterator[dict[str, Any]]:
    """The network on a worker, for the boosters of this thread."""
    from lightgbm.basic import _LIB, _safe_call

    machines, kept = network
    port = _port_of(kept)
    kept.close()
    minutes, addresses = 120, ctypes.c_char_p(",".join(machines).encode())
    _safe_call(_LIB.LGBM_NetworkInit(addresses, port, minutes, len(machines)))
    try:
        yield {"num_machines": len(machines), "machines": None}
    finally:
        _LIB.LGBM_NetworkFree()
