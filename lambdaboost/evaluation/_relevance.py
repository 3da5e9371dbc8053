"""Relevant documents and their counts, shared by several measures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries


def relevant(q: Queries, threshold: float) -> NDArray[np.float32]:
    """1 for a grade of at least `threshold`, else 0: float32 (n_documents,); cached in `q`."""
    return q.memo(("relevant", threshold), lambda: (q.relevance >= np.float32(threshold)).astype(np.float32))


def n_relevant(q: Queries, threshold: float) -> NDArray[np.int64]:
    """Number of documents with a grade of at least `threshold`, per query: int64 (n_queries,); cached in `q`."""
    return q.memo(("n relevant", threshold), lambda: _counts(q.relevance >= np.float32(threshold), q))


def n_judged(q: Queries) -> NDArray[np.int64]:
    """Number of documents with a grade, per query: int64 (n_queries,); cached in `q`."""
    return q.memo("n judged", lambda: _counts(~np.isnan(q.relevance), q))


def _counts(which: NDArray[np.bool_], q: Queries) -> NDArray[np.int64]:
    return np.add.reduceat(which, q.offsets[:-1], dtype=np.int64)
