"""Runs in worker processes, one thread each, every finished one kept at once."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from lambdaboost.reproduce.data import Data
from lambdaboost.reproduce.store import Outcome, Store
from lambdaboost.reproduce.training import Trainer
from lambdaboost.reproduce.trial import Setting, Trial

_worker: dict[str, Any] = {}


@dataclass
class Pool:
    """Workers that share a data set; with one worker, runs are in this process. Use it as a context."""

    data: Data
    setting: Setting
    store: Store
    workers: int
    _executor: ProcessPoolExecutor | None = field(default=None, repr=False)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._executor is not None:
            # What is under way is finished and kept, even after Ctrl-C.
            self._executor.shutdown(wait=True, cancel_futures=kind is not None)

    def run(self, trials: Sequence[Trial], on_done: Callable[[], None]) -> dict[Trial, Outcome]:
        """The outcome of every trial; those that are kept from before are not run again."""
        outcomes, missing = {}, []
        for trial in dict.fromkeys(trials):
            kept = self.store.load(trial, self.setting)
            if kept is None:
                missing.append(trial)
            else:
                outcomes[trial] = kept
                on_done()
        for trial in self._run(missing, on_done):
            done = self.store.load(trial, self.setting)
            if done is None:
                raise OSError(f"{self.store.folder} lost a run that was just written there: check the disk")
            outcomes[trial] = done
        return outcomes

    def _run(self, trials: list[Trial], on_done: Callable[[], None]) -> list[Trial]:
        if not trials:
            return trials
        if self.workers == 1:
            trainer = Trainer(self.data, self.setting)
            for trial in trials:
                self.store.save(trial, self.setting, trainer.run(trial))
                on_done()
            return trials
        if self._executor is None:
            # A fork would copy the engines' OpenMP without its threads.
            self._executor = ProcessPoolExecutor(
                self.workers,
                multiprocessing.get_context("spawn"),
                _start,
                (self.data, self.setting, self.store),
            )
        try:
            jobs = [self._executor.submit(_run, trial) for trial in trials]
            for job in as_completed(jobs):
                job.result()
                on_done()
        except BrokenProcessPool:
            raise OSError(
                "a worker was killed, most likely for want of memory; finished runs are kept: give --workers 1"
            ) from None
        return trials


def _start(data: Data, setting: Setting, store: Store) -> None:
    import numba

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    numba.set_num_threads(1)
    _worker.update(trainer=Trainer(data, setting), setting=setting, store=store)


def _run(trial: Trial) -> None:
    _worker["store"].save(trial, _worker["setting"], _worker["trainer"].run(trial))
