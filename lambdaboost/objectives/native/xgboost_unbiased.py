"""A round of XGBoost's rank:ndcg with ``lambdarank_unbiased``, operation for operation.

`xgboost` computes the pairs; here is a copy of `LambdaRankUpdatePositionBias` (XGBoost 3.x,
src/objective/lambdarank_obj.h and .cc). The position of a document is its row within the query. The ratios are a state,
which every round replaces, so this is no `Objective`; `UnbiasedLambdaRank` solves for them in each round. XGBoost's
cost of a pair is log(1 + e^{s_i − s_j}), where the paper has log(1 + e^{s_j − s_i}).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives.native.queries import Derivatives, gradient_of
from lambdaboost.objectives.native.xgboost import (
    NOTHING,
    TRUNCATION,
    Options,
    PositionBias,
    queries,
    row_weights,
)


class Ratios(NamedTuple):
    """t⁺ and t⁻ by position, float64, as long as the truncation."""

    plus: NDArray[np.float64]
    minus: NDArray[np.float64]


def start(truncation: int = TRUNCATION) -> Ratios:
    """The ratios before the first round."""
    return Ratios(np.ones(truncation), np.ones(truncation))


def step(
    ratios: Ratios,
    scores: NDArray[np.float64],
    q: Queries,
    norm: bool = True,
    score_norm: bool = True,
    bias_norm: float = 1.0,
    metric: NDCG = NDCG(),
) -> tuple[Derivatives, Ratios]:
    """Gradient and hessian of a round, weights included, and the ratios of the next.

    Parameters
    ----------
    ratios : Ratios
        As `start` or the round before gave them; as long as ``lambdarank_num_pair_per_sample``.
    scores, q
        Scores and queries, rows in the order in which they were shown.
    norm, score_norm, bias_norm
        XGBoost's ``lambdarank_normalization``, ``lambdarank_score_normalization`` and ``lambdarank_bias_norm``.
    metric : NDCG
        Without a cutoff, and with the gain.

    """
    tracked = ratios.plus.size
    costs = np.zeros(q.n_documents), np.zeros(q.n_documents)
    options = Options(tracked, norm, score_norm, PositionBias(*ratios, *costs))
    grad, hess = gradient_of(queries, scores.astype(np.float32), q, NDCG(tracked, metric.gain), options)
    weights = row_weights(q)
    if weights is not None:
        grad, hess = grad * weights, hess * weights
    place = np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)
    shown = place < tracked
    following = []
    for t, cost in zip(ratios, costs, strict=True):
        by_place = np.bincount(place[shown], cost[shown], tracked)
        following.append((by_place / by_place[0]) ** (1 / (1 + bias_norm)) if by_place[0] >= NOTHING else t)
    return (grad, hess), Ratios(*following)
