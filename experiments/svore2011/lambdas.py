"""What pairs contribute to λ: whether two objectives agree, which grades push, and the cost of a pair."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.svore2011.top_ranks import n_grades
from lambdaboost import (
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    Scorecard,
    SigmoidLocal,
)
from lambdaboost.objectives import Objective
from lambdaboost.objectives.kernels.levels import levels_of
from lambdaboost.objectives.schedules import weight_at

RELEVANCE = "relevance"
OF_PAIRS = (RankNet, LambdaRank, SigmoidLocal, ClickTier)
Floats = NDArray[np.float64]
Parts = list[tuple[float, Objective]]


def lambda_agreement(
    first: Objective, second: Objective, scores: ArrayLike, q: Queries, iteration: int = 0
) -> float:
    """Share of documents whose two λ have the same sign, or whose second λ is 0 (2011 paper, §4.2 and fig. 2).

    A document agrees if the signs are equal or its λ under `second` is 0; the share is in [0, 1], over all documents.
    `iteration` is the boosting round, from 0, for objectives with a schedule.

    Examples
    --------
    >>> from lambdaboost import ClickTier, LambdaRank, Queries
    >>> q = Queries([1, 1, 0], sizes=[3], clicks=[0.2, 0.4, 0.9])  # the first: up by its grade, down by its clicks
    >>> round(lambda_agreement(LambdaRank(), ClickTier(), [0.0, 0.0, 0.0], q), 4)
    0.6667

    """
    one, two = (np.sign(objective.gradient(scores, q, iteration)[0]) for objective in (first, second))
    return float(np.mean((one == two) | (two == 0)))


def lambda_share_by_grade(
    objective: Objective, scores: ArrayLike, q: Queries, grades: Iterable[int] = (3, 4), iteration: int = 0
) -> Floats:
    r"""Shares of partners of each grade in the λ of highly relevant documents (2011 paper, eq. 11, fig. 3a).

    .. math:: \frac{1}{H} \sum_{j:\, l_j \in \mathrm{grades}}
        \frac{|\sum_{k:\, l_k = v} \lambda_{jk}|}{\sum_u |\sum_{k:\, l_k = u} \lambda_{jk}|}

    for each grade v, with H the number of documents j of these grades. All :math:`\lambda_{jk}` of one v have the same
    sign if pairs are formed by grade, so a numerator is also the sum of their absolute values. A document without λ is
    left out, also from H.

    `objective` is a sum over pairs (`pair_parts`), `grades` are those of the highly relevant documents; documents
    without a grade (NaN) are in no share. For each grade v from 0 to the highest in `q` the share, float64 (n_grades,),
    summing to 1; NaN if no such document has λ.

    Examples
    --------
    >>> from lambdaboost import Queries, RankNet
    >>> lambda_share_by_grade(RankNet(), [0.0] * 4, Queries([3, 0, 0, 1], sizes=[4])).round(4)
    array([0.6667, 0.3333, 0.    , 0.    ])

    """
    parts = pair_parts(objective, iteration)
    s, high = q.scores(scores), high_grades(grades, q)
    pull = np.zeros((q.n_documents, n_grades(q)))
    pairs = [pair for pair in combinations_with_replacement(_grades_of(q), 2) if set(pair) & set(high)]
    for a, b in sorted(pairs, key=lambda pair: pair[0] != pair[1]):  # equal grades first
        lam = np.zeros(q.n_documents)
        for weight, leaf in parts:
            # Only other sources pair documents of one grade.
            if weight > 0 and (a != b or leaf.sources != (RELEVANCE,)):
                lam += weight * leaf.lambdas(s, _only_pairs_of(q, a, b, leaf), iteration)[0]
        for grade, partner in {(a, b), (b, a)}:
            rows = q.relevance == grade
            pull[rows, partner] = lam[rows] - (pull[rows, grade] if partner != grade else 0)
    pull = np.abs(pull[np.isin(q.relevance, high)])
    total = pull.sum(axis=1)
    if not (total > 0).any():
        return np.full(pull.shape[1], np.nan)
    return (pull[total > 0] / total[total > 0, None]).mean(axis=0)


def high_grades(grades: Iterable[int], q: Queries) -> list[int]:
    """Those of `grades` that occur in `q`, ascending; raises if there are none."""
    wanted, highest = set(grades), n_grades(q) - 1
    there = [grade for grade in _grades_of(q) if grade in wanted]
    if not there:
        raise ValueError(f"grades is {sorted(wanted)}: give grades that documents have, up to {highest}")
    return there


def _grades_of(q: Queries) -> list[int]:
    return np.unique(q.relevance[~np.isnan(q.relevance)]).astype(int).tolist()


def _only_pairs_of(q: Queries, a: int, b: int, leaf: Objective) -> Queries:
    """The same ranks and ideals, with levels of documents of grades a and b only, so that no other pairs exist."""
    source, *within = leaf.sources
    same, masked = q.memo(
        ("pairs of grades", a, b), lambda: (q.take(np.arange(q.n_queries)), _masked(q, a, b))
    )
    for skip_zero in (False, True):
        key = source, tuple(within), skip_zero
        same.memo(("levels", *key), lambda key=key: levels_of(masked, *key))
    return same


def _masked(q: Queries, a: int, b: int) -> Queries:
    """The same queries with only the labels of documents of grades a and b."""
    kept = (q.relevance == a) | (q.relevance == b)
    labels = {name: np.where(kept, values, np.nan) for name, values in q.labels.items()}
    return Queries(labels.pop(RELEVANCE), q.sizes, position=q.positions, **labels)


def cost_derivatives(differences: ArrayLike, objective: RankNet | LambdaRank | SigmoidLocal) -> Floats:
    r"""Size of :math:`\partial O/\partial o` for a pair, unweighted by its swap (2011 paper, eqs. 3 and 14, fig. 5).

    For `RankNet` and `LambdaRank` σ/(1 + e^{σo}), for `SigmoidLocal` e^{o+c}/(1 + e^{o+c})².

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
    lam, _ = objective.lambdas(scores, Queries(np.tile([1.0, 0.0], o.size), np.full(o.size, 2)), 0)
    if isinstance(objective, RankNet):
        return lam[::2].astype(np.float64)
    pair, measure = Queries([1, 0], sizes=[2]), objective.metric
    swap = measure([1.0, 0.0], pair) - measure([0.0, 1.0], pair)
    return np.asarray(lam[::2] / swap, dtype=np.float64)


def pair_parts(objective: Objective, iteration: int = 0) -> Parts:
    """The pairwise objectives whose weighted sum of λ equals that of `objective` at a round.

    A `GradientStep` is replaced by the objective that it normalises: shares within a query are the same. A TypeError
    for what is not a sum over pairs.
    """
    if isinstance(objective, GradientStep):
        return pair_parts(objective.objective, iteration)
    weights: list[float] = []
    if isinstance(objective, Blend):
        w = objective.weight
        w = weight_at(w, iteration) if callable(w) else w
        weights = [1 - w, w]
    if isinstance(objective, Scorecard):
        weights = [weight_at(w, iteration) if callable(w) else w for w in objective.weights]
    if weights:
        weighted = zip(weights, objective.parts, strict=True)
        return [(w * inner, leaf) for w, part in weighted for inner, leaf in pair_parts(part, iteration)]
    if isinstance(objective, OF_PAIRS):
        return [(1.0, objective)]
    raise TypeError(f"{objective!r} is not a plain sum over pairs")
