"""What the copies of both engines' objectives share: their arrays over all queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG

Derivatives = tuple[NDArray[np.float32], NDArray[np.float32]]


class Weights(NamedTuple):
    """What NDCG weighs pairs by: gains (n_documents,), 1 / ideal DCG (n_queries,), discounts by rank."""

    gain: Any
    inverse_ideal: Any
    discount: Any


def gradient_of(
    kernel: Callable[..., None], scores: NDArray[Any], q: Queries, ideal: NDCG, options: Any
) -> Derivatives:
    """Gradient and hessian, summed by ``kernel(first, last, offsets, scores, labels, weights, options, grad, hess)``.

    `ideal` gives the gains, and the DCG that each query is divided by; the discounts run on past its cutoff.
    """
    grad = np.zeros(q.n_documents, np.float32)
    hess = np.zeros(q.n_documents, np.float32)
    best = ideal.ideal(q)
    weights = Weights(
        ideal.gains(q),
        np.divide(1.0, best, where=best > 0, out=np.zeros(q.n_queries)),
        1.0 / np.log2(2.0 + np.arange(q.sizes.max())),
    )
    over_queries(kernel, q.offsets, scores, q.relevance, weights, options, grad, hess)
    return grad, hess
