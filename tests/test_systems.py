"""Each system of the papers' table trains on both engines and beats random order on held-out queries."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lambdaboost.lightgbm
import lambdaboost.xgboost
from lambdaboost import CNDCG, NDCG, ClickTier, objectives
from lambdaboost.datasets import web_search_log

PAGE = (Path(__file__).parent.parent / "docs" / "mathematics" / "papers.md").read_text(encoding="utf-8")
TABLE = PAGE.split("# Every system of the papers")[1].split("\n## ")[0]
SYSTEMS = [
    code for row in TABLE.splitlines() if row.startswith("|") for code in re.findall(r"`([^`]+)`", row)
]

LOG = web_search_log(120, documents=30, seed=4).shuffled(0)
TRAIN, TEST = LOG.take(np.arange(80)), LOG.take(np.arange(80, 120))
ENGINES = {
    "lightgbm": lambda objective: lambdaboost.lightgbm.LambdaRanker(
        objective=objective, sources=["clicks"], n_estimators=15, num_leaves=7, verbose=-1, n_jobs=1
    ),
    "xgboost": lambda objective: lambdaboost.xgboost.LambdaRanker(
        objective=objective, sources=["clicks"], n_estimators=15, max_depth=3, n_jobs=1
    ),
}


def frame_of(log):
    """The features, with the columns of the queries and the clicks."""
    q = log.queries
    frame = pd.DataFrame(log.features).add_prefix("f")
    return frame.assign(qid=q.query_of_row, clicks=q.labels["clicks"])


def test_the_table_holds_every_paper():
    assert len(SYSTEMS) >= 20


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_beats_random_order(system, engine):
    objective = objectives.parse(system)
    ranker = ENGINES[engine](objective)
    ranker.fit(frame_of(TRAIN), TRAIN.queries.relevance)
    q = TEST.queries
    measure = CNDCG(k=10) if isinstance(objective, ClickTier) else NDCG(k=10)
    rng = np.random.default_rng(0)
    chance = max(measure(rng.random(q.n_documents), q) for _ in range(20))
    assert measure(ranker.predict(frame_of(TEST)), q) > chance + 0.02
