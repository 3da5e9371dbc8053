"""LightGBM as an `Engine`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from lambdaboost._lightgbm import is_binary_file, is_constructed, machines_of, parameter_names
from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets.columns import grades_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.shards import Shards
from lambdaboost.engines.engine import Engine, carried
from lambdaboost.engines.job import Job
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import MAP, NDCG
from lambdaboost.lightgbm.callbacks import Callbacks, by_first_metric
from lambdaboost.lightgbm.data import Dataset, keep_positions
from lambdaboost.lightgbm.rows import ShardRows
from lambdaboost.lightgbm.traps import ROUNDS, STOPPING, TRAPS

TRUNCATION = "the measure truncates: give objective=LambdaRank(NDCG(k=30))"

ALIASES = {
    "objective": ("objective", "objective_type", "app", "application", "loss"),
    "metric": ("metric", "metrics", "metric_types"),
    "rounds": ROUNDS,
    "early stopping": STOPPING,
    "seed": ("seed", "random_seed", "random_state"),
    "rate": ("learning_rate", "shrinkage_rate", "eta"),
    "least leaf": (
        *("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
    ),
}
# Parameters that only LightGBM's own ranking objective reads, with the counterpart in lambdaboost.
ONLY_NATIVE = {
    "lambdarank_truncation_level": TRUNCATION,
    "max_position": TRUNCATION,
    "lambdarank_norm": "leave it out, or give objective='lambdarank'",
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


class _LightGBM(Engine):
    name, title, native, metrics, continued = "lightgbm", "LightGBM", "lambdarank", "feval", "init_model"
    aliases, only_native, traps = ALIASES, ONLY_NATIVE, TRAPS
    quiet: ClassVar = {"metric": "None"}
    silent: ClassVar = {"verbosity": -1}
    metric_names, metrics_by_commas = frozenset(_METRICS.split()), True
    cutoffs: ClassVar = {"ndcg": NDCG, "map": MAP, "mean_average_precision": MAP}
    unnamed, blank = "Column_{}", "_"
    # Linear leaves read raw features: LightGBM writes those of batches outside its memory.
    streamed: ClassVar = {"linear_tree": ("false",), "linear_trees": ("false",)}

    def data(
        self, collection: Collection | Shards, reference: Any = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        if isinstance(collection, Shards):
            return _streamed(collection, reference)
        return Dataset(collection.table(self.unnamed), reference=reference, **carried(collection))

    def check_data(self, name: str, data: Any) -> int:
        # Before construction the number of labels; unlimited for a file that is not read yet.
        if not isinstance(data, lgb.Dataset):
            raise TypeError(
                f"{name} is a {type(data).__name__}, expected a lambdaboost.lightgbm.Dataset or lightgbm.Dataset"
            )
        if is_constructed(data):
            return int(data.num_data())
        return len(data.label) if hasattr(data.label, "__len__") else sys.maxsize

    def features(self, data: Any, names: Sequence[str]) -> tuple[Any, ...] | None:
        # LightGBM frees them on construction.
        if data.data is None or data.label is None or data.group is None or data.used_indices is not None:
            return None
        labels = dict(getattr(data, "sources", None) or {})
        relevance = labels.pop(RELEVANCE) if RELEVANCE in labels else grades_of(data.label)
        own, features = data.feature_name, getattr(data, "shards", data.data)
        return features, Queries(relevance, data.group, **labels), own if isinstance(own, list) else None

    def run(self, job: Job) -> Any:
        own, sets = job.own, [data for _, data in job.evaluated]
        if job.model is not None:
            _check_scorable([job.data, *sets])
        return lgb.train(
            **_arguments(job),
            valid_sets=sets or None,
            valid_names=own["valid_names"],
            init_model=job.model,
            keep_training_booster=own["keep_training_booster"],
        )

    def run_cv(self, job: Job, folds: Any) -> Any:
        return lgb.cv(**_arguments(job), folds=folds, return_cvbooster=job.own["return_cvbooster"])

    def own(self, early_stopping: int | None) -> dict[str, Any]:
        callbacks = [] if early_stopping is None else [lgb.early_stopping(early_stopping, verbose=False)]
        return {"valid_names": ["valid"], "keep_training_booster": False, "callbacks": callbacks}

    def workers(self, params: Mapping[str, Any]) -> int:
        return machines_of(params)

    def best_round(self, booster: Any) -> int | None:
        return booster.best_iteration if booster.best_iteration > 0 else None

    def n_rounds(self, booster: Any) -> int:
        return self.best_round(booster) or booster.current_iteration()

    def has_splits(self, booster: Any) -> bool:
        return bool(booster.feature_importance("split").any())

    def training_scores(self, booster: Any, data: Any) -> NDArray[np.floating]:
        seen: list[NDArray[np.floating]] = []

        def look(scores: NDArray[np.floating], _: Any) -> list[Any]:
            seen.append(scores.copy())
            return []

        booster.eval_train(look)
        return seen[0]

    def scores(self, booster: Any, features: Any, rounds: int | None = None) -> NDArray[np.floating]:
        return np.asarray(booster.predict(features, raw_score=True, num_iteration=rounds))

    def predict(self, booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
        # LGBMRanker accepts polars frames; a booster of LightGBM 4.6 does not.
        polars = hasattr(X, "to_numpy") and not hasattr(X, "iloc")
        return booster.predict(X.to_numpy() if polars else X)

    def write(self, booster: Any, suffix: str) -> bytes:
        return booster.model_to_string().encode()  # up to the best round

    def read(self, content: bytes) -> Any:
        return lgb.Booster(model_str=content.decode(errors="replace"))

    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        names = tuple(booster.feature_name())
        return None if names == tuple(map(self.unnamed.format, range(len(names)))) else names

    def categories(self, booster: Any) -> dict[str, list[Any]]:
        values = booster.pandas_categorical or []
        # A feature's range is listed as codes, 0:1:2, for categories, and as [low:high] for numbers.
        infos = re.search("^feature_infos=(.*)$", booster.model_to_string(num_iteration=1), re.M)
        of = zip(booster.feature_name(), infos[1].split() if infos else (), strict=False)
        named = [name for name, info in of if info != "none" and not info.startswith("[")]
        return dict(zip(named, values, strict=True)) if len(named) == len(values) else {}

    def importance(self, booster: Any) -> NDArray[np.float64]:
        return np.asarray(booster.feature_importance("gain"), dtype=np.float64)

    def parameters(self) -> frozenset[str]:
        return parameter_names()


ENGINE = _LightGBM()


def _streamed(shards: Shards, reference: Any) -> Dataset:
    """The data set of a folder, which reads its rows when it is constructed."""
    kinds = [at for at, name in enumerate(shards.feature_names) if name in shards.categories]
    data = Dataset(
        ShardRows(shards), reference=reference, **carried(shards), categorical_feature=kinds or "auto"
    )
    data.shards = shards
    if kinds and reference is None:  # as LightGBM takes them from a frame
        data.pandas_categorical = [list(shards.categories[shards.feature_names[at]]) for at in kinds]
    return data


def _arguments(job: Job) -> dict[str, Any]:
    """What `lightgbm.train` and `lightgbm.cv` both take."""
    rule, data = job.rule, job.data
    for one in (data, *(valid for _, valid in job.evaluated)):
        keep_positions(one)
    params, user = by_first_metric(job.params, job.own["callbacks"])
    metrics: list[Any] = list(job.measures)
    without_default = {} if any(name in params for name in ALIASES["metric"]) else {"metric": "None"}
    if isinstance(rule, NativeObjective):
        params = {**params, **without_default, "objective": rule.name}
    else:
        params = {**params, "objective": rule}
    if job.adds_least_leaf and not is_constructed(data):
        # A data set constructed now must not drop features that a later training with smaller leaves can use.
        params["feature_pre_filter"] = False
    return {
        "params": params,
        "train_set": data,
        "num_boost_round": job.rounds,
        "feval": metrics or None,
        "callbacks": Callbacks(job, user).all,
    }


def _check_scorable(sets: Sequence[Any]) -> None:
    """Raise for a file whose rows no model can score."""
    for data in sets:
        if is_binary_file(data.data):
            raise ValueError(
                f"init_model with data from {str(data.data)!r}: that file has bins in place of features, which no "
                "model can score; give the features, or their scores as init_score="
            )
