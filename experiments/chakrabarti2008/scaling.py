"""Figure 8 for every rule: how the time of the search for ŷ grows with the list."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

import numpy as np

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


@dataclass(frozen=True)
class Growth:
    """Seconds of processor time per list, by its length; the best of several passes."""

    seconds: dict[int, float]

    @property
    def slope(self) -> float:
        """The slope of log seconds over log documents, from the second size on, where call overhead is small."""
        n = np.array(list(self.seconds)[1:])
        return float(np.polyfit(np.log(n), np.log([self.seconds[int(size)] for size in n]), 1)[0])


def measure_growth(sizes: tuple[int, ...], seed: int, passes: int = 7) -> dict[str, Growth]:
    """Time every rule on random lists."""
    found = {}
    for name, hinge in RULES.items():
        longest = LONGEST.get(name, max(sizes))
        found[name] = Growth({n: _seconds(hinge, n, seed, passes) for n in sizes if n <= longest})
    return found


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
