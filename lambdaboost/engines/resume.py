"""`Resumed`: a training with a checkpoint, the same on both engines; their callbacks say when to check and to save."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from lambdaboost.datasets import Queries
from lambdaboost.engines import checkpoint as files
from lambdaboost.engines.checkpoint import Checkpoint, State
from lambdaboost.engines.engine import Engine
from lambdaboost.engines.plan import Plan
from lambdaboost.objectives.mcrank import GradeModel


class Resumed:
    """One training to round `end`, begun here or taken up at round `begin`; `rounds` are those left."""

    def __init__(self, checkpoint: Checkpoint, engine: Engine, end: int) -> None:
        self.checkpoint, self.engine, self.end = checkpoint, engine, end
        self.state = files.read(checkpoint, engine.name, end)
        self.begin = 0 if self.state is None else self.state.rounds
        self.rounds = end - self.begin
        self.history: Any = None if self.state is None else self.state.history
        self._made_with: Mapping[str, str] = {}

    @property
    def model(self) -> bytes | None:
        """The model so far, as the engine reads it."""
        return None if self.state is None else self.state.model.encode()

    def check(self, plan: Plan, params: Mapping[str, Any], q: Queries, digests: Mapping[str, str]) -> None:
        """Raise where the checkpoint is of another training; `params` are those that have to be the same."""
        self._made_with = files.made_with(plan, params, q, digests)
        if self.state is not None:
            files.check_same(self.checkpoint, self.state, self._made_with)

    def check_scores(self, scores: ArrayLike) -> None:
        """Raise where the model so far gives the training data other scores than it had."""
        if self.state is not None:
            files.check_scores(self.checkpoint, self.state, scores)

    def check_evaluated(self, before: list[str], now: list[str]) -> None:
        """Raise where other sets or measures are evaluated than before."""
        files.check_evaluated(self.checkpoint, before, now)

    def save(self, done: int, booster: Any, history: Any, scores: ArrayLike) -> None:
        """Write the checkpoint after `done` rounds."""
        text = self.engine.write(booster, ".json").decode()
        state = State(done, text, history, self._made_with, files.projected(scores))
        files.write(self.checkpoint, state)

    def is_due(self, done: int) -> bool:
        """Whether to save after `done` rounds: one that has no round left cannot be taken up."""
        return done % self.checkpoint.every == 0 and done < self.end


def resumed(value: Any, continued: Any, name: str, engine: Engine, plan: Plan, end: int) -> Resumed | None:
    """The training of the argument checkpoint=, or None; `continued` is the argument `name`."""
    if value is None:
        return None
    if isinstance(plan.rule, GradeModel):
        raise ValueError(
            f"checkpoint with {plan.rule!r}: classifiers are not taken up; train without checkpoint"
        )
    return Resumed(files.as_checkpoint(value, continued, name), engine, end)
