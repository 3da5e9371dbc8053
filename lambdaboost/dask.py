"""Training over a Dask cluster with any objective and any number of label sources, on either engine.

Each worker trains on its queries with the stock engine, within the engine's own network, which adds up the workers'
histograms. The result is an ordinary booster. Where no further source is read, the engines' own Dask modules do.

>>> from lambdaboost.dask import train
>>> columns = {"query": "qid", "relevance": "grade", "sources": ["clicks"]}
>>> booster = train(client, params, frame, **columns, objective="graded")  # doctest: +SKIP
"""

from __future__ import annotations

import gc
import math
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.parse import urlparse

import numpy as np

from lambdaboost import _lightgbm, _xgboost
from lambdaboost._checks import check_whole, saying
from lambdaboost._installed import engine_named
from lambdaboost._warn import warn
from lambdaboost._words import shown
from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets.queries import check_distinct
from lambdaboost.datasets.tables import Table
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.native import NativeObjective, read_objective
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.base.objective import check_objective
from lambdaboost.objectives.base.wrapper import Wrapper
from lambdaboost.traps import NO_PAIR, refuse_sums_over_all

__all__ = ["train"]

LOOK, GRACE = 0.1, 5.0  # seconds between two looks at the workers, and for them to end after one has failed
WHOLE = "keep the rows of a query in one partition, as frame.shuffle('qid') does"
# LightGBM's network parameters in the text of a model, as in one trained on a single machine.
ALONE = {"machines": "", "num_machines": "1", "local_listen_port": "12400", "tree_learner": "serial"}
Network = dict[str, Any]  # LightGBM's parameters of a worker, or the arguments of XGBoost's communicator


class WorkerDied(RuntimeError):
    """A worker died while the others needed it."""


def train(
    client: Any,
    params: Mapping[str, Any],
    frame: Any,
    *,
    query: str,
    relevance: str,
    sources: Sequence[str] | Mapping[str, str] = (),
    position: str | None = None,
    weight: str | None = None,
    engine: str = "lightgbm",
    rounds: int = 100,
    objective: Objective | str = LambdaRank(),
    valid: Any = None,
    measure: Measure = NDCG(3),
    early_stopping: int | None = None,
) -> Any:
    """Train a ranker on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster. Workers that hold a partition take part.
    params : mapping
        The engine's parameters, without an objective; the number of threads is that of each worker. LightGBM's
        ``tree_learner`` is ``"data"`` (the default) or ``"voting"``.
    frame : dask.dataframe.DataFrame
        One row per document, all rows of a query in one partition, in any order; categories are known, as after
        ``frame.categorize()``. All columns that have no other use are features.
    query, relevance, sources, position, weight
        Columns, as of `lambdaboost.datasets.from_frame`. XGBoost takes weights that are equal within each query.
    engine : "lightgbm" or "xgboost"
        The engine that trains.
    rounds, objective
        The number of rounds, and an objective that does not need all rows in one process.
    valid, measure, early_stopping : Dask frame with the same columns, Measure and int, optional
        Stop after so many rounds without improvement of the measure of `valid`. Each worker holds and evaluates all of
        it, so that all stop in the same round.

    Returns
    -------
    lightgbm.Booster or xgboost.Booster
        An ordinary booster in this process; after early stopping up to its best round.

    Raises
    ------
    ValueError, TypeError
        Before anything is trained, if a query is split over partitions, categories are not known, or a label is wrong.
    RuntimeError
        If a worker died.

    """
    from distributed import MultiLock

    if engine not in TRAINERS:
        raise ValueError(f"engine is {engine!r}: give {' or '.join(map(repr, TRAINERS))}")
    network_of, train_on_worker = TRAINERS[engine]
    rule = read_objective(objective)
    if isinstance(rule, NativeObjective):
        raise ValueError(
            f"objective is {rule.name!r}: train the engine's own by the engine's own Dask module"
        )
    check_objective("objective", rule)
    rule.refuse_on_engines()
    refuse_sums_over_all(rule)
    _check_leaf(rule, params, engine)
    if (valid is None) != (early_stopping is None):
        raise ValueError("valid and early_stopping go together: give both, or neither")
    columns = {"sources": sources, "position": position, "weight": weight}
    read: Any = partial(_part, query=query, relevance=relevance, **columns)  # type: ignore[arg-type]
    parts = _spread(client, "frame", frame, partial(read, check=partial(_try_gradient, rule)))
    features = client.submit(_feature_names, parts[0].rows).result()
    held_out = []
    if valid is not None:
        check_whole("early_stopping", early_stopping)
        of_valid = partial(read, check=partial(_try_measure, measure), features=features)
        held_out = [part.rows for part in _spread(client, "valid", valid, of_valid)]
    held: dict[str, list[Any]] = {}
    for part in parts:
        held.setdefault(part.worker, []).append(part.rows)
    _warn_without_pair(client.gather([client.submit(_without_pair, rule, part.rows) for part in parts]))
    network = network_of(client, [*held], params)
    settings = (rule, params, rounds, measure if held_out else None, early_stopping)
    # Otherwise two trainings could wait for each other's workers forever.
    with MultiLock([*held], client=client):
        calls = {
            worker: client.submit(
                train_on_worker, its, held_out, network[worker], *settings, workers=[worker], pure=False
            )
            for worker, its in held.items()
        }
        finish(client, calls)
        return engine_named(engine).read(client.gather(next(iter(calls.values()))))


