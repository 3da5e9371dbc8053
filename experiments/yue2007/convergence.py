"""Figure 1: RankNet's cost against how often it was evaluated, by finite differences and by SPSA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.yue2007.parts import Floats, Part
from lambdaboost import Queries, RankNet
from lambdaboost.diagnostics import nested_queries
from lambdaboost.linear_search import (
    Cost,
    CrossEntropy,
    Gains,
    finite_difference,
    in_weights,
    spsa,
    weight_gradient,
)

FDSA = "FDSA"
DRAWS = {"SPSA:2": 1, "SPSA:4": 2, "SPSA:8": 4}
METHODS = (FDSA, *DRAWS)
RATES = {FDSA: (0.1, 0.3, 1.0, 3.0, 10.0), **dict.fromkeys(DRAWS, (0.03, 0.1, 0.3, 1.0))}
STEP = 0.01  # c, the first step in each weight
PILOTS = 2  # runs of each rate, for SPSA over a quarter of the evaluations
POINTS = 60  # of a curve
AFTER = 0.1  # A, as a part of the iterations


@dataclass(frozen=True, eq=False)
class Convergence:
    """What Figure 1 shows.

    Attributes
    ----------
    evaluations : dict of int64 (n_points,)
        How often the cost was evaluated, by method.
    costs : dict of float64 (n_points, n_runs)
        The mean pairwise cross entropy then.
    rates : dict of float
        The learning rate that the pilots chose.
    likeness : float
        The largest difference of the finite-difference gradient to the closed form, over the largest slope.
    queries, pairs : int
        Training queries, and their pairs.

    """

    evaluations: dict[str, NDArray[np.int64]]
    costs: dict[str, Floats]
    rates: dict[str, float]
    likeness: float
    queries: int
    pairs: int

    def cost_at(self, method: str, share: float) -> Floats:
        """The cost of each run at the last point that took no more than a share of FDSA's evaluations."""
        most = share * self.evaluations[FDSA][-1]
        at = np.searchsorted(self.evaluations[method], most, side="right") - 1
        return np.asarray(self.costs[method][at])


def converge(train: Part, queries: int, iterations: int, runs: int, seed: int) -> Convergence:
    """Descend by each method, as many evaluations of the cost as `iterations` of FDSA take."""
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
    chosen = np.sort(nested_queries(q.n_queries, [min(1.0, queries / q.n_queries)], seed)[0])
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
        """Weights that give scores of about unit spread, a column a run."""
        rng = np.random.default_rng((self.seed, 0))
        return rng.normal(size=(runs, self.n_features)).T / np.sqrt(self.n_features)

    def pilot(self, method: str, iterations: int) -> float:
        """The rate whose pilots end lowest."""
        rates = np.repeat(RATES[method], PILOTS)
        _, costs = self.descend(method, rates, iterations if method == FDSA else max(1, iterations // 4))
        last = np.nan_to_num(costs[-1], nan=np.inf).reshape(-1, PILOTS).mean(axis=1)
        return RATES[method][int(last.argmin())]

    def descend(self, method: str, rates: Floats, iterations: int) -> tuple[NDArray[np.int64], Floats]:
        """Evaluations and costs of runs side by side, each at its own rate."""
        per_step = 2 * DRAWS.get(method, self.n_features)
        steps = 2 * self.n_features * iterations // per_step
        w, rng = self.starts(rates.size), np.random.default_rng((self.seed, 1))
        gains = Gains(1.0, STEP, AFTER * steps)
        marks = np.unique(np.linspace(0, steps, POINTS + 1).astype(int))
        seen = [self.cost(w)]
        for k in range(steps):
            slope = (
                self.closed_form(w)
                if method == FDSA
                else spsa(self.cost, w, gains.steps(k), DRAWS[method], rng)
            )
            w = w - rates * gains.rates(k) * slope
            if k + 1 in marks:
                seen.append(self.cost(w))
        return marks * per_step, np.array(seen)
