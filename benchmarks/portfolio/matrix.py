"""`Matrix`: what all settings gave on all folds; the portfolios that follow from it, and their check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.portfolio.greedy import greedy, shrunken
from benchmarks.portfolio.sets import family
from benchmarks.portfolio.settings import name_of
from benchmarks.portfolio.study import Run
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.evaluation import Comparison, Figures, compare
from lambdaboost.tuning.portfolio import Setting

SIZE = 16
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Outcomes of the same settings on the same folds; places of settings are those in `settings`."""

    found: Mapping[Run, Outcome]

    @cached_property
    def settings(self) -> list[Setting]:
        """Each setting once, in order."""
        unique: list[Setting] = []
        for run in self.found:
            if run.setting not in unique:
                unique.append(run.setting)
        return unique

    @cached_property
    def folds(self) -> dict[str, list[int]]:
        """The folds of each set."""
        folds: dict[str, list[int]] = {}
        for run in self.found:
            if run.fold not in folds.setdefault(run.data, []):
                folds[run.data].append(run.fold)
        return folds

    def tested(self, data: str, k: int = 10) -> Values:
        """NDCG@k (n_settings, n_queries) of the test queries of all folds of a set."""
        return np.array(
            [
                np.concatenate([self.found[Run(data, f, s)][f"NDCG@{k}"] for f in self.folds[data]])
                for s in self.settings
            ]
        )

    @cached_property
    def highest(self) -> dict[str, float]:
        """The highest test mean of any setting on each set."""
        return {name: float(self.tested(name).mean(axis=1).max()) for name in self.folds}

    def portfolio(self, left_out: str = "", size: int = SIZE) -> list[int]:
        """The settings chosen from all sets, or from those outside the family of one."""
        return greedy(self.shrunken_without(left_out), size)

    def shrunken_without(self, left_out: str = "") -> Values:
        """The shrunken test means of the sets outside a family."""
        others = [name for name in self.folds if name not in family(left_out)]
        return shrunken([self.tested(name) for name in others])

    def best_fixed(self, left_out: str) -> int:
        """The setting with the highest mean over the other sets."""
        return int(np.argmax(self.shrunken_without(left_out).mean(axis=0)))

    def reached(self, data: str, chosen: Sequence[int]) -> Values:
        """NDCG@10 by test query of the chosen setting that is best on the validation part of its fold."""
        values = []
        for fold in self.folds[data]:
            runs = [Run(data, fold, self.settings[at]) for at in chosen]
            best = max(runs, key=lambda run: float(self.found[run]["valid"].mean()))
            values.append(self.found[best]["NDCG@10"])
        return np.concatenate(values)

    def regret(self, data: str, values: Values) -> float:
        """The highest test mean of any setting on a set, less that of these values."""
        return self.highest[data] - float(values.mean())

    def compared(self, baseline: int, others: Sequence[int], k: int = 10) -> Comparison:
        """Settings against a baseline, query by query; every set counts as much as any other."""
        tested = {name: self.tested(name, k) for name in self.folds}
        weight = np.concatenate([np.full(one.shape[1], 1 / one.shape[1]) for one in tested.values()])
        systems = [
            Figures(
                name_of(self.settings[at]),
                {NDCG(k): np.concatenate([one[at] for one in tested.values()])},
                weight,
            )
            for at in (baseline, *others)
        ]
        return compare(*systems, measures=[NDCG(k)])
