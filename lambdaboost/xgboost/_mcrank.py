"""McRank on XGBoost: its classifiers, measured by the expected grade."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xgboost as xgb

from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective, parse
from lambdaboost.objectives.mcrank import GradeModel, OrdinalMcRank
from lambdaboost.xgboost._arguments import DEFAULT_MEASURE, Metric, check_rounds
from lambdaboost.xgboost._stopping import engine_callbacks
from lambdaboost.xgboost.training import train


def trainer_of(objective: Objective | str) -> Callable[..., xgb.Booster]:
    """`train`, or what takes its place for a model of grades."""
    return train_grades if isinstance(_parsed(objective), GradeModel) else train


def train_grades(
    params: Mapping[str, Any],
    data: xgb.DMatrix,
    rounds: int,
    *,
    objective: GradeModel | str,
    leaves: Leaves,
    evals: Sequence[tuple[xgb.DMatrix, str]],
    custom_metric: Sequence[Metric] | None,
    early_stopping_rounds: int | None = None,
    verbose_eval: bool | int | None = None,
    callbacks: Sequence[Any] | None = None,
    **further: Any,
) -> xgb.Booster:
    """`xgboost.train` of the grades, in matrices that are its own to relabel; measures see the scores to rank by."""
    check_rounds("rounds", rounds)
    model = _parsed(objective)
    assert isinstance(model, GradeModel)
    model.check(queries_of(data).relevance, leaves)
    if data.get_weight().size:
        raise ValueError(
            f"sample_weight is given: XGBoost's classifiers take none of a query; leave it out for {model!r}, "
            "or train on LightGBM"
        )
    settings, metrics = dict(params), list(custom_metric or ())
    if settings.get("eval_metric") is None:
        settings["disable_default_eval_metric"] = True
        metrics = metrics or [DEFAULT_MEASURE]
    # Before the grades give way to labels of thresholds.
    sources = [metric.source for metric in metrics if isinstance(metric, Measure)]
    queries = {id(m): queries_of(m, sources) for m, _ in evals}
    if isinstance(model, OrdinalMcRank):
        settings["objective"] = "binary:logistic"
        labels = {id(m): (m, model.reached(queries_of(m).relevance)) for m in (data, *(m for m, _ in evals))}
        for matrix, reached in labels.values():
            matrix.set_label(reached)
    else:
        settings |= {"objective": "multi:softprob", "num_class": model.classes}
    return xgb.train(
        settings,
        data,
        int(rounds),
        evals=list(evals),
        custom_metric=_of_scores(metrics, model, queries) if metrics else None,
        verbose_eval=None,
        callbacks=engine_callbacks(callbacks, verbose_eval, early_stopping_rounds),
        **further,
    )


def _parsed(objective: Objective | GradeModel | str) -> Any:
    return parse(objective) if isinstance(objective, str) else objective


def _of_scores(
    metrics: Sequence[Metric], model: GradeModel, queries: dict[int, Queries]
) -> Callable[..., list[tuple[str, float]]]:
    def evaluate(predicted: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        scores, q = model.scores(predicted), queries[id(data)]
        return [
            (metric._xgboost_name, metric(scores, q))
            if isinstance(metric, Measure)
            else metric(scores, _Grades(q))
            for metric in metrics
        ]

    return evaluate


class _Grades:
    """What a metric reads of a matrix, with the grades that the matrix itself no longer has."""

    def __init__(self, q: Queries) -> None:
        self.q = q

    def get_label(self) -> Any:
        return np.nan_to_num(self.q.relevance)

    def get_uint_info(self, field: str) -> Any:
        return {"group_ptr": self.q.offsets}[field]

    def get_group(self) -> Any:
        return self.q.sizes
