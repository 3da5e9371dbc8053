"""What pairs contribute to λ: whether two objectives agree, which grades push, and the cost of a pair."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.svore2011.top_ranks import n_grades
from lambdaboost import LambdaRank, Queries, SigmoidLocal
from lambdaboost.evaluation.rankings import ranking
from lambdaboost.objectives import Objective

Floats = NDArray[np.float64]


def lambda_agreement(first: Objective, second: Objective, scores: ArrayLike, q: Queries) -> float:
    """Share of documents whose two λ have the same sign, or whose second λ is 0 (2011 paper, §4.2 and fig. 2).

    A document agrees if the signs are equal or its λ under `second` is 0; the share is in [0, 1], over all documents.

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, Queries
    >>> q = Queries([1, 1, 0], sizes=[3], clicks=[0.2, 0.4, 0.9])  # the first: up by its grade, down by its clicks
    >>> round(lambda_agreement(LambdaRank(), ClickTier(), [0.0, 0.0, 0.0], q), 4)
    0.6667

    """
    one, two = (np.sign(objective.gradient(scores, q)[0]) for objective in (first, second))
    return float(np.mean((one == two) | (two == 0)))


def lambda_share_by_grade(scores: ArrayLike, q: Queries, grades: Iterable[int] = (3, 4)) -> Floats:
    r"""Shares of partners of each grade in λL of highly relevant documents (2011 paper, eq. 11, fig. 3a).

    .. math:: \frac{1}{H} \sum_{j:\, l_j \in \mathrm{grades}}
        \frac{|\sum_{k:\, l_k = v} \lambda_{jk}|}{\sum_u |\sum_{k:\, l_k = u} \lambda_{jk}|}

    for each grade v, with :math:`\lambda_{jk}` those of ``LambdaRank()`` and H the number of documents j of these
    grades. All :math:`\lambda_{jk}` of one v have the same sign, so a numerator is also the sum of their absolute
    values. A document without λ is left out, also from H.

    `grades` are those of the highly relevant documents; documents without a grade (NaN) are in no share. For each grade
    v from 0 to the highest in `q` the share, float64 (n_grades,), summing to 1; NaN if no such document has λ.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> third, second = 7 * (1 - 1 / 2), 6 * (1 - 1 / np.log2(3))  # gains of the first above theirs, times discounts
    >>> float(round(third / (third + second), 4))
    0.6125
    >>> lambda_share_by_grade([0.0] * 3, Queries([3, 1, 0], sizes=[3])).round(4)
    array([0.6125, 0.3875, 0.    , 0.    ])

    """
    s, pull = q.scores(scores), []
    order, levels = ranking(s, q.offsets), np.arange(n_grades(q))
    for a, b in zip(q.offsets[:-1], q.offsets[1:], strict=True):
        discount, label = np.empty(b - a), q.relevance[a:b].astype(np.float64)
        discount[order[a:b]] = by_rank = 1 / np.log2(2.0 + np.arange(b - a))
        gain = 2.0 ** np.nan_to_num(label) - 1
        ideal = np.sort(gain)[::-1] @ by_rank
        high = np.flatnonzero(np.isin(label, list(grades)))
        # Of each highly relevant document with every other one; no pair without a label, or of one grade.
        side = np.nan_to_num(np.sign(label[high, None] - label))
        swap = np.abs((gain[high, None] - gain) * (discount[high, None] - discount)) / (ideal or 1.0)
        size = np.abs(side) * swap / (1 + np.exp(side * (s[a:b][high, None] - s[a:b])))
        pull.append(size @ (label[:, None] == levels))
    of_partners = np.concatenate(pull)
    total = of_partners.sum(axis=1)
    if not (total > 0).any():
        return np.full(levels.size, np.nan)
    return (of_partners[total > 0] / total[total > 0, None]).mean(axis=0)


def cost_derivatives(differences: ArrayLike, objective: LambdaRank | SigmoidLocal) -> Floats:
    r"""Size of :math:`\partial O/\partial o` for a pair, unweighted by its swap (2011 paper, eqs. 3 and 14, fig. 5).

    For `LambdaRank` σ/(1 + e^{σo}), for `SigmoidLocal` e^{o+c}/(1 + e^{o+c})².

    `differences`, (n,), are the o = s_i − s_j of pairs in which i should rank above j: negative if the order is wrong.
    Returns float64 (n,).

    Examples
    --------
    >>> from lambdaboost import LambdaRank, SigmoidLocal
    >>> cost_derivatives([-2.0, 0.0, 2.0], LambdaRank()).round(3)
    array([0.881, 0.5  , 0.119])
    >>> cost_derivatives([-2.0, 0.0, 2.0], SigmoidLocal()).round(3)
    array([0.105, 0.25 , 0.105])

    """
    o = np.asarray(differences, dtype=np.float64)
    scores = np.stack([o, np.zeros(o.size)], axis=1).ravel()
    lam, _ = objective.on(Queries(np.tile([1.0, 0.0], o.size), np.full(o.size, 2)))(scores)
    pair = Queries([1, 0], sizes=[2])
    swap = objective.metric([1.0, 0.0], pair) - objective.metric([0.0, 1.0], pair)
    return np.asarray(lam[::2] / swap, dtype=np.float64)
