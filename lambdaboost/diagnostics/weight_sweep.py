"""`weight_sweep`: a measure against one shifted weight of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.diagnostics._model_weights import weights_of
from lambdaboost.diagnostics._watched import watched
from lambdaboost.diagnostics._weights import Weights
from lambdaboost.evaluation import NDCG, Measure, _checks

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
SIZES = (100, 1_000, 10_000)  # the paper's


@dataclass(frozen=True, eq=False, repr=False)
class WeightSweep:
    """What `weight_sweep` found.

    Attributes
    ----------
    measure : Measure
        What was measured.
    sizes : int64 (n_sizes,)
        How many queries each mean is over; each set holds every smaller one.
    weights : tuple of str, (n_weights,)
        Names of the weights that were shifted.
    trained : float64 (n_weights,)
        Their trained values.
    shifts : float64 (n_shifts,)
        Shifts in parts of the trained weight: 0.1 is 10 % more of it.
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
        """The shift at which each curve is highest, (n_sizes, n_weights); among equals the smallest.

        Near 0 where the trained weight stands at a local optimum of the measure.
        """
        by_size = np.argsort(np.abs(self.shifts), kind="stable")
        return self.shifts[by_size[np.argmax(self.values[:, :, by_size], axis=2)]]

    @property
    def roughness(self) -> Floats:
        r"""How much each curve goes up and down for what it achieves, (n_sizes, n_weights).

        The way up and down along the curve, :math:`\sum |M_{t+1} - M_t|`, over that of one which only climbs to the
        same peak and falls to the same ends: 1 for a single smooth hill. A level curve is NaN.
        """
        way = np.abs(np.diff(self.values, axis=2)).sum(axis=2)
        least = 2 * self.values.max(axis=2) - self.values[:, :, 0] - self.values[:, :, -1]
        return np.divide(way, least, where=least > 0, out=np.full(way.shape, np.nan))

    def frame(self) -> pd.DataFrame:
        """One row a figure: queries, weight, trained, shift, and the measure by its repr."""
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
    """A measure while one weight of a model moves and all others stay (Yue and Burges 2007, figs. 2 and 3).

    For a single query a measure of ranks is a staircase. The more queries it is averaged over, the smoother it gets;
    and where the model is at a local optimum of it, every curve has its peak at shift 0. The model is only read.

    Parameters
    ----------
    model : linear model with ``coef_``, LightGBM or XGBoost booster or ranker
        Its weights are the coefficients (of ``booster="gblinear"`` too), or the leaf values of all its trees.
    X : array, CSR matrix or DataFrame of shape (n_documents, n_features)
        Features, as the paper does it those of the training data.
    q : Queries
        Their queries and labels.
    measure : Measure
        What to measure.
    weights : int or sequence of int
        The weights to shift, by index, a booster's leaves counted through all trees; or how many of the largest by
        absolute value, as in the paper, less those that move no score. Features of like scale make them comparable.
    shifts : array of shape (n_shifts,), optional
        In parts of the trained weight, by default 101 from −1 (none of it left) to 1 (twice as much).
    sizes : iterable of int, optional
        Numbers of queries, by default 100, 1,000 and 10,000 as far as there are so many; of fewer than 100 all.
    seed : int
        Draws the queries.

    Returns
    -------
    WeightSweep

    Raises
    ------
    TypeError, ValueError
        Where the model offers no weights, a weight is not there or 0, or another argument is off.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from lambdaboost import NDCG, Queries
    >>> model = SimpleNamespace(coef_=np.array([1.0, 0.5]))
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> found = weight_sweep(model, X, Queries([1, 2, 0], sizes=[3]), NDCG(1), weights=[1], shifts=[0, 0.5, 1.5])
    >>> found.values.round(2)  # the second document overtakes the first, graded 1, when it weighs more than 1
    array([[[0.33, 0.33, 1.  ]]])

    """
    if not isinstance(measure, Measure):
        raise TypeError(f"measure is {measure!r}: give a measure, such as NDCG(10)")
    t = _checked_shifts(shifts)
    of_model = weights_of(model, X, q)
    q.source(measure.source)
    chosen = _chosen(of_model, weights)
    counts = _checked_sizes(sizes, q.n_queries)
    drawn = np.random.default_rng(seed).permutation(q.n_queries)[: counts[-1]]
    drawn_q, rows = q.take(drawn), q.rows_of(drawn)
    values = np.empty((counts.size, chosen.size, t.size))
    steps = ((w, at) for w in range(chosen.size) for at in range(t.size))
    moved = np.empty(0)
    for w, at in watched(steps, chosen.size * t.size, f"{measure!r} of shifted weights"):
        if at == 0:
            moved = of_model.trained[chosen[w]] * of_model.moves_of(int(chosen[w]))[rows]
        values[:, w, at] = _means(measure, of_model.scores[rows] + t[at] * moved, drawn_q, counts)
    names = tuple(of_model.names[w] for w in chosen)
    return WeightSweep(measure, counts, names, of_model.trained[chosen], t, values)


def _means(measure: Measure, scores: Floats, q: Queries, counts: NDArray[np.int64]) -> Floats:
    """The mean over the first so many queries, weighted, less those that are NaN, (n_sizes,)."""
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
            f"shifts is {shifts!r}: give finite parts of the trained weight, ascending, such as [-0.1, 0, 0.1]"
        )
    return t


def _checked_sizes(sizes: Iterable[int] | None, n_queries: int) -> NDArray[np.int64]:
    if sizes is None:
        return np.array([n for n in SIZES if n <= n_queries] or [n_queries])
    counts = [_checks.whole("sizes", n, "give numbers of queries ≥ 1, such as (100, 1000)") for n in sizes]
    if not counts or sorted(set(counts)) != counts:
        raise ValueError(f"sizes is {counts}: give at least one number of queries, ascending, each once")
    if counts[-1] > n_queries:
        raise ValueError(f"sizes has {counts[-1]}, but q has {n_queries} queries: give numbers up to that")
    return np.array(counts)


def _chosen(of_model: Weights, weights: int | Sequence[int]) -> NDArray[np.int64]:
    """Indices of the weights to shift."""
    n = of_model.trained.size
    if isinstance(weights, int | np.integer):
        most = _checks.whole("weights", weights, "give how many to shift, ≥ 1, or their indices")
        size = np.where(of_model.moving, np.abs(of_model.trained), 0.0)
        found = np.argsort(-size, kind="stable")[:most]
        found = found[size[found] > 0]
        if not found.size:
            raise ValueError("model has no weight that moves a score: all are 0 or the features are constant")
        return found
    chosen = np.array(list(weights))
    if not chosen.size or not np.issubdtype(chosen.dtype, np.integer):
        raise TypeError(f"weights is {weights!r}: give how many to shift, or their indices as whole numbers")
    for w in chosen:
        if not 0 <= w < n:
            raise ValueError(f"weights has {w}: the model's {n} weights are counted from 0")
        if of_model.trained[w] == 0:
            raise ValueError(f"weights has {w}, which is 0, so no part of it is a shift: choose others")
    return chosen
