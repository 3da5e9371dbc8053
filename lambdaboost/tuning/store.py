"""`Store`: the folder of a study, from which the same call resumes."""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._warn import warn
from lambdaboost.datasets._files import replacing
from lambdaboost.tuning.task import Outcome
from lambdaboost.tuning.trial import Trial

ABOUT = "about.json"
TRIAL = re.compile(r"trial-(\d+)\.npz")
# What a study must share with the call that goes on with it, and its name in the message.
SHARED = {
    "data": "other data",
    "measures": "other measures",
    "candidates": "other objectives or engines",
    "params": "other fixed parameters",
    "settings": "other folds, rounds, patience or seed",
}


@dataclass(frozen=True)
class Store:
    """A folder with a description of what is tuned, and the values by query and the model of each finished trial."""

    folder: Path

    def open(self, about: Mapping[str, Any]) -> None:
        """Make the folder, or check that it is of the same search.

        Raises
        ------
        ValueError
            If it is of another search, naming what differs, or holds something else.

        """
        path = self.folder / ABOUT
        if path.exists():
            self._check(_read(path), json.loads(json.dumps(about)))
            return
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise ValueError(f"study {self.folder} holds something else: give an empty folder or a new name")
        if not self.folder.parent.is_dir():
            raise ValueError(
                f"study {self.folder}: folder {self.folder.parent} does not exist; create it first"
            )
        self.folder.mkdir(exist_ok=True)
        with replacing(path) as file:
            file.write(json.dumps(about, indent=2).encode())

    def keep(self, trial: Trial) -> None:
        """Write a finished trial, at once or not at all."""
        outcome = trial.outcome
        arrays: dict[str, Any] = {f"curve_{at}": np.array(curve) for at, curve in enumerate(outcome.curves)}
        with replacing(self.folder / f"trial-{trial.number}.npz") as file:
            np.savez_compressed(
                file,
                candidate=trial.candidate,
                knobs=json.dumps(dict(trial.knobs)),
                asked=json.dumps(dict(trial.asked)),
                state=outcome.state,
                values=outcome.values,
                rounds=np.array(outcome.rounds, dtype=np.int64),
                seconds=outcome.seconds,
                model=np.frombuffer(outcome.model, dtype=np.uint8),
                warnings=np.array(outcome.warnings, dtype=np.str_),
                **arrays,
            )

    def kept(self) -> Iterator[Trial]:
        """All finished trials by number, without damaged ones."""
        numbers = sorted(
            int(found[1]) for path in self.folder.iterdir() if (found := TRIAL.fullmatch(path.name))
        )
        damaged = (
            OSError,
            ValueError,
            EOFError,
            KeyError,
            NotImplementedError,
            zipfile.BadZipFile,
            zlib.error,
        )
        for number in numbers:
            try:
                yield self._kept(number)
            except damaged:
                warn(f"{self.folder}/trial-{number}.npz is damaged: its trial is left out")

    def _kept(self, number: int) -> Trial:
        with (self.folder / f"trial-{number}.npz").open("rb") as opened, np.load(opened) as file:
            curves = sorted((int(name[6:]), name) for name in file.files if name.startswith("curve_"))
            outcome = Outcome(
                str(file["state"]),
                file["values"],
                tuple(tuple(file[name].tolist()) for _, name in curves),
                tuple(file["rounds"].tolist()),
                float(file["seconds"]),
                file["model"].tobytes(),
                tuple(file["warnings"].tolist()),
            )
            return Trial(
                number,
                int(file["candidate"]),
                json.loads(str(file["knobs"])),
                json.loads(str(file["asked"])),
                outcome,
            )

    def _check(self, found: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        for name, what in SHARED.items():
            if found.get(name) != about[name]:
                raise ValueError(
                    f"study {self.folder} was made with {what}: give another folder, or the arguments of its first call"
                )


def _read(path: Path) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict):
            return found
    raise ValueError(f"{path} is damaged: give another folder as study")
