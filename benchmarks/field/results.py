"""`Searched` and `Results`: what was chosen in each fold, and what that gave on the test parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.field.candidates import Candidate
from benchmarks.field.study import Final, Search
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.evaluation import Comparison, Figures, compare
from lambdaboost.evaluation.comparison.significance import within_one_error

Fold = tuple[str, int]  # a data set and the number of a fold
BEST, SIMPLEST = "any objective, best", "any objective, simplest within 1 SE"


@dataclass(frozen=True, eq=False)
class Searched:
    """Outcomes of the searches of every fold, of the candidates and of recipes on trial."""

    found: Mapping[Search, Outcome]
    candidates: tuple[Candidate, ...]
    draws: int
    tried: tuple[Candidate, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the candidates."""
        return [candidate.name for candidate in self.candidates]

    @property
    def recipes(self) -> list[str]:
        """The names of the recipes on trial, which no search over objectives may choose."""
        return [candidate.name for candidate in self.tried]

    @property
    def folds(self) -> list[Fold]:
        """Each fold once, in order."""
        return list(dict.fromkeys((s.data, s.fold) for s in self.found))

    def value(self, search: Search) -> float:
        """The mean over the validation part."""
        return float(self.found[search]["valid"].mean())

    def best(self, searches: Iterable[Search]) -> Search:
        """The search with the highest mean; the first of equals."""
        return max(searches, key=self.value)

    def chosen(self, candidate: Candidate) -> dict[Fold, Search]:
        """The best draw of a candidate in each fold."""
        return {f: self.best(Search(*f, candidate, d) for d in range(self.draws)) for f in self.folds}

    def any_objective(self, fold: Fold) -> Search:
        """The best of as many trainings as a candidate has, dealt out to all candidates in turn."""
        return self.best(self._dealt(fold))

    def simplest(self, fold: Fold) -> Search:
        """Of the same trainings, the best of the first candidate that is within a standard error of their best."""
        dealt = self._dealt(fold)
        best = self.best(dealt)
        for candidate in self.candidates:
            own = [search for search in dealt if search.candidate == candidate]
            if own and self._within_one_error(self.best(own), best):
                return self.best(own)
        return best

    def rows(self) -> dict[str, dict[Fold, Search]]:
        """What every row of the tables chose in each fold."""
        return {c.name: self.chosen(c) for c in self.candidates} | self.searches_over_objectives()

    def rows_of_recipes(self) -> dict[str, dict[Fold, Search]]:
        """The same of the recipes."""
        return {c.name: self.chosen(c) for c in self.tried}

    def defaults(self) -> dict[str, dict[Fold, Search]]:
        """The first draw of every candidate."""
        return {c.name: {fold: Search(*fold, c, 0) for fold in self.folds} for c in self.candidates}

    def searches_over_objectives(self) -> dict[str, dict[Fold, Search]]:
        """What the rows chose that choose the objective too."""
        return {
            BEST: {fold: self.any_objective(fold) for fold in self.folds},
            SIMPLEST: {fold: self.simplest(fold) for fold in self.folds},
        }

    def seconds(self) -> dict[str, dict[Fold, float]]:
        """Seconds of all trainings that each row chose from."""
        from_draws = {
            c.name: {f: self._sum(Search(*f, c, d) for d in range(self.draws)) for f in self.folds}
            for c in self.candidates + self.tried
        }
        dealt = {fold: self._sum(self._dealt(fold)) for fold in self.folds}
        return from_draws | dict.fromkeys((BEST, SIMPLEST), dealt)

    def finals(self, choice: Search) -> tuple[Final, Final]:
        """The tests of a choice, without and with a refit."""
        rounds = int(self.found[choice]["rounds"])
        return Final(choice, rounds, False), Final(choice, rounds, True)

    def _sum(self, searches: Iterable[Search]) -> float:
        return sum(float(self.found[search]["seconds"]) for search in searches)

    def _dealt(self, fold: Fold) -> list[Search]:
        n = len(self.candidates)
        return [Search(*fold, self.candidates[i % n], i // n) for i in range(self.draws)]

    def _within_one_error(self, search: Search, best: Search) -> bool:
        values = self.found[best]["valid"], self.found[search]["valid"]
        return within_one_error(*values, np.ones(values[0].size))


@dataclass(frozen=True, eq=False)
class Results:
    """What every row gives.

    Attributes
    ----------
    figures : mapping
        NDCG of every test query at each cutoff: ``figures[row, refit][fold]["NDCG@3"]``.
    seconds : mapping
        Seconds of the trainings that a row chose from: ``seconds[row][fold]``.
    chosen : mapping
        The objective that a row chose, without a refit, by row and fold.

    """

    figures: Mapping[tuple[str, bool], Mapping[Fold, Outcome]]
    seconds: Mapping[str, Mapping[Fold, float]]
    chosen: Mapping[str, Mapping[Fold, str]]

    def joined(self, other: Results) -> Results:
        """With the rows of another."""
        return Results(
            {**self.figures, **other.figures},
            {**self.seconds, **other.seconds},
            {**self.chosen, **other.chosen},
        )

    @property
    def rows(self) -> list[str]:
        """Their names."""
        return list(dict.fromkeys(row for row, _ in self.figures))

    @property
    def data_sets(self) -> list[str]:
        """Names of the data sets."""
        return list(dict.fromkeys(name for folds in self.figures.values() for name, _ in folds))

    def per_query(self, row: str, k: int, data: Sequence[str], refit: bool = False) -> NDArray[np.float64]:
        """NDCG@k of every test query of some data sets, their folds joined."""
        folds = self.figures[row, refit]
        return np.concatenate([folds[f][f"NDCG@{k}"] for f in sorted(folds) if f[0] in data])

    def mean(self, row: str, k: int, data: Sequence[str], refit: bool = False) -> float:
        """The mean of these."""
        return float(self.per_query(row, k, data, refit).mean())

    def total_seconds(self, row: str, data: Sequence[str]) -> float:
        """Seconds over all folds of some data sets."""
        return sum(seconds for (name, _), seconds in self.seconds[row].items() if name in data)

    def compared(
        self,
        baseline: str,
        rows: Sequence[str],
        cutoffs: Sequence[int],
        data: Sequence[str],
        refit: bool = False,
    ) -> Comparison:
        """Rows against a baseline, query by query; one family of tests."""
        systems = [
            Figures(row, {NDCG(k): self.per_query(row, k, data, refit) for k in cutoffs})
            for row in (baseline, *rows)
        ]
        return compare(*systems, measures=[NDCG(k) for k in cutoffs])

    def regret(
        self, row: str, k: int, data: Sequence[str], among: Sequence[str], refit: bool = False
    ) -> float:
        """What the best row of each set gives more than this one, mean over the sets."""
        lost = [
            max(self.mean(other, k, [name], refit) for other in among) - self.mean(row, k, [name], refit)
            for name in data
        ]
        return float(np.mean(lost))
