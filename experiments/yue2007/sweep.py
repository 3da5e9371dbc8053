"""`weight_sweep`: a measure as a function of one shifted weight of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.yue2007.weights import Floats, Weights, weights_of
from lambdaboost import Queries
from lambdaboost.evaluation import NDCG, Measure

SIZES = (100, 1_000, 10_000)  # the paper's
SHIFTS = np.linspace(-1, 1, 101)  # from a weight of 0 to a doubled one


@dataclass(frozen=True, eq=False)
class WeightSweep:
    """The result of `weight_sweep`.

    Attributes
    ----------
    measure : Measure
        The measure.
    sizes : int64 (n_sizes,)
        Number of queries of each mean; each set contains every smaller one.
    weights : tuple of str, (n_weights,)
        Names of the shifted weights.
    shifts : float64 (n_shifts,)
        Shifts relative to the trained weight: 0.1 is an increase of 10 %.
    values : float64 (n_sizes, n_weights, n_shifts)
        The mean measure.

    """

    measure: Measure
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
    model: Any,
    X: Any,
    q: Queries,
    measure: Measure = NDCG(10),
    weights: int = 5,
    shifts: ArrayLike = SHIFTS,
    sizes: Sequence[int] | None = None,
    seed: int = 0,
) -> WeightSweep:
    """A measure as one weight of a model is shifted and all others are fixed (Yue and Burges 2007, figs. 2 and 3).

    For a single query a ranking measure is piecewise constant; averaged over more queries it becomes smoother. At a
    local optimum every curve has its maximum at shift 0. The model is not modified.

    Parameters
    ----------
    model, X
        What `weights_of` reads, and its features; in the paper those of the training data.
    q : Queries
        The queries and labels of X.
    measure : Measure
        The measure.
    weights : int
        The number of weights to shift, the largest by absolute value as in the paper, without those that change no
        score. Features of similar scale make weights comparable.
    shifts : array of shape (n_shifts,)
        Shifts relative to the trained weight, ascending.
    sizes : sequence of int, optional
        Numbers of queries, ascending; by default those of 100, 1,000 and 10,000 that `q` has, or all if it has fewer.
    seed : int
        Seed of the sampling of queries.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from lambdaboost import NDCG, Queries
    >>> model = SimpleNamespace(coef_=np.array([1.0, 1.5]))
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> found = weight_sweep(model, X, Queries([2, 1, 0], sizes=[3]), NDCG(1), weights=1, shifts=[-0.5, 0, 0.5])
    >>> found.values.round(2)  # the first document passes the second, of grade 1, once its weight exceeds theirs
    array([[[1.  , 0.33, 0.33]]])

    """
    of_model, t = weights_of(model, X), np.asarray(shifts, dtype=np.float64)
    chosen = _largest(of_model, weights)
    counts = np.array(sizes or [n for n in SIZES if n <= q.n_queries] or [q.n_queries])
    drawn = np.random.default_rng(seed).permutation(q.n_queries)[: counts[-1]]
    drawn_q, rows = q.take(drawn), q.rows_of(drawn)
    scores = of_model.scores[rows]
    values = np.empty((counts.size, chosen.size, t.size))
    for w, weight in enumerate(chosen):
        direction = np.zeros(of_model.trained.size)
        direction[weight] = 1
        moved = of_model.trained[weight] * of_model.moves(direction)[rows]
        for at, shift in enumerate(t):
            of_queries = measure.per_query(scores + shift * moved, drawn_q)
            values[:, w, at] = [np.nanmean(of_queries[:count]) for count in counts]
    return WeightSweep(measure, counts, tuple(of_model.names[w] for w in chosen), t, values)


def _largest(of_model: Weights, n: int) -> NDArray[np.int64]:
    """Indices of the n largest weights among those that change a score."""
    size = np.where(of_model.moving, np.abs(of_model.trained), 0.0)
    found = np.argsort(-size, kind="stable")[:n]
    found = found[size[found] > 0]
    if not found.size:
        raise ValueError("model has no weight that changes a score: all are 0 or the features are constant")
    return found
