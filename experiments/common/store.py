"""`Store`: finished runs on disk, so that none is done twice."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lambdaboost.reproduce.trial import Setting, Trial


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run gave: the validation figure at each checkpoint, and test scores at the best one.

    Attributes
    ----------
    rounds : int64 (n_checkpoints,)
        Rounds after which the model was validated.
    valid : float64 (n_checkpoints,)
        Mean NDCG@3 of the validation queries.
    test_scores : float64 (n_test_documents,)
        Scores of the model cut at `best_rounds`.
    seconds : float
        How long the run took.

    """

    rounds: NDArray[np.int64]
    valid: NDArray[np.float64]
    test_scores: NDArray[np.float64]
    seconds: float

    @property
    def best_rounds(self) -> int:
        """The fewest rounds that validate best."""
        return int(self.rounds[self.valid.argmax()])

    @property
    def figure(self) -> float:
        """What a run is selected by: the best validation figure."""
        return float(self.valid.max())


@dataclass(frozen=True)
class Store:
    """Runs as ``<key>.npz`` in a folder, each written whole or not at all."""

    folder: Path

    def load(self, trial: Trial, setting: Setting) -> Outcome | None:
        """The outcome of a run, None where it is not there or damaged."""
        try:
            with self._path(trial, setting).open("rb") as file, np.load(file) as kept:
                return Outcome(kept["rounds"], kept["valid"], kept["test_scores"], float(kept["seconds"]))
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, trial: Trial, setting: Setting, outcome: Outcome) -> None:
        """Keep an outcome."""
        about = json.dumps(trial.described(setting), ensure_ascii=False)

        def write(file: BinaryIO) -> None:
            fields: dict[str, Any] = {"about": about, **vars(outcome)}
            np.savez_compressed(file, **fields)

        written(self._path(trial, setting), write)

    def _path(self, trial: Trial, setting: Setting) -> Path:
        return self.folder / f"{trial.key(setting)}.npz"


def written(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            write(file)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def written_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""

    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    written(path, write)
