"""Rows that stand in the order of their labels: where their scores tie, the order of the rows decides, not the model.

Ties rank in the order of rows. In a file that is sorted by grade, a constant score is then the best ranking or the
worst one, whatever gave the score.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation.rankings import ranking

LEAST = 10  # queries in which labels tie: in fewer, rows may be in order by chance
SHARE = 0.02  # of the queries, at least
SORTED = 0.9  # of the neighbouring rows of unequal labels, at least, fall or rise


def describe_sorted_ties(measures: Iterable[Any], scores: ArrayLike, q: Queries) -> str:
    r"""The first measure of which the order of rows decides much of the value, in a sentence; empty without one.

    The sentence has the mean in this order of rows and in the reverse one.

    >>> from lambdaboost import MRR
    >>> said = describe_sorted_ties([MRR()], np.zeros(30), Queries([1, 0, 0] * 10, sizes=[3] * 10))
    >>> print(said.partition("; ")[0].replace(": ", ":\n"))
    scores tie in 10 of 10 queries, and rows stand in the order of relevance:
    MRR() is 1.0000, in the reverse order 0.3333
    """
    s, starts = np.asarray(scores, dtype=np.float64), q.offsets[:-1]
    for measure in measures:
        labels = q.labels[measure.source]
        key = "rows in the order of labels", measure.source
        if not q.memo(key, functools.partial(_is_sorted, labels, q)):
            continue

        # Neighbours in the ranking of equal score and unequal label; NaN differs from nothing.
        rows = np.repeat(starts, q.sizes) + ranking(s, q.offsets)
        label, score = labels[rows], s[rows]
        decided = (score == np.roll(score, 1)) & (np.abs(label - np.roll(label, 1)) > 0)
        decided[starts] = False
        n = int(np.logical_or.reduceat(decided, starts).sum())
        if n < max(LEAST, SHARE * q.n_queries):
            continue

        # Some measures average over ties.
        reverse = np.repeat(starts + q.offsets[1:] - 1, q.sizes) - np.arange(q.n_documents)
        here, reversed_rows = measure.mean(s, q), measure.mean(s[reverse], q.reordered(reverse))
        if abs(here - reversed_rows) > 1e-9:
            return (
                f"scores tie in {n:,} of {q.n_queries:,} queries, and rows stand in the order of {measure.source}: "
                f"{measure!r} is {here:.4f}, in the reverse order {reversed_rows:.4f}; shuffle the rows of each query "
                "by a seed, as Queries.shuffled_rows(seed) does"
            )
    return ""


def _is_sorted(labels: NDArray[np.float32], q: Queries) -> bool:
    """Whether labels fall, or rise, from nearly every row to the next of its query."""
    steps = np.diff(labels)
    steps = steps[np.diff(q.query_of_row) == 0]
    falls, rises = int((steps < 0).sum()), int((steps > 0).sum())
    return max(falls, rises) >= max(LEAST, SORTED * (falls + rises))
