"""LightGBM as an `Engine`."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from lambdaboost.engines.engine import Engine
from lambdaboost.lightgbm._private import parameter_names

TRUNCATION = "give objective=LambdaRank(convention='lightgbm', truncation=30), or LambdaRank(NDCG(k))"

ALIASES = {
    "objective": ("objective", "objective_type", "app", "application", "loss"),
    "metric": ("metric", "metrics", "metric_types"),
    "rounds": (
        *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round"),
        *("num_rounds", "nrounds", "num_boost_round", "n_estimators", "max_iter"),
    ),
    "early stopping": (
        "early_stopping_round",
        "early_stopping_rounds",
        "early_stopping",
        "n_iter_no_change",
    ),
    "seed": ("seed", "random_seed", "random_state"),
    "rate": ("learning_rate", "shrinkage_rate", "eta"),
    "least leaf": (
        *("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
    ),
    "boosting": ("boosting", "boosting_type", "boost"),
    "eval at": ("eval_at", "ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"),
    "bagging": ("bagging_fraction", "pos_bagging_fraction", "neg_bagging_fraction"),
    "largest step": ("max_delta_step", "max_tree_output", "max_leaf_output"),
    "lambda": ("lambda_l2", "reg_lambda", "lambda"),
}
# Parameters that only LightGBM's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE = {
    "lambdarank_truncation_level": TRUNCATION,
    "max_position": TRUNCATION,
    "lambdarank_norm": "give objective=LambdaRank(convention='lightgbm', norm=True)",
    "sigmoid": "give objective=LambdaRank(sigma=1.0)",
    "lambdarank_position_bias_regularization": "leave it out",
    "objective_seed": "give objective=XENDCG(seed=5)",
}


# The metrics of LightGBM 4.7 with their aliases; Python has no list of them.
_METRICS = """
none na null custom l1 mean_absolute_error mae regression_l1 l2 mean_squared_error mse regression_l2 regression rmse
root_mean_squared_error l2_root quantile mape mean_absolute_percentage_error huber fair poisson gamma gamma_deviance
tweedie r2 ndcg lambdarank rank_xendcg xendcg xe_ndcg xe_ndcg_mart xendcg_mart map mean_average_precision auc
average_precision binary_logloss binary binary_error auc_mu multi_logloss multiclass softmax multiclassova
multiclass_ova ova ovr multi_error cross_entropy xentropy cross_entropy_lambda xentlambda kullback_leibler kldiv
"""


class LightGBM(Engine):
    """Stock LightGBM; its model files are text."""

    name, title, native, metrics = "lightgbm", "LightGBM", "lambdarank", "feval"
    aliases, only_native = ALIASES, ONLY_NATIVE
    metric_names, metrics_by_commas = frozenset(_METRICS.split()), True
    predicts_margins = True

    def parameters(self) -> frozenset[str]:
        """The names of all parameters, with their aliases."""
        return parameter_names()

    def unknown(self, key: str) -> str | None:
        """A remedy for any unknown parameter: LightGBM warns of it only in its log, which is off here."""
        known = self.parameters()
        if not known or key in known:
            return None
        close = get_close_matches(key, known, 2)
        return f"did you mean {' or '.join(close)}?" if close else "see LightGBM's list of parameters"

    def scores(self, booster: Any, features: Any) -> NDArray[np.floating]:
        """Raw scores, float64 (n_documents,)."""
        return np.asarray(booster.predict(features, raw_score=True))

    def predict(self, booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
        """As LGBMRanker predicts, which accepts polars frames; a booster of LightGBM 4.6 does not."""
        polars = hasattr(X, "to_numpy") and not hasattr(X, "iloc")
        return booster.predict(X.to_numpy() if polars else X)

    def write(self, booster: Any, suffix: str) -> bytes:
        """The model as text, up to the best round."""
        return booster.model_to_string().encode()

    def read(self, content: bytes) -> Any:
        """Load a booster from its text."""
        return lgb.Booster(model_str=content.decode(errors="replace"))

    def n_features(self, booster: Any) -> int:
        """Number of features of the booster."""
        return int(booster.num_feature())

    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """None for LightGBM's default names, Column_0, Column_1 and so on."""
        names = tuple(booster.feature_name())
        return None if names == tuple(f"Column_{i}" for i in range(len(names))) else names

    def stored_name(self, column: str) -> str:
        """LightGBM writes spaces as underscores."""
        return column.replace(" ", "_")

    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The total gain of each feature."""
        return np.asarray(booster.feature_importance("gain"), dtype=np.float64)

    def n_rounds(self, booster: Any) -> int:
        """The best round, or all rounds."""
        return booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()


ENGINE = LightGBM()
