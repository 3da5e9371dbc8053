"""The example that trains CatBoost's trees under objectives of lambdaboost; `make test-large` runs it."""

import numpy as np
import pytest
from rankers import Q, X

from lambdaboost import NDCG, LambdaRank, graded

pytest.importorskip("catboost")
from catboost_trees import train


def test_leaves_are_newtons():
    given = {"rounds": 1, "learning_rate": 1.0, "depth": 2, "l2_leaf_reg": 0}
    model = train(X, Q, LambdaRank(), thread_count=1, bootstrap_type="No", **given)
    grad, hess = LambdaRank().gradient(np.zeros(len(X)), Q)
    given = model.predict(X)
    values = np.unique(given)
    assert values.size == 4
    for value in values:
        leaf = given == value
        assert value == pytest.approx(-grad[leaf].sum() / hess[leaf].sum(), rel=1e-3)


@pytest.mark.parametrize("objective", [LambdaRank(NDCG(5)), graded()])
def test_it_learns(objective):
    model = train(X, Q, objective, rounds=20, learning_rate=0.3, depth=3, thread_count=1, bootstrap_type="No")
    assert NDCG(5)(model.predict(X), Q) > NDCG(5)(np.zeros(len(X)), Q) + 0.2
