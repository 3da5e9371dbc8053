"""Models of grades on LightGBM: its classifiers, evaluated by the expected grade."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lambdaboost.calls.data import queries_of
from lambdaboost.engines.native import logistic, scores_of
from lambdaboost.objectives.mcrank import GradeModel, OrdinalMcRank


def classifier(model: GradeModel) -> dict[str, Any]:
    """The parameters with which LightGBM trains the model."""
    objective = thresholds(model) if isinstance(model, OrdinalMcRank) else "multiclass"
    return {"objective": objective, "num_class": model.outputs}


def of_scores(metric: Callable[..., Any], model: GradeModel) -> Callable[..., Any]:
    """A metric that receives the scores to rank by."""
    return lambda predicted, data: metric(scores_of(True, model, predicted), data)


def thresholds(model: OrdinalMcRank) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The logistic losses of "grade z or better", z = 1, 2, …: P − 1[y ≥ z] and P(1 − P), times the weights."""

    def derivatives(raw: Any, data: Any) -> tuple[Any, Any]:
        q = queries_of(data)
        p = logistic(raw).reshape(q.n_documents, -1)
        weight = np.ones(1) if q.weight is None else q.weight[:, None]
        grad, hess = weight * (p - model.reached(q.relevance)), weight * p * (1 - p)
        return grad.reshape(raw.shape), hess.reshape(raw.shape)  # flat for two classes

    return derivatives
