"""`weight_sweep`: a measure as a function of one shifted weight of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.yue2007.weights import Floats, Weights
from lambdaboost import Queries
from lambdaboost.evaluation import Measure

SHIFTS = np.linspace(-1, 1, 101)  # from a weight of 0 to a doubled one


@dataclass(frozen=True, eq=False)
class WeightSweep:
    """The result of `weight_sweep`.

    Attributes
    ----------
    sizes : int64 (n_sizes,)
        Number of queries of each mean; each set contains every smaller one.
    weights : tuple of str, (n_weights,)
        Names of the shifted weights.
    shifts : float64 (n_shifts,)
        Shifts relative to the trained weight: 0.1 is an increase of 10 %.
    values : float64 (n_sizes, n_weights, n_shifts)
        The mean measure.

    """

    sizes: NDArray[np.int64]
    weights: tuple[str, ...]
    shifts: Floats
    values: Floats

    @property
    def roughness(self) -> Floats:
        r"""The total variation of each curve relative to that of a unimodal one, (n_sizes, n_weights).

        The total variation :math:`\sum |M_{t+1} - M_t|`, divided by that of a curve with the same ends and peak and no
        other extremum: 1 for a unimodal curve, NaN for a constant one.
        """
        way = np.abs(np.diff(self.values, axis=2)).sum(axis=2)
        least = 2 * self.values.max(axis=2) - self.values[:, :, 0] - self.values[:, :, -1]
        return np.divide(way, least, where=least > 0, out=np.full(way.shape, np.nan))


def weight_sweep(
    weights: Weights, q: Queries, measure: Measure, sizes: Sequence[int], shifts: ArrayLike = SHIFTS,
    largest: int = 5, seed: int = 0,
) -> WeightSweep:  # fmt: skip
    """A measure as one weight of a model is shifted and all others are fixed (Yue and Burges 2007, figs. 2 and 3).

    For a single query a ranking measure is piecewise constant; averaged over more queries it becomes smoother. At a
    local optimum every curve has its maximum at shift 0.

    Parameters
    ----------
    weights, q
        Of a model and its documents; in the paper those of the training data.
    measure : Measure
        The measure.
    sizes : sequence of int
        Numbers of queries, ascending.
    shifts : array of shape (n_shifts,)
        Shifts relative to the trained weight, ascending.
    largest : int
        The number of weights to shift, the largest by absolute value as in the paper, without those that change no
        score. Features of similar scale make weights comparable.
    seed : int
        Seed of the sampling of queries.

    Examples
    --------
    >>> from experiments.yue2007.weights import linear_weights
    >>> from lambdaboost import NDCG
    >>> weights = linear_weights([1.0, 1.5], np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    >>> found = weight_sweep(weights, Queries([2, 1, 0], sizes=[3]), NDCG(1), [1], [-0.5, 0, 0.5], largest=1)
    >>> found.values.round(2)  # the first document passes the second, of grade 1, once its weight exceeds theirs
    array([[[1.  , 0.33, 0.33]]])

    """
    size = np.where(weights.moving, np.abs(weights.trained), 0.0)
    chosen, t = np.argsort(-size, kind="stable")[:largest], np.asarray(shifts, dtype=np.float64)
    drawn = np.random.default_rng(seed).permutation(q.n_queries)[: sizes[-1]]
    drawn_q, rows = q.take(drawn), q.rows_of(drawn)
    scores = weights.scores[rows]
    values = np.empty((len(sizes), chosen.size, t.size))
    for w, weight in enumerate(chosen):
        alone = np.where(np.arange(size.size) == weight, weights.trained, 0.0)
        moved = weights.moves(alone)[rows]
        for at, shift in enumerate(t):
            of_queries = measure.per_query(scores + shift * moved, drawn_q)
            values[:, w, at] = [np.nanmean(of_queries[:count]) for count in sizes]
    return WeightSweep(np.array(sizes), tuple(weights.names[w] for w in chosen), t, values)
