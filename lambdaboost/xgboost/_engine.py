"""XGBoost as an `Engine`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost.engines.engine import Engine

# The parameters of XGBoost 2.1 to 3.2, which has no list of them in Python: general ones, those of trees, of DART and
# gblinear, of objectives, and of its estimators.
_PARAMETERS = """
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

ALIASES = {
    "objective": ("objective",),
    "metric": ("eval_metric",),
    "rounds": ("num_boost_round", "n_estimators"),
    "early stopping": ("early_stopping_rounds",),
    "seed": ("seed", "random_state"),
    "rate": ("eta", "learning_rate"),
    "least leaf": ("min_child_weight",),
}
# Parameters that only XGBoost's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE = {
    "lambdarank_pair_method": "give objective=LambdaRank(convention='xgboost'), which takes the pairs of the top",
    "lambdarank_num_pair_per_sample": "give objective=LambdaRank(convention='xgboost', truncation=32)",
    "lambdarank_normalization": "give objective=LambdaRank(convention='xgboost', norm=True)",
    "lambdarank_score_normalization": "give objective=LambdaRank(convention='xgboost', score_norm=True)",
    "lambdarank_unbiased": "leave it out",
    "ndcg_exp_gain": "give objective=LambdaRank(NDCG(gain='linear'))",
}


# The metrics of XGBoost 2.1 to 3.2; Python has no list of them.
_METRICS = """
rmse rmsle mae mape mphe logloss error merror mlogloss auc aucpr pre ndcg map ndcg- map- poisson-nloglik gamma-nloglik
cox-nloglik gamma-deviance tweedie-nloglik aft-nloglik interval-regression-accuracy quantile expectile
"""


class XGBoost(Engine):
    """Stock XGBoost; its model files are UBJSON, or JSON if the name ends in .json."""

    name, title, native, metrics = "xgboost", "XGBoost", "rank:ndcg", "custom_metric"
    aliases, only_native = ALIASES, ONLY_NATIVE
    metric_names, metrics_by_commas = frozenset(_METRICS.split()), False
    predicts_margins = False

    @property
    def reserved(self) -> frozenset[str]:
        """Parameters for which the command line has its own options, and the switch of XGBoost's default metric."""
        return super().reserved | {"disable_default_eval_metric"}

    def parameters(self) -> frozenset[str]:
        """The names of all parameters, from the list above."""
        return frozenset(_PARAMETERS.split())

    def scores(self, booster: Any, features: Any) -> NDArray[np.floating]:
        """Scores, float32 (n_documents,), up to the best round after early stopping, as XGBRanker predicts."""
        best = booster.attr("best_iteration")
        rounds = (0, 0 if best is None else int(best) + 1)
        data = xgb.DMatrix(features, feature_names=booster.feature_names)
        return np.asarray(booster.predict(data, output_margin=True, iteration_range=rounds))

    def predict(self, booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
        """As XGBRanker predicts: in place if XGBoost can, which rounds differently than with a DMatrix."""
        missing = params.get("missing", np.nan)
        try:
            return booster.inplace_predict(X, missing=missing)
        except (TypeError, xgb.core.XGBoostError):  # sparse matrices of some kinds, linear models
            return booster.predict(xgb.DMatrix(X, missing=missing, enable_categorical=True))

    def write(self, booster: Any, suffix: str) -> bytes:
        """The model as UBJSON, or as JSON for a name that ends in ``.json``."""
        return bytes(booster.save_raw(raw_format="json" if suffix == ".json" else "ubj"))

    def read(self, content: bytes) -> Any:
        """Load a booster from UBJSON or JSON."""
        return xgb.Booster(model_file=bytearray(content))

    def n_features(self, booster: Any) -> int:
        """Number of features of the booster."""
        return int(booster.num_features())

    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """The names in its training data, or None for XGBoost's defaults, f0, f1 and so on."""
        names = tuple(booster.feature_names or ())
        return None if names == tuple(f"f{i}" for i in range(len(names))) else names

    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The total gain of each feature."""
        found = booster.get_score(importance_type="total_gain")
        n = self.n_features(booster)
        return np.array(
            [found.get(name, 0.0) for name in booster.feature_names or [f"f{i}" for i in range(n)]]
        )

    def n_rounds(self, booster: Any) -> int:
        """Number of all rounds."""
        return int(booster.num_boosted_rounds())


ENGINE = XGBoost()
