"""One part of the systems on one fold of a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.common.workers import Outcome
from experiments.several_goals import methods
from experiments.several_goals.keeping import sequence
from experiments.several_goals.mo_lightgbm import MOLightGBM
from experiments.several_goals.sets import known
from experiments.several_goals.training import ROUNDS, data_of, run

MO_LIGHTGBM, CONDITIONED, SEQUENCE = "MO-LightGBM", "conditioned", "sequence"
OBJECTIVES: Mapping[str, Callable[..., dict]] = {
    "alone": methods.alone,
    "weighted": methods.weighted,
    "combined": methods.combined,
    "constrained": methods.constrained,
}
PARTS = (*OBJECTIVES, CONDITIONED, SEQUENCE, MO_LIGHTGBM)


@dataclass(frozen=True)
class Task:
    """A data set, seed and fold, and the systems to train: one of `PARTS`."""

    data_set: str
    seed: int
    fold: int
    systems: str

    @property
    def key(self) -> str:
        """A name for a file."""
        data_set = "".join(letter for letter in self.data_set if letter.isalnum())
        return f"{data_set}-{self.seed}-{self.fold}-{self.systems}"


@dataclass(frozen=True)
class Study:
    """Runs tasks on the data sets of a folder."""

    folder: Path | None
    scale: float = 1.0
    rounds: int = ROUNDS
    mo_lightgbm: Path | None = None

    def __call__(self, task: Task) -> Outcome:
        """The figures of each system on the validation and test queries, and the numbers of the test queries."""
        goals = known(self.folder, self.scale)[task.data_set]
        parts = goals.parts(task.seed, task.fold)
        tested = {"tested": parts.tested}
        if task.systems == MO_LIGHTGBM:
            assert self.mo_lightgbm is not None
            return tested | MOLightGBM(self.mo_lightgbm, self.rounds)(goals, parts)
        if task.systems == SEQUENCE:
            return tested | sequence(goals, parts, task.seed, self.rounds)
        if task.systems == CONDITIONED:
            return tested | methods.conditioned(goals, parts, task.seed, self.rounds)
        systems = OBJECTIVES[task.systems](goals, task.seed)
        return tested | run(systems, goals, parts, data_of(parts.train), self.rounds)
