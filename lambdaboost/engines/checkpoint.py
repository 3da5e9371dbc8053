"""`Checkpoint`, and the file in which a training keeps its state."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets._files import check_place, replacing

FORMAT = 2
# The first line of a checkpoint; the digest is that of everything after it.
VERSION = re.compile(rb'\{"lambdaboost checkpoint": (\d{1,9})\b')
HEADER = re.compile(rb'\{"lambdaboost checkpoint": \d+, "sha256": "([0-9a-f]{64})"\}\n')


@dataclass(frozen=True)
class Checkpoint:
    """Where `train` saves its state, and every how many rounds.

    The same call of `train` resumes from the checkpoint and gives the model of an uninterrupted run: one file
    holds the trees so far, the round of schedules and the evaluation history. A checkpoint of other parameters,
    another objective, other labels, features or validation data, or another engine version is refused, and so is a
    damaged one. The file is replaced atomically. It stays after the training; you may delete it.

    Two things differ from an uninterrupted run. Rows and features that the engine samples (bagging, feature sampling)
    are sampled anew where it resumes: the model is different but equally good, and a warning says so. Your own
    callbacks see only the rounds that are trained, not those of the checkpoint; the engine's own, such as early
    stopping, see all.

    To compare the features, training with a checkpoint reads them once before the first round. LightGBM writes them to
    a temporary file for that, about a byte per value.

    Parameters
    ----------
    path : str or Path
        The file, in an existing folder.
    every : int
        The number of rounds between two saves.

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
    """A training so far: its rounds, the text of the model, the evaluation history, and what it was made with.

    `reference` is that of `Constrained`, if it was measured for this training.
    """

    rounds: int
    model: str
    history: Any
    made_with: Mapping[str, str]
    scores: Mapping[str, float]
    reference: Sequence[float] | None = None


def read(checkpoint: Checkpoint) -> State | None:
    """The state in the file, or None where there is no file; a ValueError where the file is damaged."""
    path = Path(checkpoint.path)
    check_place("checkpoint", path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    return _state_in(content, f"checkpoint {path}")


def _state_in(content: bytes, name: str) -> State:
    """The state in the bytes of a file; a ValueError if a single bit has changed."""
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
            f"{name} is damaged, its content differs from what was written: delete it to start over, or restore "
            "a copy"
        )
    return State(**json.loads(body))


def write(checkpoint: Checkpoint, state: State) -> None:
    """Replace the checkpoint; where that fails, warn and keep the last one: the training is worth more."""
    path = Path(checkpoint.path)
    body = json.dumps(vars(state)).encode()
    header = {"lambdaboost checkpoint": FORMAT, "sha256": hashlib.sha256(body).hexdigest()}
    try:
        with replacing(path) as file:
            file.write(json.dumps(header).encode() + b"\n" + body)
    except OSError as error:
        warnings.warn(
            f"the checkpoint {path} could not be saved after round {state.rounds}: {error}. Training goes on; "
            "the file still holds the last checkpoint that could be saved",
            stacklevel=2,
        )


def digest(*parts: Any) -> str:
    """A short digest of texts, bytes, arrays and mappings of arrays; None stands for what is missing."""
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, Mapping):
            part = digest(*chain.from_iterable(sorted(part.items())))
        if part is None or isinstance(part, str):
            part = repr(part).encode()
        elif not isinstance(part, bytes):
            array = np.ascontiguousarray(part)
            sha.update(f"{array.dtype}{array.shape}".encode())
            part = array.reshape(-1).view(np.uint8)
        sha.update(part)
    return f"sha256 {sha.hexdigest()[:16]}"
