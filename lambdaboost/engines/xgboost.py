"""XGBoost, as `Engine` of `base` asks for it: tried with XGBoost 2.1 to 3.4.

Undocumented are the contents of ``save_config``, and the variables of `xgboost.train`, which says nothing of itself to
what it calls. If a later version changes a name, `tests/test_engines.py` reports which one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.parse import urlparse

import numpy as np

from lambdaboost._installed import package
from lambdaboost._warn import variables_of
from lambdaboost.datasets.arrays import query_weights
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.engines.base import Fields, OnRound

# What a model answers is part of this engine too.
from lambdaboost.engines.xgboost_model import (  # noqa: F401
    ABSENT_IN_TEXT,
    SUFFIXES,
    UNNAMED,
    categories,
    contributions,
    feature_names,
    first_is_unused,
    merged,
    n_rounds,
    read,
    readable,
    scores,
    trees,
    write,
)

NAME, TITLE = "xgboost", "XGBoost"
NATIVE_OBJECTIVES: tuple[str, ...] = ("rank:ndcg", "rank:pairwise", "rank:map")
NO_GROUPS = "the xgboost.DMatrix has no groups: give qid=[query of each row] or group=[size of each query]"

# Methods of XGBoost's data sets and boosters that LightGBM's do not have.
DATA_METHOD = "get_uint_info"
BOOSTER_METHOD = ROUNDS_METHOD = "num_boosted_rounds"
THREADS = "nthread"

# The parameters of XGBoost 2.1 to 3.4, which has no list of them in Python: general ones, those of trees, of DART and
# gblinear, of objectives, and of its estimators.
PARAMETERS = """
booster device verbosity verbose silent validate_parameters nthread n_jobs disable_default_eval_metric use_rmm seed
random_state rng_state seed_per_iteration debug_synchronize fail_on_invalid_gpu_id gpu_id n_gpus predictor num_feature

eta learning_rate gamma min_split_loss max_depth min_child_weight max_delta_step subsample sampling_method
colsample_bytree colsample_bylevel colsample_bynode lambda reg_lambda alpha reg_alpha tree_method scale_pos_weight
updater updater_seq refresh_leaf process_type grow_policy max_leaves max_bin num_parallel_tree monotone_constraints
interaction_constraints multi_strategy max_cached_hist_node extmem_single_page max_cat_to_onehot max_cat_threshold
sparse_threshold default_direction opt_dense_col specified_updater sketch_eps sketch_ratio max_row_perbatch

sample_type normalize_type rate_drop one_drop skip_drop feature_selector top_k tolerance

objective base_score eval_metric num_class num_target boost_from_average tweedie_variance_power huber_slope
quantile_alpha expectile_alpha aft_loss_distribution aft_loss_distribution_scale lambdarank_pair_method
lambdarank_num_pair_per_sample lambdarank_normalization lambdarank_score_normalization lambdarank_unbiased
lambdarank_bias_norm ndcg_exp_gain

n_estimators early_stopping_rounds callbacks importance_type enable_categorical missing feature_types feature_weights
"""

MIN_LEAF_SIZE = "min_child_weight"
DEFAULTS: dict[str, float] = {MIN_LEAF_SIZE: 1}
RESERVED: tuple[str, ...] = (
    "objective",
    "eval_metric",
    "disable_default_eval_metric",
    "early_stopping_rounds",
    "num_boost_round",
    "n_estimators",
    "seed",
    "random_state",
)
# What only XGBoost's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE: dict[str, tuple[bool | None, str]] = {
    "lambdarank_pair_method": (None, "the measure truncates: give {truncated}(NDCG(k={pairs}))"),
    "lambdarank_num_pair_per_sample": (None, "the measure truncates: give {truncated}(NDCG(k={value}))"),
    "lambdarank_normalization": (False, "leave it out, or train with XGBoost's own 'rank:ndcg'"),
    "lambdarank_score_normalization": (False, "leave it out, or train with XGBoost's own 'rank:ndcg'"),
    "lambdarank_unbiased": (False, "leave it out"),
    "ndcg_exp_gain": (True, "give {truncated}(NDCG(gain='linear'))"),
}

# The metrics of XGBoost 2.1 to 3.4; Python has no list of them.
METRICS = """
rmse rmsle mae mape mphe logloss error merror mlogloss auc aucpr pre ndcg map ndcg- map- poisson-nloglik gamma-nloglik
cox-nloglik gamma-deviance tweedie-nloglik aft-nloglik interval-regression-accuracy quantile expectile
"""


# Parameters.


def parameter_names() -> frozenset[str]:
    """All names of parameters."""
    return frozenset(PARAMETERS.split())


def given(params: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter; None without."""
    return params.get(name)


