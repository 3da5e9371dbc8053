"""XGBoost as an `Engine`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost import _xgboost
from lambdaboost.calls.callback import called_by, calling_booster, xgboost_name
from lambdaboost.calls.data import queries_of
from lambdaboost.datasets import Collection
from lambdaboost.datasets.shards import Shards
from lambdaboost.engines.engine import Engine, carried
from lambdaboost.engines.job import Job
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import Measure
from lambdaboost.xgboost.callbacks import Callbacks, engine_callbacks
from lambdaboost.xgboost.data import DMatrix, sliced, take
from lambdaboost.xgboost.shards import matrix_of
from lambdaboost.xgboost.traps import TRAPS

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
    "lambdarank_pair_method": "the measure truncates: give objective=LambdaRank(NDCG(k=32))",
    "lambdarank_num_pair_per_sample": "the measure truncates: give objective=LambdaRank(NDCG(k=32))",
    "lambdarank_normalization": "leave it out, or give objective='rank:ndcg'",
    "lambdarank_score_normalization": "leave it out, or give objective='rank:ndcg'",
    "lambdarank_unbiased": "leave it out",
    "ndcg_exp_gain": "give objective=LambdaRank(NDCG(gain='linear'))",
}

# The metrics of XGBoost 2.1 to 3.2; Python has no list of them.
_METRICS = """
rmse rmsle mae mape mphe logloss error merror mlogloss auc aucpr pre ndcg map ndcg- map- poisson-nloglik gamma-nloglik
cox-nloglik gamma-deviance tweedie-nloglik aft-nloglik interval-regression-accuracy quantile expectile
"""


class _XGBoost(Engine):
    name, title, native, metrics, continued = "xgboost", "XGBoost", "rank:ndcg", "custom_metric", "xgb_model"
    aliases, only_native, traps = ALIASES, ONLY_NATIVE, TRAPS
    quiet: ClassVar = {"disable_default_eval_metric": True}
    streamed: ClassVar = {"tree_method": ("hist", "auto"), "booster": ("gbtree", "dart")}
    unnamed = "f{}"
    metric_names = frozenset(_METRICS.split())

    def data(
        self, collection: Collection | Shards, reference: Any = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        if isinstance(collection, Shards):
            return matrix_of(collection, self.unnamed, reference, (params or {}).get("max_bin"))
        features = collection.table(self.unnamed)
        data = DMatrix(features, **carried(collection), enable_categorical=True)
        if features is not collection.features:
            data.feature_names = None  # as of the array, so that arrays of codes are scored too
        return data

    def check_data(self, name: str, data: Any) -> int:
        if not isinstance(data, xgb.DMatrix):
            raise TypeError(
                f"{name} is {type(data).__name__}, expected a lambdaboost.xgboost.DMatrix or xgboost.DMatrix"
            )
        return int(data.num_row())

    def features(self, data: Any, names: Sequence[str]) -> tuple[Any, ...] | None:
        if isinstance(data, xgb.QuantileDMatrix):
            shards = getattr(data, "shards", None)
            return None if shards is None else (shards, queries_of(data, names), None)
        return _Rows(data), queries_of(data, names), data.feature_names

    def run(self, job: Job) -> Any:
        model = job.model
        for name, data in job.evaluated:
            self.check_data(f"evals {name!r}", data)
        _check(job, [(f"evals {name!r}", data) for name, data in job.evaluated])
        given = _arguments(job)
        evals = [(data, name) for name, data in job.evaluated]
        more = {
            "evals": evals,
            "evals_result": job.own["evals_result"],
            "verbose_eval": None,
            "xgb_model": model,
        }
        booster = xgb.train(**given, **more)
        # XGBoost keeps the rounds after the best one.
        return booster[: booster.best_iteration + 1] if job.own.get("ends_at_best") else booster

    def run_cv(self, job: Job, folds: Any) -> Any:
        data = job.data
        _check(job, [("data", data)])
        sliced(data, np.zeros(1, dtype=np.int64))
        chosen = list(folds)
        job.data = data if isinstance(data, DMatrix) else take(data, np.arange(data.num_row()))
        return xgb.cv(**_arguments(job), folds=chosen, seed=job.own["seed"])

    def own(self, early_stopping: int | None) -> dict[str, Any]:
        callbacks = engine_callbacks(None, False, early_stopping)
        return {"evals_result": None, "callbacks": callbacks, "ends_at_best": early_stopping is not None}

    def workers(self, params: Mapping[str, Any]) -> int:
        return _xgboost.workers()

    def best_round(self, booster: Any) -> int | None:
        best = booster.attr("best_iteration")
        return None if best is None else int(best) + 1

    def n_rounds(self, booster: Any) -> int:
        return int(booster.num_boosted_rounds())

    def has_splits(self, booster: Any) -> bool:
        # A linear model needs none.
        return "gblinear" in booster.save_config() or bool(booster.get_score(importance_type="weight"))

    def training_scores(self, booster: Any, data: Any) -> NDArray[np.floating]:
        return np.asarray(booster.predict(data, output_margin=True))

    def scores(self, booster: Any, features: Any, rounds: int | None = None) -> NDArray[np.floating]:
        # By default up to the best round after early stopping, as XGBRanker predicts.
        up_to = (0, rounds or self.best_round(booster) or 0)
        data = xgb.DMatrix(features, feature_names=booster.feature_names)
        return np.asarray(booster.predict(data, output_margin=True, iteration_range=up_to))

    def predict(self, booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
        # In place if XGBoost can, which rounds differently than with a DMatrix.
        missing = params.get("missing", np.nan)
        try:
            return booster.inplace_predict(X, missing=missing)
        except (TypeError, xgb.core.XGBoostError):  # sparse matrices of some kinds, linear models
            return booster.predict(xgb.DMatrix(X, missing=missing, enable_categorical=True))

    def write(self, booster: Any, suffix: str) -> bytes:
        return bytes(booster.save_raw(raw_format="json" if suffix == ".json" else "ubj"))

    def read(self, content: bytes) -> Any:
        return xgb.Booster(model_file=bytearray(content))

    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        names = tuple(booster.feature_names or ())
        return None if names == tuple(map(self.unnamed.format, range(len(names)))) else names

    def categories(self, booster: Any) -> dict[str, list[Any]]:
        try:  # stored since XGBoost 3.1, and not with a linear model
            arrow = dict(booster.get_categories(export_to_arrow=True).to_arrow())
        except (AttributeError, ImportError, xgb.core.XGBoostError):
            return {}
        return {name: values.to_pylist() for name, values in arrow.items() if values is not None}

    def importance(self, booster: Any) -> NDArray[np.float64]:
        found = booster.get_score(importance_type="total_gain")
        names = booster.feature_names or [f"f{i}" for i in range(int(booster.num_features()))]
        return np.array([found.get(name, 0.0) for name in names])

    def parameters(self) -> frozenset[str]:
        return frozenset(_PARAMETERS.split())


ENGINE = _XGBoost()


def _check(job: Job, evaluated: list[tuple[str, Any]]) -> None:
    job.check_data([job.data], evaluated)


class _Rows:
    """A matrix that `leaks` can index by rows, like a CSR matrix."""

    format = "csr"

    def __init__(self, data: xgb.DMatrix) -> None:
        self.data = data

    def __getitem__(self, rows: NDArray[np.int64]) -> Any:
        return sliced(self.data, rows).get_data()


def _metric(job: Job) -> Callable[[Any, Any], list[tuple[str, float]]] | None:
    """All measures and callables as one ``custom_metric``, on the scores."""

    def evaluate(preds: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        with called_by(calling_booster()):
            figures: list[tuple[str, float]] = []
            for metric in job.measures:
                if isinstance(metric, Measure):
                    figures.append((xgboost_name(metric), metric(preds, queries_of(data, job.sources))))
                else:
                    result = metric(preds, data)
                    figures.extend(result if isinstance(result, list) else [result])
            return figures

    return evaluate if job.measures else None


def _arguments(job: Job) -> dict[str, Any]:
    """What `xgboost.train` and `xgboost.cv` both take."""
    params, objective = _objective(job)
    return {
        "params": params,
        "dtrain": job.data,
        "num_boost_round": job.rounds,
        "obj": objective,
        "custom_metric": _metric(job),
        "callbacks": [Callbacks(job, job.own["callbacks"])],
    }


def _objective(job: Job) -> tuple[dict[str, Any], Any]:
    """The parameters and the argument obj of `xgboost.train` and `xgboost.cv`."""
    # The default metrics of ranking objectives refuse grades above 31.
    quiet = {} if job.params.get("eval_metric") is not None else ENGINE.quiet
    if isinstance(job.rule, NativeObjective):
        return {**quiet, **job.params, "objective": job.rule.name}, None
    # The name sets the task of the model; the gradients are lambdaboost's.
    params = {**quiet, **job.params, "objective": "rank:ndcg"}
    # XGBoost starts custom objectives at 0.5 and fits no intercept; a continued model has one already.
    if job.model is None and params.get("base_score") is None:
        params["base_score"] = 0.0
    return params, job.rule
