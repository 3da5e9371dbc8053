"""`Resumed`: a training with a checkpoint, on either engine; the engine's callbacks say when to check and to save."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._installed import engine_version
from lambdaboost.datasets import Queries
from lambdaboost.engines.checkpoint import Checkpoint, State, digest, read, write
from lambdaboost.engines.engine import Engine
from lambdaboost.engines.plan import Plan
from lambdaboost.objectives.mcrank import GradeModel


class Resumed:
    """One training to round `end`, begun here or resumed at round `begin`; `rounds` are those left.

    Raises
    ------
    ValueError
        Where the checkpoint is damaged, of another engine, or has all rounds already.

    """

    def __init__(self, checkpoint: Checkpoint, engine: Engine, end: int) -> None:
        self.checkpoint, self.engine, self.end = checkpoint, engine, end
        self.state = read(checkpoint)
        self.begin = 0 if self.state is None else self.state.rounds
        self.rounds = end - self.begin
        self.history: Any = None if self.state is None else self.state.history
        # Of `Constrained`, carried so that the primary objective is not trained again.
        self.reference: Sequence[float] | None = None if self.state is None else self.state.reference
        self._made_with: Mapping[str, str] = {}
        if self.state is not None:
            self._check_made_with({**self.state.made_with, "engine": _engine(engine.name)})
            if self.rounds <= 0:
                raise ValueError(
                    f"checkpoint {Path(checkpoint.path)} holds {self.begin} rounds and rounds is {end}: "
                    "ask for more rounds, delete it, or give another path"
                )

    @property
    def model(self) -> bytes | None:
        """The model so far, as the engine reads it."""
        return None if self.state is None else self.state.model.encode()

    def check(self, plan: Plan, params: Mapping[str, Any], q: Queries, digests: Mapping[str, str]) -> None:
        """Raise where the checkpoint is of another training.

        `params` are those that must be the same, `digests` those of the data, by name.
        """
        self._made_with = _made_with(plan, params, q, digests)
        self._check_made_with(self._made_with)

    def check_scores(self, scores: ArrayLike) -> None:
        """Raise where the model so far scores the training data otherwise than before: the features differ."""
        if self.state is None:
            return
        before, now = self.state.scores, _projected(scores)
        if abs(now["sum"] - before["sum"]) > 1e-6 * max(now["scale"], before["scale"]):
            raise self._other(
                "its model scores this data otherwise than the data that it was trained on, so features differ"
            )

    def check_evaluated(self, before: list[str], now: list[str]) -> None:
        """Raise where other sets or measures are evaluated than before."""
        if before != now:
            raise self._other(f"it evaluated {before}, this one {now}")

    def save(self, done: int, booster: Any, history: Any, scores: ArrayLike) -> None:
        """Write the checkpoint after `done` rounds."""
        text = self.engine.write(booster, ".json").decode()
        state = State(done, text, history, self._made_with, _projected(scores), self.reference)
        write(self.checkpoint, state)

    def is_due(self, done: int) -> bool:
        """Whether to save after `done` rounds; a checkpoint of all rounds could not be resumed."""
        return done % self.checkpoint.every == 0 and done < self.end

    def _check_made_with(self, now: Mapping[str, str]) -> None:
        before = now if self.state is None else self.state.made_with
        differences = [
            f"{name} was {before.get(name, 'not given')}, now {now.get(name, 'not given')}"
            for name in dict.fromkeys([*before, *now])
            if before.get(name) != now.get(name)
        ]
        if differences:
            raise self._other("; ".join(differences))

    def _other(self, difference: str) -> ValueError:
        return ValueError(
            f"checkpoint {self.checkpoint.path} is of another training: {difference}. Give the same again, delete it "
            "to start over, or give another path"
        )


def resumed(value: Any, continued: Any, name: str, engine: Engine, plan: Plan, end: int) -> Resumed | None:
    """The training of the argument checkpoint=, or None; `continued` is the argument `name`."""
    if value is None:
        return None
    if isinstance(plan.rule, GradeModel):
        raise ValueError(
            f"checkpoint with {plan.rule!r}: trainings of classifiers cannot be resumed; train without checkpoint"
        )
    if continued is not None:
        raise ValueError(f"checkpoint and {name} are both given: a checkpoint continues its own model")
    if isinstance(value, str | Path):
        value = Checkpoint(value)
    if not isinstance(value, Checkpoint):
        raise TypeError(
            f"checkpoint is {value!r}, expected Checkpoint('ranker.checkpoint', every=50) or a path"
        )
    return Resumed(value, engine, end)


def warn_of_sampling(names: list[str]) -> None:
    """Warn that a resumed model will not be quite the same where the engine samples; `names` are the parameters."""
    if names:
        warnings.warn(
            f"checkpoint with {', '.join(names)}: if this training is interrupted, the engine starts its random "
            "sequence anew where it resumes, so the model will be as good as an uninterrupted one, but not the same",
            stacklevel=4,
        )


def _made_with(
    plan: Plan, params: Mapping[str, Any], q: Queries, digests: Mapping[str, str]
) -> dict[str, str]:
    """What a training must have in common with one that resumes it, by name."""
    return {
        "engine": _engine(plan.engine.name),
        # The text of a function in a schedule has its address in memory.
        "objective": re.sub(r" at 0x[0-9a-f]+", "", repr(plan.given)),
        "leaves": plan.leaves,
        "number of documents": str(q.n_documents),
        "number of queries": str(q.n_queries),
        "labels": digest(q.offsets, *chain.from_iterable(sorted(q.labels.items())), q.weight),
        # A checkpoint of an older version has no such entry.
        **({} if q.positions is None else {"positions": digest(q.positions.codes, repr(q.positions.names))}),
        **digests,
        **{f"params[{name!r}]": _text(value) for name, value in sorted(params.items())},
    }


def _engine(name: str) -> str:
    return f"{name} {engine_version(name)}"


def _text(value: Any) -> str:
    """A parameter in one spelling: 1, 1.0 and ``np.float64(1)`` are the same."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        return repr(float(value))
    return str(value)


def _projected(scores: ArrayLike) -> dict[str, float]:
    """A fingerprint of the scores of all training documents: a weighted sum, and its scale."""
    s = np.asarray(scores, dtype=np.float64)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, s.size)
    return {"sum": float(weight @ s), "scale": float(weight @ np.abs(s))}
