"""A fixed sample of queries, for what objectives estimate from the data in every round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries


def sampled_queries(
    q: Queries, counts: NDArray[np.number], most: int
) -> tuple[Queries, NDArray[np.int64] | None]:
    """Random queries whose `counts` sum to about `most`, the same at every call, and their rows; None for all rows.

    Parameters
    ----------
    q : Queries
        The queries to sample from.
    counts : array of shape (n_queries,)
        What is counted in each query, such as its documents; queries with 0 are not drawn.
    most : int
        Without sampling, the largest sum.

    """
    if counts.sum() <= most:
        return q, None
    order = np.random.default_rng(0).permutation(q.n_queries)
    order = order[counts[order] > 0]
    chosen = np.sort(order[: int(np.searchsorted(np.cumsum(counts[order]), most)) + 1])
    return q.take(chosen), q.rows_of(chosen)
