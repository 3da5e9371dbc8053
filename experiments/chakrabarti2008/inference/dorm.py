r"""DORM (Le and Smola 2007; 2008, §3.5): NDCG by φ_dorm, as an assignment of documents to ranks.

ŷ maximises Σ_i s_i A(y(i)) − z_i D(y(i))/DCG*, with A(r) = 1/√(1 + r) before rank 30, as in 2008, §4.4. Ranks at which
neither A nor D counts are left out of the assignment: its documents are n, its ranks the larger of 30 and the cutoff.

Every order of the good documents, followed by any of the bad ones, is ideal. y* is the one that the scores come nearest
to, both in order of score, ties in input order: what documents of a class do among themselves costs nothing, as by
φ_po. Since y* follows the scores, this hinge alone is not convex. A y* that did not would ask for an order within each
class too; on MQ2008 that left w at 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.chakrabarti2008.inference.orders import GOOD, classes, with_both
from lambdaboost.datasets import Queries

DECAYS_TO = 30  # ranks at which A counts

Floats = NDArray[np.float64]


def most_violated_assignment(scores: Floats, q: Queries, k: int | None) -> tuple[Floats, Floats]:
    """Δ of every query's ŷ and ∂(s·φ(ŷ) − s·φ(y*))/∂s of every document, for NDCG@k of grades 0 and 1."""
    of_document, discount = classes(q), (1 / np.log2(2.0 + np.arange(q.sizes.max())))[:k]
    loss, direction = np.zeros(q.n_queries), np.zeros(q.n_documents)
    for query in np.flatnonzero(with_both(q)):
        rows = np.flatnonzero(of_document[q.offsets[query] : q.offsets[query + 1]] >= 0) + q.offsets[query]
        loss[query], direction[rows] = _query(scores[rows], of_document[rows] == GOOD, discount)
    return loss, direction


def decay(n: int) -> Floats:
    """A(r) at ranks 0 to n − 1."""
    r = np.arange(n)
    return np.where(r < DECAYS_TO, 1 / np.sqrt(1.0 + r), 0.0)


def _query(scores: Floats, good: NDArray[np.bool_], discount: Floats) -> tuple[float, Floats]:
    from scipy.optimize import linear_sum_assignment

    n = scores.size
    n_good = np.count_nonzero(good)
    d = np.zeros(n)
    d[: discount.size] = discount[:n]
    d /= d[:n_good].sum()
    a = decay(n)
    ranks = min(n, max(DECAYS_TO, discount.size))
    documents, at = linear_sum_assignment(
        np.outer(scores, a[:ranks]) - np.outer(good, d[:ranks]), maximize=True
    )
    # Any ranks past these are as good as any others for the documents that got none.
    of_good = np.sort(at[good[documents]])
    of_bad = np.sort(at[~good[documents]])
    by_score = np.lexsort((-scores, ~good))  # y*: within a class the ranks go by score, which costs nothing
    direction = np.zeros(n)
    direction[by_score] = -a
    direction[by_score[: of_good.size]] += a[of_good]
    direction[by_score[n_good : n_good + of_bad.size]] += a[of_bad]
    return 1.0 - float(d[of_good].sum()), direction
