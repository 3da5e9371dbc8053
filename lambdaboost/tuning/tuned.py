"""`Tuned`: what a search found, with `HeldOut`, its estimate on queries that it has not seen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import SUFFIXES, engine_named
from lambdaboost._value import text_of
from lambdaboost._words import counted
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.comparison.significance import WeightedMean, weighted_mean
from lambdaboost.saving import save
from lambdaboost.tuning.choice import Choice, Front
from lambdaboost.tuning.folds import joined
from lambdaboost.tuning.keep import Kept
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.second_label import SecondLabel
from lambdaboost.tuning.trade_offs import kept_of
from lambdaboost.tuning.training import full_params, train_alone
from lambdaboost.tuning.trial import Trial
from lambdaboost.tuning.worth import Worth

FEW = 10  # queries below which nothing is said of the worth of a choice
GIVEN = "# `train` and `valid` are the collections given to tune, or of its tables: tuned.request.train and .valid.\n"


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The value of each measure on every query, by the model of a search that has not seen it.

    Attributes
    ----------
    measures : tuple of Measure
        The measures.
    values : float64 (m, n)
        Each of the m measures by query, the queries of `train` first, then those of `valid`.
    weight : float64 (n,)
        The weight of each query.

    """

    measures: tuple[Measure, ...]
    values: NDArray[np.float64]
    weight: NDArray[np.float64]

    def mean(self, at: int = 0) -> float:
        """The mean of measure number `at`."""
        return self._of(at).mean

    def interval(self, at: int = 0) -> tuple[float, float]:
        """The 95% confidence interval of the mean: how far it may change with other queries of the same kind."""
        from scipy.special import stdtrit

        mean, error, df = self._of(at)
        reach = float(stdtrit(df, 0.975)) * error
        return mean - reach, mean + reach

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.measures[0]!r} {self.mean():.4f} ({low:.4f} to {high:.4f}) on held-out queries"

    def _of(self, at: int) -> WeightedMean:
        known = ~np.isnan(self.values[at]) & (self.weight > 0)
        return weighted_mean(self.values[at][known], self.weight[known])


