"""Training of a candidate on each engine, with early stopping or for a number of rounds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.field.candidates import Candidate
from benchmarks.field.settings import Setting
from experiments.common.data import dense
from lambdaboost import NDCG
from lambdaboost.datasets import Collection
from lambdaboost.engines.engine import carried
from lambdaboost.engines.leaves import least_documents

ROUNDS, PATIENCE = 200, 20

Predict = Callable[[NDArray[np.float32]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, its rounds and the seconds that its training took."""

    predict: Predict
    rounds: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training and validation data, converted for each engine once."""

    train: Collection
    valid: Collection | None = None

    @cached_property
    def lightgbm(self) -> tuple[Any, Any]:
        """The two as LightGBM's data sets."""
        from lambdaboost.lightgbm import Dataset

        def converted(part: Collection, reference: Any = None) -> Any:
            q = part.queries
            return Dataset(
                matrix(part),
                q.relevance,
                reference,
                group=q.sizes,
                sources=carried(part)["sources"] or None,
                params=LIGHTGBM,
                free_raw_data=False,
            ).construct()

        train = converted(self.train)
        return train, None if self.valid is None else converted(self.valid, train)

    @cached_property
    def xgboost(self) -> tuple[Any, Any]:
        """The two as XGBoost's matrices."""
        import xgboost as xgb

        def converted(part: Collection, **more: Any) -> Any:
            q = part.queries
            return xgb.QuantileDMatrix(matrix(part), q.relevance, group=q.sizes, nthread=1, **more)

        train = converted(self.train)
        return train, None if self.valid is None else converted(self.valid, ref=train)

    @cached_property
    def catboost(self) -> tuple[Any, Any]:
        """The two as CatBoost's pools."""
        cat = import_module("catboost")

        def converted(part: Collection) -> Any:
            q = part.queries
            return cat.Pool(matrix(part), q.relevance, group_id=q.query_of_row, thread_count=1)

        return converted(self.train), None if self.valid is None else converted(self.valid)


def matrix(part: Collection) -> NDArray[np.float32]:
    """Dense features: to XGBoost absent values of sparse ones are missing, to the others 0."""
    return dense(part.features).astype(np.float32)


def trained(
    candidate: Candidate, setting: Setting | None, data: Prepared, measure: NDCG, rounds: int | None = None
) -> Trained:
    """Train for `rounds`, or, without them, until `measure` of the validation part stalls."""
    train = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}[candidate.engine]
    getattr(data, candidate.engine)  # converted before the clock runs
    begin = time.perf_counter()
    predict, rounds = train(candidate, setting, data, measure, rounds)
    return Trained(predict, rounds, time.perf_counter() - begin)


LIGHTGBM = {"verbosity": -1, "num_threads": 1, "feature_pre_filter": False}


def _lightgbm(
    candidate: Candidate, setting: Setting | None, data: Prepared, measure: NDCG, rounds: int | None
) -> tuple[Predict, int]:
    import lightgbm as lgb

    train, valid = data.lightgbm
    documents = data.train.queries.n_documents
    fixed = LIGHTGBM | {"metric": "None", "objective": candidate.objective, "deterministic": True}
    fixed |= {"force_row_wise": True}
    if setting is not None:
        fixed |= setting.lightgbm(documents, candidate.in_steps)
    elif not candidate.is_native and (least := least_documents(candidate.objective, documents)):  # type: ignore[arg-type]
        fixed |= {"min_data_in_leaf": least}  # as in lambdaboost.lightgbm.train
    if rounds is None:
        booster = lgb.train(
            fixed,
            train,
            ROUNDS,
            valid_sets=[valid],
            feval=measure,
            callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
        )
        rounds = booster.best_iteration
    else:
        booster = lgb.train(fixed, train, rounds)
    return lambda X: booster.predict(X, raw_score=True, num_iteration=rounds, num_threads=1), rounds


def _xgboost(
    candidate: Candidate, setting: Setting | None, data: Prepared, measure: NDCG, rounds: int | None
) -> tuple[Predict, int]:
    import xgboost as xgb

    train, valid = data.xgboost
    fixed = {
        "verbosity": 0,
        "nthread": 1,
        "tree_method": "hist",
        "objective": candidate.objective,
        "disable_default_eval_metric": True,
    }
    fixed |= {} if setting is None else setting.xgboost()
    if rounds is None:
        stopped = xgb.train(
            fixed,
            train,
            ROUNDS,
            evals=[(valid, "valid")],
            custom_metric=measure,
            early_stopping_rounds=PATIENCE,
            maximize=True,
            verbose_eval=False,
        )
        rounds = stopped.best_iteration + 1
        booster = stopped[:rounds]
    else:
        booster = xgb.train(fixed, train, rounds)
    return lambda X: booster.inplace_predict(X, predict_type="margin").astype(np.float64), rounds


def _catboost(
    candidate: Candidate, setting: Setting | None, data: Prepared, measure: NDCG, rounds: int | None
) -> tuple[Predict, int]:
    cat = import_module("catboost")
    train, valid = data.catboost
    fixed = {
        "loss_function": candidate.objective,
        "thread_count": 1,
        "allow_writing_files": False,
        "logging_level": "Silent",
        "iterations": ROUNDS if rounds is None else rounds,
    }
    fixed |= {} if setting is None else setting.catboost()
    if rounds is None:
        top = "" if measure.k is None else f"top={measure.k};"
        fixed |= {"eval_metric": f"NDCG:{top}type=Exp", "early_stopping_rounds": PATIENCE}
        model = cat.train(train, fixed, eval_set=valid)
        rounds = model.tree_count_  # it keeps the rounds up to the best
    else:
        model = cat.train(train, fixed)
    return lambda X: model.predict(X, prediction_type="RawFormulaVal", thread_count=1), rounds
