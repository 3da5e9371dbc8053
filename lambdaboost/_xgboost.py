"""Everything undocumented that lambdaboost uses of XGBoost, as in XGBoost 2.1 to 3.4; the engine is not imported.

If a later version changes a name, `tests/test_private.py` reports which one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from lambdaboost._warn import variables_of

# A method of XGBoost's boosters that LightGBM's do not have.
BOOSTER_METHOD = "num_boosted_rounds"

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

MIN_LEAF_SIZE = "min_child_weight"
DEFAULTS = {MIN_LEAF_SIZE: 1}
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
    return hasattr(type(value), BOOSTER_METHOD)


def parameter_names() -> frozenset[str]:
    """All names of parameters."""
    return frozenset(_PARAMETERS.split())


def workers(params: Mapping[str, Any]) -> int:
    """How many workers of a cluster train together here."""
    collective = sys.modules.get("xgboost.collective")
    return int(collective.get_world_size()) if collective is not None and collective.is_distributed() else 1


def state_of(booster: Any) -> dict[str, Any]:
    """What a booster says of itself; reading it takes as long as a short gradient."""
    learner: dict[str, Any] = json.loads(booster.save_config()).get("learner", {})
    return learner


def round_of(booster: Any) -> int:
    """The booster's own count of rounds, with those of the model that it continues."""
    return int(booster.num_boosted_rounds())


def threads_given(booster: Any) -> Any:
    """The number of threads of a booster; 0 where it was not set."""
    return state_of(booster).get("generic_param", {}).get("nthread")


def params_of(booster: Any) -> Mapping[str, Any]:
    """The parameters given to the `xgboost.train` or `xgboost.cv` that trains the booster, or known from its state.

    A booster knows its kind and the least weight of a leaf, whoever trains it; the default is left out.
    """
    given = _training_of(booster).get("params") or {}
    params = dict(given if isinstance(given, Mapping) else [pair for pair in given if len(pair) == 2])
    boosting = state_of(booster).get("gradient_booster", {})
    trees = boosting.get("gbtree", boosting).get("tree_train_param", {})
    if float(trees.get(MIN_LEAF_SIZE, 1)) != 1:
        params[MIN_LEAF_SIZE] = trees[MIN_LEAF_SIZE]
    if boosting.get("name") == "gblinear":
        params["booster"] = "gblinear"
    return params


def given(params: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter; None without."""
    return params.get(name)


def own_metrics(booster: Any) -> Sequence[str]:
    """The names of XGBoost's own metrics, once it has evaluated them; the default of the objective is one."""
    return tuple(metric["name"] for metric in state_of(booster).get("metrics", ()))


def metrics_in_training(booster: Any) -> Sequence[Any]:
    """The callable that the `xgboost.train` or `xgboost.cv` of the booster evaluates."""
    return [_training_of(booster).get("custom_metric")]


def matrix_in_cv() -> Any:
    """The matrix whose slices the `xgboost.cv` that waits trains on; None outside of it."""
    return variables_of("xgboost.training", "cv").get("dtrain")


def _training_of(booster: Any) -> dict[str, Any]:
    """The local variables of the `xgboost.train` or `xgboost.cv` that trains a booster; none if another loop does."""
    found = variables_of("xgboost.training", "train", "cv")
    boosters = [found.get("bst"), *(fold.bst for fold in found.get("cvfolds", ()))]
    return found if any(one is booster for one in boosters) else {}
