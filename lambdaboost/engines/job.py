"""`Job`: a training that an engine is asked for, with the steps in its rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np

from lambdaboost._checks import saying
from lambdaboost.calls.callback import called_by, training_of
from lambdaboost.calls.data import queries_of
from lambdaboost.calls.traps import FIRST_GRADIENT, Case
from lambdaboost.datasets import Queries
from lambdaboost.engines.engine import Engine
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.native import NativeObjective
from lambdaboost.engines.traps import DATA, look_at
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import Objective
from lambdaboost.objectives.constrained import constraint_in

Metric = Measure | Callable[..., Any]
Metrics = Metric | str | Sequence[Metric | str] | None
DEFAULT_MEASURE = NDCG(3)


class Figure(NamedTuple):
    """A measure of a data set after a round."""

    data: str
    measure: str
    value: float
    higher_is_better: bool


class Step:
    """A feature in the rounds of a training."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def after_round(self) -> None:
        """After a round, before the user's callbacks."""

    def end(self) -> None:
        """After the training."""


@dataclass(eq=False)
class Job:
    """A training that an engine is asked for, with checked arguments."""

    engine: Engine
    # An objective, a `GradientStep` for ``leaves="gradient"``, or the engine's own objective.
    rule: Any
    leaves: Leaves
    params: dict[str, Any]  # with the default minimum leaf size for the rule if they had none
    adds_least_leaf: bool  # whether they had none
    measures: tuple[Metric, ...]
    data: Any
    rounds: int
    evaluated: list[tuple[str, Any]]  # data by name; in a cross-validation the folds, without this
    model: Any  # that is continued, or None
    own: dict[str, Any]  # arguments that only this engine has
    steps: list[Step] = field(default_factory=list)
    stops: bool = field(default=False, init=False)  # whether a step ends the training after this round
    # In the rounds: the boosters with their training data, one or one a fold, and what was evaluated after the round.
    boosters: list[tuple[Any, Any]] = field(init=False)
    figures: list[Figure] = field(init=False)

    @property
    def sources(self) -> tuple[str, ...]:
        """All label sources that are read, the rule's first: the order of the bounds of a stock DMatrix."""
        readers = (self.rule, *self._measures)
        return tuple(dict.fromkeys(source for reader in readers for source in reader.sources))

    @property
    def _measures(self) -> tuple[Measure, ...]:
        return tuple(metric for metric in self.measures if isinstance(metric, Measure))

    @property
    def of_objective(self) -> bool:
        """Whether lambdaboost computes the gradients: the rule is not the engine's own."""
        return isinstance(self.rule, Objective)

    def begin(self, boosters: list[tuple[Any, Any]]) -> None:
        """Begin the rounds; a stock training's traps were looked for already."""
        self.boosters = boosters
        for booster, _ in boosters:
            training_of(booster).checked = True
        if not isinstance(self.rule, NativeObjective):
            booster, data = boosters[0]
            with called_by(booster):
                look_at(FIRST_GRADIENT, self._case(data, queries_of(data, self.sources)))

    def after_round(self, figures: list[Figure]) -> None:
        """Before the user's callbacks."""
        self.figures = figures
        for step in self.steps:
            step.after_round()

    def end(self) -> None:
        """After the training: end the steps and drop them, which hold this job and so the data."""
        while self.steps:
            self.steps.pop(0).end()

    def check_data(self, training: Iterable[Any], evaluated: Iterable[tuple[str, Any]]) -> None:
        """Raise if data lack what the rule or a measure reads, or have an invalid label; warn of traps in them."""
        for number, data in enumerate(training):
            q = self._required(f"the training data, for {_short([self.rule])}", data, [self.rule])
            if (constraint := constraint_in(self.rule)) is not None:
                constraint.check(q)
            if number == 0 and not isinstance(self.rule, NativeObjective):
                look_at(DATA, self._case(data, q))
        for name, data in evaluated:
            name = f"{name}, for {_short(self._measures)}" if self._measures else name
            q = self._required(name, data, self._measures)
            with saying(name):
                check_read_positions(self._measures, q)

    def _case(self, data: Any, q: Queries) -> Case:
        reads = any(getattr(reader, "reads_positions", False) for reader in (self.rule, *self._measures))
        clustered = self.engine.workers(self.params) > 1
        return Case(
            self.engine, self.rule, self.params, data, q, reads, self.model is not None, on_cluster=clustered
        )

    def _required(self, name: str, data: Any, readers: Iterable[Any]) -> Queries:
        with saying(name):
            q = queries_of(data, self.sources)
            for reader in readers:
                for source in reader.sources:
                    q.source(source, allow_negative=reader.allows_negative)
                if getattr(reader, "reads_positions", False):
                    q.required_position()
        return q


def check_read_positions(measures: Iterable[Any], q: Queries) -> None:
    """Raise if a measure that reads positions refuses those of data that it is to evaluate after a training."""
    for measure in measures:
        if isinstance(measure, Measure) and measure.reads_positions:
            measure.per_query(np.zeros(q.n_documents), q)


def _short(values: Iterable[Any]) -> str:
    """The values in at most 80 characters: a curve of propensities alone can be longer than the message."""
    return shorten(", ".join(map(repr, values)), 80, placeholder=" …")
