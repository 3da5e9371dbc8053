"""`Study`: every row on a set and a seed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.unseen.kept import Outcome
from benchmarks.unseen.sets import Split, split_of
from lambdaboost import NDCG, tune
from lambdaboost.engines import ENGINES
from lambdaboost.tuning import Tuned

TUNE = "tune"
CUTOFFS = (3, 10)


class Fixed(NamedTuple):
    """An objective with fixed parameters of its engine."""

    objective: str
    engine: Any = "lightgbm"
    params: Mapping[str, Any] = {}


FIXED = {
    "lambdarank": Fixed("lambdarank"),
    "rank_xendcg": Fixed("rank_xendcg"),
    "rank:ndcg": Fixed("rank:ndcg", "xgboost"),
    "LambdaRank()": Fixed("LambdaRank()"),
}
# The first of each are the engine's own.
GRIDS = {
    "lambdarank, best of 4": [
        Fixed("lambdarank", params={"learning_rate": rate, "num_leaves": leaves})
        for rate, leaves in product((0.1, 0.05), (31, 8))
    ],
    "rank:ndcg, best of 4": [
        Fixed("rank:ndcg", "xgboost", {"learning_rate": rate, "max_depth": depth})
        for rate, depth in product((0.3, 0.1), (6, 3))
    ],
}


@dataclass(frozen=True)
class Run:
    """A set and a seed."""

    data: str
    seed: int

    @property
    def key(self) -> str:
        """The name of the file that keeps its outcome."""
        return f"{self.data}-{self.seed}"


@dataclass(frozen=True)
class Study:
    """Runs all rows; `folder` has the sets."""

    folder: Path

    def __call__(self, run: Run) -> Outcome:
        """NDCG of every test query at each cutoff by "ROW NDCG@k"; what `tune` chose; its processor seconds."""
        split, begin = split_of(self.folder, run.data, run.seed), time.process_time()
        tuned = tune(split.seen, workers=1, seed=run.seed)
        outcome = {"queries": split.queries, "seconds": np.array(time.process_time() - begin)}
        outcome |= {"chosen": np.array(repr(tuned.objective)), **_tested(TUNE, tuned, split)}
        for name, grid in ({name: [fixed] for name, fixed in FIXED.items()} | GRIDS).items():
            best = max((_trained(fixed, split, run.seed) for fixed in grid), key=_mean)
            outcome |= _tested(name, best, split)
        return outcome


def _trained(fixed: Fixed, split: Split, seed: int) -> Tuned:
    given = {"objectives": [fixed.objective], "engine": fixed.engine, "params": fixed.params}
    return tune(split.seen, **given, settings=1, workers=1, seed=seed)


def _mean(tuned: Tuned) -> float:
    return float(tuned.trials[repr(NDCG(10))][0])


def _tested(row: str, tuned: Tuned, split: Split) -> Outcome:
    scores = ENGINES[tuned.engine].scores(tuned.booster, split.test.features)
    return {f"{row} NDCG@{k}": NDCG(k).per_query(scores, split.test.queries) for k in CUTOFFS}
