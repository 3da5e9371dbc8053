"""`Log`: trains one arm on one seed's part of the log, and tests it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.field.candidates import Candidate
from benchmarks.field.data import graded_only
from benchmarks.field.trainers import PATIENCE, ROUNDS, Predict, Prepared, matrix
from benchmarks.field.trainers import trained as trained_by_catboost
from benchmarks.yetirank.arms import Arm
from experiments.common.workers import Outcome
from lambdaboost import NDCG, Queries
from lambdaboost.datasets import Collection, web_search_log

SEEDS, TRAIN, VALID, TEST, DOCUMENTS = 5, 1000, 500, 4000, 20
RATES = (0.07, 0.2)
MEASURE, CUTOFFS = NDCG(3), (3, 10)


@dataclass(frozen=True)
class Task:
    """An arm with a seed and a learning rate."""

    arm: Arm
    seed: int
    rate: float

    @property
    def key(self) -> str:
        """The name of the file that keeps the outcome."""
        return f"{self.seed}-{self.rate}-{self.arm.key}"


class Log:
    """The test part and every seed's data."""

    def __init__(self) -> None:
        self.whole = web_search_log(TEST + SEEDS * (TRAIN + VALID), DOCUMENTS)
        self.prepared = cache(self._prepared)
        self.test = self.part(0, TEST)

    def part(self, first: int, queries: int) -> Collection:
        """Consecutive queries, those with a relevant document."""
        taken = self.whole.take(np.arange(first, first + queries)).shuffled(0)
        return graded_only(Collection(taken.features, Queries(taken.queries.relevance, taken.queries.sizes)))

    def _prepared(self, seed: int) -> Prepared:
        first = TEST + seed * (TRAIN + VALID)
        return Prepared(self.part(first, TRAIN), self.part(first + TRAIN, VALID))

    def __call__(self, task: Task) -> Outcome:
        """NDCG@3 of the validation part, and NDCG of every test query at each cutoff."""
        data = self.prepared(task.seed)
        predict, rounds = trained(task, data)
        assert data.valid is not None
        valid = MEASURE(predict(matrix(data.valid)), data.valid.queries)
        scores = predict(matrix(self.test))
        figures = {f"NDCG@{k}": NDCG(k).per_query(scores, self.test.queries) for k in CUTOFFS}
        return figures | {"valid": np.array(valid), "rounds": np.array(rounds)}


def trained(task: Task, data: Prepared) -> tuple[Predict, int]:
    """Train until the measure of the validation part stalls."""
    if task.arm.engine == "catboost":
        candidate = Candidate(str(task.arm.objective), "catboost", task.arm.objective)
        setting: Any = task.arm.catboost(task.rate, task.seed)
        model = trained_by_catboost(candidate, setting, data, MEASURE)
        return model.predict, model.rounds
    return (_lightgbm if task.arm.engine == "lightgbm" else _xgboost)(task, data)


def _lightgbm(task: Task, data: Prepared) -> tuple[Predict, int]:
    import lightgbm as lgb

    from lambdaboost.lightgbm import train

    params = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
    learn, valid = data.lightgbm
    booster = train(
        params | task.arm.given(task.rate, task.seed),
        learn,
        ROUNDS,
        objective=task.arm.objective,
        leaves=task.arm.leaves,
        valid_sets=valid,
        feval=MEASURE,
        callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
    )
    return lambda X: booster.predict(X, raw_score=True, num_threads=1), booster.best_iteration


def _xgboost(task: Task, data: Prepared) -> tuple[Predict, int]:
    from lambdaboost.xgboost import train

    learn, valid = data.xgboost
    booster = train(
        {"verbosity": 0, "nthread": 1} | task.arm.given(task.rate, task.seed),
        learn,
        ROUNDS,
        objective=task.arm.objective,
        evals=[(valid, "valid")],
        custom_metric=MEASURE,
        early_stopping_rounds=PATIENCE,
        verbose_eval=False,
    )
    best = booster[: booster.best_iteration + 1]
    return lambda X: best.inplace_predict(X, predict_type="margin").astype(
        np.float64
    ), best.num_boosted_rounds()
