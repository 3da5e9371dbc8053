"""What scores far apart cost an objective: its time with them over its time with ordinary scores.

Usage: python -m benchmarks.far_scores

Processor time of one thread; ordinary and far scores take turns. Each figure is a ratio of least times.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SHARES
from benchmarks.timing import least
from experiments.common.report import table
from lambdaboost import (
    ERR,
    MAP,
    MRR,
    ApproxNDCG,
    GumbelRanks,
    LambdaLoss,
    LambdaRank,
    ListNet,
    PairAccuracy,
    Queries,
    RankNet,
    SigmoidLocal,
    _threads,
)
from lambdaboost.objectives import Objective

SHAPES = ((1000, 10), (200, 120), (20, 1200))
FAR: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {  # of normal scores, a row a query
    "one outlier": lambda s: np.where(np.arange(s.shape[1]) == 0, 80.0, s),
    "standard deviation 100": lambda s: 100 * s,
    "evenly over 1e6": lambda s: 1e6 * np.argsort(np.argsort(s, axis=1), axis=1) / s.shape[1],
}
OBJECTIVES: tuple[Objective, ...] = (
    LambdaRank(),
    LambdaRank(MAP()),
    LambdaRank(MRR()),
    LambdaRank(ERR()),
    LambdaRank(ERR(max_grade=12)),
    LambdaRank(PairAccuracy()),
    SigmoidLocal(),
    RankNet(),
    LambdaLoss(),
    GumbelRanks(LambdaRank()),
    ApproxNDCG(),
    ListNet(),
)


def far_scores() -> str:
    """A table of all objectives at all shapes."""
    rows = []
    for objective in OBJECTIVES:
        for queries, documents in SHAPES:
            rng = np.random.default_rng(documents)
            ordinary = rng.normal(size=(queries, documents))
            grades = rng.choice(5, p=SHARES, size=ordinary.size) * 1.0
            q = Queries(grades, sizes=[documents] * queries)
            scores = (ordinary, *(far(ordinary) for far in FAR.values()))
            base, *far = least(*(partial(objective.gradient, s.ravel(), q) for s in scores))
            rows.append((repr(objective), f"{queries:,} × {documents:,}", *(f"{x / base:.2f}" for x in far)))
    return table(("objective", "lists", *FAR), rows)


if __name__ == "__main__":
    with _threads.using(1):
        print(far_scores())
