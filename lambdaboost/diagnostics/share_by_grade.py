"""`lambda_share_by_grade`: how partners of each grade contribute to the λ of highly relevant documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.diagnostics.parts import pair_parts
from lambdaboost.diagnostics.top_ranks import n_grades
from lambdaboost.objectives import Objective
from lambdaboost.objectives.kernels.levels import levels

Floats = NDArray[np.float64]
Parts = list[tuple[float, Objective]]


def lambda_share_by_grade(
    objective: Objective, scores: ArrayLike, q: Queries, grades: Iterable[int] = (3, 4), iteration: int = 0
) -> Floats:
    r"""Shares of partners of each grade in the λ of highly relevant documents (2011 paper, eq. 11, fig. 3a).

    .. math:: \frac{1}{H} \sum_{j:\, l_j \in \mathrm{grades}}
        \frac{|\sum_{k:\, l_k = v} \lambda_{jk}|}{\sum_u |\sum_{k:\, l_k = u} \lambda_{jk}|}

    for each grade v, with H the number of documents j of these grades. All :math:`\lambda_{jk}` of one v have the same
    sign if pairs are formed by grade, so a numerator is also the sum of their absolute values. A document without λ is
    left out, also from H.

    Parameters
    ----------
    objective : Objective
        A sum over pairs: RankNet, LambdaRank, SigmoidLocal, ClickTier, or a Blend, Scorecard or GradientStep of them.
    scores : array of shape (n_documents,)
        Finite scores.
    q : Queries
        The documents and their grades, whole numbers; documents without a grade (NaN) are in no share.
    grades : iterable of int
        The grades of highly relevant documents.
    iteration : int
        The boosting round, from 0, for objectives with a schedule.

    Returns
    -------
    float64 (n_grades,)
        For each grade v from 0 to the highest in `q`, summing to 1; NaN if no such document has λ.

    Raises
    ------
    TypeError, ValueError
        If the objective is not a sum over pairs, a grade is not whole, or no document has one of `grades`.

    Examples
    --------
    >>> from lambdaboost import Queries, RankNet
    >>> lambda_share_by_grade(RankNet(), [0.0] * 4, Queries([3, 0, 0, 1], sizes=[4])).round(4)
    array([0.6667, 0.3333, 0.    , 0.    ])

    """
    parts = pair_parts(objective, iteration)
    if not isinstance(q, Queries):
        raise TypeError(f"q is {type(q).__name__}, expected lambdaboost.Queries(relevance, sizes=…)")
    s = q.scores(scores)
    high = high_grades(grades, q)
    pull = np.zeros((q.n_documents, n_grades(q)))
    for a, b in _grade_pairs(high, q, parts):
        lam = _lambdas_between(parts, a, b, s, q, iteration)
        for grade, partner in {(a, b), (b, a)}:
            rows = rows_of_grade(q, grade)
            pull[rows, partner] = lam[rows] - (pull[rows, grade] if partner != grade else 0)
    pull = np.abs(pull[np.concatenate([rows_of_grade(q, grade) for grade in high])])
    total = pull.sum(axis=1)
    if not (total > 0).any():
        return np.full(pull.shape[1], np.nan)
    return (pull[total > 0] / total[total > 0, None]).mean(axis=0)


def high_grades(grades: Iterable[int], q: Queries) -> list[int]:
    """Those of `grades` that occur in `q`, ascending; raises if there are none."""
    wanted = set(grades)
    there = [grade for grade in range(n_grades(q)) if grade in wanted and rows_of_grade(q, grade).size]
    if not there:
        raise ValueError(
            f"grades is {sorted(wanted)}: give grades that documents have, up to {n_grades(q) - 1}"
        )
    return there


def rows_of_grade(q: Queries, grade: int) -> NDArray[np.int64]:
    """The rows of one grade; cached in `q`."""
    return q.memo(("rows of grade", grade), lambda: np.flatnonzero(q.relevance == grade))


def _grade_pairs(high: list[int], q: Queries, parts: Parts) -> Iterator[tuple[int, int]]:
    """Pairs of grades a ≤ b with one of `high`; equal grades first, and only if a part pairs equal grades."""
    there = [grade for grade in range(n_grades(q)) if rows_of_grade(q, grade).size]
    by_grade = all(leaf.sources == (RELEVANCE,) for _, leaf in parts)
    pairs = [pair for pair in combinations_with_replacement(there, 2) if set(pair) & set(high)]
    if not by_grade:
        yield from (pair for pair in pairs if pair[0] == pair[1])
    yield from (pair for pair in pairs if pair[0] != pair[1])


def _lambdas_between(parts: Parts, a: int, b: int, scores: Floats, q: Queries, iteration: int) -> Floats:
    """λ of every document from the pairs of grades a and b only, with all ranks and ideals unchanged."""
    lam = np.zeros(q.n_documents)
    for weight, leaf in parts:
        if weight > 0:
            lam += weight * leaf.lambdas(scores, _only_pairs_of(q, a, b, leaf), iteration)[0]
    return lam


def _only_pairs_of(q: Queries, a: int, b: int, leaf: Objective) -> Queries:
    """The same queries with levels of documents of grades a and b only, so that no other pairs exist."""
    source, *within = leaf.sources
    same, masked = q.memo(
        ("pairs of grades", a, b), lambda: (q.take(np.arange(q.n_queries)), _masked(q, a, b))
    )
    for skip_zero in (False, True):
        key = source, tuple(within), skip_zero
        same.memo(("levels", *key), lambda key=key: levels(masked, *key))
    return same


def _masked(q: Queries, a: int, b: int) -> Queries:
    """The same queries with only the labels of documents of grades a and b."""
    kept = (q.relevance == a) | (q.relevance == b)
    labels = {name: np.where(kept, values, np.nan) for name, values in q.labels.items()}
    return Queries(labels.pop(RELEVANCE), q.sizes, position=q.positions, **labels)
