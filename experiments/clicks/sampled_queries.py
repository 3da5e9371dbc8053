"""A fixed sample of queries, for what objectives estimate from the data in every round."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries


def sampled_queries(
    q: Queries, counts: NDArray[np.number], most: int
) -> tuple[Queries, NDArray[np.int64] | None]:
    """Random queries whose `counts`, such as documents, sum to about `most`, and their rows; None for all rows.

    They are the same at every call. Queries with a count of 0 are not drawn.
    """
    if counts.sum() <= most:
        return q, None
    counted = np.flatnonzero(counts)
    order = counted[np.random.default_rng(0).permutation(counted.size)]  # as if the others were absent
    chosen = np.sort(order[: int(np.searchsorted(np.cumsum(counts[order]), most)) + 1])
    return q.take(chosen), q.rows_of(chosen)
