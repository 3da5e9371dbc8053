"""Names of the engines' parameters, and what was meant by one that an engine would pass over."""

from __future__ import annotations

from collections.abc import Iterable, Set
from difflib import get_close_matches
from functools import cache
from typing import Any

# Of XGBoost 2.1 to 3.2, which gives Python no list: general, of trees, of DART and lines, of objectives, and those of
# its estimators.
_XGBOOST = """
booster device verbosity verbose silent validate_parameters nthread n_jobs disable_default_eval_metric use_rmm seed
random_state seed_per_iteration debug_synchronize fail_on_invalid_gpu_id gpu_id n_gpus predictor num_feature

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
XGBOOST = frozenset(_XGBOOST.split())


@cache
def lightgbm_parameters() -> frozenset[str]:
    """Every name that LightGBM reads, with aliases; empty where it tells none."""
    from lightgbm import basic

    # Its list is not public: where it is gone, nothing is refused.
    aliases: Any = getattr(basic, "_ConfigAliases", None)
    names = aliases._get_all_param_aliases() if hasattr(aliases, "_get_all_param_aliases") else {}
    return frozenset(name for main, others in names.items() for name in (main, *others))


def likely(name: str, known: Set[str]) -> str | None:
    """The known name that was probably meant; None where `name` is known, or like none of them.

    >>> likely("n_estimator", XGBOOST), likely("max_depth", XGBOOST), likely("my_own", XGBOOST)
    ('n_estimators', None, None)
    """
    if name in known:
        return None
    close = get_close_matches(name, sorted(known), 1, 0.8)
    return close[0] if close else None


def refuse_misspelt(params: Iterable[str], known: Set[str], engine: str) -> None:
    """Raise where a name is not known to the engine but close to one that is; others are passed on as they are."""
    for name in params:
        meant = likely(name, known) if isinstance(name, str) else None
        if meant is not None:
            raise ValueError(f"params has {name!r}, which {engine} does not know: did you mean {meant!r}?")
