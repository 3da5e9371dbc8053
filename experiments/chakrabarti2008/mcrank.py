"""McRank: ranking by the expected grade of a classifier (Li, Burges and Wu 2007; 2008, §3.8)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def expected_grade(probabilities: ArrayLike) -> NDArray[np.float64]:
    r"""The score :math:`s_i = \sum_z z\,P(z \mid x_i)`, (n_documents,), by the probability of each grade from 0.

    The probabilities, (n_documents, n_grades), are those of an engine's own multiclass objective.

    >>> expected_grade([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    array([0.5, 2. ])
    """
    p = np.asarray(probabilities, dtype=np.float64)
    return p @ np.arange(p.shape[1])
