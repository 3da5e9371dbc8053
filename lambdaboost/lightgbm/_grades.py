"""Models of grades on LightGBM: its classifiers, evaluated by the expected grade."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.grades import logistic, scores_of
from lambdaboost.lightgbm._engine import ENGINE
from lambdaboost.objectives.mcrank import GradeModel, OrdinalMcRank

Floats = NDArray[np.float64]


def classifier(model: GradeModel) -> dict[str, Any]:
    """The parameters with which LightGBM trains the model."""
    objective = Thresholds(model) if isinstance(model, OrdinalMcRank) else "multiclass"
    return {"objective": objective, "num_class": model.outputs}


def of_scores(metric: Callable[..., Any], model: GradeModel) -> Callable[..., Any]:
    """A metric that receives the scores to rank by."""

    def evaluate(predicted: Any, data: Any) -> Any:
        return metric(scores_of(ENGINE, model, predicted), data)

    return evaluate


class Thresholds:
    """The logistic losses of "grade z or better", z = 1, 2, …, as an objective for `lightgbm.train`."""

    def __init__(self, model: OrdinalMcRank) -> None:
        self.model = model

    def __call__(self, raw: Floats, data: Any) -> tuple[Floats, Floats]:
        """P − 1[y ≥ z] and P(1 − P), times the weights; (n_documents, classes − 1), or flat for two classes."""
        q = queries_of(data)
        p = logistic(raw).reshape(q.n_documents, -1)
        weight = np.ones(1) if q.weight is None else q.weight[:, None]
        grad, hess = weight * (p - self.model.reached(q.relevance)), weight * p * (1 - p)
        return grad.reshape(raw.shape), hess.reshape(raw.shape)
