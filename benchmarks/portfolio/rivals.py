"""`Rivals`: `tune` from portfolios of other sets, fixed objectives, tuned engines and FLAML, on test queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.portfolio.flaml import FLAML, Flaml
from benchmarks.portfolio.matrix import Matrix
from benchmarks.portfolio.rows import Rows
from benchmarks.portfolio.settings import CANDIDATES, name_of
from benchmarks.portfolio.trials import Tried
from experiments.common.workers import Outcome
from lambdaboost import NDCG
from lambdaboost.tuning.portfolio import Setting
from lambdaboost.tuning.shrunken import shrunken

SIZE = 10  # settings that tune tries
TUNE = f"tune, {SIZE} settings"
LIGHTGBM, XGBOOST = Setting("lambdarank"), Setting("rank:ndcg", own=True)
FIXED = (
    LIGHTGBM,
    Setting("rank_xendcg"),
    XGBOOST,
    Setting("LambdaRank()"),
    Setting("LambdaLoss()"),
    Setting("RankNet()"),
    Setting("GumbelRanks(LambdaRank()) by gradient steps"),
)
# Two learning rates × two sizes of leaves, those that are left out being 0.1 and 31.
GRIDS = {
    "lambdarank, best of 4": ("lambdarank", ({}, {"learning_rate": 0.05})),
    "rank:ndcg, best of 4": ("rank:ndcg", ({}, {"learning_rate": 0.3})),
}
BEST = {
    row: [Setting(name, rate | leaves) for rate in rates for leaves in ({}, {"max_leaves": 8})]
    for row, (name, rates) in GRIDS.items()
}

Fold = tuple[str, int]


def of_tune(matrix: Matrix, data: str) -> list[Setting]:
    """What `tune` tries on a set that is left out: LightGBM's default, then the portfolio of the other sets."""
    others = [matrix.settings[at] for at in matrix.portfolio(data)]
    return [LIGHTGBM, *(setting for setting in others if setting != LIGHTGBM)][:SIZE]


def trials(matrix: Matrix, data: str, fold: int) -> list[Tried]:
    """All settings that any row tries on a fold, each once."""
    settings = [*of_tune(matrix, data), *FIXED, *(one for several in BEST.values() for one in several)]
    unique = [setting for at, setting in enumerate(settings) if setting not in settings[:at]]
    return [Tried(data, fold, setting) for setting in unique]


@dataclass(frozen=True, eq=False)
class Rivals:
    """What every row gives on the folds that were run, from the outcomes of trials and FLAML's."""

    matrix: Matrix
    found: Mapping[Tried, Outcome]
    flaml: Mapping[Flaml, Outcome]

    @cached_property
    def folds(self) -> list[Fold]:
        """The folds, in order."""
        return list(dict.fromkeys((run.data, run.fold) for run in self.found))

    @cached_property
    def sets(self) -> list[str]:
        """The sets."""
        return list(dict.fromkeys(name for name, _ in self.folds))

    @cached_property
    def rows(self) -> Rows:
        """The values of every row, of all folds of a set together."""
        return Rows(
            {
                row: {
                    data: np.concatenate([by_fold[f]["NDCG@10"] for f in self.folds if f[0] == data])
                    for data in self.sets
                }
                for row, by_fold in self.chosen.items()
            },
            NDCG(10),
        )

    @cached_property
    def chosen(self) -> dict[str, dict[Fold, Outcome]]:
        """The outcome of what each row chose, by fold."""
        rows = {TUNE: {f: self._by_shrunken_means(f, of_tune(self.matrix, f[0])) for f in self.folds}}
        rows |= {name_of(setting): {f: self._best(f, [setting]) for f in self.folds} for setting in FIXED}
        rows |= {row: {f: self._best(f, settings) for f in self.folds} for row, settings in BEST.items()}
        if self.flaml:
            rows[FLAML] = {(run.data, run.fold): outcome for run, outcome in self.flaml.items()}
        return rows

    def seconds(self, data: str) -> float:
        """Processor seconds of `tune` on a fold of a set, the median over its folds."""
        each = [
            sum(float(self.found[Tried(*fold, setting)]["seconds"]) for setting in of_tune(self.matrix, data))
            for fold in self.folds
            if fold[0] == data
        ]
        return float(np.median(each))

    def _best(self, fold: Fold, settings: Sequence[Setting]) -> Outcome:
        outcomes = [self.found[Tried(*fold, setting)] for setting in settings]
        return max(outcomes, key=lambda outcome: float(np.nanmean(outcome["seen"])))

    def _by_shrunken_means(self, fold: Fold, settings: Sequence[Setting]) -> Outcome:
        """As `tune` chooses; of equal settings the first."""
        outcomes = [self.found[Tried(*fold, setting)] for setting in settings]
        values = np.stack([outcome["seen"] for outcome in outcomes])
        candidates = np.array([list(CANDIDATES).index(setting.candidate) for setting in settings])
        return outcomes[int(np.argmax(shrunken(values, np.ones(values.shape[1]), candidates)))]
