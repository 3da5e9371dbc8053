"""Training over a Dask cluster, on either engine, with any objective and any number of label sources.

Each worker trains on its queries as `lambdaboost.lightgbm.train` or `lambdaboost.xgboost.train` does, within the
engine's own network, which adds up the workers' histograms. The result is an ordinary booster.

>>> from lambdaboost.dask import train
>>> booster = train(client, params, X, y, qid=qid, sources={"clicks": clicks}, objective="graded")  # doctest: +SKIP
"""

from __future__ import annotations

import math
import os
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_new_source, check_whole
from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets.arrays import numbers, query_ids
from lambdaboost.datasets.collection import stacked
from lambdaboost.datasets.positions import positions_of
from lambdaboost.engines.engine import Training, engine_named
from lambdaboost.engines.leaves import Leaves, stepped
from lambdaboost.engines.native import read_objective
from lambdaboost.engines.plan import check_distributed, with_least_leaf
from lambdaboost.engines.train import fit
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.base.wrapper import Wrapper

__all__ = ["train"]

LOOK = 0.1  # seconds between two checks of the workers
GRACE = 5.0  # seconds that the other calls have to end after one has failed
OF_ENGINES = ("XGBoostError", "LightGBMError")  # that a connection was lost, in the other workers
# LightGBM's network parameters in the text of a model, as in one trained on a single machine.
ALONE = {"machines": "", "num_machines": "1", "local_listen_port": "12400", "tree_learner": "serial"}
ARGUMENTS = {"relevance": "y", "ids": "qid"}  # of `train`, by those of `Queries`


class Rows(NamedTuple):
    """Features of any kind with their queries: what an engine's data set is made from."""

    features: Any
    queries: Queries

    def table(self, names: str) -> Any:
        """The features, which a frame names itself: see `Collection.table`."""
        return self.features


class WorkerDied(RuntimeError):
    """A worker died while a call needed it."""


