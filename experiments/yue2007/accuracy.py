"""Table 1: NDCG@10 of linear rankers by LambdaRank, by SPSA on NDCG itself, and by slopes of NDCG in the scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from experiments.yue2007.linear_search import (
    in_weights,
    rate_at,
    shortfall,
    spsa,
    step_at,
    weight_gradient,
)
from experiments.yue2007.parts import Floats, Part, Parts
from experiments.yue2007.slopes import SPSA, FiniteDifference
from lambdaboost import NDCG, GradientStep, LambdaRank, RankNet
from lambdaboost.objectives import Objective

MEASURE = NDCG(k=10)
LAMBDARANK, RANKNET, SPSA_4 = "LambdaRank", "RankNet", "SPSA:4"
IN_SCORES, SPSA_IN_SCORES = "FDSA in the scores", "SPSA:4 in the scores"

AFTER = 0.1
EVERY = 20  # number of checkpoints per run
Gradient = Callable[[Floats, int], Floats]  # of weights (n_features, n_rates) at an iteration


@dataclass(frozen=True)
class Method:
    """A training method for linear rankers: an objective's gradient, or SPSA in the weights."""

    name: str
    objectives: tuple[Objective, ...]  # each with its step; none is SPSA in the weights, with each of `steps`
    rates: tuple[float, ...]
    iterations: int
    steps: tuple[float, ...] = ()


def methods(scale: float = 1.0) -> tuple[Method, ...]:
    """All methods; `scale` multiplies their iterations."""
    brief, long = max(2, round(120 * scale)), max(2, round(600 * scale))
    rates = (0.1, 0.3, 1.0, 3.0, 10.0)
    steps = (0.1, 0.5)
    slopes = tuple(GradientStep(FiniteDifference(MEASURE, step)) for step in steps)
    noisy = tuple(GradientStep(SPSA(MEASURE, step, draws=2)) for step in steps)
    return (
        Method(LAMBDARANK, (LambdaRank(MEASURE),), rates, brief),
        Method(RANKNET, (RankNet(),), (0.001, 0.003, 0.01, 0.03), brief),
        Method(SPSA_4, (), (0.03, 0.1, 0.3, 1.0), long, steps),
        Method(IN_SCORES, slopes, (0.01, 0.03, 0.1), brief // 2, steps),
        Method(SPSA_IN_SCORES, noisy, (0.01, 0.03, 0.1), brief, steps),
    )


@dataclass(frozen=True, eq=False)
class Trained:
    """The best ranker of a method on the validation part.

    Attributes
    ----------
    method : Method
    setting : str
        The selected rate and step.
    iteration, runs : int
        Its checkpoint, and the number of runs of the method.
    weights : float64 (n_features,)
    train, valid : float
        Mean NDCG@10.
    test : float64 (n_queries,)
        NDCG@10 of each test query.

    """

    method: Method
    setting: str
    iteration: int
    runs: int
    weights: Floats
    train: float
    valid: float
    test: Floats


def trained(method: Method, parts: Parts, seed: int) -> Trained:
    """Run a method over its grid and keep the checkpoint with the highest NDCG@10 on the validation part."""

    def mean(part: Part, weights: Floats) -> float:
        X, q = part
        return float(MEASURE.per_query(X @ weights, q).mean())

    best: tuple[float, int, str, Floats] | None = None
    gradients = _gradients(method, parts.train, seed)
    for text, gradient in gradients:
        for iteration, weights in _checkpoints(method, gradient, parts.train[0].shape[1], seed):
            for rate, w in zip(method.rates, weights.T, strict=True):
                figure = mean(parts.valid, w)
                if best is None or figure > best[0]:
                    best = figure, iteration, f"rate {rate:g}{text}", w.copy()
    assert best is not None
    valid, iteration, setting, w = best
    (X, q), runs = parts.test, len(gradients) * len(method.rates)
    test = MEASURE.per_query(X @ w, q)
    return Trained(method, setting, iteration, runs, w, mean(parts.train, w), valid, test)


def _gradients(method: Method, train: Part, seed: int) -> list[tuple[str, Gradient]]:
    """The gradient of each objective, or of SPSA in the weights for each step, with a description."""
    X, q = train
    if method.objectives:
        steps = [f", c {step:g}" for step in method.steps] or [""]
        gradients = [partial(weight_gradient, objective, X, q) for objective in method.objectives]
        return list(zip(steps, gradients, strict=True))

    cost = in_weights(shortfall(MEASURE, q), X)

    def by_spsa(step: float) -> Gradient:
        rng = np.random.default_rng((seed, 2))
        return lambda weights, k: spsa(cost, weights, step_at(k, step), 2, rng)

    return [(f", c {step:g}/√d", by_spsa(step / np.sqrt(X.shape[1]))) for step in method.steps]


def _checkpoints(method: Method, gradient: Gradient, n_features: int, seed: int) -> list[tuple[int, Floats]]:
    """Iterations and weights (n_features, n_rates) at checkpoints; all rates have the same start."""
    start = np.random.default_rng((seed, 3)).normal(size=n_features) / np.sqrt(n_features)
    w = np.repeat(start[:, None], len(method.rates), axis=1)
    after = AFTER * method.iterations
    marks: NDArray[np.int64] = np.unique(np.linspace(0, method.iterations, EVERY + 1).astype(int))
    kept = [(0, w)]
    for k in range(method.iterations):
        w = w - np.array(method.rates) * rate_at(k, after) / rate_at(0, after) * gradient(w, k)
        if k + 1 in marks:
            kept.append((k + 1, w))
    return kept
