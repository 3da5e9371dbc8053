"""Training over a Dask cluster with any objective and any number of label sources, on either engine.

The engines' own Dask modules train where no further source is read; here each worker reads its partitions as queries
with sources and positions, and calls the stock engine within the engine's own network, which adds up the workers'
histograms. The result is an ordinary booster.

>>> from lambdaboost.dask import train
>>> columns = {"query": "qid", "relevance": "grade", "sources": ["clicks"]}
>>> booster = train(client, params, frame, **columns, objective="graded")  # doctest: +SKIP
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import monotonic, sleep
from typing import Any, NamedTuple

import numpy as np

from lambdaboost._checks import check_whole, error_context
from lambdaboost._warn import warn
from lambdaboost._words import quote
from lambdaboost.callback import check_sources
from lambdaboost.datasets import Collection, Columns, Encoder
from lambdaboost.datasets.queries import check_distinct
from lambdaboost.engines import ENGINES
from lambdaboost.engines.base import with_min_leaf_size
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import Objective, YetiLoss
from lambdaboost.training import make_dataset, trainable
from lambdaboost.traps import NO_PAIR

__all__ = ["train"]

LOOK, GRACE = 0.1, 5.0  # seconds between two looks at the workers, and for them to end after one has failed


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
    objective: Objective | str = YetiLoss(),
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
        Columns, as of `lambdaboost.datasets.Columns`. XGBoost takes weights that are equal within each query.
    engine : "lightgbm" or "xgboost"
        The engine that trains.
    rounds, objective
        The number of rounds, and an objective that does not need all rows in one process.
    valid, measure, early_stopping : Dask frame with the same columns, Measure and int, optional
        Stop after this number of rounds without improvement of the measure of `valid`. Each worker holds and evaluates
        all of it, so that all stop in the same round.

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

    if engine not in ENGINES:
        raise ValueError(f"engine is {engine!r}: give {' or '.join(map(repr, ENGINES))}")
    if (learner := params.get("tree_learner", "data")) not in ("data", "voting"):
        raise ValueError(
            f"params has tree_learner={learner!r}: rows are spread over the workers, so use 'data' or 'voting'"
        )
    # Workers compute the objective from their own queries.
    checked = trainable(objective, engine)
    if isinstance(checked, NativeObjective):
        raise ValueError(f"objective is '{checked}': train it by the engine's own Dask module")
    if (valid is None) != (early_stopping is None):
        raise ValueError("valid and early_stopping go together: give both, or neither")
    check_whole("rounds", rounds)
    columns = Columns(query, relevance, sources, position, weight)
    read, held_out = partial(_read_partition, columns=columns, reader=checked, compute=checked.gradient), []
    parts = _read_partitions(client, checked, "frame", frame, read)
    if valid is not None:
        check_whole("early_stopping", early_stopping)
        # The features and categories of a partition, for the validation data.
        like = client.submit(
            lambda part: Encoder(columns, part.feature_names or (), part.categories), parts[0].collection
        ).result()
        read = partial(_read_partition, columns=like, reader=measure, compute=measure.per_query)
        held_out = [part.collection for part in _read_partitions(client, checked, "valid", valid, read)]
    for part_of_objective, why in parts[0].why_no_pair.items():
        if all(part.why_no_pair[part_of_objective] for part in parts):
            warn(NO_PAIR.format(objective=part_of_objective, why=why))
    workers = list(dict.fromkeys(part.worker for part in parts))
    documents = sum(part.documents for part in parts)
    stock = ENGINES[engine]
    params = with_min_leaf_size({**stock.OF_CLUSTER, **params}, stock, checked, documents)
    settings = (checked, params, rounds, measure, early_stopping)
    # Otherwise two trainings could wait for each other's workers forever.
    with MultiLock(workers, client=client):
        # One that this waited for may have ended workers, and LightGBM's network would wait for them.
        if dead := set(workers) - client.nthreads(workers).keys():
            raise RuntimeError(f"workers died before the training: {', '.join(sorted(dead))}; train again")
        calls = {}
        for worker, network in stock.open_network(client, workers).items():
            own = [part.collection for part in parts if part.worker == worker]
            given = (engine, network, own, held_out, *settings)
            calls[worker] = client.submit(_train_on_worker, *given, workers=[worker], pure=False)
        finish(client, calls)
        model = client.gather(calls[workers[0]])
    return stock.read(model)


# Whole queries on the workers.


class Partition(NamedTuple):
    """A partition with rows: the future of its `Collection`, the worker that holds it, and what the client checks."""

    collection: Any
    worker: str
    documents: int
    ids: Any  # of its queries
    categories: str  # with the order of their values
    why_no_pair: dict[str, str]  # of each part of the objective; empty where it has a pair


def _read_partitions(
    client: Any, objective: Objective, name: str, frame: Any, read: Callable[..., Any]
) -> list[Partition]:
    """The partitions with rows, read on the workers; raises unless every query is whole and categories are the same."""
    if not (hasattr(frame, "to_delayed") and hasattr(frame, "dtypes")):
        raise TypeError(f"{name} is {type(frame).__name__}, expected a dask.dataframe.DataFrame")
    for column, kind in frame.dtypes.items():
        if str(kind) == "category" and not frame[column].cat.known:
            raise ValueError(
                f"{name} has the column {quote(column)} with categories that Dask does not know, so that partitions "
                f"may code them differently: give {name}.categorize()"
            )
    from dask import delayed

    names = [f"partition {at}" for at in range(frame.npartitions)]
    futures = client.compute(list(map(delayed(read, pure=False), names, frame.to_delayed())))
    # Only ids and names are transferred, and the errors of wrong partitions.
    found = client.gather(client.map(partial(_describe, objective), futures, pure=False))
    held_by = client.who_has(futures)
    if not all(held_by.get(future.key) for future in futures):
        raise RuntimeError("a worker died with its partitions: train again")
    with_rows = [at for at, described in enumerate(found) if described is not None]
    parts = [Partition(futures[at], next(iter(held_by[futures[at].key])), *found[at]) for at in with_rows]
    if not parts:
        raise ValueError(f"{name} has no rows: give at least one partition with rows")
    remedy = "keep the rows of a query in one partition, as frame.shuffle('qid') does"
    check_distinct({names[at]: part.ids for at, part in zip(with_rows, parts, strict=True)}, remedy)
    # Metadata may claim known categories that the partitions do not have.
    if len({part.categories for part in parts}) > 1:
        raise ValueError(f"partitions of {name} have other categories than others: give {name}.categorize()")
    return parts


def _read_partition(
    name: str, frame: Any, columns: Columns | Encoder, reader: Any, compute: Any
) -> Collection | None:
    """The queries of a partition, which an objective or a measure can read and `compute`; None without rows.

    An error during the training would come too late: the other workers would wait.
    """
    if not len(frame):
        return None
    part = columns.read(frame.reset_index(drop=True), name=name)
    check_sources(reader, part.queries, name)
    with error_context(name):
        compute(np.zeros(part.queries.n_documents), part.queries)
    return part


def _describe(objective: Objective, part: Collection | None) -> tuple[int, Any, str, dict[str, str]] | None:
    """The fields of a `Partition` that the client checks."""
    if part is None:
        return None
    q, categories = part.queries, {name: list(values) for name, values in part.categories.items()}
    return q.n_documents, q.ids, repr(categories), objective.why_no_pair(q)


# The training on each worker.


def _train_on_worker(
    engine: str, network: Any, parts: Any, held_out: Any, objective: Any, params: Any, rounds: int, *stop: Any
) -> bytes:
    """Train on the queries of this worker; the file of the booster, which is the same on all workers."""
    from distributed import get_worker

    data, errors = Collection.concat(parts), list[Exception]()
    stock = ENGINES[engine]

    def gradient(scores: Any, data: Any) -> Any:
        # After an error the training goes on without gradients: LightGBM's other workers would wait forever.
        if not errors:
            try:
                return objective(scores, data)
            except Exception as error:
                errors.append(error)
        return np.zeros(scores.size, dtype=np.float32), np.ones(scores.size, dtype=np.float32)

    with stock.join_network(network) as own:
        params = {**params, **own, stock.THREADS: int(get_worker().state.nthreads)}
        train, valid = make_dataset(engine, data), None
        if held_out:
            valid = make_dataset(engine, Collection.concat(held_out), train)
        booster = stock.train(gradient, params, rounds, train, valid, *stop)
    if errors:
        raise errors[0]
    return stock.write(booster, "")


def finish(client: Any, calls: Mapping[str, Any]) -> None:
    """Wait for a call on each worker; if one fails or a worker dies, the others have a few seconds to end.

    The processes of workers whose calls do not end then are killed, and their nannies restart them: an engine waits
    forever for a missing worker, in code that cannot be interrupted.
    """
    dead: set[str] = set()
    ends = math.inf
    while running := [worker for worker in calls.keys() - dead if calls[worker].status == "pending"]:
        if monotonic() >= ends:
            break
        sleep(LOOK)
        dead |= calls.keys() - client.nthreads(list(calls)).keys()
        if dead or not {call.status for call in calls.values()} <= {"pending", "finished"}:
            ends = min(ends, monotonic() + GRACE)
    if all(call.status == "finished" for call in calls.values()):
        return
    client.cancel([call for call in calls.values() if call.status == "pending"], force=True)
    if running:
        client.run(_end, os.getpid(), workers=running, wait=False, on_error="ignore")
        # Until they are gone the scheduler would send them the work of the next training.
        gone_by = monotonic() + GRACE
        while client.nthreads(running) and monotonic() < gone_by:
            sleep(LOOK)
    errors = [call.exception() for call in calls.values() if call.status == "error"]
    own = [error for error in errors if type(error).__name__ not in ("XGBoostError", "LightGBMError")]
    if errors and (own or not dead):  # the engines' say that a connection was lost, in the other workers
        raise (own or errors)[0]
    raise RuntimeError(
        f"workers died during the call: {', '.join(sorted(dead or calls))}. They were killed, ran out of memory or "
        "lost their machine; see their logs, and train again"
    )


async def _end(client: int) -> None:  # a coroutine, since Dask would wait for the result of a function
    if os.getpid() != client:  # of a cluster in one process
        os._exit(1)
