"""Tasks in worker processes of one thread each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from joblib import Parallel, delayed

from lambdaboost._jit import using

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def run_tasks(work: Callable[[Task], Outcome], tasks: Sequence[Task], workers: int) -> list[Outcome]:
    """The outcome of each task, in their order; with one worker all run in this process.

    `work` and the tasks are pickled, so both are defined in a module, not in ``__main__``.
    """
    found: list[Any] = Parallel(n_jobs=workers)(delayed(_run_alone)(work, task) for task in tasks)
    return found


def _run_alone(work: Callable[[Task], Outcome], task: Task) -> Outcome:
    with using(1):
        return work(task)
