"""`Tuned`: what a search found."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.engines.engine import engine_named
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.saving import save
from lambdaboost.evaluation import Measure
from lambdaboost.tuning.choice import OPTIMISM, Choice, chosen_from
from lambdaboost.tuning.folds import joined
from lambdaboost.tuning.front import Front, front_of
from lambdaboost.tuning.importance import importance_of
from lambdaboost.tuning.nested import HeldOut
from lambdaboost.tuning.runner import full_params
from lambdaboost.tuning.setting import Setting
from lambdaboost.tuning.task import Task
from lambdaboost.tuning.trial import Trial

Choose = Literal["best", "simplest", "balanced"]


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """The result of `tune`.

    Attributes
    ----------
    booster : lightgbm.Booster or xgboost.Booster
        The model: a plain one of its engine.
    setting : Setting
        What it was trained with: `engine`, `objective`, `leaves`, `params` and `rounds`, which are attributes here too.
    measures : tuple of Measure
        The measures; the first one decides.
    choice : Choice
        The finalists with their paired tests.
    left_out : mapping of str to str
        The candidates that cannot train on the data, and why.
    seconds : float
        The time that the call took.
    study : optuna.Study
        The search, for Optuna's own pictures.
    held_out : HeldOut or None
        The estimate on held-out queries by nested cross-validation, if there is one. The best validation mean is
        optimistic, because it is the maximum of many.

    """

    booster: Any
    setting: Setting
    measures: tuple[Measure, ...]
    choice: Choice
    left_out: Mapping[str, str]
    seconds: float
    task: Task
    results: tuple[Trial, ...]
    chosen: Trial
    refit: bool
    data: tuple[Collection, Collection | None]
    study: Any
    held_out: HeldOut | None = None

    @classmethod
    def of(
        cls,
        task: Task,
        trials: Sequence[Trial],
        weight: NDArray[np.float64],
        train: Collection,
        valid: Collection | None,
        left_out: Mapping[str, str],
        choose: Choose | None,
        refit: bool,
        begin: float,
        study: Any,
    ) -> Tuned:
        """Choose among the trials, and train the choice on all data."""
        choice = chosen_from(task.measures[0], task.candidates, trials, weight)
        chosen = _chosen(choice, front_of(task.measures, trials, weight), choose)
        setting = _setting(task, chosen, train, valid, refit)
        if refit:
            booster = setting.train(_all_data(task, train, valid))
        else:
            booster = engine_named(setting.engine).read(chosen.outcome.model)
        seconds = time.time() - begin
        return cls(
            booster,
            setting,
            task.measures,
            choice,
            dict(left_out),
            seconds,
            task,
            tuple(trials),
            chosen,
            refit,
            (train, valid),
            study,
        )

    def __repr__(self) -> str:
        mean = self.chosen.means(self.choice.weight)[0]
        trained = f"{self.objective!r}, leaves={self.leaves!r}, {self.rounds} rounds"
        return f"Tuned({trained}; {self.measures[0]!r} {mean:.4f})"

    @property
    def engine(self) -> str:
        """The engine of the model."""
        return self.setting.engine

    @property
    def objective(self) -> Any:
        """The objective of the model; its `repr` is a text that every function of lambdaboost takes."""
        return self.setting.objective

    @property
    def leaves(self) -> Leaves:
        """The kind of leaves of the model."""
        return self.setting.leaves

    @property
    def params(self) -> dict[str, Any]:
        """The engine's parameters of the model."""
        return dict(self.setting.params)

    @property
    def rounds(self) -> int:
        """The number of rounds of the model."""
        return self.setting.rounds

    @property
    def verdict(self) -> str:
        """How sure the choice is, in words."""
        return self.choice.verdict

    @property
    def trials(self) -> Any:
        """All trials: a pandas frame, in the order in which they began."""
        return _frame(self.results, self.task, self.choice.weight)

    @property
    def finalists(self) -> Any:
        """The best trial of each candidate: a pandas frame, the best first, with p-values adjusted by Holm's method."""
        choice = self.choice
        frame = _frame(choice.finalists, self.task, choice.weight)
        found = [choice.significance(trial) for trial in choice.finalists]
        frame["trials"] = [choice.tried[trial.candidate] for trial in choice.finalists]
        frame["difference"] = [0.0 if s is None else s.difference for s in found]
        frame["p"] = [np.nan if s is None else s.adjusted for s in found]
        frame["within one standard error"] = [choice.within_one_error(trial) for trial in choice.finalists]
        return frame

    @property
    def trade_off(self) -> Front | None:
        """The front of several measures; None for one."""
        return front_of(self.measures, self.results, self.choice.weight)

    @property
    def front(self) -> Any:
        """The trials that no other beats on all measures: a pandas frame, the highest first measure first.

        Raises
        ------
        ValueError
            If there is only one measure.

        """
        front = self.trade_off
        if front is None:
            raise ValueError(
                "there is one measure, so no front: give several, such as measure=['ndcg@10', 'map']"
            )
        frame = _frame(front.on, self.task, self.choice.weight)
        frame["no significant loss"] = [trial is front.balanced for trial in front.on]
        return frame

    @cached_property
    def importance(self) -> dict[str, float]:
        """The share of the differences between complete trials that each choice explains; {} for few trials."""
        return importance_of(self.study, self.task.seed)

    def page(self, path: str | Path) -> Path:
        """Write an HTML page: what was tried, curves, importance of the choices, certainty, trade-off, the script."""
        from lambdaboost.tuning.page import write_page

        return write_page(path, self)

    def script(self, read: str = "", out: str = "") -> str:
        """Ten lines of Python that train the model again, after lines that `read` the data, and save it as `out`."""
        parts = ("train", "valid") if self.refit and self.data[1] is not None else ("train",)
        return self.setting.script(self.data[0], parts, self.task.seed, read, out)

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the model, and beside it ``PATH.json``, which `lambdaboost.load` and the command line read.

        `about` holds further entries for the description.
        """
        save(
            self.booster,
            path,
            objective=self.objective,
            leaves=self.leaves,
            params=self.params,
            about={
                "rounds": self.rounds,
                "rounds_kept": self.rounds,
                "tuning": self.about(),
                **(about or {}),
            },
        )

    def about(self) -> dict[str, Any]:
        """What was found, as JSON takes it."""
        means = self.chosen.means(self.choice.weight)
        return {
            "verdict": self.verdict,
            "caveat": OPTIMISM,
            "validation": {repr(m): float(mean) for m, mean in zip(self.measures, means, strict=True)},
            **({"trade_off": self.trade_off.loss} if self.trade_off and self.trade_off.loss else {}),
            "trainings": sum(trial.trainings for trial in self.results),
            "seconds": self.seconds,
            "refit": self.refit,
            "simplest": self.choice.name(self.choice.simplest),
            "left_out": dict(self.left_out),
            "held_out": None if self.held_out is None else str(self.held_out),
        }


def _chosen(choice: Choice, front: Front | None, choose: Choose | None) -> Trial:
    if choose == "simplest":
        return choice.simplest
    return choice.best if front is None or choose == "best" else front.balanced


def _setting(task: Task, trial: Trial, train: Collection, valid: Collection | None, refit: bool) -> Setting:
    """The setting of a trial, with the rounds that its data need."""
    candidate, outcome = task.candidates[trial.candidate], trial.outcome
    rounds = float(np.mean(outcome.rounds))
    if refit:
        trained = np.mean([fold.train.queries.n_documents for fold in task.folds])
        everything = train.queries.n_documents + (0 if valid is None else valid.queries.n_documents)
        rounds *= everything / float(trained)
    params = full_params(candidate, trial.knobs, task.params, task.seed)
    return Setting(
        candidate.engine, candidate.objective(trial.knobs), candidate.leaves, params, max(1, round(rounds))
    )


def _all_data(task: Task, train: Collection, valid: Collection | None) -> Collection:
    """Both parts as one, the documents of each query in random order, as in the script."""
    if (
        valid is not None and train.queries.positions is None
    ):  # only a measure reads those of the validation part
        valid = valid.without_positions()
    return joined(train, valid).shuffled(task.seed)


def _frame(trials: Sequence[Trial], task: Task, weight: NDArray[np.float64]) -> Any:
    import pandas as pd

    rows = []
    for trial in trials:
        candidate = task.candidates[trial.candidate]
        means = trial.means(weight)
        rows.append(
            {
                "trial": trial.number,
                "candidate": candidate.name,
                "engine": candidate.engine,
                "objective": repr(candidate.objective(trial.knobs)),
                "leaves": candidate.leaves,
                "state": trial.outcome.state,
                **{repr(m): mean for m, mean in zip(task.measures, means, strict=True)},
                "rounds": round(float(np.mean(trial.outcome.rounds))) if trial.outcome.rounds else 0,
                "trainings": trial.trainings,
                "seconds": trial.outcome.seconds,
                **trial.knobs,
            }
        )
    return pd.DataFrame(rows)
