"""Everything undocumented that lambdaboost uses of XGBoost, as in XGBoost 2.1 to 3.4; the engine is not imported.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any

from lambdaboost._warn import waiting

# A method of XGBoost's boosters that LightGBM's do not have.
OF_BOOSTERS = "num_boosted_rounds"

# The parameters of XGBoost 2.1 to 3.4, which has no list of them in Python: general ones, those of trees, of DART and
# gblinear, of objectives, and of its estimators.
_PARAMETERS = """
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

ALIASES = {
    "objective": ("objective",),
    "metric": ("eval_metric",),
    "rounds": ("num_boost_round", "n_estimators"),
    "early stopping": ("early_stopping_rounds",),
    "seed": ("seed", "random_state"),
    "rate": ("eta", "learning_rate"),
    "least leaf": ("min_child_weight",),
}
DEFAULTS = {"rate": 0.3, "least leaf": 1}
# Parameters that only XGBoost's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE = {
    "lambdarank_pair_method": "the measure truncates: give LambdaRank(NDCG(k=32))",
    "lambdarank_num_pair_per_sample": "the measure truncates: give LambdaRank(NDCG(k={value}))",
    "lambdarank_normalization": "leave it out, or train with XGBoost's own 'rank:ndcg'",
    "lambdarank_score_normalization": "leave it out, or train with XGBoost's own 'rank:ndcg'",
    "lambdarank_unbiased": "leave it out",
    "ndcg_exp_gain": "give LambdaRank(NDCG(gain='linear'))",
}

# The metrics of XGBoost 2.1 to 3.4; Python has no list of them.
_METRICS = """
rmse rmsle mae mape mphe logloss error merror mlogloss auc aucpr pre ndcg map ndcg- map- poisson-nloglik gamma-nloglik
cox-nloglik gamma-deviance tweedie-nloglik aft-nloglik interval-regression-accuracy quantile expectile
"""
METRICS = frozenset(_METRICS.split())


def is_booster(value: object) -> bool:
    """Whether an object is an `xgboost.Booster`."""
    return hasattr(type(value), OF_BOOSTERS)


def parameter_names() -> frozenset[str]:
    """All names of parameters."""
    return frozenset(_PARAMETERS.split())


def library() -> Any:
    """The engine's loaded library; None before it is imported."""
    return getattr(sys.modules.get("xgboost.core"), "_LIB", None)


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together here."""
    collective = sys.modules.get("xgboost.collective")
    return int(collective.get_world_size()) if collective is not None and collective.is_distributed() else 1


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters given to the `xgboost.train` or `xgboost.cv` that trains the booster, or known from its state.

    A booster knows its learning rate, the least weight of a leaf, and its kind, whoever trains it; defaults are left
    out. The learning rate of a `LearningRateScheduler` is that of the second round: it does not set the first.
    """
    training = _training_of(booster)
    given = training.get("params") or {}
    params = dict(given if isinstance(given, Mapping) else [pair for pair in given if len(pair) == 2])
    gradient_booster = _config(booster).get("gradient_booster", {})
    trees = gradient_booster.get("gbtree", gradient_booster).get("tree_train_param", {})
    for name, concept in (("eta", "rate"), ("min_child_weight", "least leaf")):
        value = float(trees.get(name, DEFAULTS[concept]))
        if not isclose(value, DEFAULTS[concept], rel_tol=1e-6):  # written as float32
            params[name] = value
    for callback in training.get("callbacks") or ():
        if hasattr(callback, "learning_rates"):
            params["eta"] = callback.learning_rates(0)
    if gradient_booster.get("name") == "gblinear":
        params["booster"] = "gblinear"
    return params


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of XGBoost's own metrics, once it has evaluated them; the default of the objective is one."""
    return tuple(metric["name"] for metric in _config(booster).get("metrics", ()))


def metrics_in_training(booster: Any) -> list[Any]:
    """The callable that the `xgboost.train` or `xgboost.cv` of the booster evaluates."""
    return [_training_of(booster).get("custom_metric")]


def matrix_in_cv() -> Any:
    """The matrix whose slices the `xgboost.cv` that waits trains on; None outside of it."""
    return next((variables["dtrain"] for variables in _trainings("cv")), None)


def _training_of(booster: Any) -> dict[str, Any]:
    """The local variables of the `xgboost.train` or `xgboost.cv` that trains a booster; none if another loop does."""
    for variables in _trainings("train", "cv"):
        boosters = [variables.get("bst"), *(fold.bst for fold in variables.get("cvfolds", ()))]
        if any(one is booster for one in boosters):
            return variables
    return {}


def _trainings(*functions: str) -> Iterator[dict[str, Any]]:
    """The local variables of the training functions of XGBoost that wait."""
    for frame in waiting():
        if frame.f_code.co_name in functions and frame.f_globals.get("__name__") == "xgboost.training":
            yield dict(frame.f_locals)


def _config(booster: Any) -> dict[str, Any]:
    """What a booster says of itself; reading it takes as long as a short gradient."""
    learner: dict[str, Any] = json.loads(booster.save_config()).get("learner", {})
    return learner


def settings(booster: Any) -> tuple[str | None, str | None, str | None]:
    """Threads, tree method and objective, None where it has none."""
    learner = _config(booster)
    return (
        learner.get("generic_param", {}).get("nthread"),
        learner.get("gradient_booster", {}).get("gbtree_train_param", {}).get("tree_method"),
        learner.get("objective", {}).get("name"),
    )


def threads_given(booster: Any) -> Any:
    """The number of threads of a booster; 0 where it was not set."""
    return settings(booster)[0]


def metric_of_queries(metric: Any, n_jobs: int | None) -> Any:
    """A metric ``(y_true, y_score)`` of one query as `XGBRanker.fit` makes it one of a matrix."""
    from xgboost.sklearn import ltr_metric_decorator

    return ltr_metric_decorator(metric, n_jobs)


def take_over(ranker: Any, booster: Any, history: dict[str, Any]) -> None:
    """Set the attributes that `XGBRanker.fit` sets, for its properties to read."""
    ranker._Booster = booster
    ranker._set_evaluation_result(history)
