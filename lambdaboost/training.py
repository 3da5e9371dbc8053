"""An objective and a `Collection` as either engine trains them: what the rankers, the command line and `dask` call."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost.attaching import attach
from lambdaboost.datasets import Collection, Encoder, Queries
from lambdaboost.datasets.arrays import Positions
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines import ENGINES
from lambdaboost.engines.base import usable_names
from lambdaboost.engines.native import NativeObjective
from lambdaboost.objectives.objective import check_objective
from lambdaboost.objectives.parsing import read_objective


def trainable(objective: Any, engine: str) -> Any:
    """An objective, or that of its text, as one that the engine can train; raises for any other."""
    found, stock = read_objective(objective), ENGINES[engine]
    if not isinstance(found, NativeObjective):
        check_objective("objective", found)
        found.refuse_on_engines()
    elif found not in stock.NATIVE_OBJECTIVES:
        own = " or ".join(map(repr, stock.NATIVE_OBJECTIVES))
        raise ValueError(
            f"objective is '{found}', which is {ENGINES[found.owner].TITLE}'s own: on {stock.TITLE} give {own}, or an "
            "objective such as LambdaRank()"
        )
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
    features = collection.features
    if collection.categories:
        encoder = Encoder(features=collection.feature_names or (), categories=collection.categories)
        features = encoder.frame(features)
        features.columns = [stock.UNNAMED.format(at) for at in range(collection.n_features)]
    data = stock.dataset(features, q, names=names, reference=reference)
    return attach_queries(data, q)
