"""Trainings of a `Collection` on either engine: what `tune`, the command line and `dask` call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lambdaboost.attaching import attach
from lambdaboost.datasets import Collection, Queries
from lambdaboost.datasets.arrays import Positions
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines import ENGINES
from lambdaboost.engines.base import OnRound, usable_names, with_min_leaf_size
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.objective import check_objective
from lambdaboost.objectives.parsing import read_objective


def trainable(objective: Any, engine: str) -> Any:
    """An objective, or that of its text, as one that the engine can train; raises for any other."""
    found = read_objective(objective)
    if isinstance(found, NativeObjective):
        found.check(engine)
    else:
        check_objective("objective", found)
        found.refuse_on_engines()
    return found


def attach_queries(data: Any, q: Queries) -> Any:
    """An engine's data set with the sources and positions, and the grades where some are missing."""
    sources = {
        name: labels for name, labels in q.labels.items() if name != RELEVANCE or np.isnan(labels).any()
    }
    positions = None
    if q.position is not None:
        positions = Positions(q.position, q.position_names)
    return attach(data, position=positions, **sources)


def make_dataset(engine: str, collection: Collection, reference: Any = None) -> Any:
    """The engine's data set of a collection, with names if it takes them; validation data are binned as `reference`."""
    stock, q, names = ENGINES[engine], collection.queries, usable_names(collection.feature_names)
    data = stock.dataset(collection.table(stock.UNNAMED), q, names=names, reference=reference)
    return attach_queries(data, q)


def boost(
    engine: str,
    objective: Any,
    params: Mapping[str, Any],
    rounds: int,
    data: Any,
    valid: Any = None,
    measure: Measure | None = None,
    early_stopping: int | None = None,
    on_round: OnRound | None = None,
) -> Any:
    """The booster of the engine's own `train`, without output; after early stopping it ends at its best round.

    `on_round` is called after every round with the measure of the validation data, if there are any.
    """
    stock = ENGINES[engine]
    labels: Any = stock.fields_of(data).labels
    params = with_min_leaf_size(params, stock, objective, labels.size)
    return stock.train(objective, params, rounds, data, valid, measure, early_stopping, on_round)
