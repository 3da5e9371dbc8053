"""Counts of labels that several measures need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries


def relevant(q: Queries, threshold: float) -> NDArray[np.float32]:
    """1 for a document of a grade of at least `threshold`, else 0: float32 (n_documents,); kept with `q`."""
    return q.memo(("relevant", threshold), lambda: (q.relevance >= np.float32(threshold)).astype(np.float32))


@kernel
def n_relevant(labels, threshold):  # type: ignore[no-untyped-def]
    """Number of documents with a label of at least `threshold`."""
    n = 0
    for label in labels:
        n += label >= threshold
    return n


@kernel
def n_judged(labels):  # type: ignore[no-untyped-def]
    """Number of documents with a label: NaN is less than nothing."""
    n = 0
    for label in labels:
        n += label >= 0
    return n
