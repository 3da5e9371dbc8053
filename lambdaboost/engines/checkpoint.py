"""Training that a killed process can take up again: what both engines share."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost.datasets import Queries
from lambdaboost.datasets._files import check_place, replacing
from lambdaboost.objectives import Objective

FORMAT = 1


@dataclass(frozen=True)
class Checkpoint:
    """Where `train` saves what it has so far, and after how many rounds each time.

    The same call of `train` with a checkpoint that stands there goes on from it, and gives the model that it would have
    given uninterrupted: the trees so far, the rounds of schedules and what was evaluated are all in the one file. A
    checkpoint of other parameters, objective, labels, features or engine version is refused. The file is replaced as a
    whole, so one that can be read is never half of one; after the training it stays, and may be deleted.

    Two things are not what they are without an interruption. Rows and features that the engine draws by chance
    (bagging, feature sampling) it draws anew from where it goes on: the model is as good, but not the same, and a
    warning says so. And callbacks of your own see only the rounds that are trained, not those of the checkpoint;
    the engine's own, such as early stopping, see all.

    Parameters
    ----------
    path : str or Path
        The file, in a folder that is there.
    every : int
        Rounds between two savings.

    Examples
    --------
    >>> Checkpoint("ranker.checkpoint", every=50)
    Checkpoint(path='ranker.checkpoint', every=50)

    """

    path: str | Path
    every: int = 10

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | Path):
            raise TypeError(f"path is {self.path!r}, expected the name of a file")
        if isinstance(self.every, bool) or not isinstance(self.every, int | np.integer) or self.every < 1:
            raise ValueError(f"every is {self.every!r}, expected a whole number of rounds ≥ 1")


@dataclass(frozen=True, eq=False)
class State:
    """A training so far: its rounds, the model's text, what it was evaluated to, and what it was made with."""

    rounds: int
    model: str
    history: Any
    made_with: Mapping[str, str]
    scores: Mapping[str, float]


def read(checkpoint: Checkpoint, engine: str, rounds: int) -> State | None:
    """The state that stands there, or None; a ValueError where it is another engine's, or has all `rounds` already."""
    path = Path(checkpoint.path)
    check_place("checkpoint", path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        text = ""
    try:
        fields = json.loads(text)
        if fields.pop("lambdaboost checkpoint") != FORMAT:
            raise ValueError
        state = State(**fields)
        made_by = state.made_with["engine"]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(
            f"checkpoint {path} is none that this version wrote: delete it, or give another path"
        ) from None
    if made_by != _engine(engine):
        check_same(checkpoint, state, {**state.made_with, "engine": _engine(engine)})
    if state.rounds >= rounds:
        raise ValueError(
            f"checkpoint {path} holds {state.rounds} rounds and rounds is {rounds}: "
            "ask for more rounds, delete it, or give another path"
        )
    return state


def write(checkpoint: Checkpoint, state: State) -> None:
    """Replace the checkpoint; where that fails, warn and leave the last one, for the training is worth more."""
    path = Path(checkpoint.path)
    text = json.dumps({"lambdaboost checkpoint": FORMAT, **vars(state)})
    try:
        with replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        warnings.warn(
            f"the checkpoint {path} could not be saved after round {state.rounds}: {error}. Training goes on; "
            "what stands there is the last that could",
            stacklevel=2,
        )


def made_with(
    engine: str, objective: Objective, leaves: str, params: Mapping[str, Any], q: Queries, features: int
) -> dict[str, str]:
    """What a training must have in common with one that takes it up, by name."""
    return {
        "engine": _engine(engine),
        # Functions in a schedule print where they lie in memory.
        "objective": re.sub(r" at 0x[0-9a-f]+", "", repr(objective)),
        "leaves": leaves,
        "number of features": str(features),
        "number of documents": str(q.n_documents),
        "number of queries": str(q.n_queries),
        "labels": _digest(q),
        **{f"params[{name!r}]": str(value) for name, value in sorted(params.items())},
    }


def _engine(name: str) -> str:
    return f"{name} {version(name)}"


def _digest(q: Queries) -> str:
    """A short name of all labels, queries and weights."""
    digest = hashlib.sha256(q.offsets.tobytes())
    for name, labels in sorted(q.labels.items()):
        digest.update(name.encode() + np.ascontiguousarray(labels).tobytes())
    if q.weight is not None:
        digest.update(b"weight" + np.ascontiguousarray(q.weight).tobytes())
    return f"sha256 {digest.hexdigest()[:16]}"


def check_same(checkpoint: Checkpoint, state: State, now: Mapping[str, str]) -> None:
    """Raise where the checkpoint was made with anything else, naming it."""
    names = [*state.made_with, *(name for name in now if name not in state.made_with)]
    other = [
        f"{name} was {state.made_with.get(name, 'not given')}, now {now.get(name, 'not given')}"
        for name in names
        if state.made_with.get(name) != now.get(name)
    ]
    if other:
        raise ValueError(
            f"checkpoint {checkpoint.path} is of another training: {'; '.join(other)}. Give the same again, "
            "delete it to start over, or give another path"
        )


def projected(scores: ArrayLike) -> dict[str, float]:
    """One number that tells the scores of all training documents from others, with its scale."""
    s = np.asarray(scores, dtype=np.float64)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, s.size)
    return {"sum": float(weight @ s), "scale": float(weight @ np.abs(s))}


def check_scores(checkpoint: Checkpoint, state: State, scores: ArrayLike) -> None:
    """Raise where the model so far gives the training data other scores than it had: other features."""
    now = projected(scores)
    if abs(now["sum"] - state.scores["sum"]) > 1e-6 * max(now["scale"], state.scores["scale"]):
        raise ValueError(
            f"checkpoint {checkpoint.path} is of another training: its model scores this data otherwise than the data "
            "that it was trained on, so features differ. Give the same again, delete it to start over, or give "
            "another path"
        )


def check_evaluated(checkpoint: Checkpoint, saved: object, now: object) -> None:
    """Raise where other sets or measures are evaluated than before."""
    if saved != now:
        raise ValueError(
            f"checkpoint {checkpoint.path} is of another training: it evaluated {saved}, this one {now}. Give the same "
            "again, delete it to start over, or give another path"
        )


def warn_of_chance(names: list[str]) -> None:
    """Say that a continued model will not be quite the same where the engine draws by chance."""
    if names:
        warnings.warn(
            f"checkpoint with {', '.join(names)}: if this training is interrupted, the engine starts its draws over "
            "where it goes on, so the model will be as good as an uninterrupted one, but not the same",
            stacklevel=4,
        )


def as_checkpoint(value: object, continued: object, name: str) -> Checkpoint:
    """The checkpoint that `train` was given, or that of a path; `continued` is its argument `name`."""
    if continued is not None:
        raise ValueError(f"checkpoint and {name} are both given: a checkpoint goes on from its own model")
    if isinstance(value, str | Path):
        return Checkpoint(value)
    if not isinstance(value, Checkpoint):
        raise TypeError(
            f"checkpoint is {value!r}, expected Checkpoint('ranker.checkpoint', every=50) or a path"
        )
    return value
