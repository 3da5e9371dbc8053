"""`weight_sweep`: a measure as a function of one shifted weight of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from experiments.optimality.model_weights import weights_of
from experiments.optimality.weights import Weights
from lambdaboost import Queries
from lambdaboost.evaluation import NDCG, Measure

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
SIZES = (100, 1_000, 10_000)  # the paper's


@dataclass(frozen=True, eq=False, repr=False)
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
    trained : float64 (n_weights,)
        Their trained values.
    shifts : float64 (n_shifts,)
        Shifts relative to the trained weight: 0.1 is an increase of 10 %.
    values : float64 (n_sizes, n_weights, n_shifts)
        The mean measure.

    """

    measure: Measure
    sizes: NDArray[np.int64]
    weights: tuple[str, ...]
    trained: Floats
    shifts: Floats
    values: Floats

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n:,}" for n in self.sizes)
        curves = f"{len(self.weights)} weights × {self.shifts.size} shifts"
        return f"WeightSweep({self.measure!r}, {curves}, {sizes} queries)"

    @property
    def best_shift(self) -> Floats:
        """The shift with the maximum of each curve, (n_sizes, n_weights); the smallest among ties.

        Near 0 if the trained weight is at a local optimum of the measure.
        """
        by_size = np.argsort(np.abs(self.shifts), kind="stable")
        return self.shifts[by_size[np.argmax(self.values[:, :, by_size], axis=2)]]

    @property
    def roughness(self) -> Floats:
        r"""The total variation of each curve relative to that of a unimodal one, (n_sizes, n_weights).

        The total variation :math:`\sum |M_{t+1} - M_t|`, divided by that of a curve with the same ends and peak and no
        other extremum: 1 for a unimodal curve, NaN for a constant one.
        """
        way = np.abs(np.diff(self.values, axis=2)).sum(axis=2)
        least = 2 * self.values.max(axis=2) - self.values[:, :, 0] - self.values[:, :, -1]
        return np.divide(way, least, where=least > 0, out=np.full(way.shape, np.nan))

    def frame(self) -> pd.DataFrame:
        """One row per value: queries, weight, trained, shift, and the measure by its repr."""
        import pandas as pd

        sizes, weights, shifts = (axis.ravel() for axis in np.indices(self.values.shape))
        return pd.DataFrame(
            {
                "queries": self.sizes[sizes],
                "weight": np.array(self.weights)[weights],
                "trained": self.trained[weights],
                "shift": self.shifts[shifts],
                repr(self.measure): self.values.ravel(),
            }
        )


def weight_sweep(
    model: Any,
    X: Any,
    q: Queries,
    measure: Measure = NDCG(10),
    weights: int | Sequence[int] = 5,
    shifts: ArrayLike | None = None,
    sizes: Iterable[int] | None = None,
    seed: int = 0,
) -> WeightSweep:
    """A measure as one weight of a model is shifted and all others are fixed (Yue and Burges 2007, figs. 2 and 3).

    For a single query a ranking measure is piecewise constant; averaged over more queries it becomes smoother. At a
    local optimum every curve has its maximum at shift 0. The model is not modified.

    Parameters
    ----------
    model : linear model with ``coef_``, LightGBM or XGBoost booster or ranker
        Its weights are the coefficients (of ``booster="gblinear"`` too), or the leaf values of all its trees.
    X : array, CSR matrix or DataFrame of shape (n_documents, n_features)
        Features; in the paper those of the training data.
    q : Queries
        Their queries and labels.
    measure : Measure
        The measure.
    weights : int or sequence of int
        Indices of the weights to shift, with a booster's leaves numbered through all trees; or the number of weights,
        the largest by absolute value as in the paper, without those that change no score. Features of similar scale
        make weights comparable.
    shifts : array of shape (n_shifts,), optional
        Shifts relative to the trained weight; by default 101 from −1 (weight 0) to 1 (doubled).
    sizes : iterable of int, optional
        Numbers of queries; by default those of 100, 1,000 and 10,000 that `q` has, or all if it has fewer than 100.
    seed : int
        Seed of the sampling of queries.

    Returns
    -------
    WeightSweep

    Raises
    ------
    TypeError, ValueError
        If the model has no readable weights, a weight does not exist or is 0, or another argument is invalid.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from lambdaboost import NDCG, Queries
    >>> model = SimpleNamespace(coef_=np.array([1.0, 0.5]))
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> found = weight_sweep(model, X, Queries([1, 2, 0], sizes=[3]), NDCG(1), weights=[1], shifts=[0, 0.5, 1.5])
    >>> found.values.round(2)  # the second document passes the first, of grade 1, once its weight exceeds 1
    array([[[0.33, 0.33, 1.  ]]])

    """
    if not isinstance(measure, Measure):
        raise TypeError(f"measure is {measure!r}: give a measure, such as NDCG(10)")
    t = _checked_shifts(shifts)
    of_model = weights_of(model, X, q)
    chosen = _chosen(of_model, weights)
    counts = _checked_sizes(sizes, q.n_queries)
    drawn = np.random.default_rng(seed).permutation(q.n_queries)[: counts[-1]]
    drawn_q, rows = q.take(drawn), q.rows_of(drawn)
    values = np.empty((counts.size, chosen.size, t.size))
    for w, weight in enumerate(chosen):
        moved = of_model.trained[weight] * of_model.moves_of(int(weight))[rows]
        for at, shift in enumerate(t):
            values[:, w, at] = _means(measure, of_model.scores[rows] + shift * moved, drawn_q, counts)
    names = tuple(of_model.names[w] for w in chosen)
    return WeightSweep(measure, counts, names, of_model.trained[chosen], t, values)


