"""Validation data of a training over a cluster: whole on every worker, which then all stop in the same round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lambdaboost.datasets import Collection
from lambdaboost.datasets._checks import check_count
from lambdaboost.engines.engine import Engine, sources_of
from lambdaboost.engines.plan import Metric, measures_of
from lambdaboost.evaluation import Measure


@dataclass(frozen=True, eq=False)
class Validation:
    """What to evaluate, by what, and after how many rounds without improvement to stop."""

    collection: Collection
    metrics: tuple[Metric, ...]
    early_stopping: int | None

    @property
    def labels(self) -> dict[str, Any]:
        """The labels as both engines' data sets take them."""
        q = self.collection.queries
        return {
            "label": q.relevance,
            "weight": q.weight,
            "group": q.sizes,
            "sources": sources_of(self.collection),
            "position": q.positions,
        }


def validation(
    engine: Engine,
    params: Mapping[str, Any],
    X: Any,
    valid: Any,
    metrics: Metric | Sequence[Metric] | None,
    early_stopping: int | None,
) -> Validation | None:
    """The validation, with everything checked that can be here; None without `valid`."""
    if valid is None:
        for name, given in (("early_stopping", early_stopping), (engine.metrics, metrics)):
            if given is not None:
                raise ValueError(f"{name} is given, but there is nothing to evaluate: give valid=")
        return None
    if not isinstance(valid, Collection):
        raise TypeError(
            f"valid is a {type(valid).__name__}, expected Collection(features, Queries(…)): it is held here in memory "
            "and copied to every worker"
        )
    columns = X.shape[1] if len(getattr(X, "shape", ())) == 2 else None
    if columns is not None and valid.n_features != columns:
        raise ValueError(f"valid has {valid.n_features} features, X has {columns}: give the same columns")
    measures = measures_of(engine, params, metrics)
    for measure in measures:
        if isinstance(measure, Measure):
            for source in measure.sources:
                valid.queries.source(source)
            if measure.reads_positions:
                valid.queries.required_position()
    if early_stopping is not None:
        early_stopping = check_count("early_stopping", early_stopping)
    return Validation(valid, measures, early_stopping)


def on_workers(client: Any, given: Validation | None, workers: Sequence[str]) -> Any:
    """The same on each worker; None where there is none."""
    return None if given is None else client.scatter(given, workers=list(workers), broadcast=True, hash=False)
