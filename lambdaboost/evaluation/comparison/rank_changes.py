"""`rank_changes`: the share of ranks that hold a different document after another boosting round."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.ranking import ranking


class RankChanges(NamedTuple):
    """Shares of ranks that hold a different document, in [0, 1]: of the first k ranks, and of all."""

    top: float
    full: float


def rank_changes(before: ArrayLike, after: ArrayLike, q: Queries, k: int = 3) -> RankChanges:
    """The share of ranks that hold a different document (Svore, Volkovs and Burges 2011, fig. 4).

    Computed for each query, over its first k ranks and over all ranks, then averaged over queries.

    Parameters
    ----------
    before, after : arrays of shape (n_documents,)
        Finite scores of two models, such as one round apart.
    q : Queries
        The documents.
    k : int
        The last rank of the top.

    Returns
    -------
    RankChanges
        The tuple ``(top, full)``.

    Raises
    ------
    ValueError, TypeError
        If scores are missing or `k` is not a whole number ≥ 1.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> rank_changes([4, 3, 2, 1], [4, 3, 1, 2], Queries([0, 0, 0, 0], sizes=[4]), k=2)
    RankChanges(top=0.0, full=0.5)

    """
    k = _checks.whole("k", k, "give the last rank of the top, a whole number ≥ 1")
    if not isinstance(q, Queries):
        raise TypeError(f"q is a {type(q).__name__}: give the documents as Queries(relevance, sizes=…)")
    changed = ranking(q.scores(before), q.offsets) != ranking(q.scores(after), q.offsets)
    starts = q.offsets[:-1]
    top = np.arange(q.n_documents) - np.repeat(starts, q.sizes) < k
    in_full = np.add.reduceat(changed.astype(np.float64), starts) / q.sizes
    in_top = np.add.reduceat((changed & top).astype(np.float64), starts) / np.minimum(q.sizes, k)
    return RankChanges(float(in_top.mean()), float(in_full.mean()))