@dataclass(frozen=True, eq=False, repr=False)
class Tuned:
    """The result of `tune`.

    Attributes
    ----------
    booster : lightgbm.Booster or xgboost.Booster
        The model: a plain one of its engine.
    engine, objective, params, rounds
        What it was trained with; the objective's `text` is one that every function of lambdaboost takes.
    choice : Choice
        The finalists with their paired tests.
    request : Request
        What was asked for: the arguments, checked.
    results : tuple of Trial
        All trials, in the order in which they began.
    chosen : Trial
        The trial whose setting the model has.
    study : optuna.Study
        The search, for Optuna's own pictures and importances.
    seconds : float
        The time that the call took.
    held_out : HeldOut or None
        The estimate on held-out queries by nested cross-validation, if there is one. The best validation mean is
        optimistic, because it is the highest of several.
    kept : Kept or None
        With `keep`, the trade-offs of which the model is one, and what is proven of them. All other fields are of the
        search for the first measure.

    """

    booster: Any
    engine: str
    objective: Any
    params: dict[str, Any]
    rounds: int
    choice: Choice
    request: Request
    results: tuple[Trial, ...]
    chosen: Trial
    study: Any
    seconds: float = 0.0
    held_out: HeldOut | None = None
    kept: Kept | None = None

    @classmethod
    def of(cls, request: Request, trials: Sequence[Trial], study: Any) -> Tuned:
        """Choose among the trials, and train the choice."""
        results = tuple(trials)
        choice = Choice(request.measures[0], request.candidates, results, request.weight)
        chosen = _chosen(request, results, request.weight)
        return cls(*_model(request, chosen), choice, request, results, chosen, study)

    def with_second(self, keep: float, request: Request, trials: Sequence[Trial]) -> Tuned:
        """With the trade-offs of a request, of which the chosen one becomes the model."""
        kept = kept_of(request, keep, trials)
        if kept.chosen == 0:
            return replace(self, kept=kept)
        booster, _, objective, _, rounds = _model(
            replace(request, seed=self.request.seed), trials[kept.chosen]
        )
        return replace(self, booster=booster, objective=objective, rounds=rounds, kept=kept)

    def __repr__(self) -> str:
        measure, mean = next(iter(self.means.items()))
        trained = f"{self.objective!r}, {self.rounds} rounds"
        return f"Tuned({trained}; {measure!r} {mean:.4f})"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures; the first one decides."""
        return self.request.measures

    @property
    def means(self) -> dict[Measure, float]:
        """The validation mean of each measure by the model's setting; with `keep`, in the folds of the trade-offs."""
        kept = self.kept
        if kept is not None:
            return dict(zip(kept.measures, kept.means[kept.chosen], strict=True))
        return dict(zip(self.measures, self.chosen.means, strict=True))

    @property
    def left_out(self) -> dict[str, str]:
        """The standard candidates that cannot train on the data, and why."""
        return dict(self.request.left_out)

    @property
    def verdict(self) -> str:
        """How sure the choice is, whether a second label helps, if some candidates read one, and by which queries."""
        kept = "" if self.kept is None else self.kept.verdict
        worth = "" if self.worth is None else str(self.worth)
        said = kept, self.choice.verdict, worth, self.second_label.verdict, self.selection
        return " ".join(filter(None, said))

    @cached_property
    def worth(self) -> Worth | None:
        """What the choice is worth over the engine's default; None without either, or below 10 queries that count."""
        request = self.request
        if len(self.results) < 2:
            return None
        default = next((trial for trial in self.results if trial.own and trial.is_complete), None)
        if default is None or np.count_nonzero(~np.isnan(default.values[0]) & (request.weight > 0)) < FEW:
            return None
        candidate = request.candidates[default.candidate]
        engine = engine_named(candidate.engine)
        base = f"{engine.TITLE}'s default"
        if candidate.name != engine.NATIVE:
            base = f"{candidate.name} with {engine.TITLE}'s own parameters"
        choose = partial(_chosen, request)
        given = default, self.results, request.weight, request.groups, choose
        is_default = self.chosen.number == default.number
        return Worth.of(request.measures[0], base, *given, is_default=is_default)

    @property
    def selection(self) -> str:
        """On which queries the settings were compared, in words."""
        request = self.request
        n = counted(int(np.count_nonzero(request.weight > 0)), "query", "queries")
        if not request.by_folds:
            return f"Settings were compared on the {n} of valid."
        return (
            f"Settings were compared in {request.folds} folds of {n}, those of {' and '.join(request.given)}."
        )

    @property
    def second_label(self) -> SecondLabel:
        """The best trial on one label against the best on several, on every measure."""
        return SecondLabel(self.measures, self.request.candidates, self.results, self.request.weight)

    @property
    def trials(self) -> Any:
        """All trials: a pandas frame, in the order in which they began."""
        return _frame(self.results, self.request)

    @property
    def finalists(self) -> Any:
        """The best trial of each candidate: a pandas frame, the best first, with p-values adjusted by Holm's method."""
        finalists = self.choice.finalists
        frame = _frame([one.trial for one in finalists], self.request)
        frame["trials"] = [one.tried for one in finalists]
        frame["shrunken mean"] = [one.shrunken for one in finalists]
        for column in ("difference", "low", "high", "p"):
            frame[column] = [getattr(one, column) for one in finalists]
        frame["within one standard error"] = [one.within_one_error for one in finalists]
        return frame

    @property
    def trade_off(self) -> Front | None:
        """The front of several measures; None for one."""
        several = len(self.measures) > 1
        return Front(self.measures, self.results, self.request.weight) if several else None

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
        frame = _frame(front.on, self.request)
        frame[f"no significant loss of {self.measures[0]!r}"] = front.lossless
        return frame

    def page(self, path: str | Path) -> Path:
        """Write an HTML page: the certainty, all trials, the trade-off, the script."""
        from lambdaboost.tuning.page import write_page

        return write_page(path, self)

    def script(self, read: str = "", out: str = "") -> str:
        """Python that trains the model again, after lines that `read` the data, and saves it as `out`."""
        both = self.request.refit and self.request.valid is not None
        # Both parts may name their queries alike.
        made = "Collection.concat([train.without_ids(), valid.without_ids()])" if both else "train"
        unread = self.request.train.queries.positions is not None and not self.request.trains_by_position
        dropped = ".without_positions()" if unread else ""
        suffix = SUFFIXES[self.engine][0]
        return (
            f"{'from lambdaboost.datasets import Collection' if both else ''}\n"
            f"from lambdaboost.native import read_objective\n"
            f"from lambdaboost.{self.engine} import boost, dataset\n\n"
            f"{read or GIVEN}"
            f"data = {made}.shuffled({self.request.seed}){dropped}\n"
            f"params = {self.params!r}\n"
            f"booster = boost(read_objective({text_of(self.objective)!r}), params, {self.rounds}, dataset(data))\n"
            f"booster.save_model({out or f'model{suffix}'!r})\n"
        ).lstrip()

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the model, and beside it ``PATH.json``, which `lambdaboost.load` and the command line read.

        `about` holds further entries for the description.
        """
        further = {"rounds": self.rounds, "rounds_kept": self.rounds, "tuning": self.about()}
        data = self.request.train
        further |= {"features": data.feature_names} if data.feature_names else {}
        further |= {"categories": dict(data.categories)} if data.categories else {}
        further |= about or {}
        trained = {"objective": self.objective, "params": self.params}
        save(self.booster, path, **trained, about=further)

    def about(self) -> dict[str, Any]:
        """What was found, as JSON takes it."""
        return {
            "verdict": self.verdict,
            "caveat": self.choice.caveat,
            "worth": None if self.worth is None else str(self.worth),
            "validation": {repr(measure): mean for measure, mean in self.means.items()},
            "finalists": json.loads(self.finalists.to_json(orient="records", double_precision=15)),
            **({"trade_off": self.trade_off.loss} if self.trade_off and self.trade_off.loss else {}),
            "settings": len(self.results),
            "seconds": self.seconds,
            "refit": self.request.refit,
            "simplest": self.choice.name(self.choice.simplest),
            "left_out": self.left_out,
            **({} if self.kept is None else {"kept": self.kept.about()}),
            "held_out": None if self.held_out is None else str(self.held_out),
        }


def _model(request: Request, trial: Trial) -> tuple[Any, str, Any, dict[str, Any], int]:
    """A trial's setting trained on all data: the booster and what it was trained with."""
    candidate = request.candidates[trial.candidate]
    data = joined(request.train, request.valid if request.refit else None).shuffled(request.seed)
    if not request.trains_by_position:
        data = data.without_positions()
    # More documents need more rounds.
    rounds = max(1, round(trial.rounds * data.queries.n_documents / request.documents))
    objective = candidate.objective_with(trial.knobs)
    params = full_params(request, candidate, trial.knobs)
    booster = train_alone(candidate.engine, objective, params, rounds, data)
    return booster, candidate.engine, objective, params, rounds


def _chosen(request: Request, trials: Sequence[Trial], weight: NDArray[np.float64]) -> Trial:
    """The trial whose setting becomes the model, by values of some queries or all."""
    choice = Choice(request.measures[0], request.candidates, tuple(trials), weight)
    best = choice.best  # raises where no trial is complete
    if request.choose == "simplest":
        return choice.simplest
    several = request.choose != "best" and len(request.measures) > 1
    return Front(request.measures, tuple(trials), weight).balanced if several else best


def _frame(trials: Sequence[Trial], request: Request) -> Any:
    import pandas as pd

    rows = []
    for trial in trials:
        candidate = request.candidates[trial.candidate]
        means = trial.means
        rows.append(
            {
                "trial": trial.number,
                "candidate": candidate.name,
                "engine": candidate.engine,
                "objective": text_of(candidate.objective_with(trial.knobs)),
                "state": trial.state,
                **{repr(m): mean for m, mean in zip(request.measures, means, strict=True)},
                "folds": trial.folds,
                "rounds": trial.rounds,
                "seconds": trial.seconds,
                **trial.knobs,
            }
        )
    return pd.DataFrame(rows)
