r"""Most violated orders of a query by φ_po, one search for AUC, MAP, NDCG and MRR; and of MRR by φ_mrr.

Fact 3.2 of Chakrabarti et al. (2008): for φ_po and a measure that looks at relevance by rank alone, some best order has
its good documents in order of score, and its bad ones too. So `above` gives an order: how many bad documents stand
above each good one, which never falls from a good document to the next. Ties are in input order.

Let good document i earn worth_i V(i + above_i), both from 0. MAP has worth (1 + i)/n⁺ and V(r) = 1/(1 + r), NDCG 1/DCG*
and the discount, MRR has worth for the first good document alone. With s_b, s_g scores of bad and good documents,
ŷ maximises

    Σ_i −worth_i V(i + above_i) + 2/(n⁺n⁻) Σ_{b above g} (s_b − s_g).
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import FASTMATH, over_queries
from lambdaboost._warn import warn
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.rankings import ranking

# In Numba's own cache, which checks this file alone: a kernel here calls none of another file.
kernel = numba.njit(cache=True, error_model="numpy", nogil=True, fastmath=set(FASTMATH))

GOOD, BAD, NEITHER = 1, 0, -1
KINDS = ("AUC", "MAP", "NDCG", "MRR", "MRR by mrr")
BY_AUC, BY_MAP, BY_NDCG, BY_MRR, BY_FIRST = range(len(KINDS))

Floats = NDArray[np.float64]


def most_violated(kind: str, scores: Floats, q: Queries, k: int | None) -> tuple[Floats, Floats]:
    """Δ of every query's ŷ and ∂(s·φ(ŷ) − s·φ(y*))/∂s of every document, for one of `KINDS` with a cutoff."""
    rank = np.arange(q.sizes.max() + 1)
    value = 1 / np.log2(2.0 + rank) if kind == "NDCG" else 1 / (1.0 + rank)
    value[k:] = 0 if k is not None else value[k:]
    loss, direction = np.zeros(q.n_queries), np.zeros(q.n_documents)
    over_queries(
        _queries, q.offsets, ranking(scores, q.offsets), scores, classes(q), KINDS.index(kind),
        value, k or q.n_documents, loss, direction,
    )  # fmt: skip
    return loss, direction


def classes(q: Queries) -> NDArray[np.int8]:
    """1 for a good document, 0 for a bad one, −1 for one without a label, int8 (n_documents,); kept with `q`.

    In a query without both good and bad documents all are −1: its every order is ideal. A ValueError for other grades
    than 0 and 1.
    """
    return q.memo("good and bad", lambda: _classes(q))


def with_both(q: Queries) -> NDArray[np.bool_]:
    """Which queries have good and bad documents, bool (n_queries,)."""
    return np.maximum.reduceat(classes(q), q.offsets[:-1]) == GOOD


def _classes(q: Queries) -> NDArray[np.int8]:
    of_document = np.nan_to_num(q.relevance, nan=NEITHER).astype(np.int8)
    if not np.isin(q.relevance[of_document != NEITHER], (GOOD, BAD)).all():
        raise ValueError(
            "relevance has grades other than 0 and 1: give relevance >= 1, or another lowest good grade"
        )
    n_good, n_bad = (
        np.add.reduceat(of_document == which, q.offsets[:-1], dtype=int) for which in (GOOD, BAD)
    )
    both = (n_good > 0) & (n_bad > 0)
    of_document[~np.repeat(both, q.sizes)] = NEITHER
    if not both.all():
        warn(
            f"{np.count_nonzero(~both)} of {q.n_queries} queries have not both good documents, of grade 1, and "
            "others: they contribute nothing"
        )
    return of_document


@kernel
def _queries(first, last, offsets, order, scores, classes, kind, value, k, loss, direction):
    for q in range(first, last):
        a, b = offsets[q], offsets[q + 1]
        loss[q] = _query(order[a:b], scores[a:b], classes[a:b], kind, value, k, direction[a:b])


@kernel
def _query(order, scores, classes, kind, value, k, direction):
    goods, bads = _of_class(order, classes, GOOD), _of_class(order, classes, BAD)
    if goods.size == 0:
        return 0.0
    s_good, s_bad = scores[goods], scores[bads]
    if kind == BY_FIRST:
        r = first_good(s_good[-1], s_bad, value)
        direction[goods[-1]] = -r
        for j in range(r):
            direction[bads[j]] = 1.0
        return 1.0 - value[r]
    if kind == BY_AUC:
        above = pairs_within(s_good, s_bad, 0.5)
        loss = above.sum() / (goods.size * bads.size)
    else:
        worth = _worth(kind, goods.size, value)
        above = _by_table(s_good, s_bad, worth, value, k, 1 if kind == BY_MRR else min(goods.size, k))
        loss = 0.0
        for i in range(goods.size):
            loss += worth[i] * (value[i] - value[i + above[i]])
    write_forces(goods, bads, above, direction)
    return loss


@kernel
def _of_class(order, classes, which):
    """The documents of a class by score, highest first."""
    documents, n = np.empty(order.size, dtype=np.int64), 0
    for i in order:
        if classes[i] == which:
            documents[n] = i
            n += 1
    return documents[:n]