def is_metric(text: str) -> bool:
    """Whether a text names one of XGBoost's own metrics, such as ``"ndcg@3"``."""
    return text.partition("@")[0] in METRICS.split()


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together here."""
    collective = sys.modules.get("xgboost.collective")
    if collective is None or not collective.is_distributed():
        return 1
    return int(collective.get_world_size())


# Data sets.


def fields_of(data: Any) -> Fields:
    """The fields of a matrix."""
    return Fields(data.get_uint_info("group_ptr"), data.get_label(), data.get_weight())


def dataset(features: Any, q: Queries, *, names: Sequence[str] | None = None, reference: Any = None) -> Any:
    """A matrix of the grades, 0 where missing; XGBoost needs no `reference`."""
    weight = q.weight
    if weight is not None:
        weight = query_weights("weight", weight, q.sizes)
    features, grades = readable(features), np.nan_to_num(q.labels[RELEVANCE])
    data = package(NAME).DMatrix(features, grades, group=q.sizes, weight=weight, enable_categorical=True)
    # Without names arrays of codes are scored too.
    data.feature_names = list(names) if names else None
    return data


def sliced_from() -> Any:
    """The matrix whose slices the `xgboost.cv` that waits trains on; None outside of it."""
    return variables_of("xgboost.training", "cv").get("dtrain")


# Boosters in training.


def state_of(booster: Any) -> Any:
    """The configuration of a booster; reading it takes as long as a short gradient."""
    return json.loads(booster.save_config()).get("learner", {})


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters given to the `xgboost.train` or `xgboost.cv` that trains the booster, or known from its state.

    A booster knows its threads, its kind and the least weight of a leaf, whoever trains it; defaults are left out.
    """
    params = dict(_training_of(booster).get("params") or ())  # of pairs too
    state = state_of(booster)
    if threads := int(state.get("generic_param", {}).get("nthread", 0)):
        params[THREADS] = threads
    boosting = state.get("gradient_booster", {})
    least = boosting.get("gbtree", boosting).get("tree_train_param", {}).get(MIN_LEAF_SIZE, 1)
    if float(least) != 1:
        params[MIN_LEAF_SIZE] = least
    if boosting.get("name") == "gblinear":
        params["booster"] = "gblinear"
    return params


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of XGBoost's own metrics, once it has evaluated them; the default of the objective is one."""
    return tuple(metric["name"] for metric in state_of(booster).get("metrics", ()))


def metrics_in_training(booster: Any) -> Sequence[Any]:
    """The callable that the `xgboost.train` or `xgboost.cv` of the booster evaluates."""
    return [_training_of(booster).get("custom_metric")]


def stops_early(booster: Any) -> bool:
    """Whether the `xgboost.train` or `xgboost.cv` of the booster stops early."""
    callbacks = _training_of(booster).get("callbacks") or ()
    return any(isinstance(one, package(NAME).callback.EarlyStopping) for one in callbacks)


# Early stopping maximises metrics whose name begins so, and minimises all others.
MAXIMISED = ("ndcg", "map", "pre", "auc")


def metric_result(name: str, value: float) -> tuple[str, float]:
    """The result of a metric as XGBoost expects it, under a name that its early stopping maximises.

    >>> metric_result("ndcg@3", 0.5), metric_result("err@10", 0.5)
    (('ndcg@3', 0.5), ('pre-err@10', 0.5))
    """
    return (name if name.startswith(MAXIMISED) else f"pre-{name}"), value


