"""SPSA and linear search (2007) by expectations, local optima on hills known by formula, and the report."""

import re
from types import SimpleNamespace

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from experiments.yue2007.linear_search import (
    CrossEntropy,
    finite_difference,
    in_weights,
    spsa,
    weight_gradient,
)
from experiments.yue2007.local_optimum import local_optimum_test
from experiments.yue2007.optimum import linear, trees
from experiments.yue2007.report import Effort
from experiments.yue2007.sweep import weight_sweep
from experiments.yue2007.weights import weights_of
from lambdaboost import NDCG, LambdaRank, Queries, RankNet
from lambdaboost.datasets import web_search_log
from lambdaboost.evaluation import Measure

# In the weights

X_LOG, Q_LOG = web_search_log(queries=12, documents=10, features=16, seed=1)
X_LOG = ((X_LOG - X_LOG.mean(axis=0)) / X_LOG.std(axis=0)).astype(np.float64)
W = np.random.default_rng(0).normal(size=X_LOG.shape[1]) / 4


def entropy_by_hand(scores, q):
    terms = [
        np.log1p(np.exp(-(scores[i] - scores[j])))
        for a, b in zip(q.offsets, q.offsets[1:], strict=False)
        for i in range(a, b)
        for j in range(a, b)
        if q.relevance[i] > q.relevance[j]
    ]
    return np.mean(terms)


def test_cross_entropy_equals_the_sum_over_pairs():
    columns = np.outer(X_LOG @ W, [1.0, -1.0, 100.0])
    expected = [entropy_by_hand(scores, Q_LOG) for scores in columns.T]
    np.testing.assert_allclose(CrossEntropy(Q_LOG)(columns), expected, rtol=1e-9)


def test_finite_difference_is_the_closed_form_of_ranknet():
    cost = in_weights(CrossEntropy(Q_LOG), X_LOG)
    closed = weight_gradient(RankNet(), X_LOG, Q_LOG, W) * Q_LOG.n_queries / CrossEntropy(Q_LOG).n_pairs
    np.testing.assert_allclose(finite_difference(cost, W, 1e-3), closed, rtol=1e-4, atol=1e-6)


def test_spsa_in_the_weights_is_the_slope_in_expectation():
    cost, rng = in_weights(CrossEntropy(Q_LOG), X_LOG), np.random.default_rng(1)
    slope = finite_difference(cost, W, 1e-4)
    draws = spsa(cost, np.repeat(W[:, None], 6000, axis=1), 1e-4, 1, rng)
    error = (draws.mean(axis=1) - slope) / (draws.std(axis=1, ddof=1) / np.sqrt(6000))
    assert np.abs(error).max() < 4  # of 16 standard normals, once in 1,000 seeds
    averaged = spsa(cost, np.repeat(W[:, None], 500, axis=1), 1e-4, 4, rng)
    ratio = averaged.std(axis=1) / draws.std(axis=1)  # four draws halve the spread
    np.testing.assert_allclose(ratio, 0.5, atol=0.1)


# Where training ends


class Nearness(Measure, registered=False):
    """Minus the squared distance of the scores from the grades: a hill with its top where they are equal."""

    empty: float = 0.0

    @property
    def source(self):
        return "relevance"

    def _per_query(self, scores, q):
        return -np.add.reduceat((scores - q.relevance) ** 2, q.offsets[:-1])


HILL, EYE = Queries([1, 2, 3, 4], sizes=[4]), np.eye(4)
X, Q = web_search_log(queries=60, documents=10, features=16, seed=1)


def of(*coefficients):
    return SimpleNamespace(coef_=np.array(coefficients))


@pytest.mark.parametrize("train", [trees, linear])
def test_scores_are_linear_in_the_weights(train):
    model = train(X, Q, LambdaRank())
    predicted = model.predict(X if train is trees else xgb.DMatrix(X))
    weights = weights_of(model, X)
    rest = predicted - weights.scores
    np.testing.assert_allclose(rest, rest.mean(), atol=1e-4)
    direction = np.random.default_rng(0).normal(size=weights.trained.size)
    by_one = sum(d * weights.moves(one) for one, d in zip(np.eye(direction.size), direction, strict=True))
    np.testing.assert_allclose(weights.moves(direction), by_one, atol=1e-3)


def test_a_leaf_shifts_as_the_library_would_set_it():
    model = trees(X, Q, LambdaRank())
    found = weight_sweep(model, X, Q, NDCG(5), weights=1, shifts=[0, 0.5], sizes=[60])
    tree, leaf = map(int, re.findall(r"\d+", found.weights[0]))
    changed = lgb.Booster(model_str=model.model_to_string())
    changed.set_leaf_output(tree, leaf, 1.5 * changed.get_leaf_output(tree, leaf))
    expected = [NDCG(5)(m.predict(X, raw_score=True), Q) for m in (model, changed)]
    assert found.values[0, 0].tolist() == pytest.approx(expected, abs=1e-12)


def test_a_known_hill():
    """Its top passes; from 1 off the top a step h rises where its angle is less than arccos(h/2)."""
    top, near = of(1.0, 2.0, 3.0, 4.0), of(1.0, 2.0, 3.0, 5.0)
    t = np.array([-1.0, -0.1, 0.0, 0.1, 1.0])
    sweep = weight_sweep(top, EYE, HILL, Nearness(), shifts=t, weights=3)
    assert sweep.weights == ("feature 3", "feature 2", "feature 1")
    np.testing.assert_allclose(sweep.values[0], -np.outer([16, 9, 4], t**2), atol=1e-12)
    np.testing.assert_allclose(sweep.roughness, 1)
    found, beside = (local_optimum_test(model, EYE, HILL, Nearness()) for model in (top, near))
    assert (found.rises, found.trials) == (0, 459) and found.is_local_optimum
    np.testing.assert_allclose(found.changes, -0.3, atol=1e-12)  # every step is a tenth of √30 long
    assert found.p_value == pytest.approx(0.99**459)
    assert 0.2 < beside.rises / 459 < 0.4 and not beside.is_local_optimum
    level = local_optimum_test(of(*np.ones(16)), X, Q, NDCG(3), step=1e-12)
    assert level.trials == 0 and level.p_value == 1 and not level.is_local_optimum


# The report


@pytest.mark.slow
def test_everything_is_written(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    import experiments.yue2007.__main__ as command

    out = tmp_path / "out"
    monkeypatch.setattr(command, "FEATURES", 16)
    monkeypatch.setattr(command, "QUICK", Effort(queries=5, iterations=2, runs=3, share=0.03, swept=20))
    command.main(["--quick", "--queries", "20", "--documents", "8", "--out", str(out)])
    assert sorted(path.name for path in out.iterdir()) == [
        "figure_1.png",
        "figure_2.png",
        "figure_3.png",
        "report.md",
    ]
    text = (out / "report.md").read_text(encoding="utf-8")
    for said in ("| FDSA |", "| LambdaRank | 0.", "virtually identical to the closed form: **yes**"):
        assert said in text