def _check_leaf(rule: Objective, params: Mapping[str, Any], engine: str) -> None:
    """Raise for gradient steps without a smallest leaf, which each worker would derive from its own rows."""
    names = (_lightgbm if engine == "lightgbm" else _xgboost).ALIASES["least leaf"]
    if rule.counts_documents and all(params.get(name) is None for name in names):
        raise ValueError(
            f"gradient steps without {names[0]}: the engine's default suits λ hessians; give {names[0]}= the lesser of "
            "100 and a twentieth of all documents, but no less than 20"
        )


# Whole queries on the workers.


class Part(NamedTuple):
    """A partition with rows: its `Collection` on a worker, and the worker's address."""

    rows: Any
    worker: str


def _spread(client: Any, name: str, frame: Any, read: Callable[..., Any]) -> list[Part]:
    """Read the partitions on the workers, where every row and query is checked: those that have rows."""
    if not (hasattr(frame, "to_delayed") and hasattr(frame, "dtypes")):
        raise TypeError(f"{name} is {type(frame).__name__}, expected a dask.dataframe.DataFrame")
    for column, kind in frame.dtypes.items():
        if str(kind) == "category" and not frame[column].cat.known:
            raise ValueError(
                f"{name} has the column {shown(column)} with categories that Dask does not know, so that partitions "
                f"may code them differently: give {name}.categorize()"
            )
    from dask import delayed

    parts = client.compute(
        [delayed(read, pure=False)(f"partition {at}", one) for at, one in enumerate(frame.to_delayed())]
    )
    # Only ids and names are transferred, and the errors of wrong partitions.
    found = client.gather(client.map(_described, parts, pure=False))
    check_distinct({f"partition {at}": ids for at, (ids, *_) in enumerate(found)}, WHOLE)
    if len({kind for _, kind, _ in found if kind is not None}) > 1:
        raise ValueError(
            "position is a rank in one partition and a name in another: give the same kind in all"
        )
    # Metadata may claim known categories that the partitions do not have.
    if len({categories for ids, _, categories in found if len(ids)}) > 1:
        raise ValueError(f"partitions of {name} have other categories than others: give {name}.categorize()")
    held_by = client.who_has(parts)
    if not all(held_by.get(part.key) for part in parts):
        raise WorkerDied("a worker died with its partitions: train again")
    held = [
        Part(part, next(iter(held_by[part.key])))
        for part, (ids, *_) in zip(parts, found, strict=True)
        if len(ids)
    ]
    if not held:
        raise ValueError(f"{name} has no rows: give at least one partition with rows")
    return held


def _part(
    name: str,
    frame: Any,
    *,
    query: str,
    relevance: str,
    check: Callable[[Queries], Any],
    features: Sequence[str] | None = None,
    **columns: Any,
) -> Collection | None:
    """One partition, each query together; None without rows."""
    if not len(frame):
        return None
    with saying(name):
        table = Table.of(frame.reset_index(drop=True)).grouped(query)
        part = table.collection(query, relevance, features, **columns)
        check(part.queries)
    return part


def _described(part: Collection | None) -> tuple[Any, str | None, str]:
    """The ids of a partition's queries, the kind of its positions, and its categories."""
    if part is None:
        return np.empty(0), None, ""
    q = part.queries
    shown_rows = q.positions is not None and bool((q.positions.codes > 0).any())
    kind = ("rank" if q.position_names is None else "name") if shown_rows else None
    return q.ids, kind, repr({name: list(values) for name, values in part.categories.items()})


def _feature_names(part: Collection) -> tuple[str, ...] | None:
    return part.feature_names


def _try_gradient(rule: Objective, q: Queries) -> None:
    """Raise if the rule refuses queries: during training the other workers would wait for an error."""
    rule.gradient(np.zeros(q.n_documents), q)


def _try_measure(measure: Measure, q: Queries) -> None:
    measure.per_query(np.zeros(q.n_documents), q)


def _without_pair(rule: Objective, part: Collection) -> Any:
    return rule.without_pair(part.queries)


def _warn_without_pair(partitions: Sequence[Any]) -> None:
    """Warn of the parts that have no pair in any partition, for the reason that the first one gives."""
    for found in partitions[0]:
        if all(found.objective in [other.objective for other in others] for others in partitions):
            warn(NO_PAIR.format(**found._asdict()))


# The engines' own networks.


