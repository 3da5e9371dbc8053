"""`train`: training on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from lambdaboost._warn import warn
from lambdaboost.calls.traps import NO_PAIR
from lambdaboost.dask.networks import ENGINES
from lambdaboost.dask.rows import Rows, check_sources, named, spread
from lambdaboost.dask.validation import held_out_rows
from lambdaboost.dask.waiting import finish
from lambdaboost.datasets import Collection, Queries
from lambdaboost.engines.engine import Training, engine_named
from lambdaboost.engines.leaves import Leaves, stepped
from lambdaboost.engines.native import read_objective
from lambdaboost.engines.plan import check_distributed, with_least_leaf
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.kernels.no_pair import NoPair


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
    valid: Collection | Mapping[str, Any] | None = None,
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
        As in the engine's `train`, except objectives that need all rows in one process.
    valid, measure, early_stopping : Collection or mapping, Measure and int, optional
        Stop after so many rounds without improvement of the measure of the validation data. They are a `Collection` in
        this process, or Dask collections by the names of these arguments, ``{"X": …, "y": …, "qid": …}``, which only
        the workers read. Each worker holds and evaluates all of them, so that all stop in the same round.

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
    check_distributed(rule)
    held_out = held_out_rows(client, X, valid, measure, early_stopping)
    given = named(y, qid, weight, sources, position)
    check_sources(rule, given)
    held: dict[str, list[Any]] = {}
    parts = spread(client, {"X": X}, given, partial(_try, rule))
    for part in parts:
        held.setdefault(part.worker, []).append(part.rows)
    _warn_without_pair(client.gather([client.submit(_without_pair, rule, part.rows) for part in parts]))
    settings = with_least_leaf(stock, params, rule, sum(part.documents for part in parts))
    training = Training(rule, "engine", rounds, settings, measure, early_stopping)
    network = network_of(client, [*held], settings)
    # Otherwise two trainings could wait for each other's workers forever.
    with MultiLock([*held], client=client):
        calls = {
            worker: client.submit(
                train_on_worker, its, training, network[worker], held_out, workers=[worker], pure=False
            )
            for worker, its in held.items()
        }
        finish(client, calls)
        content, best = client.gather(next(iter(calls.values())))
    booster = stock.read(content)
    if held_out:
        booster.best_iteration = best
    return booster


def _without_pair(rule: Objective, rows: Rows) -> tuple[NoPair, ...]:
    return rule.without_pair(rows.queries)


def _warn_without_pair(partitions: Sequence[tuple[NoPair, ...]]) -> None:
    """Warn of the parts that have no pair in any partition, for the reason that the first one gives."""
    for found in partitions[0]:
        if all(found.objective in [other.objective for other in others] for others in partitions):
            warn(NO_PAIR.format(**found._asdict()))


def _try(rule: Objective, q: Queries) -> None:
    """Raise if the rule refuses queries: during training the other workers would wait for an error."""
    rule.gradient(np.zeros(q.n_documents), q)
