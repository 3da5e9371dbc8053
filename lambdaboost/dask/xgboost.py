"""`train_xgboost`: XGBoost over a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlparse

import numpy as np
from numpy.typing import NDArray

from lambdaboost.dask._objective import distributed
from lambdaboost.dask._parts import Rows, everywhere, spread, threads
from lambdaboost.dask._results import results
from lambdaboost.dask._validation import Validation, on_workers, validation
from lambdaboost.datasets import Collection
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import Metric, with_least_leaf
from lambdaboost.objectives import LambdaRank, Objective


def train_xgboost(
    client: Any,
    params: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    qid: Any,
    weight: Any = None,
    sources: Any = None,
    position: Any = None,
    rounds: int = 100,
    objective: Objective | str = LambdaRank(),
    leaves: Leaves = "engine",
    valid: Collection | None = None,
    custom_metric: Metric | Sequence[Metric] | None = None,
    early_stopping: int | None = None,
) -> Any:
    """Train a ranker with XGBoost on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster. Workers that hold a partition take part.
    params : mapping
        XGBoost's parameters, without ``objective``; ``nthread`` is that of each worker.
    X, y, qid, sources, position
        As in `lambdaboost.dask.train_lightgbm`.
    weight : dask Array or Series of shape (n_documents,), optional
        One weight per document, equal within each query: XGBoost has one weight per query.
    rounds, objective, leaves
        As in `lambdaboost.dask.train_lightgbm`.
    valid : Collection, optional
        Validation data, in this process and copied to every worker. Each worker evaluates all of it, so that all stop
        in the same round.
    custom_metric, early_stopping
        What to evaluate, as in `lambdaboost.xgboost.train`, and after how many rounds without improvement of the first
        measure to stop.

    Returns
    -------
    xgboost.Booster
        An ordinary booster in this process; after early stopping with all rounds, as in `lambdaboost.xgboost.train`.

    Raises
    ------
    ValueError, TypeError
        Before anything is trained, if a query is split over partitions or has two weights, or partitions do not match;
        and as `lambdaboost.xgboost.train`.

    """
    from lambdaboost.xgboost._engine import ENGINE

    rule = distributed(objective, leaves)
    given = validation(ENGINE, params, X, valid, custom_metric, early_stopping)
    parts = spread(
        client, rule, {"X": X, "y": y, "qid": qid, "weight": weight, "position": position}, sources
    )
    if weight is not None:
        results(client, client.map(_query_weights, list(parts.on.values()), pure=False), list(parts.on))
    settings = with_least_leaf(ENGINE, params, rule, parts.documents)
    there = on_workers(client, given, list(parts.on))
    host = urlparse(client.scheduler.address).hostname
    network = client.run_on_scheduler(_start_tracker, len(parts.on), host)
    raw = everywhere(
        client,
        parts,
        _train,
        lambda rank, worker: (
            settings,
            rounds,
            rule,
            {**network, "DMLC_TASK_ID": f"{rank:06d}"},
            there,
        ),
    )
    return ENGINE.read(raw)


def _start_tracker(workers: int, host: str) -> dict[str, Any]:
    """Start what XGBoost's workers find one another by, on the scheduler; its address."""
    from threading import Thread

    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(n_workers=workers, host_ip=host, sortby="task")
    tracker.start()
    Thread(target=tracker.wait_for, daemon=True).start()
    return dict(tracker.worker_args())


def _train(
    rows: Rows,
    params: dict[str, Any],
    rounds: int,
    objective: Objective,
    network: dict[str, Any],
    given: Validation | None,
) -> bytes:
    """Train on a worker; return the model, the same on all workers."""
    from xgboost.collective import CommunicatorContext

    from lambdaboost.xgboost import DMatrix, train

    # XGBoost accepts only ascending numbers.
    qid = np.repeat(np.arange(rows.queries.n_queries), rows.queries.sizes)
    with CommunicatorContext(**network):
        data = DMatrix(
            rows.X,
            rows.y,
            qid=qid,
            weight=_query_weights(rows),
            sources=rows.sources,
            position=rows.position,
        )
        watched: dict[str, Any] = {}
        if given is not None:
            names, types = data.feature_names, data.feature_types
            held_out = DMatrix(
                given.collection.features, feature_names=names, feature_types=types, **given.labels
            )
            watched["evals"] = [(held_out, "valid")]
            watched["custom_metric"] = list(given.metrics)
            watched["early_stopping_rounds"] = given.early_stopping
        booster = train(
            {**params, "nthread": threads()},
            data,
            rounds,
            objective=objective,
            verbose_eval=False,
            **watched,
        )
        return bytes(booster.save_raw(raw_format="ubj"))


def _query_weights(rows: Rows) -> NDArray[Any] | None:
    """One weight per query; a ValueError if a query has two."""
    if rows.weight is None:
        return None
    starts = rows.queries.offsets[:-1]
    low, high = np.minimum.reduceat(rows.weight, starts), np.maximum.reduceat(rows.weight, starts)
    if np.any(low != high):
        q = int(np.argmax(low != high))
        raise ValueError(
            f"weight of query {rows.qid[starts[q]]} is {low[q]} and {high[q]}: XGBoost takes one weight a query"
        )
    return low
