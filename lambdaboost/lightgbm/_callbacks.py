"""What LightGBM calls back in the course of a training: the round, and checks before the first one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lambdaboost._warn import warn
from lambdaboost.engines.plan import Plan
from lambdaboost.engines.rounds import ToldRounds
from lambdaboost.engines.traps import warn_of_sorted_rows
from lambdaboost.lightgbm._engine import ALIASES
from lambdaboost.lightgbm._private import note_objective
from lambdaboost.objectives import Objective
from lambdaboost.objectives.stock.traps import POSITION

FIRST, LAST = float("-inf"), float("inf")


class Callback:
    """A callback that comes before every other one of its kind, or at another place by `order`."""

    def __init__(self, run: Callable[[Any], None], before_iteration: bool, order: float = FIRST) -> None:
        self.run = run
        self.before_iteration = before_iteration
        self.order = order

    def __call__(self, env: Any) -> None:
        self.run(env)


def boosters_of(env: Any) -> list[Any]:
    """The booster of `lightgbm.train`, or those of `lightgbm.cv`, one a fold."""
    boosters = getattr(env.model, "boosters", None)
    return boosters if isinstance(boosters, list) else [env.model]


def round_callbacks(told: ToldRounds, rounds_done: int | None = None) -> list[Callback]:
    """Callbacks that tell `told` its rounds, in a training that goes on after `rounds_done` rounds of its own."""

    def start(env: Any) -> None:
        for booster in boosters_of(env):
            if env.iteration == env.begin_iteration:
                told.begin(booster, booster.train_set, rounds_done)
            told.start_round(booster.train_set)

    def end(env: Any) -> None:
        for booster in boosters_of(env):
            told.end_round(booster.train_set)

    # Other callbacks may roll rounds back: before a round they come first, after it last.
    return [Callback(start, True, LAST), Callback(end, False)]


def check_callback(plan: Plan, on_training: bool) -> Callback:
    """Raise before the first round where data have no queries, or not the sources that will be asked of them."""

    def check(env: Any) -> None:
        if env.iteration != env.begin_iteration:
            return
        for fold, booster in enumerate(boosters_of(env)):
            data = booster.train_set
            q = plan.require(f"the training data, for {plan.rule!r}", data, plan.rule.sources)
            if isinstance(plan.rule, Objective):
                _prepare(booster, env.params)
                if fold == 0 and env.begin_iteration == 0 and data.get_init_score() is None:
                    warn_of_sorted_rows(q, plan.rule)
            if fold == 0 and data.get_field("position") is not None:
                warn(POSITION)
            if on_training:
                plan.require("the training data, for the measures", data, plan.measured)
            for valid, name in zip(booster.valid_sets, booster.name_valid_sets, strict=True):
                plan.require(f"{name}, for the measures", valid, plan.measured)

    return Callback(check, True)


def _prepare(booster: Any, params: dict[str, Any]) -> None:
    """Use the engine's own random sequence, the same in every run.

    The first `Booster.update` with an objective that is not LightGBM's own resets the booster's parameters.
    `lightgbm.train` made the booster without objective, so this changes nothing but the draw of features
    (`feature_fraction`), and fails where no feature is of use: it is left out.

    DART remembers whether it has dropped trees in a round, but not from the start: memory as it comes decides whether
    the first round draws a number. Asked for its scores and then reset, it has dropped none and drawn none.
    """
    if any(params.get(name) == "dart" for name in ALIASES["boosting"]):
        booster.eval_train(lambda *_: [])
        booster.reset_parameter({"objective": "none"})
    note_objective(booster)
