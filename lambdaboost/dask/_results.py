"""What calls on workers give, or within seconds why they give nothing: the first error, or a worker that died."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

LOOK = 0.5  # seconds between two looks at the workers
GRACE = 5.0  # seconds for the other calls to end by themselves, once one has failed
RESTART = 30.0  # seconds for a restarted worker to be there again


@dataclass(frozen=True)
class Worker:
    """A worker process: a new one at the same address has another identity."""

    address: str
    identity: str


def living(client: Any, addresses: Sequence[str]) -> dict[str, Worker]:
    """Those of the workers that live, by address."""
    found = client.run_on_scheduler(_identities, list(addresses))
    return {address: Worker(address, identity) for address, identity in found.items()}


def results(
    client: Any, futures: Sequence[Any], workers: Sequence[Worker] = (), *, restart: bool = False
) -> list[Any]:
    """What the calls gave, in their order; `workers` are those that hold what the calls need.

    Where a call fails or one of `workers` dies, the other calls get a few seconds to end by themselves. With `restart`
    each future is that of a call on the worker in its place, and the workers of calls that do not end are restarted: an
    engine waits for ever for the worker that is gone, in code that nothing else stops.

    Raises
    ------
    RuntimeError
        Where a worker died.
    Exception
        What a call raised: the first that is no engine's complaint that another worker left it.

    """
    dead: list[Worker] = []
    ends = None
    pause, look_again = 0.005, monotonic() + LOOK
    while any(future.status == "pending" for future in futures) and (ends is None or monotonic() < ends):
        sleep(pause)
        pause = min(2 * pause, 0.1)
        if workers and monotonic() >= look_again:
            dead = _dead(client, workers)
            look_again = monotonic() + LOOK
        if ends is None and (dead or any(future.status in _FAILED for future in futures)):
            ends = monotonic() + GRACE
    if all(future.status == "finished" for future in futures):
        return list(client.gather(list(futures)))
    dead = _dead(client, workers)
    stuck = []
    if restart:
        calls = zip(futures, workers, strict=True)
        stuck = [worker for future, worker in calls if future.status == "pending" and worker not in dead]
    errors = [future.exception() for future in futures if future.status == "error"]
    if pending := [future for future in futures if future.status == "pending"]:
        client.cancel(pending, force=True)
    told = _restarted(client, stuck)
    own = [error for error in errors if type(error).__name__ not in _OF_ENGINES]
    if own:
        raise own[0]
    if dead:
        raise RuntimeError(
            f"{_named(dead)} died while it was needed: it was killed, ran out of memory or lost its machine; see its "
            f"log, and train again{told}"
        )
    if errors:
        raise errors[0]
    raise RuntimeError(
        f"Dask gave up the calls: {sorted({future.status for future in futures})}; train again"
    )


_FAILED = ("error", "cancelled", "lost")
_OF_ENGINES = ("XGBoostError", "LightGBMError")


def _identities(addresses: list[str], dask_scheduler: Any) -> dict[str, str]:
    """On the scheduler: the identity of each of these workers that is there."""
    there = dask_scheduler.workers
    return {address: there[address].server_id for address in addresses if address in there}


def _dead(client: Any, workers: Sequence[Worker]) -> list[Worker]:
    if not workers:
        return []
    alive = living(client, [worker.address for worker in workers])
    return [worker for worker in workers if alive.get(worker.address) != worker]


def _restarted(client: Any, stuck: Sequence[Worker]) -> str:
    """Restart workers that wait inside an engine, and say so."""
    if not stuck:
        return ""
    try:
        client.restart_workers([worker.address for worker in stuck], timeout=RESTART)
    except Exception as error:  # without a nanny, or not in time: the first error is what the caller must see
        return f"; {_named(stuck)} waits inside the engine and could not be restarted ({error}): restart it"
    return f"; {_named(stuck)} waited for it inside the engine and was restarted"


def _named(workers: Sequence[Worker]) -> str:
    addresses = sorted(worker.address for worker in workers)
    return f"worker {addresses[0]}" if len(addresses) == 1 else f"workers {', '.join(addresses)}"
