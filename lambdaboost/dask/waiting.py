"""Waiting for calls on the workers, of which one may fail or die while the others wait for it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from time import monotonic, sleep
from typing import Any

LOOK = 0.1  # seconds between two checks of the workers
GRACE = 5.0  # seconds that the other calls have to end after one has failed
OF_ENGINES = ("XGBoostError", "LightGBMError")  # that a connection was lost, in the other workers


class WorkerDied(RuntimeError):
    """A worker died while a call needed it."""


def finish(client: Any, calls: Mapping[str, Any]) -> None:
    """Wait for a call on each worker; if one fails or a worker dies, the others have a few seconds to end.

    The processes of workers whose calls do not end then are killed, and their nannies restart them: an engine waits
    forever for a missing worker, in code that cannot be interrupted.

    Raises
    ------
    WorkerDied
        If a worker died.
    Exception
        The error of a call: the first that is not an engine's message about a lost connection.

    """
    dead: set[str] = set()
    ends = math.inf
    while True:
        running = [worker for worker in calls.keys() - dead if calls[worker].status == "pending"]
        if not running or monotonic() >= ends:
            break
        sleep(LOOK)
        dead |= calls.keys() - client.nthreads(list(calls)).keys()
        if dead or any(call.status in ("error", "cancelled", "lost") for call in calls.values()):
            ends = min(ends, monotonic() + GRACE)
    if all(call.status == "finished" for call in calls.values()):
        return
    client.cancel([call for call in calls.values() if call.status == "pending"], force=True)
    if running:
        client.run(_end, workers=running, wait=False, on_error="ignore")
        # Until they are gone the scheduler would send them the work of the next training.
        gone_by = monotonic() + GRACE
        while client.nthreads(running) and monotonic() < gone_by:
            sleep(LOOK)
    errors = [call.exception() for call in calls.values() if call.status == "error"]
    errors.sort(key=lambda error: type(error).__name__ in OF_ENGINES)
    if errors and not (dead and type(errors[0]).__name__ in OF_ENGINES):
        raise errors[0]
    ended = f"; {', '.join(running)} waited for it inside the engine and was ended too" if running else ""
    raise WorkerDied(
        f"{'worker' if len(dead) == 1 else 'workers'} {', '.join(sorted(dead or calls))} died during the call: it was "
        f"killed, ran out of memory or lost its machine; see its log, and train again{ended}"
    )


async def _end() -> None:  # a coroutine, since Dask would wait for the result of a function
    os._exit(1)
