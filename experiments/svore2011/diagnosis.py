"""`Diagnosis`: what Figures 2 to 4 show, recorded while the Newton baseline trains once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lambdaboost.datasets import Collection
from lambdaboost.diagnostics import Recorder
from lambdaboost.diagnostics.recorder import agreement_column
from lambdaboost.evaluation import CNDCG
from lambdaboost.objectives import ClickTier, LambdaRank, Objective
from lambdaboost.reproduce.protocol import Results
from lambdaboost.reproduce.systems import NEWTON
from lambdaboost.reproduce.training import RUNS

if TYPE_CHECKING:
    import pandas as pd

POINTS = 60  # recorded rounds, enough for a curve
SAMPLE = 500  # queries


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Recorded rounds of the Newton baseline, with its selected parameters, on the first fold.

    Attributes
    ----------
    train, valid : Recorder
        Of training and validation queries.
    grades : tuple of int
        The grades of highly relevant documents.

    """

    train: Recorder
    valid: Recorder
    grades: tuple[int, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """What the training queries show, round by round."""
        return self.train.frame()

    @property
    def highly_relevant(self) -> str:
        """The grades of highly relevant documents in words."""
        return "grade " + " or ".join(map(str, self.grades))

    def agreement(self, clicks: str) -> tuple[float, float]:
        """How often λ of all click pairs, and λ of those of equal grade, agree with λL; first round left out."""
        columns = [agreement_column(LambdaRank(), other) for other in both_click_lambdas(clicks)]
        every, tied = self.frame[columns].iloc[1:].mean()
        return float(every), float(tied)

    def low_grade_share(self) -> float:
        """Share of λ of highly relevant documents that comes from grades 0 and 1, mean over rounds."""
        return float(self.frame[["share_0", "share_1"]].sum(axis=1).mean())


def both_click_lambdas(clicks: str) -> tuple[Objective, Objective]:
    """λ of all pairs by clicks, and of pairs of equal grade that were both clicked (2011 paper, §4.2)."""
    return LambdaRank(CNDCG(source=clicks)), ClickTier(source=clicks)


def diagnose(results: Results) -> Diagnosis:
    """Train the Newton baseline once more, recording."""
    data, setting = results.data, results.setting
    fold = data.folds[0]
    trial, _ = results.selected(NEWTON, fold)
    train, valid = data.training(fold, seed=setting.seed), data.joined(fold.valid)
    grades = _highly_relevant(train)
    pairs = [(LambdaRank(), other) for clicks in data.clicks for other in both_click_lambdas(clicks.name)]
    every = max(1, setting.rounds // POINTS)

    def recorder(
        part: Collection, compare: Sequence[tuple[Objective, Objective]], high: tuple[int, ...]
    ) -> Recorder:
        x, q = part
        return Recorder(x, q, LambdaRank(), compare, 3, high, every, SAMPLE, setting.seed)

    recorders = recorder(train, pairs, grades), recorder(valid, (), ())
    runs = RUNS[setting.engine]
    runs.train(trial, setting, runs.data(train), [runs.callback(r) for r in recorders])
    return Diagnosis(*recorders, grades)


def _highly_relevant(train: Collection) -> tuple[int, ...]:
    """Grades 3 and 4 as in the paper, or the highest of data with fewer."""
    highest = int(np.nanmax(train.queries.relevance))
    return tuple(g for g in (3, 4) if g <= highest) or (highest,)
