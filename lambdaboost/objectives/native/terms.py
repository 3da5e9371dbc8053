"""What both engines weigh pairs by: NDCG whose discounts do not end at the truncation.

A pair counts where either document is in the first ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import over_queries
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG

Derivatives = tuple[NDArray[np.float32], NDArray[np.float32]]


class NdcgTerms(NamedTuple):
    """Gains (n_documents,), 1 / ideal DCG at the truncation (n_queries,), discounts by rank."""

    gain: Any
    inverse_ideal: Any
    discount: Any


def gradient_by(
    kernel: Callable[..., None], scores: NDArray[Any], q: Queries, truncated: NDCG, options: Any
) -> Derivatives:
    """By ``kernel(first, last, offsets, scores, labels, terms, options, grad, hess)``, which adds up both."""
    grad, hess = np.zeros(q.n_documents, np.float32), np.zeros(q.n_documents, np.float32)
    best = truncated.ideal(q)
    terms = NdcgTerms(
        truncated.gains(q),
        np.divide(1.0, best, where=best > 0, out=np.zeros(q.n_queries)),
        1.0 / np.log2(2.0 + np.arange(q.sizes.max())),
    )
    over_queries(kernel, q.offsets, scores, q.relevance, terms, options, grad, hess)
    return grad, hess