def _means(measure: Measure, scores: Floats, q: Queries, counts: NDArray[np.int64]) -> Floats:
    """The weighted means over the first `counts` queries, without NaN, (n_sizes,)."""
    values = measure.per_query(scores, q)
    weight = np.where(np.isnan(values), 0.0, q.query_weight)
    total = np.cumsum(weight)[counts - 1]
    sums = np.cumsum(weight * np.nan_to_num(values))[counts - 1]
    return np.divide(sums, total, where=total > 0, out=np.full(counts.size, np.nan))


def _checked_shifts(shifts: ArrayLike | None) -> Floats:
    if shifts is None:
        return np.linspace(-1, 1, 101)
    t = np.array(shifts, dtype=np.float64)
    if t.ndim != 1 or not t.size or not np.isfinite(t).all() or (np.diff(t) <= 0).any():
        raise ValueError(
            f"shifts is {shifts!r}: give finite relative shifts of the weight, ascending, such as [-0.1, 0, 0.1]"
        )
    return t


def _checked_sizes(sizes: Iterable[int] | None, n_queries: int) -> NDArray[np.int64]:
    if sizes is None:
        return np.array([n for n in SIZES if n <= n_queries] or [n_queries])
    counts = list(sizes)
    if not counts or sorted({*counts, 1}) not in (counts, [1, *counts]) or counts[-1] > n_queries:
        raise ValueError(
            f"sizes is {counts}: give numbers of queries from 1 to {n_queries}, strictly ascending"
        )
    return np.array(counts)


def _chosen(of_model: Weights, weights: int | Sequence[int]) -> NDArray[np.int64]:
    """Indices of the weights to shift."""
    n = of_model.trained.size
    if isinstance(weights, int | np.integer):
        size = np.where(of_model.moving, np.abs(of_model.trained), 0.0)
        found = np.argsort(-size, kind="stable")[:weights]
        found = found[size[found] > 0]
        if not found.size:
            raise ValueError(
                "model has no weight that changes a score: all are 0 or the features are constant"
            )
        return found
    chosen = np.array(list(weights))
    if not chosen.size or not np.issubdtype(chosen.dtype, np.integer):
        raise TypeError(f"weights is {weights!r}: give the number of weights to shift, or their indices")
    for w in chosen:
        if not 0 <= w < n:
            raise ValueError(f"weights has {w}: give indices from 0 to {n - 1}")
        if of_model.trained[w] == 0:
            raise ValueError(
                f"weights has {w}, whose value is 0, so relative shifts are undefined: choose others"
            )
    return chosen
