"""Runs in single-threaded worker processes; finished runs are kept on disk and not repeated."""

from __future__ import annotations

import multiprocessing
import os
import signal
import zipfile
import zlib
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._threads import use

Outcome = dict[str, Any]  # arrays by name
Work = Callable[[Any], Outcome]
_here: dict[str, Any] = {}


@dataclass
class Workers:
    """Worker processes that share a folder of finished runs; a context manager.

    `start` is called once per process and returns the function that runs tasks. A single worker runs in this process.
    Ctrl-C ends the workers at once.
    """

    folder: Path
    workers: int
    start: Callable[[], Work]
    _executor: ProcessPoolExecutor | None = field(default=None, repr=False)

    def __enter__(self) -> Workers:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is not None:
            for process in multiprocessing.active_children():
                process.terminate()
            for part in self.folder.glob("*.part"):
                part.unlink()
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)

    def run(self, tasks: Mapping[str, Any], on_done: Callable[[], None]) -> dict[str, Outcome]:
        """The outcome of every task by its key; kept outcomes are not computed again."""
        found = {key: kept for key in tasks if (kept := load(self.folder / f"{key}.npz")) is not None}
        for _ in found:
            on_done()
        missing = {key: task for key, task in tasks.items() if key not in found}
        if missing and self.workers == 1:
            work = self.start()
            for key, task in missing.items():
                _keep(self.folder, key, work(task))
                on_done()
        elif missing:
            self._spread(missing, on_done)
        for key in missing:
            outcome = load(self.folder / f"{key}.npz")
            if outcome is None:
                raise OSError(f"{self.folder} lost a run that was just written there: check the disk")
            found[key] = outcome
        return found

    def _spread(self, tasks: Mapping[str, Any], on_done: Callable[[], None]) -> None:
        if self._executor is None:
            # A fork would copy the engines' OpenMP state without its threads.
            spawn = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self.workers, spawn, _begin, (self.start, self.folder))
        try:
            jobs = [self._executor.submit(_run, key, task) for key, task in tasks.items()]
            for job in as_completed(jobs):
                job.result()
                on_done()
        except BrokenProcessPool:
            raise OSError(
                "a worker was killed, probably out of memory; finished runs are kept: give --workers 1"
            ) from None


def load(path: Path) -> Outcome | None:
    """A kept outcome, or None if it is missing or damaged."""
    damaged = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)
    with suppress(*damaged), path.open("rb") as file, np.load(file) as kept:
        return {name: kept[name] for name in kept.files}
    return None


def _keep(folder: Path, key: str, outcome: Outcome) -> None:
    part = folder / f".{key}.{os.getpid()}.part"
    with part.open("wb") as file:
        np.savez_compressed(file, **outcome)
    part.replace(folder / f"{key}.npz")


def _begin(start: Callable[[], Work], folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    use(1)
    _here.update(work=start(), keep=partial(_keep, folder))


def _run(key: str, task: Any) -> None:
    _here["keep"](key, _here["work"](task))
