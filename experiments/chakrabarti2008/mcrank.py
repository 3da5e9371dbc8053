"""McRank: ranking by the expected grade of a classifier (Li, Burges and Wu 2007; 2008, §3.8).

Both are callables that stock `lightgbm.train` and `xgboost.train` take as their objective, with `num_class` outputs a
document, whose margins `scores` makes an order of:

    lgb.train({"objective": McRank(5), "num_class": 5, …}, data)
    xgb.train({"num_class": 5, "disable_default_eval_metric": True, …}, matrix, obj=McRank(5))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class McRank:
    r"""The cross-entropy of the grades, ranked by the expected grade, :math:`s_i = \sum_z z\,P(z \mid x_i)`.

    >>> McRank(classes=3).scores(np.log([[0.5, 0.5, 1e-9], [1e-9, 1e-9, 1.0]])).round(3)
    array([0.5, 2. ])
    """

    classes: int = 5

    def __call__(self, raw: Any, data: Any) -> tuple[Any, Any]:
        """P − 1[y = z] and P(1 − P) K/(K − 1), Friedman's, as LightGBM's own multiclass objective has them."""
        grades = data.get_label()
        p = _softmax(np.reshape(raw, (grades.size, self.classes)))
        return _shaped(
            raw,
            p - (grades[:, None] == np.arange(self.classes)),
            self.classes / (self.classes - 1) * p * (1 - p),
        )

    def scores(self, raw: ArrayLike) -> Floats:
        """Scores of margins (n_documents, classes), float64 (n_documents,)."""
        return _softmax(np.asarray(raw)) @ np.arange(self.classes)


@dataclass(frozen=True)
class OrdinalMcRank:
    r"""A logistic model for each "grade z or better", :math:`s_i = \sum_{z \ge 1} P(y_i \ge z \mid x_i)`.

    It has classes − 1 outputs, which use the order of the grades.

    >>> OrdinalMcRank(classes=3).scores([[0.0, -50.0], [50.0, 50.0]]).round(3)
    array([0.5, 2. ])
    """

    classes: int = 5

    def __call__(self, raw: Any, data: Any) -> tuple[Any, Any]:
        """P − 1[y ≥ z] and P(1 − P) for z = 1, 2, …."""
        grades = data.get_label()
        p = _logistic(np.reshape(raw, (grades.size, self.classes - 1)))
        return _shaped(raw, p - (grades[:, None] >= np.arange(1, self.classes)), p * (1 - p))

    def scores(self, raw: ArrayLike) -> Floats:
        """Scores of margins (n_documents, classes − 1), float64 (n_documents,)."""
        return _logistic(np.reshape(raw, (-1, self.classes - 1))).sum(axis=1)


def _shaped(raw: Any, grad: Floats, hess: Floats) -> tuple[Any, Any]:
    """Flat where the engine's margins are, as LightGBM's of one output."""
    return grad.reshape(np.shape(raw)), hess.reshape(np.shape(raw))


def _softmax(raw: NDArray[Any]) -> Floats:
    e = np.exp(raw.astype(np.float64) - raw.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _logistic(raw: NDArray[Any]) -> Floats:
    return 0.5 + 0.5 * np.tanh(0.5 * raw.astype(np.float64))
