"""Every row on a set and a seed."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.unseen.sets import Split, split_of
from lambdaboost import NDCG, YetiLoss, cross_validate, tune
from lambdaboost.datasets import web_search_log

TUNE, RECOMMENDED = "tune", "YetiLoss()"
CUTOFFS = (3, 10)
ROUNDS = 500  # at most, as of `tune`
Outcome = dict[str, Any]  # arrays by name


class Fixed(NamedTuple):
    """An objective with the parameters of its engine's ranker."""

    objective: Any
    engine: str = "lightgbm"


FIXED = {
    "lambdarank": Fixed("lambdarank"),
    "rank_xendcg": Fixed("rank_xendcg"),
    "rank:ndcg": Fixed("rank:ndcg", "xgboost"),
    RECOMMENDED: Fixed(YetiLoss()),
}


class Run(NamedTuple):
    """A set and a seed."""

    data: str
    seed: int


def outcome_of(folder: Path, run: Run) -> Outcome:
    """NDCG of every test query at each cutoff by "ROW NDCG@k"; what `tune` chose; its processor seconds."""
    split = split_of(folder, run.data, run.seed)
    # What is compiled or read from a cache is not timed.
    tune(web_search_log(30, documents=10, seed=0), settings=1, folds=2, rounds=2, workers=1)
    begin = time.process_time()
    tuned = tune(split.seen, workers=1, seed=run.seed)
    outcome = {"queries": split.queries, "seconds": np.array(time.process_time() - begin)}
    outcome |= {"chosen": np.array(tuned.choice["candidate"]), **_tested(TUNE, tuned.model, split)}
    for name, fixed in FIXED.items():
        quiet = {"verbose": -1} if fixed.engine == "lightgbm" else {}
        given = {"n_estimators": ROUNDS, "n_jobs": 1, "random_state": run.seed, **quiet}
        engine, q = import_module(f"lambdaboost.{fixed.engine}"), split.seen.queries
        ranker = engine.LambdaRanker(objective=fixed.objective, **given)
        found = cross_validate(ranker, split.seen, seed=run.seed)
        # More documents need more rounds: the folds had four of five parts.
        ranker.set_params(n_estimators=max(1, round(found.rounds * 5 / 4)))
        outcome |= _tested(name, ranker.fit(split.seen.features, q.relevance, group=q.sizes), split)
    return outcome


def _tested(row: str, model: Any, split: Split) -> Outcome:
    scores = model.predict(split.test.features)
    return {f"{row} NDCG@{k}": NDCG(k).per_query(scores, split.test.queries) for k in CUTOFFS}
