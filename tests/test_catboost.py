"""The example that trains CatBoost's trees under objectives of lambdaboost; `make test-large` runs it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from lambdaboost import NDCG, LambdaRank, graded
from lambdaboost.datasets import web_search_log

catboost = pytest.importorskip("catboost")

LOG = web_search_log(queries=40, documents=15, seed=5)
X, Q = LOG.features, LOG.queries


@pytest.fixture
def train(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "examples")
    from catboost_trees import train

    yield train
    sys.modules.pop("catboost_trees")


def test_leaves_are_newtons(train):
    model = train(
        X,
        Q,
        LambdaRank(),
        rounds=1,
        learning_rate=1.0,
        depth=2,
        l2_leaf_reg=0,
        thread_count=1,
        bootstrap_type="No",
    )
    grad, hess = LambdaRank().gradient(np.zeros(len(X)), Q)
    given = model.predict(X)
    values = np.unique(given)
    assert values.size == 4
    for value in values:
        leaf = given == value
        assert value == pytest.approx(-grad[leaf].sum() / hess[leaf].sum(), rel=1e-3)


@pytest.mark.parametrize("objective", [LambdaRank(NDCG(5)), graded()])
def test_it_learns(train, objective):
    model = train(X, Q, objective, rounds=20, learning_rate=0.3, depth=3, thread_count=1, bootstrap_type="No")
    assert NDCG(5)(model.predict(X), Q) > NDCG(5)(np.zeros(len(X)), Q) + 0.2


def test_its_own_hook_sees_no_whole_queries():
    """Why the example does not use it: should this fail, the hook may do."""
    blocks = []

    class Sees:
        def calc_ders_range(self, approxes, targets, weights):
            blocks.append(len(approxes))
            return [(float(row), -1.0) for row in range(len(approxes))]

    n = 1514
    rows = np.random.default_rng(0).normal(size=(n, 3))
    settings = {"loss_function": Sees(), "eval_metric": "RMSE", "iterations": 1, "allow_writing_files": False}
    with pytest.warns(UserWarning):  # that numba could not compile it
        catboost.CatBoost(settings | {"logging_level": "Silent", "bootstrap_type": "No"}).fit(
            catboost.Pool(rows, np.arange(n) % 4, group_id=np.arange(n) // 2000)
        )
    assert blocks and max(blocks) < n
