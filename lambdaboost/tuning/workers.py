"""Where the jobs of a search run: in this process, or in processes of one thread each."""

from __future__ import annotations

import signal
from concurrent.futures import Future
from typing import Any

from lambdaboost.tuning.runner import Runner
from lambdaboost.tuning.task import Job, Outcome, Task

ROWS = 200_000  # documents of all trials together that make a further process worth its start
TRIALS = (
    8  # at least so many trials per process: those that run at the same time do not learn from each other
)

_here: dict[str, Runner] = {}  # a pool hands its workers nothing but what their initializer keeps


def default_workers(documents: int, trials: int) -> int:
    """As many as there are processors, but fewer for a short search."""
    import joblib

    worth = min(trials // TRIALS, 1 + documents * trials // ROWS)
    return max(1, min(int(joblib.cpu_count()), worth))


class Here:
    """Runs each job at once, in this process."""

    def __init__(self, task: Task) -> None:
        self._trainings = Runner(task)

    def submit(self, job: Job) -> Future[Outcome]:
        """The finished job."""
        done: Future[Outcome] = Future()
        done.set_result(self._trainings.run(job))
        return done

    def close(self) -> None:
        """Nothing is left to end."""

    def kill(self) -> None:
        """Nothing is left to end."""


class Processes:
    """Runs jobs in new processes, which need no ``if __name__ == "__main__"`` in the calling script."""

    def __init__(self, task: Task, workers: int) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        environment = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
        self._pool: Any = ProcessPoolExecutor(workers, initializer=_begin, initargs=(task,), env=environment)

    def submit(self, job: Job) -> Future[Outcome]:
        """The job's outcome, once it is there."""
        future: Future[Outcome] = self._pool.submit(_run, job)
        return future

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown()

    def kill(self) -> None:
        """End the processes at once."""
        self._pool.shutdown(kill_workers=True)


def _begin(task: Task) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    _here["trainings"] = Runner(task)


def _run(job: Job) -> Outcome:
    return _here["trainings"].run(job)
