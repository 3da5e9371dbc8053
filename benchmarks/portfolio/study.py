"""`Study`: runs a setting on a fold: stopped early, trained again on all that is seen, and tested."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.portfolio.sets import Split, split_of
from benchmarks.portfolio.settings import CANDIDATES, knobs_of, name_of
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.engines.engine import Training, engine_named
from lambdaboost.engines.train import fit
from lambdaboost.tuning.portfolio import Setting
from lambdaboost.tuning.space import Space
from lambdaboost.tuning.training import ALWAYS

ROUNDS, PATIENCE = 300, 30
MEASURE = NDCG(10)
CUTOFFS = (3, 10)


@dataclass(frozen=True)
class Run:
    """A setting on a fold of a set."""

    data: str
    fold: int
    setting: Setting

    @property
    def key(self) -> str:
        """The name of the file that keeps its outcome."""
        text = hashlib.sha256(name_of(self.setting).encode()).hexdigest()[:12]
        return f"{self.data.replace(' ', '_')}-{self.fold}-{text}"


class Study:
    """Runs tasks; the fold that was used last is kept as the engines' data."""

    def __init__(self) -> None:
        self._split = lru_cache(1)(split_of)
        self._data = lru_cache(4)(self._converted)

    def __call__(self, run: Run) -> Outcome:
        """NDCG@10 of every validation query; NDCG of every test query at each cutoff; rounds and seconds."""
        split, candidate = self._split(run.data, run.fold), CANDIDATES[run.setting.candidate]
        engine, begin = engine_named(candidate.engine), time.process_time()
        train, valid = self._data(run.data, run.fold, engine.name, False)
        n, whole = (part.queries.n_documents for part in (split.train, split.seen))
        stopped = fit(engine, _training(run, n, ROUNDS, PATIENCE), train, valid, lambda _: None)
        rounds = engine.n_rounds(stopped)
        values = MEASURE.per_query(engine.scores(stopped, split.valid.features), split.valid.queries)
        more = max(1, round(rounds * whole / n))
        data, _ = self._data(run.data, run.fold, engine.name, True)
        model = fit(engine, _training(run, whole, more), data, None, lambda _: None)
        scores = engine.scores(model, split.test.features)
        tested = {f"NDCG@{k}": NDCG(k).per_query(scores, split.test.queries) for k in CUTOFFS}
        seconds = time.process_time() - begin
        return {"valid": values, "rounds": np.array(rounds), "seconds": np.array(seconds), **tested}

    def _converted(self, data: str, fold: int, engine: str, whole: bool) -> tuple[Any, Any]:
        split: Split = self._split(data, fold)
        stock = engine_named(engine)
        train = stock.data(split.seen if whole else split.train)
        return train, None if whole else stock.data(split.valid, reference=train)


def _training(run: Run, documents: int, rounds: int, patience: int | None = None) -> Training:
    candidate, space = CANDIDATES[run.setting.candidate], Space(documents)
    values = knobs_of(run.setting, space)
    params = {"seed": run.fold, **ALWAYS[candidate.engine], **space.params(candidate, values)}
    objective, measure = candidate.objective_with(values), MEASURE if patience else None
    return Training(objective, candidate.leaves, rounds, params, measure, patience)
