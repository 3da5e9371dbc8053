"""`cost_derivatives`: the derivative of an objective's pair cost by score difference."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.diagnostics.parts import pair_parts
from lambdaboost.objectives import Objective


def cost_derivatives(differences: ArrayLike, objective: Objective, iteration: int = 0) -> NDArray[np.float64]:
    r"""Size of :math:`\partial O/\partial o` for a pair, unweighted by its swap (2011 paper, eqs. 3 and 14, fig. 5).

    For `RankNet` and `LambdaRank` σ/(1 + e^{σo}), for `SigmoidLocal` e^{o+c}/(1 + e^{o+c})².

    `differences`, (n,), are the o = s_i − s_j of pairs in which i should rank above j: negative if the order is wrong.
    `objective` is a sum over pairs: RankNet, LambdaRank, SigmoidLocal, ClickTier, or a Blend, Scorecard or GradientStep
    of them (before its normalisation), at the boosting round `iteration`, from 0. Returns float64 (n,).

    Raises
    ------
    TypeError, ValueError
        If the objective is not a sum over pairs, its measure does not distinguish grades 1 and 0, or a difference is
        not finite.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, SigmoidLocal
    >>> cost_derivatives([-2.0, 0.0, 2.0], LambdaRank()).round(3)
    array([0.881, 0.5  , 0.119])
    >>> cost_derivatives([-2.0, 0.0, 2.0], SigmoidLocal()).round(3)
    array([0.105, 0.25 , 0.105])

    """
    o = np.asarray(differences, dtype=np.float64)
    if o.ndim != 1 or not o.size or not np.isfinite(o).all():
        raise ValueError(f"differences is {differences!r}: give one dimension of finite score differences")
    scores = np.stack([o, np.zeros(o.size)], axis=1).ravel()
    total = np.zeros(o.size)
    for weight, leaf in pair_parts(objective, iteration):
        lam, _ = leaf.lambdas(scores, _lone_pairs(leaf, o.size), iteration)
        total += weight * lam[::2] / _swap(leaf)
    return total


def _lone_pairs(leaf: Objective, n: int) -> Queries:
    """Queries of two documents, of which the first should rank on top."""
    source, *within = leaf.sources
    labels = {RELEVANCE: np.ones(2 * n)} | {name: np.ones(2 * n) for name in within}
    # A tier ignores documents labelled 0.
    labels[source] = np.tile([1.0, 0.5] if within or source != RELEVANCE else [1.0, 0.0], n)
    return Queries(labels.pop(RELEVANCE), np.full(n, 2), **labels)


def _swap(leaf: Objective) -> float:
    """The change of the objective's measure when the two are swapped; 1 if it has no measure."""
    metric = getattr(leaf, "metric", None)
    if metric is None:
        return 1.0
    pair = _lone_pairs(leaf, 1)
    worth = float(abs(metric.per_query([1.0, 0.0], pair) - metric.per_query([0.0, 1.0], pair))[0])
    if not worth > 0:
        raise ValueError(
            f"objective contains {leaf!r}, whose measure does not distinguish grade 1 from 0: lower its threshold"
        )
    return worth
