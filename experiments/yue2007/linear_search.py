r"""Linear rankers, s = Xw, trained by gradient descent on the weights (Yue and Burges 2007).

A *cost* is any function of the weights. Like all functions here, it maps one model (n_features,) to a number, and
several models (n_features, n_models) to (n_models,) in one pass over the data.

>>> import numpy as np
>>> from lambdaboost.datasets import web_search_log
>>> X, q = web_search_log(queries=20, documents=30, seed=3)
>>> cost = in_weights(CrossEntropy(q), (X - X.mean(axis=0)) / X.std(axis=0))
>>> w, rng = np.zeros(X.shape[1]), np.random.default_rng(0)
>>> for k in range(100):
...     w -= 0.05 * rate_at(k, after=10) * spsa(cost, w, step_at(k, 0.01), draws=4, rng=rng)
>>> bool(cost(w) < cost(np.zeros_like(w)))
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective

Floats = NDArray[np.float64]
Cost = Callable[[Floats], Any]

ALPHA, GAMMA = 0.602, 0.101  # Spall's exponents (1998), which the 2007 paper takes


def finite_difference(cost: Cost, weights: ArrayLike, step: float) -> Floats:
    r"""The gradient of a cost by finite differences, with 2d evaluations (2007 paper, section 4, FDSA).

    .. math:: g_i = \frac{C(w + c\,e_i) - C(w - c\,e_i)}{2c}

    Parameters
    ----------
    cost : callable
        A function of weights (n_features, n_models) that returns (n_models,).
    weights : array of shape (n_features,)
        The weights of one model.
    step : float
        c > 0, in units of the weights.

    Returns
    -------
    float64 (n_features,)

    """
    w = np.asarray(weights, dtype=np.float64)
    moved = step * np.eye(w.size)
    return (np.asarray(cost(w[:, None] + moved)) - np.asarray(cost(w[:, None] - moved))) / (2 * step)


def spsa(cost: Cost, weights: ArrayLike, step: float, draws: int, rng: np.random.Generator) -> Floats:
    r"""The gradient of a cost by SPSA, with 2 evaluations per draw (2007 paper, section 4.1, SPSA:2·draws).

    .. math:: g_i = \frac{1}{\Delta_i} \cdot \frac{C(w + c\Delta) - C(w - c\Delta)}{2c}, \quad \Delta_i = \pm 1

    Parameters
    ----------
    cost : callable
        A function of weights of that shape that returns a number or (n_models,).
    weights : array of shape (n_features,) or (n_features, n_models)
        The weights; each model has its own draws.
    step : float
        c > 0, in units of the weights.
    draws : int
        Number of draws to average, ≥ 1.
    rng : numpy.random.Generator
        The random generator of Δ.

    Returns
    -------
    float64, the shape of `weights`

    """
    w = np.asarray(weights, dtype=np.float64)
    slope = np.zeros_like(w)
    for _ in range(draws):
        delta = 2.0 * rng.integers(0, 2, w.shape) - 1.0
        slope += (cost(w + step * delta) - cost(w - step * delta)) / (2 * step) / delta
    return slope / draws


def weight_gradient(
    objective: Objective, X: NDArray[np.floating], q: Queries, weights: ArrayLike, iteration: int = 0
) -> Floats:
    """An objective's gradient by the chain rule, Xᵀ·grad over the number of queries; the shape of `weights`."""
    scores = X @ np.asarray(weights, dtype=np.float64)
    grads = [objective.gradient(s, q, iteration)[0] for s in np.atleast_2d(scores.T)]
    return (X.T @ np.asarray(grads, dtype=np.float64).T / q.n_queries).reshape(np.shape(weights))


def rate_at(k: int, after: float) -> float:
    """Spall's :math:`1/(A + k + 1)^{0.602}` of iteration k from 0; he advises a tenth of the iterations for A."""
    return 1 / (after + k + 1) ** ALPHA


def step_at(k: int, step: float) -> float:
    """Spall's :math:`c/(k + 1)^{0.101}`, the step of the approximation of a gradient at iteration k from 0."""
    return step / (k + 1) ** GAMMA


def in_weights(cost_of_scores: Cost, X: NDArray[np.floating]) -> Cost:
    """Turn a cost of the scores into a cost of the weights."""
    return lambda weights: cost_of_scores(X @ weights)


class CrossEntropy:
    r"""RankNet's cost of scores, the mean of :math:`\log(1 + e^{-(s_i - s_j)})` over all pairs with :math:`l_i > l_j`.

    Takes scores (n_documents,) or (n_documents, n_models).
    """

    def __init__(self, q: Queries) -> None:
        pairs = []
        for a, b in zip(q.offsets[:-1], q.offsets[1:], strict=True):
            label = q.relevance[a:b]
            pairs.append(a + np.array(np.nonzero(label[:, None] > label)))
        self.better, self.worse = np.concatenate(pairs, axis=1)
        self.n_pairs = self.better.size

    def __call__(self, scores: Floats) -> Any:
        """The cost, (n_models,) or a number."""
        # log(E_i + E_j) − s_i takes one logarithm a pair, where no exponential overflows.
        if np.abs(scores).max() < 300:
            e = np.exp(scores)
            terms = np.log(e[self.better] + e[self.worse])
        else:
            terms = np.logaddexp(scores[self.better], scores[self.worse])
        return terms.mean(axis=0) - scores[self.better].mean(axis=0)


def shortfall(metric: Measure, q: Queries) -> Cost:
    """One minus the mean of a measure over queries: a cost of scores (n_documents,) or (n_documents, n_models)."""

    def cost(scores: Floats) -> Any:
        columns = map(np.ascontiguousarray, np.atleast_2d(scores.T))
        means = np.array([metric.per_query(s, q).mean() for s in columns])
        return 1.0 - (means if scores.ndim == 2 else means[0])

    return cost
