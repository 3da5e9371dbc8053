"""Figure 1: RankNet's cost by the number of its evaluations, for finite differences and SPSA."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from experiments.common.data import nested_queries
from experiments.yue2007.linear_search import (
    CrossEntropy,
    finite_difference,
    in_weights,
    rate_at,
    spsa,
    step_at,
    weight_gradient,
)
from experiments.yue2007.parts import Floats, Part
from lambdaboost import RankNet

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
    X, q = train
    chosen = nested_queries(q.n_queries, min(1.0, queries / q.n_queries), seed)
    X, q = X[q.rows_of(chosen)], q.take(chosen)
    entropy, n_features = CrossEntropy(q), int(X.shape[1])
    cost, scale = in_weights(entropy, X), q.n_queries / entropy.n_pairs

    def closed_form(weights: Floats) -> Floats:
        """The gradient of RankNet's cost."""
        return scale * weight_gradient(RankNet(), X, q, weights)

    def starts(n: int) -> Floats:
        """Weights with scores of about unit spread, one column per run."""
        return np.random.default_rng((seed, 0)).normal(size=(n, n_features)).T / np.sqrt(n_features)

    def descend(method: str, rates: Floats, iterations: int) -> tuple[NDArray[np.int64], Floats]:
        """Evaluations and costs of parallel runs, each with its own rate."""
        per_step = 2 * DRAWS.get(method, n_features)
        steps = 2 * n_features * iterations // per_step
        w, rng = starts(rates.size), np.random.default_rng((seed, 1))
        marks = np.unique(np.linspace(0, steps, POINTS + 1).astype(int))
        seen = [cost(w)]
        for k in range(steps):
            by_draws = partial(spsa, cost, w, step_at(k, STEP), rng=rng)
            slope = by_draws(DRAWS[method]) if method in DRAWS else closed_form(w)
            w = w - rates * rate_at(k, AFTER * steps) * slope
            if k + 1 in marks:
                seen.append(cost(w))
        return marks * per_step, np.array(seen)

    evaluations, costs, best = {}, {}, {}
    for method in METHODS:
        # The rate whose pilot runs end with the lowest cost.
        pilots = iterations if method == FDSA else max(1, iterations // 4)
        _, found = descend(method, np.repeat(RATES[method], PILOTS), pilots)
        last = np.nan_to_num(found[-1], nan=np.inf).reshape(-1, PILOTS).mean(axis=1)
        best[method] = RATES[method][int(last.argmin())]
        evaluations[method], costs[method] = descend(method, np.full(runs, best[method]), iterations)
    start = starts(1)[:, 0]
    exact = closed_form(start)
    likeness = float(np.abs(finite_difference(cost, start, STEP) - exact).max() / np.abs(exact).max())
    return Convergence(evaluations, costs, best, likeness, q.n_queries, entropy.n_pairs)