def _lightgbm_network(client: Any, workers: list[str], params: Mapping[str, Any]) -> dict[str, Network]:
    learner = params.get("tree_learner", "data")
    if learner not in ("data", "data_parallel", "voting", "voting_parallel"):
        raise ValueError(
            f"params has tree_learner={learner!r}: rows are spread over the workers, so use 'data' or 'voting'"
        )
    if len(workers) == 1:
        return {workers[0]: {"tree_learner": "serial"}}
    machines: list[str] = []
    while len(set(machines)) < len(workers):  # workers on one host may receive the same port
        ports = client.run(_free_port, workers=workers)
        machines = [f"{urlparse(worker).hostname}:{ports[worker]}" for worker in workers]
    shared = {"machines": ",".join(machines), "num_machines": len(machines), "tree_learner": learner}
    return {worker: shared | {"local_listen_port": ports[worker]} for worker in workers}


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])


def _xgboost_network(client: Any, workers: list[str], params: Mapping[str, Any]) -> dict[str, Network]:
    host = urlparse(client.scheduler.address).hostname
    shared = client.run_on_scheduler(_start_tracker, len(workers), host)
    return {worker: shared | {"DMLC_TASK_ID": f"{rank:06d}"} for rank, worker in enumerate(workers)}


def _start_tracker(workers: int, host: str) -> dict[str, Any]:
    """Start what XGBoost's workers find one another by; its address."""
    from threading import Thread

    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip=host, sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return dict(tracker.worker_args())


class ErrorCapturing(Wrapper, registered=False):
    """An objective that records an error and continues the training without gradients.

    LightGBM's other workers would wait forever for a worker that stops.
    """

    objective: Objective
    errors: list[Exception] = field(default_factory=list, compare=False)

    def gradient(self, scores: Any, q: Any, iteration: int = 0) -> Any:
        """Gradient and hessian; zeros and ones after an error."""
        if not self.errors:
            try:
                return self.objective.gradient(scores, q, iteration)
            except Exception as error:
                self.errors.append(error)
        return np.zeros(scores.size, dtype=np.float32), np.ones(scores.size, dtype=np.float32)


def _on_lightgbm(
    parts: Any, held_out: Any, network: Network, rule: Objective, params: Any, *more: Any
) -> bytes:
    gc.collect()  # a booster of an earlier training that is deleted during this one would close its network
    capturing = ErrorCapturing(rule)
    # By its own default leaf size LightGBM would drop features.
    params = {"feature_pre_filter": False, **params, **network}
    try:
        booster = _boost("lightgbm", "num_threads", parts, held_out, capturing, params, *more)
    except BaseException as error:
        # The booster closes its network when it is deleted, which the traceback would delay.
        traceback.clear_frames(error.__traceback__)
        raise
    booster.free_network()
    if capturing.errors:
        raise capturing.errors[0]
    return _lightgbm.with_parameters(booster.model_to_string(), ALONE).encode()


def _on_xgboost(
    parts: Any, held_out: Any, network: Network, rule: Objective, params: Any, *more: Any
) -> bytes:
    from xgboost.collective import CommunicatorContext

    with CommunicatorContext(**network):
        booster = _boost("xgboost", "nthread", parts, held_out, rule, params, *more)
    return bytes(booster.save_raw())


def _boost(
    engine: str, threads: str, parts: Any, held_out: Any, rule: Any, params: Any, rounds: int, *more: Any
) -> Any:
    from distributed import get_worker

    stock, data = engine_named(engine), Collection.concat(parts)
    train = stock.named(stock.dataset(data), data.feature_names)
    valid = (
        stock.named(stock.dataset(Collection.concat(held_out), train), data.feature_names)
        if held_out
        else None
    )
    settings = {**params, threads: int(get_worker().state.nthreads)}
    return stock.boost(rule, settings, rounds, train, valid, *more)


TRAINERS: dict[str, tuple[Any, Any]] = {
    "lightgbm": (_lightgbm_network, _on_lightgbm),
    "xgboost": (_xgboost_network, _on_xgboost),
}


def finish(client: Any, calls: Mapping[str, Any]) -> None:
    """Wait for a call on each worker; if one fails or a worker dies, the others have a few seconds to end.

    The processes of workers whose calls do not end then are killed, and their nannies restart them: an engine waits
    forever for a missing worker, in code that cannot be interrupted.
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
    own = [error for error in errors if type(error).__name__ not in ("XGBoostError", "LightGBMError")]
    if errors and (own or not dead):  # the engines' say that a connection was lost, in the other workers
        raise (own or errors)[0]
    ended = f"; {', '.join(running)} waited for it inside the engine and was ended too" if running else ""
    raise WorkerDied(
        f"{'worker' if len(dead) == 1 else 'workers'} {', '.join(sorted(dead or calls))} died during the call: it was "
        f"killed, ran out of memory or lost its machine; see its log, and train again{ended}"
    )


async def _end() -> None:  # a coroutine, since Dask would wait for the result of a function
    os._exit(1)
