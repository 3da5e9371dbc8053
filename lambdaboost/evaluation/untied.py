"""`untied`: scores of the same order without ties."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.ranking import ranking

APART = 1 << 34  # more than the keys and positions of one query can span


def untied(scores: ArrayLike, q: Queries) -> NDArray[np.float64]:
    """Break ties: scores in the same order without ties, lowered by as few float32 steps as possible.

    In a run file they keep lambdaboost's order, in which ties stay in input order, in any other tool. trec_eval ranks
    documents of equal score by id, and its version 9, used by pytrec_eval, stores scores as float32.

    Parameters
    ----------
    scores : array of shape (n_documents,)
        Finite scores; −inf for a document that was not retrieved.
    q : Queries
        The documents.

    Returns
    -------
    float64 (n_documents,)
        Values that float32 represents exactly; −inf stays.

    Raises
    ------
    ValueError
        If a score is too large for float32; names its row.

    Examples
    --------
    >>> untied([2.0, 1.0, 1.0, 1.0], Queries([0, 1, 0, 1], sizes=[4]))
    array([2.        , 1.        , 0.99999994, 0.99999988])

    """
    s = _checks.scores(scores, q)
    position = np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)
    rows = np.repeat(q.offsets[:-1], q.sizes) + ranking(s, q.offsets)
    # Keys strictly decrease if key + rank never increases; each query starts far below the previous one.
    shift = position - q.query_of_row * APART
    key = np.minimum.accumulate(_key(_narrow(s))[rows] + shift) - shift
    out = np.empty(q.n_documents)
    out[rows] = _float(key)
    if (lost := np.isneginf(out) & ~np.isneginf(s)).any():
        raise _too_large(s, lost)
    out[np.isneginf(s)] = -np.inf
    return out


def _narrow(s: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = s.astype(np.float32)
    if (lost := np.isinf(narrow) & np.isfinite(s)).any():
        raise _too_large(s, lost)
    return narrow


def _too_large(s: NDArray[np.float64], lost: NDArray[np.bool_]) -> ValueError:
    row = int(np.flatnonzero(lost)[0])
    return ValueError(f"scores[{row}] is {s[row]:g}: float32 holds at most 3.4e38; scale the scores down")


def _key(x: NDArray[np.float32]) -> NDArray[np.int64]:
    """Integers in the order of the floats; adjacent floats differ by 1."""
    bits = x.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def _float(key: NDArray[np.int64]) -> NDArray[np.float32]:
    lowest = _key(np.array([-np.inf], dtype=np.float32))[0]
    key = np.maximum(key, lowest)
    return np.where(key < 0, -key | 0x80000000, key).astype(np.uint32).view(np.float32)
