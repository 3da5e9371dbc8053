"""Training that a killed process can take up again: what both engines share."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._installed import engine_version
from lambdaboost.datasets import Queries
from lambdaboost.datasets._files import check_place, replacing
from lambdaboost.engines.plan import Plan

FORMAT = 2
# The first line of a checkpoint; the digest is that of everything after it.
VERSION = re.compile(rb'\{"lambdaboost checkpoint": (\d{1,9})\b')
HEADER = re.compile(rb'\{"lambdaboost checkpoint": \d+, "sha256": "([0-9a-f]{64})"\}\n')


@dataclass(frozen=True)
class Checkpoint:
    """Where `train` saves what it has so far, and after how many rounds each time.

    The same call of `train` resumes from the checkpoint and gives the model of an uninterrupted run: the trees so far,
    the rounds of schedules and the evaluation history are all in the one file. A checkpoint of other parameters,
    another objective, other labels, features or validation data, or another engine version is refused, and so is a
    damaged one. The file is replaced as a whole; it stays after the training, and you may delete it.

    Two things differ from an uninterrupted run. Rows and features that the engine samples (bagging, feature sampling)
    are sampled anew from where it resumes: the model is as good, but not the same, and a warning says so. And your own
    callbacks see only the rounds that are trained, not those of the checkpoint; the engine's own, such as early
    stopping, see all.

    To compare the features, training with a checkpoint reads them once before the first round. LightGBM writes them to
    a temporary file for that, about a byte per value.

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
        object.__setattr__(self, "every", int(self.every))


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
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    state = _state_in(content, f"checkpoint {path}")
    made_by = state.made_with["engine"]
    if made_by != _engine(engine):
        check_same(checkpoint, state, {**state.made_with, "engine": _engine(engine)})
    if state.rounds >= rounds:
        raise ValueError(
            f"checkpoint {path} holds {state.rounds} rounds and rounds is {rounds}: "
            "ask for more rounds, delete it, or give another path"
        )
    return state


def _state_in(content: bytes, name: str) -> State:
    """The state of a checkpoint; a ValueError where a single bit is not as it was written."""
    version = VERSION.match(content)
    if version is None:
        raise ValueError(f"{name} is not a checkpoint of lambdaboost: delete it, or give another path")
    if int(version[1]) != FORMAT:
        raise ValueError(
            f"{name} is of format {int(version[1])}, this version of lambdaboost reads format {FORMAT}: "
            "delete it to start over, or give another path"
        )
    header = HEADER.match(content)
    body = content[header.end() :] if header else b""
    if header is None or header[1] != hashlib.sha256(body).hexdigest().encode():
        raise ValueError(
            f"{name} is damaged, its content differs from what was written: delete it to start over, or bring back "
            "a copy"
        )
    return State(**json.loads(body))


def write(checkpoint: Checkpoint, state: State) -> None:
    """Replace the checkpoint; where that fails, warn and leave the last one, for the training is worth more."""
    path = Path(checkpoint.path)
    body = json.dumps(vars(state)).encode()
    header = {"lambdaboost checkpoint": FORMAT, "sha256": hashlib.sha256(body).hexdigest()}
    try:
        with replacing(path) as file:
            file.write(json.dumps(header).encode() + b"\n" + body)
    except OSError as error:
        warnings.warn(
            f"the checkpoint {path} could not be saved after round {state.rounds}: {error}. Training goes on; "
            "what stands there is the last that could",
            stacklevel=2,
        )


def made_with(
    plan: Plan, params: Mapping[str, Any], q: Queries, digests: Mapping[str, str]
) -> dict[str, str]:
    """What a training must have in common with one that resumes it, by name; `digests` are those of its data."""
    return {
        "engine": _engine(plan.engine.name),
        # Functions in a schedule print where they lie in memory.
        "objective": re.sub(r" at 0x[0-9a-f]+", "", repr(plan.rule)),
        "leaves": plan.leaves,
        "number of documents": str(q.n_documents),
        "number of queries": str(q.n_queries),
        "labels": digest(q.offsets, *_named(q.labels), q.weight),
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


def _named(sources: Mapping[str, Any]) -> Iterator[Any]:
    for name, labels in sorted(sources.items()):
        yield from (name, labels)


def digest(*parts: Any) -> str:
    """A short name of texts, bytes, arrays and mappings of arrays; None stands for what is not there."""
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, Mapping):
            part = digest(*_named(part))
        if part is None or isinstance(part, str):
            part = repr(part).encode()
        elif not isinstance(part, bytes):
            array = np.ascontiguousarray(part)
            sha.update(f"{array.dtype}{array.shape}".encode())
            part = array.reshape(-1).view(np.uint8)
        sha.update(part)
    return f"sha256 {sha.hexdigest()[:16]}"


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