@kernel
def _worth(kind, n_good, value):
    worth = np.zeros(n_good)
    if kind == BY_MAP:
        worth[:] = np.arange(1, n_good + 1) / n_good
    elif kind == BY_NDCG:
        worth[:] = 1 / value[:n_good].sum()
    else:
        worth[0] = 1.0
    return worth


@kernel
def write_forces(goods, bads, above, direction):
    """The derivative of δφ_po (eq. 4): a bad document above a good one takes 2/(n⁺n⁻), and the good one gives it."""
    scale = 2.0 / (goods.size * bads.size)
    j = 0
    for i in range(goods.size):
        while j < above[i]:  # bad j stands above goods i and all below
            direction[bads[j]] = scale * (goods.size - i)
            j += 1
        direction[goods[i]] = -scale * above[i]


@kernel
def pairs_within(s_good, s_bad, margin):
    """How many bad documents score higher than each good one less a margin.

    For AUC each pair is decided by itself, y_gb = sign(s_g − s_b − ½) (eq. 8). Without a margin this is where φ_po by
    itself puts them.
    """
    above = np.empty(s_good.size, dtype=np.int64)
    j = 0
    for i in range(s_good.size):
        while j < s_bad.size and s_bad[j] + margin > s_good[i]:
            j += 1
        above[i] = j
    return above


@kernel
def first_good(low, s_bad, value):
    """MRR by φ_mrr (Figure 3): how many bad documents stand above the good one of lowest score.

    The best order of each loss has r bad documents first, then this one; what stands below is immaterial.
    """
    total, best, at = 0.0, 0.0, 0
    for r in range(1, s_bad.size + 1):
        total += s_bad[r - 1] - low
        if total + 1.0 - value[r] > best:
            best, at = total + 1.0 - value[r], r
    return at


@kernel
def _by_table(s_good, s_bad, worth, value, k, rows):
    """The table of 2008, Figure 2, of the good documents that earn something before the cutoff k: the first `rows`.

    Cell [g, b]: good document g stands below b bad ones, at rank g + b < k. Two places where this departs from the
    paper's Facts 3.3 and 3.4, so as to be exact:

    - A good document that earns more one row below need not stand lower there: V falls ever less, and at the cutoff all
      at once. So a row does not start from its predecessor's best column, but from the best column up to each, which a
      running maximum gives: O(1) a cell, the same order.
    - Documents that earn nothing still bear on φ_po. Once a good document is past the cutoff so are all below it. Given
      that the first g are before it, the others stand below at least k − g bad documents, or lower where φ_po alone
      puts them: O(log n).
    """
    n_good, n_bad = s_good.size, s_bad.size
    scale = 2.0 / (n_good * n_bad)
    own = pairs_within(s_good, s_bad, 0.0)
    sum_good, sum_bad = _sums(s_good), _sums(s_bad)
    at_own = np.zeros(n_good + 1)
    for i in range(n_good - 1, -1, -1):
        at_own[i] = at_own[i + 1] + sum_bad[own[i]] - own[i] * s_good[i]
    columns = min(n_bad, k - 1) + 1
    running = np.zeros(columns)  # best of the columns up to each, in the row above
    risen = np.zeros(
        (rows, columns), dtype=np.bool_
    )  # whether of the columns up to each it is itself the best
    # The best order so far: how many good documents stand before the cutoff, and below how many bad ones the others.
    highest, split, least = -np.inf, 0, 0
    row_best = 0.0
    for g in range(rows + 1):
        if g < n_good and k - g <= n_bad:
            total = row_best + scale * _sunk(g, k - g, own, sum_good, sum_bad, at_own)
            if total >= highest:
                highest, split, least = total, g, k - g
        if g < rows:
            row_best = -np.inf
            for b in range(min(n_bad, k - 1 - g) + 1):
                cell = running[b] - worth[g] * value[g + b] + scale * (sum_bad[b] - b * s_good[g])
                risen[g, b] = cell > row_best
                row_best = max(row_best, cell)
                running[b] = row_best
    of_rows = -np.inf
    for b in range(min(n_bad, k - rows) + 1):
        total = running[b] + scale * _sunk(rows, b, own, sum_good, sum_bad, at_own)
        if total > of_rows:
            of_rows = total
            if total >= highest:
                highest, split, least = total, rows, b
    above = np.maximum(own, least)
    for g in range(split - 1, -1, -1):
        while not risen[g, least]:
            least -= 1
        above[g] = least
    return above


@kernel
def _sums(values):
    """Sums of the first 0, 1, …, n values."""
    out = np.zeros(values.size + 1)
    out[1:] = np.cumsum(values)
    return out


@kernel
def _sunk(first, least, own, sum_good, sum_bad, at_own):
    """Σ_{b above g} (s_b − s_g) over goods from `first` on, each below `least` bad documents or at its own lower place.

    That is where φ_po puts them best, given that they stand so low: their sums are concave in the place.
    """
    low = max(
        first, np.searchsorted(own, least, side="right")
    )  # the first one whose own place is lower still
    return (low - first) * sum_bad[least] - least * (sum_good[low] - sum_good[first]) + at_own[low]
