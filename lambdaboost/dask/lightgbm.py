"""`train_lightgbm`: LightGBM over a Dask cluster."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlparse

from lambdaboost.dask._objective import Lasting, distributed
from lambdaboost.dask._parts import Rows, everywhere, spread, threads
from lambdaboost.dask._validation import Validation, on_workers, validation
from lambdaboost.datasets import Collection
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import Metric, with_least_leaf
from lambdaboost.objectives import LambdaRank, Objective

# The network parameters in the text of a model, as in one trained on a single machine.
_ALONE = {"machines": "", "num_machines": "1", "local_listen_port": "12400", "tree_learner": "serial"}
_LEARNERS = ("data", "data_parallel", "voting", "voting_parallel")


def train_lightgbm(
    client: Any,
    params: dict[str, Any],
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
    feval: Metric | Sequence[Metric] | None = None,
    early_stopping: int | None = None,
) -> Any:
    """Train a ranker with LightGBM on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster. Workers that hold a partition take part.
    params : dict
        LightGBM's parameters, without an objective. ``tree_learner`` is ``"data"`` (the default) or ``"voting"``;
        ``num_threads`` is that of each worker.
    X : dask Array or DataFrame of shape (n_documents, n_features)
        Features.
    y : dask Array or Series of shape (n_documents,)
        Grades; NaN if missing.
    qid : dask Array or Series of shape (n_documents,)
        The query of each row. All rows of a query must be in one partition, in any order.
    weight : dask Array or Series of shape (n_documents,), optional
        One weight per document.
    sources : mapping of str to dask Array or Series of shape (n_documents,), or dask DataFrame, optional
        Further label sources by name. All collections have the same partitions as X.
    position : dask Array or Series of shape (n_documents,), optional
        The position of each row, as of `Queries`.
    rounds, objective, leaves
        As in `lambdaboost.lightgbm.train`, except ``leaves="newton"`` and ``GradientStep(…, normalize="all")``, which
        need all rows in one process.
    valid : Collection, optional
        Validation data, in this process and copied to every worker. Each worker evaluates all of it, so that all stop
        in the same round.
    feval, early_stopping
        What to evaluate, as in `lambdaboost.lightgbm.train`, and after how many rounds without improvement of the first
        measure to stop.

    Returns
    -------
    lightgbm.Booster
        An ordinary booster in this process; up to the best round after early stopping.
        ``X.map_blocks(booster.predict, drop_axis=1, dtype=float)`` predicts on the cluster.

    Raises
    ------
    ValueError, TypeError
        Before anything is trained, if a query is split over partitions, or partitions do not match; and as
        `lambdaboost.lightgbm.train`.

    """
    from lambdaboost.lightgbm._engine import ENGINE

    rule = distributed(objective, leaves)
    learner = params.get("tree_learner", "data")
    if learner not in _LEARNERS:
        raise ValueError(
            f"params has tree_learner={learner!r}: rows are spread over the workers, so use 'data' or 'voting'"
        )
    given = validation(ENGINE, params, X, valid, feval, early_stopping)
    parts = spread(
        client, rule, {"X": X, "y": y, "qid": qid, "weight": weight, "position": position}, sources
    )
    requested = {**params, "tree_learner": learner}
    settings = with_least_leaf(ENGINE, requested, rule, parts.documents)
    if settings != requested:  # LightGBM would drop features by its own default leaf size
        settings["feature_pre_filter"] = False
    networks = _networks(client, list(parts.on))
    there = on_workers(client, given, list(parts.on))
    text = everywhere(
        client,
        parts,
        _train,
        lambda rank, worker: ({**settings, **networks[worker]}, rounds, rule, there),
    )
    return ENGINE.read(text.encode())


def _networks(client: Any, workers: list[str]) -> dict[str, dict[str, Any]]:
    """LightGBM's network parameters for each worker."""
    if len(workers) == 1:
        return {workers[0]: {"tree_learner": "serial"}}
    hosts = {worker: urlparse(worker).hostname for worker in workers}
    while True:
        ports = client.run(_free_port, workers=workers)
        machines = [f"{hosts[worker]}:{ports[worker]}" for worker in workers]
        if len(set(machines)) == len(machines):  # workers on one host may receive the same port
            break
    return {
        worker: {
            "machines": ",".join(machines),
            "num_machines": len(machines),
            "local_listen_port": ports[worker],
        }
        for worker in workers
    }


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


def _train(
    rows: Rows, params: dict[str, Any], rounds: int, objective: Objective, given: Validation | None
) -> str:
    """Train on a worker; return the text of the model, the same on all workers."""
    import lightgbm as lgb

    from lambdaboost.lightgbm import Dataset, train
    from lambdaboost.lightgbm._private import with_parameters

    data = Dataset(
        rows.X,
        rows.y,
        qid=rows.qid,
        weight=rows.weight,
        sources=rows.sources,
        position=rows.position,
    )
    lasting = Lasting(objective)
    watched: dict[str, Any] = {}
    if given is not None:
        watched["valid_sets"] = [data.create_valid(given.collection.features, **given.labels)]
        watched["feval"] = list(given.metrics)
        if given.early_stopping is not None:
            watched["callbacks"] = [lgb.early_stopping(given.early_stopping, verbose=False)]
    try:
        booster = train({**params, "num_threads": threads()}, data, rounds, objective=lasting, **watched)
    except BaseException as error:
        # The booster closes its network when it is deleted, which the traceback would delay.
        traceback.clear_frames(error.__traceback__)
        raise
    booster.free_network()
    if lasting.errors:
        raise lasting.errors[0]
    return with_parameters(booster.model_to_string(), _ALONE)
