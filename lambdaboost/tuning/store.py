"""`Store`: the folder of a study, so that the same call goes on where a search ended."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets._files import replacing
from lambdaboost.tuning.optional import optuna
from lambdaboost.tuning.task import Outcome

ABOUT, JOURNAL = "about.json", "journal.log"


@dataclass(frozen=True)
class Store:
    """A folder with Optuna's journal, the values and the model of each trial, and a description of what is tuned."""

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

    def storage(self) -> Any:
        """Optuna's storage: a journal, which needs no database."""
        optuna()
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        return JournalStorage(JournalFileBackend(str(self.folder / JOURNAL)))

    def keep(self, number: int, outcome: Outcome) -> None:
        """Write what became of a trial, before the journal says that it is finished."""
        arrays: dict[str, Any] = {f"curve_{at}": np.array(curve) for at, curve in enumerate(outcome.curves)}
        with replacing(self.folder / f"trial-{number}.npz") as file:
            np.savez_compressed(
                file,
                state=outcome.state,
                values=outcome.values,
                rounds=np.array(outcome.rounds, dtype=np.int64),
                seconds=outcome.seconds,
                model=np.frombuffer(outcome.model, dtype=np.uint8),
                warnings=np.array(outcome.warnings, dtype=np.str_),
                **arrays,
            )

    def kept(self, number: int) -> Outcome | None:
        """What became of a trial; None if it is missing or damaged."""
        damaged = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)
        with suppress(*damaged), np.load(self.folder / f"trial-{number}.npz") as file:
            curves = sorted((int(name[6:]), name) for name in file.files if name.startswith("curve_"))
            return Outcome(
                str(file["state"]),
                file["values"],
                tuple(tuple(file[name].tolist()) for _, name in curves),
                tuple(file["rounds"].tolist()),
                float(file["seconds"]),
                file["model"].tobytes(),
                tuple(file["warnings"].tolist()),
            )
        return None

    def _check(self, found: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        for name, what in WHAT.items():
            if found.get(name) != about[name]:
                raise ValueError(
                    f"study {self.folder} is of {what}: give another folder, or call as it was called first"
                )


# What a study must share with the call that goes on with it, and how it is called in the message.
WHAT = {
    "data": "other data",
    "measures": "other measures",
    "candidates": "other objectives or engines",
    "params": "other fixed parameters",
    "settings": "other folds, rounds, patience or seed",
}


def _read(path: Path) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict):
            return found
    raise ValueError(f"{path} is damaged: give another folder as study")