def train(
    client: Any,
    params: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    qid: Any,
    engine: str = "lightgbm",
    weight: Any = None,
    sources: Any = None,
    position: Any = None,
    rounds: int = 100,
    objective: Objective | str = LambdaRank(),
    leaves: Leaves = "engine",
    valid: Collection | None = None,
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
    X : dask Array or DataFrame of shape (n_documents, n_features)
        Features.
    y, qid : dask Array or Series of shape (n_documents,)
        Grades, NaN if missing, and the query of each row. All rows of a query must be in one partition, in any order.
    engine : "lightgbm" or "xgboost"
        The engine that trains.
    weight, position : dask Array or Series of shape (n_documents,), optional
        One weight per document, for XGBoost equal within each query; the position of each row, as of `Queries`.
    sources : mapping of str to dask Array or Series of shape (n_documents,), or dask DataFrame, optional
        Further label sources by name. All collections have the same partitions as X.
    rounds, objective, leaves
        As in the engine's `train`, except ``leaves="newton"`` and objectives that need all rows in one process.
    valid, measure, early_stopping : Collection, Measure and int, optional
        Stop after so many rounds without improvement of the measure of the validation data, which are in this process
        and copied to every worker. Each worker evaluates all of them, so that all stop in the same round.

    Returns
    -------
    lightgbm.Booster or xgboost.Booster
        An ordinary booster in this process; after early stopping up to its best round, with ``best_iteration``.

    Raises
    ------
    ValueError, TypeError
        Before anything is trained, if a query is split over partitions, partitions do not match, or a label is wrong;
        and as the engine's `train`.
    RuntimeError
        If a worker died.

    """
    from distributed import MultiLock

    if engine not in ENGINES:
        raise ValueError(f"engine is {engine!r}: give {' or '.join(map(repr, ENGINES))}")
    stock, (network_of, train_on_worker) = engine_named(engine), ENGINES[engine]
    rule = stepped(read_objective(objective), leaves)
    check_distributed(rule, leaves)
    held_out = _held_out(X, valid, measure, early_stopping)
    columns = {"relevance": y, "ids": qid, "weight": weight, "position": position}
    for name in () if sources is None else getattr(sources, "columns", sources):
        check_new_source(name)
        columns[name] = sources[name]
    for name in rule.sources:
        if name not in columns:
            raise ValueError(f"{rule!r} reads the source {name!r}: give it in sources={{{name!r}: …}}")
    given = {name: values for name, values in columns.items() if values is not None}
    parts, documents = _spread(client, X, given, rule)
    settings = with_least_leaf(stock, params, rule, documents)
    training = Training(rule, "engine", rounds, settings, measure, early_stopping)
    network = network_of(client, [*parts], settings)
    if held_out is not None:
        held_out = client.scatter(held_out, workers=[*parts], broadcast=True, hash=False)
    # Otherwise two trainings could wait for each other's workers forever.
    with MultiLock([*parts], client=client):
        calls = {
            worker: client.submit(
                train_on_worker, its, training, network[worker], held_out, workers=[worker], pure=False
            )
            for worker, its in parts.items()
        }
        _finish(client, calls)
        content, best = client.gather(next(iter(calls.values())))
    booster = stock.read(content)
    if held_out is not None:
        booster.best_iteration = best
    return booster


def _held_out(X: Any, valid: Any, measure: Any, early_stopping: int | None) -> Rows | None:
    """The validation data with the columns of X, checked as far as they can be here."""
    if valid is None and early_stopping is None:
        return None
    if valid is None or early_stopping is None:
        raise ValueError("valid and early_stopping go together: give both, or neither")
    check_whole("early_stopping", early_stopping)
    if not isinstance(valid, Collection):
        raise TypeError(
            f"valid is a {type(valid).__name__}, expected Collection(features, Queries(…)) in memory"
        )
    if not isinstance(measure, Measure):
        raise TypeError(f"measure is {measure!r}: give a measure, such as NDCG(k=10)")
    if len(getattr(X, "shape", ())) == 2 and X.shape[1] != valid.n_features:
        raise ValueError(f"valid has {valid.n_features} features, X has {X.shape[1]}: give the same columns")
    features, q = valid
    measure.per_query(np.zeros(q.n_documents), q)
    if hasattr(X, "columns"):
        import pandas as pd

        dense = features if isinstance(features, np.ndarray) else features.toarray()
        features = pd.DataFrame(dense, columns=X.columns)
    return Rows(features, q)


# Whole queries on the workers.


def _spread(
    client: Any, X: Any, columns: Mapping[str, Any], rule: Objective
) -> tuple[dict[str, list[Any]], int]:
    """Compute collections, and check every row and query: the partitions of each worker, and how many documents."""
    from dask import delayed

    features, *others = (_partitions(name, values) for name, values in [("X", X), *columns.items()])
    for name, partitions in zip(columns, others, strict=True):
        if len(partitions) != len(features):
            raise ValueError(
                f"{ARGUMENTS.get(name, name)} has {len(partitions)} partitions, X has {len(features)}: partition them "
                "alike, row by row"
            )
    parts = client.compute(
        [
            delayed(_part, pure=False)(number, of_X, dict(zip(columns, values, strict=True)), rule)
            for number, (of_X, *values) in enumerate(zip(features, *others, strict=True))
        ]
    )
    # Only ids and names are transferred, and the errors of wrong partitions.
    found = client.gather(client.map(_described, parts, pure=False))
    _check_whole([ids for ids, *_ in found])
    if len({names is None for _, documents, names in found if documents}) > 1:
        raise ValueError(
            "position is a rank in one partition and a name in another: give the same kind in all"
        )
    held_by = client.who_has(parts)
    held: dict[str, list[Any]] = {}
    for part, (_, documents, _) in zip(parts, found, strict=True):
        if not held_by.get(part.key):
            raise WorkerDied("a worker died with its partitions: train again")
        if documents:
            held.setdefault(next(iter(held_by[part.key])), []).append(part)
    if not held:
        raise ValueError("X has no rows: there is nothing to train on")
    return held, sum(documents for _, documents, _ in found)


def _partitions(name: str, collection: Any) -> list[Any]:
    if not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{ARGUMENTS.get(name, name)} is {type(collection).__name__}, expected a Dask array, DataFrame or Series; "
            "on one machine use lambdaboost.lightgbm.train or lambdaboost.xgboost.train"
        )
    if name == "X" and getattr(collection, "numblocks", (1, 1))[1:] not in ((), (1,)):
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def _part(number: int, X: Any, given: dict[str, Any], rule: Objective) -> Rows | None:
    """One partition, its queries in the order of their first rows; None without rows.

    The rule is tried, since during training the other workers would wait for an error.
    """
    columns = {}
    for name, values in given.items():
        called = f"partition {number}: {ARGUMENTS.get(name, name)}"
        flat = values if values.ndim == 1 else np.ma.ravel(np.ma.asanyarray(values))
        read: Any = {"ids": query_ids, "position": positions_of}.get(name, numbers)
        columns[name] = read(called, flat)
        rows = len(getattr(columns[name], "codes", columns[name]))
        if rows != X.shape[0]:
            raise ValueError(f"{called} has {rows} rows, X has {X.shape[0]}")
    if not X.shape[0]:
        return None
    _, first, query = np.unique(columns["ids"], return_index=True, return_inverse=True)
    order = np.argsort(first[query], kind="stable")
    if np.any(order[1:] < order[:-1]):
        X = X.iloc[order] if hasattr(X, "iloc") else X[order]
        columns = {name: values.take(order) for name, values in columns.items()}
    q = Queries(columns.pop("relevance"), **columns)
    rule.gradient(np.zeros(q.n_documents), q)
    return Rows(X, q)


def _described(part: Rows | None) -> tuple[Any, int, Any]:
    """The ids of a partition's queries, its number of documents, and the names of its positions."""
    if part is None:
        return np.empty(0), 0, None
    return part.queries.ids, part.queries.n_documents, part.queries.position_names


def _check_whole(ids: Sequence[NDArray[Any]]) -> None:
    """Raise if a query is in two partitions, naming the first one."""
    home: dict[Any, int] = {}
    for number, of_partition in enumerate(ids):
        for query in of_partition.tolist():
            if home.setdefault(query, number) != number:
                raise ValueError(
                    f"query {query!r} is split over partitions {home[query]} and {number}: keep the rows of a query "
                    "in one partition, as frame.shuffle('qid') does before X, y and qid are taken from it"
                )


def _joined(parts: Sequence[Rows]) -> Rows:
    """The partitions of a worker as one."""
    q = Queries.concat([part.queries for part in parts])
    features = [part.features for part in parts]
    if hasattr(features[0], "iloc"):
        import pandas as pd

        return Rows(pd.concat(features), q)
    return Rows(stacked(features), q)


def _finish(client: Any, calls: Mapping[str, Any]) -> None:
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


# The engines' networks, and how a worker trains within its own.

Network = dict[str, Any]  # LightGBM's parameters of a worker, or the arguments of XGBoost's communicator
Trained = tuple[bytes, int]  # the model's file, the same on all workers, and its best round


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
        return probe.getsockname()[1]


def _xgboost_network(client: Any, workers: list[str], params: Mapping[str, Any]) -> dict[str, Network]:
    host = urlparse(client.scheduler.address).hostname
    shared = client.run_on_scheduler(_start_tracker, len(workers), host)
    return {worker: shared | {"DMLC_TASK_ID": f"{rank:06d}"} for rank, worker in enumerate(workers)}


def _start_tracker(workers: int, host: str) -> Network:
    """Start what XGBoost's workers find one another by; its address."""
    from threading import Thread

    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip=host, sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return dict(tracker.worker_args())


class Lasting(Wrapper, registered=False):
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


def _on_lightgbm(parts: list[Rows], training: Training, network: Network, held_out: Rows | None) -> Trained:
    from lambdaboost._lightgbm import with_parameters

    lasting = Lasting(training.objective)
    # By its own default leaf size LightGBM would drop features.
    params = {"feature_pre_filter": False, **training.params, **network}
    try:
        training = replace(training, objective=lasting, params=params)
        booster = _trained("lightgbm", "num_threads", parts, training, held_out)
    except BaseException as error:
        # The booster closes its network when it is deleted, which the traceback would delay.
        traceback.clear_frames(error.__traceback__)
        raise
    booster.free_network()
    if lasting.errors:
        raise lasting.errors[0]
    return with_parameters(booster.model_to_string(), ALONE).encode(), booster.best_iteration


def _on_xgboost(parts: list[Rows], training: Training, network: Network, held_out: Rows | None) -> Trained:
    from xgboost.collective import CommunicatorContext

    with CommunicatorContext(**network):
        booster = _trained("xgboost", "nthread", parts, training, held_out)
    return bytes(booster.save_raw()), booster.num_boosted_rounds() - 1


def _trained(engine: str, threads: str, parts: list[Rows], training: Training, held_out: Rows | None) -> Any:
    from distributed import get_worker

    stock: Any = engine_named(engine)  # its data sets are made from any features, as `Rows` has them
    training = replace(training, params={**training.params, threads: int(get_worker().state.nthreads)})
    data = stock.data(_joined(parts))
    valid = None if held_out is None else stock.data(held_out, data)
    return fit(stock, training, data, valid, lambda _: None)


ENGINES = {"lightgbm": (_lightgbm_network, _on_lightgbm), "xgboost": (_xgboost_network, _on_xgboost)}
