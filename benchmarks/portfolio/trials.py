"""`Trials`: a setting on a fold as `lambdaboost.tune` tries it: cross-validated, trained again on all, and tested."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.portfolio.sets import split_of
from benchmarks.portfolio.settings import CANDIDATES, knobs_of
from benchmarks.portfolio.study import CUTOFFS, MEASURE, Run
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.engines.engine import engine_named
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.training import Trainings, full_params, train_alone
from lambdaboost.tuning.trial import Trial


@dataclass(frozen=True)
class Tried(Run):
    """A setting on a fold; the fold's number is also the seed of the order of rows, of the folds and of the engine."""

    @property
    def key(self) -> str:
        """The name of the file that keeps its outcome."""
        return f"tried-{super().key}"


class Trials:
    """Runs trials; the data of the fold that was used last are kept."""

    def __init__(self) -> None:
        self._split = lru_cache(1)(split_of)
        self._trainings = lru_cache(1)(self._made)

    def __call__(self, run: Tried) -> Outcome:
        """NDCG@10 of every seen query, by cross-validation; NDCG of every test query; rounds and processor seconds."""
        begin, split = time.process_time(), self._split(run.data, run.fold)
        trainings = self._trainings(run.data, run.fold)
        request, at = trainings.request, list(CANDIDATES).index(run.setting.candidate)
        knobs = knobs_of(run.setting, request.space)
        trial = trainings.run(Trial(0, at, knobs, knobs, own=run.setting.own))
        candidate, seen = request.candidates[at], request.train.shuffled(request.seed)
        rounds = max(1, round(trial.rounds * seen.queries.n_documents / request.documents))
        objective, params = candidate.objective_with(knobs), full_params(request, candidate, knobs)
        model = train_alone(candidate.engine, objective, candidate.leaves, params, rounds, seen)
        scores = engine_named(candidate.engine).scores(model, split.test.features)
        tested = {f"NDCG@{k}": NDCG(k).per_query(scores, split.test.queries) for k in CUTOFFS}
        seconds = np.array(time.process_time() - begin)
        return {"seen": trial.values[0], "rounds": np.array(trial.rounds), "seconds": seconds, **tested}

    def _made(self, data: str, fold: int) -> Trainings:
        request = Request(
            train=self._split(data, fold).seen,
            valid=None,
            split=None,
            measures=(MEASURE,),
            named=tuple(CANDIDATES.values()),
            engines=("lightgbm", "xgboost"),
            params={},
            settings=1,
            minutes=None,
            folds=5,
            rounds=500,
            patience=30,
            choose=None,
            refit=True,
            nested=0,
            workers=1,
            seed=fold,
        )
        return Trainings(request)
