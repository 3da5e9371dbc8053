r"""What the loss-augmented inferences share: good and bad documents of a query by score, and the forces of an order.

Fact 3.2 of Chakrabarti et al. (2008): for φ_po and a measure that looks at relevance by rank alone, some best order has
its good documents in order of score, and its bad ones too. So `above` gives an order: how many bad documents stand
above each good one, which never falls from a good document to the next. Ties are in input order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined, over_queries
from lambdaboost._warn import warn
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.ranking import ranking
from lambdaboost.objectives.inference.violators import Violators

GOOD, BAD, NEITHER = 1, 0, -1


def classes(q: Queries, threshold: float) -> NDArray[np.int8]:
    """1 for a good document, 0 for a bad one, −1 for one without a label, int8 (n_documents,); kept with `q`.

    In a query without both good and bad documents all are −1: its every order is ideal.
    """
    return q.memo(("good and bad", threshold), lambda: _classes(q, threshold))


def with_both(q: Queries, threshold: float) -> NDArray[np.bool_]:
    """Which queries have good and bad documents, bool (n_queries,)."""
    return np.maximum.reduceat(classes(q, threshold), q.offsets[:-1]) == GOOD


def _classes(q: Queries, threshold: float) -> NDArray[np.int8]:
    labels = q.relevance
    of_document = np.where(labels >= np.float32(threshold), GOOD, BAD).astype(np.int8)
    of_document[np.isnan(labels)] = NEITHER
    n_good, n_bad = (
        np.add.reduceat(of_document == which, q.offsets[:-1], dtype=int) for which in (GOOD, BAD)
    )
    both = (n_good > 0) & (n_bad > 0)
    of_document[~np.repeat(both, q.sizes)] = NEITHER
    if not both.all():
        warn(
            f"{np.count_nonzero(~both)} of {q.n_queries} queries have not both good documents, of a grade of at "
            f"least {threshold:g}, and others: they contribute nothing"
        )
    return of_document


def infer(
    function: Callable[..., None], scores: NDArray[np.float64], q: Queries, threshold: float, *args: Any
) -> Violators:
    """Every query's ŷ by ``function(first, last, offsets, order, scores, classes, *args, loss, direction)``."""
    of_document = classes(q, threshold)
    loss, direction = np.zeros(q.n_queries), np.zeros(q.n_documents)
    order = ranking(scores, q.offsets)
    over_queries(function, q.offsets, order, scores, of_document, *args, loss, direction)
    return Violators(loss, direction)


def discounts(q: Queries, k: int | None) -> NDArray[np.float64]:
    """D of the ranks that count, from rank 0: 1/log2(2 + r)."""
    longest = int(q.sizes.max())
    return 1 / np.log2(2.0 + np.arange(longest if k is None else min(k, longest)))


@inlined
def of_class(order, classes, which):
    """The documents of a class by score, highest first."""
    n = 0
    for r in range(order.size):
        n += classes[order[r]] == which
    documents = np.empty(n, dtype=np.int64)
    at = 0
    for r in range(order.size):
        if classes[order[r]] == which:
            documents[at] = order[r]
            at += 1
    return documents


@inlined
def taken(scores, documents):
    """Scores of some documents."""
    out = np.empty(documents.size)
    for i in range(documents.size):
        out[i] = scores[documents[i]]
    return out


@inlined
def write_forces(goods, bads, above, direction):
    """The derivative of δφ_po (eq. 4): a bad document above a good one takes 2/(n⁺n⁻), and the good one gives it."""
    scale = 2.0 / (goods.size * bads.size)
    j = 0
    for i in range(goods.size):
        while j < above[i]:  # bad j stands above goods i and all below
            direction[bads[j]] = scale * (goods.size - i)
            j += 1
        direction[goods[i]] = -scale * above[i]


@inlined
def sums(values):
    """Sums of the first 0, 1, …, n values."""
    out = np.zeros(values.size + 1)
    for i in range(values.size):
        out[i + 1] = out[i] + values[i]
    return out


@inlined
def higher(s_good, s_bad):
    """How many bad documents score higher than each good one: where φ_po by itself would put it."""
    out = np.empty(s_good.size, dtype=np.int64)
    j = 0
    for i in range(s_good.size):
        while j < s_bad.size and s_bad[j] > s_good[i]:
            j += 1
        out[i] = j
    return out


@inlined
def sunk_from(own, s_good, sum_bad):
    """For each i, the sum over goods from i on of Σ_{b above g} (s_b − s_g), each at its own place."""
    out = np.zeros(s_good.size + 1)
    for i in range(s_good.size - 1, -1, -1):
        out[i] = out[i + 1] + sum_bad[own[i]] - own[i] * s_good[i]
    return out


@inlined
def sunk(first, least, own, sum_good, sum_bad, at_own):
    """Σ_{b above g} (s_b − s_g) over goods from `first` on, each below `least` bad documents or at its own lower place.

    That is where φ_po puts them best, given that they stand so low: their sums are concave in the place.
    """
    low, high = first, own.size
    while low < high:  # the first good document whose own place is lower still
        middle = (low + high) // 2
        if own[middle] > least:
            high = middle
        else:
            low = middle + 1
    return (low - first) * sum_bad[least] - least * (sum_good[low] - sum_good[first]) + at_own[low]