def _training_of(booster: Any) -> dict[str, Any]:
    """The local variables of the `xgboost.train` or `xgboost.cv` that trains a booster; none if another loop does."""
    found = variables_of("xgboost.training", "train", "cv")
    for one in (found.get("bst"), *(fold.bst for fold in found.get("cvfolds", ()))):
        if one is booster:
            return found
    return {}


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
    """The booster of `xgboost.train`, without output; after early stopping it ends at its best round.

    The measure is evaluated on the data `valid`, if there are any.
    """
    if early_stopping is not None and params.get("booster") == "gblinear":
        raise ValueError(
            "early_stopping: XGBoost cannot cut a linear model back to its best round: leave early stopping out, or "
            "give booster='gbtree'"
        )
    xgb = package(NAME)

    class EachRound(xgb.callback.TrainingCallback):  # type: ignore[name-defined]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            values = next(iter(evals_log.get("valid", {}).values()), [None])
            if on_round is not None:
                on_round(values[-1])
            return False

    evaluated: dict[str, Any] = {}
    if valid is not None:
        evaluated = {"evals": [(valid, "valid")], "custom_metric": measure}
    booster = xgb.train(
        settings(objective, params),
        data,
        rounds,
        obj=objective if callable(objective) else None,
        early_stopping_rounds=early_stopping,
        verbose_eval=False,
        callbacks=[EachRound()],
        **evaluated,
    )
    if early_stopping is not None:
        booster = booster[: booster.best_iteration + 1]
    return booster


def settings(
    objective: Callable[..., Any] | str,
    params: Mapping[str, Any],
    metrics: Sequence[str] = (),
    continues: bool = False,
) -> dict[str, Any]:
    """The parameters of `xgboost.train` for an objective, with safe defaults; `metrics` are XGBoost's own."""
    # The default metrics of ranking objectives refuse grades above 31.
    own: dict[str, Any] = {"disable_default_eval_metric": True}
    if metrics:
        own = {"eval_metric": list(metrics)}
    if isinstance(objective, str):
        return {**own, **params, "objective": objective}
    # The name sets the task of the model; the gradients are lambdaboost's. XGBoost starts custom objectives at 0.5 and
    # fits no intercept; a continued model has one already.
    found = {**own, **params, "objective": "rank:ndcg"}
    if not continues and params.get("base_score") is None:
        found["base_score"] = 0.0
    return found


# Its `LambdaRanker`.

QUIET: dict[str, Any] = {}


def tree_params(leaves: int, documents: int, hessian: float, rows: float) -> dict[str, Any]:
    """Parameters of trees that grow leaf by leaf; their smallest leaf is one of a sum of hessians."""
    return {
        "max_leaves": leaves,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "min_child_weight": hessian,
        "subsample": rows,
    }


def measure_fit(ranker: Any, measure: Any, patience: int | None) -> dict[str, Any]:
    """Set the parameters with which XGBoost evaluates a measure and stops early, with the trees of all rounds."""
    ranker.set_params(eval_metric=measure, early_stopping_rounds=patience)
    return {}


def first_rounds(n: int) -> dict[str, Any]:
    """The argument of `predict` for the model of the first n rounds."""
    return {"iteration_range": (0, n)}


def set_booster(ranker: Any, booster: Any, history: dict[str, Any]) -> None:
    """Give a ranker a booster and the results of its rounds; those of an earlier training go."""
    ranker._Booster = booster
    ranker.__dict__.pop("evals_result_", None)
    ranker._set_evaluation_result(history)


# Clusters.

OF_CLUSTER: dict[str, Any] = {}


def open_network(client: Any, workers: list[str]) -> dict[str, Any]:
    """The address of XGBoost's tracker, which runs on the scheduler."""
    host = urlparse(client.scheduler.address).hostname
    return dict.fromkeys(workers, client.run_on_scheduler(_start_tracker, len(workers), host))


def _start_tracker(workers: int, host: str) -> dict[str, Any]:
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip=host, sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return dict(tracker.worker_args())


@contextmanager
def join_network(network: Any) -> Iterator[dict[str, Any]]:
    """The network on a worker, which needs no parameters."""
    from xgboost.dask import CommunicatorContext

    with CommunicatorContext(**network):
        yield {}
