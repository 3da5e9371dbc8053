"""Figure 1: RankNet's cost by the number of its evaluations, for finite differences and SPSA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.common.data import nested_queries
from experiments.yue2007.linear_search import (
    Cost,
    CrossEntropy,
    finite_difference,
    in_weights,
    rate_at,
    spsa,
    step_at,
    weight_gradient,
)
from experiments.yue2007.parts import Floats, Part
from lambdaboost import Queries, RankNet

FDSA = "FDSA"
DRAWS = {"SPSA:2": 1, "SPSA:4": 2, "SPSA:8": 4}
METHODS = (FDSA, *DRAWS)
RATES = {FDSA: (0.1, 0.3, 1.0, 3.0, 10.0), **dict.fromkeys(DRAWS, (0.03, 0.1, 0.3, 1.0))}
STEP = 0.01  # c, the first step in each weight
PILOTS = 2  # pilot runs per rate; those of SPSA take a quarter of the evaluations
POINTS = 60  # per curve
AFTER = 0.1  # A, relative to the number of iterations


@dataclass(frozen=True, eq=False)
class Convergence:
    """The data of Figure 1.

    Attributes
    ----------
    evaluations : dict of int64 (n_points,)
        Number of evaluations of the cost, by method.
    costs : dict of float64 (n_points, n_runs)
        The mean pairwise cross entropy after these evaluations.
    rates : dict of float
        The learning rate selected by the pilot runs.
    likeness : float
        The largest difference between the finite-difference gradient and the closed form, over the largest slope.
    queries, pairs : int
        Numbers of training queries and of their pairs.

    """

    evaluations: dict[str, NDArray[np.int64]]
    costs: dict[str, Floats]
    rates: dict[str, float]
    likeness: float
    queries: int
    pairs: int

    def cost_at(self, method: str, share: float) -> Floats:
        """The cost of each run at the last point within a share of FDSA's evaluations."""
        most = share * self.evaluations[FDSA][-1]
        at = np.searchsorted(self.evaluations[method], most, side="right") - 1
        return np.asarray(self.costs[method][at])


def converge(train: Part, queries: int, iterations: int, runs: int, seed: int) -> Convergence:
    """Descend by each method, with the number of cost evaluations of `iterations` iterations of FDSA."""
    X, q = _some(train, queries, seed)
    entropy = CrossEntropy(q)
    search = _Search(X.shape[1], in_weights(entropy, X), _closed_form(X, q, entropy), seed)
    start = search.starts(1)[:, 0]
    slope = finite_difference(search.cost, start, STEP)
    exact = search.closed_form(start)
    evaluations, costs, rates = {}, {}, {}
    for method in METHODS:
        rates[method] = search.pilot(method, iterations)
        many = np.full(runs, rates[method])
        evaluations[method], costs[method] = search.descend(method, many, iterations)
    likeness = float(np.abs(slope - exact).max() / np.abs(exact).max())
    return Convergence(evaluations, costs, rates, likeness, q.n_queries, entropy.n_pairs)


def _some(train: Part, queries: int, seed: int) -> Part:
    X, q = train
    chosen = nested_queries(q.n_queries, min(1.0, queries / q.n_queries), seed)
    return X[q.rows_of(chosen)], q.take(chosen)


def _closed_form(X: Floats, q: Queries, entropy: CrossEntropy) -> Callable[[Floats], Floats]:
    scale = q.n_queries / entropy.n_pairs
    return lambda weights: scale * weight_gradient(RankNet(), X, q, weights)


@dataclass(frozen=True, eq=False)
class _Search:
    n_features: int
    cost: Cost
    closed_form: Callable[[Floats], Floats]
    seed: int

    def starts(self, runs: int) -> Floats:
        """Weights with scores of about unit spread, one column per run."""
        rng = np.random.default_rng((self.seed, 0))
        return rng.normal(size=(runs, self.n_features)).T / np.sqrt(self.n_features)

    def pilot(self, method: str, iterations: int) -> float:
        """The rate whose pilot runs end with the lowest cost."""
        rates = np.repeat(RATES[method], PILOTS)
        _, costs = self.descend(method, rates, iterations if method == FDSA else max(1, iterations // 4))
        last = np.nan_to_num(costs[-1], nan=np.inf).reshape(-1, PILOTS).mean(axis=1)
        return RATES[method][int(last.argmin())]

    def descend(self, method: str, rates: Floats, iterations: int) -> tuple[NDArray[np.int64], Floats]:
        """Evaluations and costs of parallel runs, each with its own rate."""
        per_step = 2 * DRAWS.get(method, self.n_features)
        steps = 2 * self.n_features * iterations // per_step
        w, rng = self.starts(rates.size), np.random.default_rng((self.seed, 1))
        marks = np.unique(np.linspace(0, steps, POINTS + 1).astype(int))
        seen = [self.cost(w)]
        for k in range(steps):
            slope = (
                self.closed_form(w)
                if method == FDSA
                else spsa(self.cost, w, step_at(k, STEP), DRAWS[method], rng)
            )
            w = w - rates * rate_at(k, AFTER * steps) * slope
            if k + 1 in marks:
                seen.append(self.cost(w))
        return marks * per_step, np.array(seen)
