"""`Study`: the file that keeps the trials of a search, a journal of Optuna's, from which the same call resumes."""

from __future__ import annotations

import hashlib
import json
import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._files import check_place
from lambdaboost._installed import package
from lambdaboost._warn import warn
from lambdaboost._words import counted
from lambdaboost.tuning.request import Request
from lambdaboost.tuning.trial import Trial

# What a study shares with the call that resumes it, and its name in the message.
SHARED = {
    "data": "other data",
    "measures": "other measures",
    "candidates": "other objectives or engines",
    "params": "other fixed parameters",
    "settings": "other folds, rounds, patience or seed",
    "versions": "another version of lambdaboost or an engine",
}
RECORD, SEAL, ABOUT = "lambdaboost", "seal", "about"


@dataclass(frozen=True)
class Study:
    """A search in a file, which may hold several, each under its name."""

    path: Path
    name: str
    request: Request

    def opened(self) -> tuple[Any, list[tuple[Trial, Any]]]:
        """Optuna's study in the file, made if it is not there; the trials that it holds of this search, with Optuna's.

        Raises
        ------
        ValueError
            If it is of another search, naming what differs, or no journal.

        """
        check_place("study", self.path)
        optuna = package("optuna")
        try:
            self._end_last_line()
            backend = optuna.storages.journal.JournalFileBackend(str(self.path))
            storage = optuna.storages.JournalStorage(backend)
            is_new = self.name not in {study.study_name for study in storage.get_all_studies()}
        except (ValueError, LookupError, TypeError, AttributeError, AssertionError):
            raise ValueError(f"study {self.path} is no study, or is damaged: give a new file name") from None
        if is_new:
            directions = ["maximize"] * len(self.request.measures)
            optuna.create_study(study_name=self.name, storage=storage, directions=directions)
        study = optuna.load_study(study_name=self.name, storage=storage)
        about = json.loads(json.dumps(self.request.about()))
        found = study.user_attrs.get(ABOUT)
        if found is None:
            study.set_user_attr(ABOUT, about)
        for key, what in SHARED.items():
            if found is not None and (not isinstance(found, dict) or found.get(key) != about[key]):
                raise ValueError(
                    f"study {self.path} was made with {what}: give another file, or the arguments of its first call"
                )
        return study, self._trials(study)

    def keep(self, study: Any, trial: Trial, shown: Any) -> None:
        """Append a finished trial, which Optuna's trial `shown` shows."""
        record = asdict(trial) | {"values": b64encode(trial.values.astype("<f8").tobytes()).decode()}
        shown.user_attrs = {RECORD: record, SEAL: self._seal(record, shown)}
        study.add_trial(shown)

    def _trials(self, study: Any) -> list[tuple[Trial, Any]]:
        """The trials by number, without those that are not of this search, or were changed."""
        kept: dict[int, tuple[Trial, Any]] = {}
        every = study.get_trials(deepcopy=True)
        for shown in every:
            record, seal = shown.user_attrs.get(RECORD), shown.user_attrs.get(SEAL)
            if seal == self._seal(record, shown) and record["number"] not in kept:
                shown.user_attrs = {}
                values = np.frombuffer(b64decode(record["values"]), dtype="<f8")
                arrays = {"values": values.reshape(len(self.request.measures), -1)}
                tuples = {name: tuple(record[name]) for name in ("means", "warnings")}
                kept[record["number"]] = Trial(**(record | arrays | tuples)), shown
        if len(kept) < len(every):
            left_out = counted(len(every) - len(kept), "trial")
            warn(f"study {self.path}: {left_out} of another study, twice there, or changed: left out")
        return [kept[number] for number in sorted(kept)]

    def _seal(self, record: Any, shown: Any) -> str:
        """A digest that binds a trial to its values and to its study."""
        means = [shown.values, shown.intermediate_values, shown.state.name]
        asked = [shown.params, repr(sorted(shown.distributions.items()))]
        text = json.dumps([self.name, self.request.digest, record, means, asked], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _end_last_line(self) -> None:
        """Drop the line that a killed process began: Optuna would append to it."""
        if not self.path.exists():
            return
        with self.path.open("rb+") as file:
            content = file.read()
            if content:
                json.loads(content.partition(b"\n")[0])["op_code"]  # a line of a journal
            if not content.endswith(b"\n"):
                file.truncate(content.rfind(b"\n") + 1)


@contextmanager
def quiet() -> Iterator[None]:
    """Without Optuna's messages: that an option is experimental, or which sampler drew a value."""
    logging = package("optuna").logging
    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", package("optuna").exceptions.ExperimentalWarning)
            yield
    finally:
        logging.set_verbosity(before)
