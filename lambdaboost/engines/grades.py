"""Scores to rank by, from the predictions of a model of grades."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.engines.engine import Engine
from lambdaboost.objectives import Objective, OrdinalMcRank
from lambdaboost.objectives.mcrank import GradeModel


def logistic(raw: Any) -> NDArray[np.float64]:
    """1 / (1 + e^−raw), without overflow."""
    return 0.5 + 0.5 * np.tanh(0.5 * np.asarray(raw, dtype=np.float64))


def scores_of(engine: Engine, objective: Objective | GradeModel | None, predicted: Any) -> Any:
    """Scores of documents. For a model of grades the engine predicts probabilities (n_documents, outputs).

    `OrdinalMcRank` on LightGBM is trained on lambdaboost's derivatives, so the engine predicts margins.
    """
    if not isinstance(objective, GradeModel):
        return predicted
    margins = engine.predicts_margins and isinstance(objective, OrdinalMcRank)
    return objective.scores(logistic(predicted) if margins else predicted)
