"""Each system of the papers' table trains on both engines and beats random order on held-out queries."""

import re
from pathlib import Path

import numpy as np
import pytest
from rankers import ranker, table

from lambdaboost import CNDCG, NDCG, ClickTier, objectives
from lambdaboost.datasets import web_search_log

PAGE = (Path(__file__).parent.parent / "docs" / "mathematics" / "papers.md").read_text(encoding="utf-8")
TABLE = PAGE.split("# Every system of the papers")[1].split("\n## ")[0]
SYSTEMS = [
    code for row in TABLE.splitlines() if row.startswith("|") for code in re.findall(r"`([^`]+)`", row)
]

LOG = web_search_log(120, documents=30, seed=4).shuffled(0)
TRAIN, TEST = LOG.take(np.arange(80)), LOG.take(np.arange(80, 120))


def test_the_table_holds_every_paper():
    assert len(SYSTEMS) >= 20


@pytest.mark.parametrize("system", SYSTEMS)
def test_beats_random_order(system, engine):
    objective, q = objectives.parse(system), TEST.queries
    fitted = ranker(engine, objective=objective, sources=["clicks"], n_estimators=15)
    fitted.fit(table(*TRAIN), TRAIN.queries.relevance)
    measure = CNDCG(k=10) if isinstance(objective, ClickTier) else NDCG(k=10)
    rng = np.random.default_rng(0)
    chance = max(measure(rng.random(q.n_documents), q) for _ in range(20))
    assert measure(fitted.predict(table(*TEST)), q) > chance + 0.02
