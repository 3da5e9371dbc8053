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
from lambdaboost.engines.cluster import with_least_leaf
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.plan import Metric
from lambdaboost.objectives import LambdaRank, Objective

# What the model's text says of the network, as a model of one machine says it.
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
        Of the cluster. Workers that hold a partition take part.
    params : dict
        LightGBM's parameters, without an objective. ``tree_learner`` is ``"data"``, or ``"voting"``; ``num_threads``
        is each worker's own.
    X : dask Array or DataFrame of shape (n_documents, n_features)
        Features.
    y : dask Array or Series of shape (n_documents,)
        Grades; NaN where there is none.
    qid : dask Array or Series of shape (n_documents,)
        The query of each row. All rows of a query are in one partition, in any order.
    weight : dask Array or Series of shape (n_documents,), optional
        One weight for each document.
    sources : mapping of str to dask Array or Series of shape (n_documents,), or dask DataFrame, optional
        Further label sources by name. Everything is partitioned as X is.
    rounds, objective, leaves
        As of `lambdaboost.lightgbm.train`, but for ``leaves="newton"`` and ``GradientStep(…, normalize="all")``, which
        need all rows in one place.
    valid : Collection, optional
        Validation data, in memory here and copied to every worker. Each worker evaluates all of it, so that all stop in
        the same round.
    feval, early_stopping
        What to evaluate, as of `lambdaboost.lightgbm.train`, and after how many rounds without improvement of the first
        measure to stop.

    Returns
    -------
    lightgbm.Booster
        An ordinary booster, here; up to the best round after early stopping.
        ``X.map_blocks(booster.predict, drop_axis=1, dtype=float)`` predicts on the cluster.

    Raises
    ------
    ValueError, TypeError
        Before anything is trained: where a query is split over partitions, naming the first; where partitions do not
        match; and as `lambdaboost.lightgbm.train`.

    """
    from lambdaboost.lightgbm._engine import ENGINE

    rule = distributed(objective, leaves)
    learner = params.get("tree_learner", "data")
    if learner not in _LEARNERS:
        raise ValueError(
            f"params has tree_learner={learner!r}: rows are spread over the workers, so use 'data' or 'voting'"
        )
    given = validation(ENGINE, params, X, valid, feval, early_stopping)
    parts = spread(client, rule, {"X": X, "y": y, "qid": qid, "weight": weight}, sources)
    asked = {**params, "tree_learner": learner}
    settings = with_least_leaf(ENGINE, asked, rule, parts.documents)
    if settings != asked:  # features that a least leaf of the engine's own would drop
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
    """What tells LightGBM on each worker of the others; nothing where there are none."""
    if len(workers) == 1:
        return {workers[0]: {"tree_learner": "serial"}}
    hosts = {worker: urlparse(worker).hostname for worker in workers}
    while True:
        ports = client.run(_free_port, workers=workers)
        machines = [f"{hosts[worker]}:{ports[worker]}" for worker in workers]
        if len(set(machines)) == len(machines):  # workers of one host may be given the same port
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
    """The text of the model, on a worker; every worker comes to the same."""
    import lightgbm as lgb

    from lambdaboost.lightgbm import Dataset, train
    from lambdaboost.lightgbm._private import with_parameters

    data = Dataset(rows.X, rows.y, qid=rows.qid, weight=rows.weight, sources=rows.sources)
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
        # The booster closes its network when it goes, which the traceback would put off.
        traceback.clear_frames(error.__traceback__)
        raise
    booster.free_network()
    if lasting.errors:
        raise lasting.errors[0]
    return with_parameters(booster.model_to_string(), _ALONE)
