"""`Study`: every row on a set and a seed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.unseen.kept import Outcome
from benchmarks.unseen.sets import Split, split_of
from lambdaboost import NDCG, LambdaRank, YetiLoss, cross_validate, tune

TUNE, RECOMMENDED = "tune", "YetiLoss()"
CUTOFFS = (3, 10)
ROUNDS = 500  # at most, as of `tune`


class Fixed(NamedTuple):
    """An objective with fixed parameters of its engine's ranker."""

    objective: Any
    engine: str = "lightgbm"
    params: Mapping[str, Any] = {}


FIXED = {
    "lambdarank": Fixed("lambdarank"),
    "rank_xendcg": Fixed("rank_xendcg"),
    "rank:ndcg": Fixed("rank:ndcg", "xgboost"),
    "LambdaRank()": Fixed(LambdaRank()),
    RECOMMENDED: Fixed(YetiLoss()),
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
        outcome |= {"chosen": np.array(tuned.choice["candidate"]), **_tested(TUNE, tuned.model, split)}
        for name, grid in ({name: [fixed] for name, fixed in FIXED.items()} | GRIDS).items():
            rankers = [_ranker_of(fixed, run.seed) for fixed in grid]
            found = [cross_validate(ranker, split.seen, seed=run.seed) for ranker in rankers]
            best = max(range(len(grid)), key=lambda at: found[at].means[NDCG(10)])
            # More documents need more rounds: the folds had four of five parts.
            rounds = max(1, round(found[best].rounds * 5 / 4))
            ranker, q = rankers[best].set_params(n_estimators=rounds), split.seen.queries
            outcome |= _tested(name, ranker.fit(split.seen.features, q.relevance, group=q.sizes), split)
        return outcome


def _ranker_of(fixed: Fixed, seed: int) -> Any:
    quiet = {"verbose": -1} if fixed.engine == "lightgbm" else {}
    given = {"n_estimators": ROUNDS, "n_jobs": 1, "random_state": seed, **quiet, **fixed.params}
    return import_module(f"lambdaboost.{fixed.engine}").LambdaRanker(objective=fixed.objective, **given)


def _tested(row: str, model: Any, split: Split) -> Outcome:
    scores = model.predict(split.test.features)
    return {f"{row} NDCG@{k}": NDCG(k).per_query(scores, split.test.queries) for k in CUTOFFS}
