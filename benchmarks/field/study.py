"""`Study`: one training of a fold, searched or tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.field.candidates import Candidate
from benchmarks.field.data import graded_only
from benchmarks.field.settings import drawn
from benchmarks.field.trainers import Prepared, matrix, trained
from benchmarks.field.tuned import Tune, found_by_tune
from experiments.common.data import Data
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.datasets import Collection

CUTOFFS = (1, 3, 10)


@dataclass(frozen=True)
class Search:
    """A training that stops by the validation part."""

    data: str
    fold: int
    candidate: Candidate
    draw: int


@dataclass(frozen=True)
class Final:
    """A chosen training for its number of rounds, which is tested; a refit trains on the validation part too."""

    searched: Search
    rounds: int
    refit: bool


Task = Search | Final | Tune


class Study:
    """Runs tasks on data sets; what a fold needs is converted once."""

    def __init__(self, data: Mapping[str, Data], measure: NDCG, seed: int, studies: Path) -> None:
        self.data, self.measure, self.seed, self.studies = data, measure, seed, studies
        self._prepared = cache(self._prepare)

    def __call__(self, task: Task) -> Outcome:
        """What the search needs to choose, or NDCG of every test query at each cutoff."""
        if isinstance(task, Search):
            return self._search(task)
        return self._final(task) if isinstance(task, Final) else self._tune(task)

    def _search(self, task: Search) -> Outcome:
        data = self._prepared(task.data, task.fold, False)
        model = trained(task.candidate, drawn(task.data, task.draw, self.seed), data, self.measure)
        assert data.valid is not None
        scores = model.predict(matrix(data.valid))
        values = self.measure.per_query(scores, data.valid.queries)
        return {"valid": values, "rounds": np.array(model.rounds), "seconds": np.array(model.seconds)}

    def _final(self, task: Final) -> Outcome:
        searched, rounds = task.searched, task.rounds
        data = self._prepared(searched.data, searched.fold, task.refit)
        if task.refit:
            part = self._prepared(searched.data, searched.fold, False).train
            rounds = max(1, round(rounds * data.train.queries.n_documents / part.queries.n_documents))
        setting = drawn(searched.data, searched.draw, self.seed)
        model = trained(searched.candidate, setting, data, self.measure, rounds)
        test = self._test(searched.data, searched.fold)
        return figures(model.predict(matrix(test)), test)

    def _tune(self, task: Tune) -> Outcome:
        data, test = self._prepared(task.data, task.fold, False), self._test(task.data, task.fold)
        study = self.studies / f"{task.data}-{self.data[task.data].digest[:8]}-{self.seed}-{task.fold}"
        return found_by_tune(data, test, self.measure, task.trainings, self.seed, study, figures)

    def _test(self, name: str, fold: int) -> Collection:
        whole = self.data[name]
        return graded_only(whole.joined(whole.folds[fold].test))

    def _prepare(self, name: str, fold: int, refit: bool) -> Prepared:
        whole = self.data[name]
        names = whole.folds[fold]
        if refit:
            return Prepared(graded_only(whole.joined(names.train + names.valid)))
        return Prepared(graded_only(whole.joined(names.train)), graded_only(whole.joined(names.valid)))


def figures(scores: np.ndarray, test: Collection) -> Outcome:
    """NDCG of every query at each cutoff."""
    return {f"NDCG@{k}": NDCG(k).per_query(scores, test.queries) for k in CUTOFFS}
