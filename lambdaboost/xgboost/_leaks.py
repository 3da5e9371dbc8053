"""Leaking features of an XGBoost matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost.datasets.engines import queries_of
from lambdaboost.engines.leaks import warn_of_leaks
from lambdaboost.xgboost.dmatrix import features_of


def warn_of_leaking_features(data: xgb.DMatrix, names: tuple[str, ...]) -> None:
    """Warn of leaking features, except in a QuantileDMatrix, which has no single rows."""
    if isinstance(data, xgb.QuantileDMatrix):
        return
    warn_of_leaks(_Rows(data), queries_of(data, names), data.feature_names)


class _Rows:
    """A matrix that `leaks` can index by rows, like a CSR matrix."""

    format = "csr"

    def __init__(self, data: xgb.DMatrix) -> None:
        self.data = data

    def __getitem__(self, rows: NDArray[np.int64]) -> Any:
        return features_of(self.data, rows)
