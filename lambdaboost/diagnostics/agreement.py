"""`lambda_agreement`: the share of documents whose λ agree under two objectives."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost.datasets import Queries
from lambdaboost.objectives import Objective
from lambdaboost.objectives.base.objective import check_objective


def lambda_agreement(
    first: Objective, second: Objective, scores: ArrayLike, q: Queries, iteration: int = 0
) -> float:
    """Share of documents whose two λ have the same sign, or whose second λ is 0 (2011 paper, §4.2 and fig. 2).

    A document agrees if the signs are equal or its λ under `second` is 0; the share is in [0, 1], over all documents.
    `iteration` is the boosting round, from 0, for objectives with a schedule.

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, Queries
    >>> q = Queries([1, 1, 0], sizes=[3], clicks=[0.2, 0.4, 0.9])  # the first: up by its grade, down by its clicks
    >>> round(lambda_agreement(LambdaRank(), ClickTier(), [0.0, 0.0, 0.0], q), 4)
    0.6667

    """
    check_objective("first", first)
    check_objective("second", second)
    one, two = (np.sign(objective.gradient(scores, q, iteration)[0]) for objective in (first, second))
    return float(np.mean((one == two) | (two == 0)))
