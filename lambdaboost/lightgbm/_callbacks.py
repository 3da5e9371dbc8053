"""Callbacks of LightGBM: one reports the rounds, one checks the data before the first round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from textwrap import shorten
from typing import Any

from lambdaboost.engines.native import NativeObjective
from lambdaboost.engines.plan import Plan
from lambdaboost.engines.rounds import ObjectiveInRounds
from lambdaboost.engines.traps import warn_of_sorted_rows
from lambdaboost.evaluation import Measure
from lambdaboost.lightgbm._engine import ALIASES
from lambdaboost.lightgbm._private import construct_valid, note_objective
from lambdaboost.objectives import Objective
from lambdaboost.objectives.stock.traps import warn_of_positions

FIRST, LAST = float("-inf"), float("inf")


class Callback:
    """A callback that is called before all others of its kind, unless `order` says otherwise."""

    def __init__(self, run: Callable[[Any], None], before_iteration: bool, order: float = FIRST) -> None:
        self.run = run
        self.before_iteration = before_iteration
        self.order = order

    def __call__(self, env: Any) -> None:
        self.run(env)


def boosters_of(env: Any) -> list[Any]:
    """The booster of `lightgbm.train`, or the boosters of `lightgbm.cv`, one per fold."""
    boosters = getattr(env.model, "boosters", None)
    return boosters if isinstance(boosters, list) else [env.model]


def round_callbacks(objective: ObjectiveInRounds, rounds_done: int | None = None) -> list[Callback]:
    """Callbacks that report the rounds to `objective`, in a training that resumes after `rounds_done` rounds."""

    def start(env: Any) -> None:
        for booster in boosters_of(env):
            if env.iteration == env.begin_iteration:
                objective.begin(booster, booster.train_set, rounds_done)
            objective.start_round(booster.train_set)

    def end(env: Any) -> None:
        for booster in boosters_of(env):
            objective.end_round(booster.train_set)

    # Other callbacks may roll rounds back, so these come last before a round and first after it.
    return [Callback(start, True, LAST), Callback(end, False)]


def check_before_alone(plan: Plan, valid_sets: Sequence[Any]) -> Callback:
    """A callback of the training of a primary objective alone that raises for what the whole training will refuse."""

    def check(env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        data = env.model.train_set
        plan.require_trained(f"the training data, for {_short([plan.rule])}", data)
        measures = _short(measure for measure in plan.measures if isinstance(measure, Measure))
        for number, valid in enumerate(valid_sets):
            if valid is not data:
                construct_valid(valid, data, env.params)
            plan.require_measured(f"valid_sets[{number}], for {measures}", valid)

    return Callback(check, True)


def check_callback(plan: Plan, on_training: bool) -> Callback:
    """A callback that raises before the first round if data lack queries or a label source that is read."""

    def check(env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        measures = _short(measure for measure in plan.measures if isinstance(measure, Measure))
        for fold, booster in enumerate(boosters_of(env)):
            data = booster.train_set
            q = plan.require_trained(f"the training data, for {_short([plan.rule])}", data)
            if isinstance(plan.rule, Objective):
                _prepare(booster, env.params)
                if fold == 0 and env.begin_iteration == 0 and data.get_init_score() is None:
                    warn_of_sorted_rows(q, plan.rule)
            native = isinstance(plan.rule, NativeObjective)
            if fold == 0 and not native:
                warn_of_positions(data, plan.trains_on_positions or plan.measures_positions)
            if on_training:
                plan.require_measured(f"the training data, for {measures}", data)
            for valid, name in zip(booster.valid_sets, booster.name_valid_sets, strict=True):
                plan.require_measured(f"{name}, for {measures}", valid)

    return Callback(check, True)


def _short(values: Iterable[Any]) -> str:
    """The values in at most 80 characters: a curve of propensities alone can be longer than the message."""
    return shorten(", ".join(map(repr, values)), 80, placeholder=" …")


def _prepare(booster: Any, params: dict[str, Any]) -> None:
    """Use the engine's own random sequence, the same in every run.

    The first `Booster.update` with an objective that is not LightGBM's own resets the booster's parameters. The booster
    has no objective already, so the reset would only change the random features of `feature_fraction`, and fail if no
    feature is usable. It is skipped.

    DART does not initialise the variable that records whether trees were dropped in a round; its value is undefined in
    the first round. Computing scores and then resetting the parameters sets it to "none", without a random draw.
    """
    if any(params.get(name) == "dart" for name in ALIASES["boosting"]):
        booster.eval_train(lambda *_: [])
        booster.reset_parameter({"objective": "none"})
    note_objective(booster)
