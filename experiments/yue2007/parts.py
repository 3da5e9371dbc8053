"""`Parts`: training, validation and test queries of a fold with standardised features, for linear models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.common.data import Data, standardised
from lambdaboost import Queries

Floats = NDArray[np.float64]
Part = tuple[Floats, Queries]

FARTHEST = 5.0  # features are clipped to this number of standard deviations


class Parts(NamedTuple):
    """Standardised features and queries of each part, with mean and deviation of the training part."""

    train: Part
    valid: Part
    test: Part


def first_fold(data: Data) -> Parts:
    """The parts of the first fold."""
    parts = standardised(data.training_valid_test(data.folds[0]))
    return Parts(*((np.clip(x, -FARTHEST, FARTHEST), q) for x, q in parts))
