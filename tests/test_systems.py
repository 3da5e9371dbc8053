"""Each system of the papers' table trains on both engines and beats random order on held-out queries."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lambdaboost.lightgbm
import lambdaboost.xgboost
from lambdaboost import CNDCG, NDCG, ClickTier, Queries, objectives
from lambdaboost.datasets import Collection, web_search_log

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


@pytest.mark.parametrize("engine", ENGINES)
def test_clicks_of_0_and_1_show_on_held_out_queries(engine):
    """The first feature makes grades, the second clicks: with it users prefer what they click, grades still first."""
    rng = np.random.default_rng(0)
    X = rng.random((12_000, 4))
    clicked = rng.random(len(X)) < 1 / (1 + np.exp(3 - 4 * X[:, 1]))
    q = Queries(
        np.floor(3 * X[:, 0] + rng.normal(size=len(X))).clip(0, 2),
        sizes=[20] * 600,
        clicks=clicked.astype(int),
    )
    train, test = (Collection(X, q).take(rows) for rows in (range(300), range(300, 600)))
    one, two = (
        ENGINES[engine](objective)
        .set_params(n_estimators=40)
        .fit(frame_of(train), train.queries.relevance)
        .predict(frame_of(test))
        for objective in (objectives.LambdaRank(), objectives.graded(0.3))
    )
    gain = CNDCG().per_query(two, test.queries) - CNDCG().per_query(one, test.queries)
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(gain.size)
    assert NDCG()(two, test.queries) > NDCG()(one, test.queries) - 0.01
