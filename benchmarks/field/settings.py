"""`Setting`: the parameters of the trees, drawn once and given to every objective under its engine's names."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

LEAST = 5  # documents: no leaf is smaller


@dataclass(frozen=True)
class Setting:
    """Parameters of the trees.

    Attributes
    ----------
    rate : float
        Learning rate.
    leaves : int
        Most leaves of a tree.
    least : float in [0, 1]
        Position in the range of the smallest leaf; an engine's own limit counts documents or sums hessians.
    features, rows : float in (0, 1]
        Shares of the features of a tree and of the rows of a round.
    l2 : float
        λ2 of the leaves.
    seed : int
        Of the engine.

    """

    rate: float
    leaves: int
    least: float
    features: float
    rows: float
    l2: float
    seed: int

    def lightgbm(self, documents: int, in_steps: bool) -> dict[str, Any]:
        """LightGBM's parameters; with gradient steps leaves count true documents, and need more of them."""
        low, high = (20, 200) if in_steps else (5, 100)
        least = min(round(between(low, high, self.least)), max(LEAST, documents // 20))
        return {
            "learning_rate": self.rate,
            "num_leaves": self.leaves,
            "min_data_in_leaf": least,
            "feature_fraction": self.features,
            "bagging_fraction": self.rows,
            "bagging_freq": 1,
            "lambda_l2": self.l2,
            "seed": self.seed,
        }

    def xgboost(self) -> dict[str, Any]:
        """XGBoost's parameters: trees that grow by leaves, as LightGBM's do."""
        return {
            "learning_rate": self.rate,
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": self.leaves,
            "min_child_weight": between(0.01, 10, self.least),
            "colsample_bytree": self.features,
            "subsample": self.rows,
            "lambda": self.l2,
            "seed": self.seed,
        }

    def catboost(self) -> dict[str, Any]:
        """CatBoost's parameters: its symmetric trees, of about as many leaves, which have no least leaf."""
        return {
            "learning_rate": self.rate,
            "depth": max(2, round(float(np.log2(self.leaves)))),
            "rsm": self.features,
            "bootstrap_type": "Bernoulli",
            "subsample": self.rows,
            "l2_leaf_reg": self.l2,
            "random_seed": self.seed,
        }


def drawn(data: str, draw: int, seed: int) -> Setting | None:
    """The setting of a draw on the data set of this name; None, the engines' defaults, is the first.

    >>> drawn("shop", 0, seed=0) is None, drawn("shop", 1, seed=0) == drawn("shop", 1, seed=0)
    (True, True)
    """
    if draw == 0:
        return None
    rng = np.random.default_rng([seed, zlib.crc32(data.encode()), draw])
    rate, leaves, least, features, rows, l2 = rng.random(6)
    return Setting(
        rate=between(0.03, 0.3, rate),
        leaves=round(between(4, 64, leaves)),
        least=float(least),
        features=float(0.4 + 0.6 * features),
        rows=float(0.5 + 0.5 * rows),
        l2=between(0.01, 30, l2),
        seed=draw,
    )


def between(low: float, high: float, share: float) -> float:
    """The number at a share of the way from low to high, in logarithms.

    >>> between(1, 100, 0.5)
    10.0
    """
    return float(low * (high / low) ** share)
