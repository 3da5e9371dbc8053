"""A training on any engine: data, plan, steps, the engine's own `train` or `cv`, checks of the model.

    planned ──> Job ──> engine.run: the engine's own train ──> checks
                 │          │ calls back
                 └─ steps <─┘ before the first round, and after each

What a feature needs in the rounds is a `Step`, which is there or is not, such as `Kept` for `Constrained`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lambdaboost._warn import warn
from lambdaboost.calls.callback import called_by, training_of
from lambdaboost.calls.data import queries_of
from lambdaboost.calls.traps import Case
from lambdaboost.engines.engine import Engine, Training
from lambdaboost.engines.folds import folds_of
from lambdaboost.engines.job import Job, Step
from lambdaboost.engines.leaks import warn_of_leaks
from lambdaboost.engines.plan import planned
from lambdaboost.engines.traps import MODEL, look_at
from lambdaboost.objectives.constrained import constraint_in


def trained(job: Job, steps: Sequence[Step] = ()) -> Any:
    """The booster of one training."""
    engine = job.engine
    job.steps += [*_kept(job), *steps]
    warn_of_leaks(lambda: engine.features(job.data, job.sources))
    booster = engine.run(job)
    job.end()
    if job.rounds > 0 and not engine.has_splits(booster):
        case = Case(engine, job.rule, job.params, job.data, queries_of(job.data, job.sources))
        look_at(MODEL, case)
    return booster


def cross_validated(job: Job, nfold: int, seed: int, folds: Any) -> Any:
    """What the engine's own `cv` returns, over folds of whole queries."""
    job.steps += _kept(job)
    results = job.engine.run_cv(job, folds_of(job.data, nfold, seed, folds))
    job.end()
    return results


OnRound = Callable[[float | None], bool | None]


def fit(engine: Engine, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
    """Train in silence, as the command line and searches do; after early stopping the booster ends at its best round.

    `on_round` is called after every round with the measure on the validation data, if there are any; where it returns
    True the training ends with this round.
    """
    job = planned(
        engine,
        {**engine.silent, **training.params, **engine.quiet},
        data,
        training.rounds,
        training.objective,
        training.leaves,
        training.measure,
        [] if valid is None else [("valid", valid)],
        **engine.own(training.early_stopping),
    )
    return trained(job, steps=[_EachRound(job, on_round)])


class _EachRound(Step):
    def __init__(self, job: Job, on_round: OnRound) -> None:
        super().__init__(job)
        self.on_round = on_round

    def after_round(self) -> None:
        figures = self.job.figures
        self.job.stops = bool(self.on_round(figures[0].value if figures else None))


class Kept(Step):
    """Measures what `Constrained` keeps after each round, and warns if the model breaks the constraint."""

    def __init__(self, job: Job, constraint: Any) -> None:
        super().__init__(job)
        self.constraint = constraint
        self.curves: dict[Any, dict[int, float]] = {}

    def after_round(self) -> None:
        """Measure each booster on its training data."""
        for booster, data in self.job.boosters:
            scores = np.asarray(self.job.engine.training_scores(booster, data))
            with called_by(booster):
                measured = float(self.constraint.kept(scores, queries_of(data, self.job.sources)))
            self.curves.setdefault(booster, {})[training_of(booster).round] = measured

    def end(self) -> None:
        """Warn of boosters below the reference by more than the constraint allows, up to their best round."""
        reference, keep = self.constraint.reference, self.constraint.keep
        for booster, curve in self.curves.items():
            rounds = self.job.engine.best_round(booster) or max(curve)
            if rounds in curve and reference[rounds - 1] - curve[rounds] > keep:
                expected = reference[rounds - 1]
                warn(
                    f"keep: {self.constraint.measure!r} on the training data is {curve[rounds]:.4f} after {rounds} "
                    f"rounds, {expected - curve[rounds]:.4f} below the {expected:.4f} of the model of the primary "
                    f"objective alone, and keep={keep:g}: give a lower learning rate, or a higher keep"
                )


def _kept(job: Job) -> list[Step]:
    constraint = constraint_in(job.rule)
    return [] if constraint is None else [Kept(job, constraint)]
