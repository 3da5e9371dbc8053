"""McRank on LightGBM: its classifiers, measured by the expected grade."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.grades import logistic, scores_of
from lambdaboost.engines.leaves import Leaves
from lambdaboost.lightgbm._metrics import by_first_metric
from lambdaboost.lightgbm.training import train
from lambdaboost.objectives import Objective
from lambdaboost.objectives.mcrank import GradeModel, OrdinalMcRank

Floats = NDArray[np.float64]


def trainer_of(objective: Objective) -> Callable[..., lgb.Booster]:
    """`train`, or what takes its place for a model of grades."""
    return train_grades if isinstance(objective, GradeModel) else train


def train_grades(
    params: dict[str, Any],
    data: lgb.Dataset,
    rounds: int,
    *,
    objective: GradeModel,
    leaves: Leaves,
    feval: Sequence[Callable[..., Any]] | None,
    callbacks: Sequence[Any] | None = None,
    **further: Any,
) -> lgb.Booster:
    """`lightgbm.train` of the grades; measures in `feval` see the scores to rank by."""
    labels = (getattr(data, "sources", None) or {}).get(
        "relevance", data.label
    )  # with gaps, where it has any
    objective.check(labels, leaves)
    own: dict[str, Any] = {
        "objective": Thresholds(objective) if isinstance(objective, OrdinalMcRank) else "multiclass",
        "num_class": objective.outputs,
    }
    if feval:
        own["metric"] = "None"
    params, callbacks = by_first_metric(params, callbacks)
    return lgb.train(
        {**params, **own},
        data,
        num_boost_round=rounds,
        feval=[_of_scores(metric, objective) for metric in feval or ()] or None,
        callbacks=callbacks,
        **further,
    )


def wants_scores(
    raw_score: bool = False,
    start_iteration: int = 0,
    num_iteration: int | None = None,
    pred_leaf: bool = False,
    pred_contrib: bool = False,
    *_: Any,
    **__: Any,
) -> bool:
    """Whether `LGBMRanker.predict` so called is asked for scores, not for margins, leaves or contributions."""
    return not (raw_score or pred_leaf or pred_contrib)


class Thresholds:
    """The logistic losses of "grade z or better", z = 1, 2, …, in the form that `lightgbm.train` calls."""

    def __init__(self, objective: OrdinalMcRank) -> None:
        self.objective = objective

    def __call__(self, raw: Floats, data: Any) -> tuple[Floats, Floats]:
        """P − 1[y ≥ z] and P(1 − P), times the weights; (n_documents, classes − 1), or flat for two classes."""
        q = queries_of(data)
        p = logistic(raw).reshape(q.n_documents, -1)
        weight = np.ones(1) if q.weight is None else q.weight[:, None]
        grad, hess = weight * (p - self.objective.reached(q.relevance)), weight * p * (1 - p)
        return grad.reshape(raw.shape), hess.reshape(raw.shape)


def _of_scores(metric: Callable[..., Any], objective: GradeModel) -> Callable[..., Any]:
    def evaluate(predicted: Any, data: Any) -> Any:
        return metric(scores_of("lightgbm", objective, predicted), data)

    return evaluate
