"""Results of calls on workers; if one fails or a worker dies, the reason, within seconds."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from time import monotonic, sleep
from typing import Any

LOOK = 0.5  # seconds between two checks of the workers
GRACE = 5.0  # seconds that the other calls have to end after one has failed
_FAILED = ("error", "cancelled", "lost")
_OF_ENGINES = ("XGBoostError", "LightGBMError")


class WorkerDied(RuntimeError):
    """A worker died while a call needed it."""


def identities(client: Any, workers: Sequence[str]) -> dict[str, str]:
    """The identity of each worker, by address; a worker restarted at the same address has another one."""
    found: dict[str, str] = client.run_on_scheduler(_identities, list(workers))
    return found


def _identities(workers: list[str], dask_scheduler: Any) -> dict[str, str]:
    there = dask_scheduler.workers
    return {worker: there[worker].server_id for worker in workers if worker in there}


def as_worker(identity: str | None, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function on a worker, unless the worker has been restarted since."""
    from distributed import get_worker

    if get_worker().id != identity:
        raise _death([get_worker().address])
    return function(*arguments)


def results(
    client: Any, futures: Sequence[Any], workers: Sequence[str] = (), *, end_stuck: bool = False
) -> list[Any]:
    """The results of the calls, in order; `workers` hold the data that the calls need.

    If a call fails or one of `workers` dies, the other calls have a few seconds to end. With `end_stuck`, each future
    is a call on the worker at the same index, and the processes of workers whose calls do not end are killed; their
    nannies restart them. An engine waits forever for a missing worker, in code that cannot be interrupted.

    Raises
    ------
    WorkerDied
        If a worker died.
    Exception
        The error of a call: the first that is not an engine's message about a lost connection.

    """
    places = list(workers) if end_stuck else [None] * len(futures)
    dead: Collection[str] = ()
    ends = None
    pause, look = 0.005, monotonic() + LOOK
    while _pending(futures, places, dead) and (ends is None or monotonic() < ends):
        sleep(pause)
        pause = min(2 * pause, 0.1)
        if workers and monotonic() >= look:
            dead = _dead(client, workers)
            look = monotonic() + LOOK
        if ends is None and (dead or any(future.status in _FAILED for future in futures)):
            ends = monotonic() + GRACE
    if all(future.status == "finished" for future in futures):
        return list(client.gather(list(futures)))
    dead = _dead(client, workers)
    stuck = [worker for worker in _pending(futures, places, dead) if worker is not None]
    errors = [future.exception() for future in futures if future.status == "error"]
    if pending := [future for future in futures if future.status == "pending"]:
        client.cancel(pending, force=True)
    if stuck:
        client.run(_end, workers=stuck, wait=False, on_error="ignore")
    errors.sort(key=lambda error: type(error).__name__ in _OF_ENGINES)
    if errors and (type(errors[0]).__name__ not in _OF_ENGINES or not dead):
        raise errors[0]
    if dead:
        raise _death(dead, stuck)
    raise RuntimeError(
        f"Dask cancelled the calls: {sorted({future.status for future in futures})}; train again"
    )


def _pending(futures: Sequence[Any], places: Sequence[str | None], dead: Collection[str]) -> list[str | None]:
    """The places of running calls, except those on dead workers."""
    calls = zip(futures, places, strict=True)
    return [place for future, place in calls if future.status == "pending" and place not in dead]


def _dead(client: Any, workers: Sequence[str]) -> list[str]:
    alive = client.nthreads(list(workers)) if workers else {}
    return [worker for worker in workers if worker not in alive]


async def _end() -> None:  # a coroutine, since Dask would wait for the result of a function
    os._exit(1)


def _death(dead: Sequence[str], stuck: Sequence[str] = ()) -> WorkerDied:
    ended = f"; {_named(stuck)} waited for it inside the engine and was ended too" if stuck else ""
    return WorkerDied(
        f"{_named(dead)} died during the call: it was killed, ran out of memory or lost its machine; see its log, "
        f"and train again{ended}"
    )


def _named(workers: Sequence[str]) -> str:
    return f"worker {workers[0]}" if len(workers) == 1 else f"workers {', '.join(sorted(workers))}"
