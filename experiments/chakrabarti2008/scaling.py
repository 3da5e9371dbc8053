"""Figure 8 for every rule: how the time of the search for ŷ grows with the list."""

from __future__ import annotations

from time import process_time

import numpy as np

from benchmarks.timing import fitted
from experiments.chakrabarti2008.hinge import Hinge
from experiments.chakrabarti2008.structured_hinge import StructuredHinge
from experiments.chakrabarti2008.trainers import HINGES
from lambdaboost import NDCG, Queries

GOOD_SHARE = 0.1
LISTS = 4
SIZES = (100, 200, 400, 800, 1600, 3200)
LONGEST = {"DORM, unclipped": 800}
RULES: dict[str, Hinge] = {
    **{name: HINGES[name] for name in ("AUC", "MAP", "NDCG", "NDCG-NC", "MRR", "DORM", "RankSVM")},
    "DORM, unclipped": StructuredHinge(NDCG(), feature_map="dorm"),
}


def measure_growth(sizes: tuple[int, ...], seed: int, passes: int = 7) -> dict[str, dict[int, float]]:
    """Seconds of processor time per random list by its length, of every rule; the best of several passes."""
    found = {}
    for name, hinge in RULES.items():
        longest = LONGEST.get(name, max(sizes))
        found[name] = {n: _seconds(hinge, n, seed, passes) for n in sizes if n <= longest}
    return found


def slope_of(seconds: dict[int, float]) -> float:
    """The slope of log seconds over log documents, from the second size on, where call overhead is small."""
    return fitted(dict(list(seconds.items())[1:])).slope


def _seconds(hinge: Hinge, n: int, seed: int, passes: int) -> float:
    rng = np.random.default_rng(seed)
    labels = (rng.random((LISTS, n)) < GOOD_SHARE).astype(float)
    labels[:, :2] = [0, 1]
    q = Queries(labels.ravel(), sizes=[n] * LISTS)
    scores = 0.3 * rng.normal(size=q.n_documents) + 0.3 * q.relevance
    hinge.violators(scores, q)  # compiles kernels and fills the caches of the queries
    times = []
    for _ in range(passes):
        start = process_time()
        hinge.violators(scores, q)
        times.append(process_time() - start)
    return min(times) / LISTS
