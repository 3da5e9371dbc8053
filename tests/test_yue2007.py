"""Measured slopes and linear search (2007), and local optima on hills known by formula."""

import re

import drawn
import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given, settings
from naive_measures import instance

from experiments.yue2007.linear_search import (
    CrossEntropy,
    finite_difference,
    in_weights,
    spsa,
    weight_gradient,
)
from experiments.yue2007.local_optimum import local_optimum_test
from experiments.yue2007.optimum import trees
from experiments.yue2007.slopes import SPSA, FiniteDifference
from experiments.yue2007.sweep import weight_sweep
from experiments.yue2007.weights import leaf_weights, linear_weights
from lambdaboost import ERR, MAP, MRR, NDCG, LambdaRank, Precision, Queries, RankNet, Recall
from lambdaboost.datasets import web_search_log
from lambdaboost.evaluation import MEASURES as KNOWN
from lambdaboost.evaluation import Measure

pytestmark = pytest.mark.slow


# In the scores

MEASURES = [
    NDCG(k=3),
    MRR(k=5),
    *(instance(cls, **({"k": 2} if cls in (Precision, Recall) else {})) for cls in KNOWN.values()),
]
STEPS = (1e-3, 0.3, 5.0)


def one_by_one(metric, scores, q, step):
    """[Z(s + c e_i) − Z(s − c e_i)] / 2c, one document after the other, all queries measured each time."""
    lam = np.zeros(q.n_documents)
    for i in range(q.n_documents):
        up, down = scores.copy(), scores.copy()
        up[i] += step
        down[i] -= step
        difference = np.nan_to_num(metric.per_query(up, q)) - np.nan_to_num(metric.per_query(down, q))
        lam[i] = difference.sum() / (2 * step)
    return lam


@pytest.mark.parametrize("metric", MEASURES, ids=repr)
@settings(deadline=None, max_examples=6)
@given(case=drawn.query_sets(max_queries=3, max_size=12))
def test_finite_difference_equals_one_document_after_the_other(metric, case):
    scores, q = case
    for step in STEPS:
        grad, hess = FiniteDifference(metric, step).gradient(scores, q)
        lam = one_by_one(metric, scores, q, step)
        np.testing.assert_allclose(grad, -lam, rtol=1e-5, atol=1e-9 / step)
        assert (hess == 1).all()


@pytest.mark.parametrize("metric", [NDCG(k=3), MAP(), ERR(max_grade=4)], ids=repr)
@pytest.mark.parametrize("draws", [1, 3])
def test_spsa_equals_the_same_draws_by_hand(metric, draws):
    scores, q = drawn.make(5, [12, 1, 20])
    lam = np.zeros(q.n_documents)
    rng = np.random.default_rng((11, 6))
    for _ in range(draws):
        delta = np.where(rng.integers(0, 2, q.n_documents) == 1, 1.0, -1.0)
        up, down = metric.per_query(scores + 0.3 * delta, q), metric.per_query(scores - 0.3 * delta, q)
        for i, query in enumerate(q.query_of_row):
            lam[i] += (up[query] - down[query]) / (2 * 0.3) / delta[i] / draws
    grad, hess = SPSA(metric, 0.3, draws, seed=11).gradient(scores, q, iteration=6)
    np.testing.assert_allclose(grad, -lam, rtol=1e-5, atol=1e-8)
    assert (hess == 1).all()


# In the weights

X_LOG, Q_LOG = web_search_log(queries=12, documents=10, features=16, seed=1)
X_LOG = ((X_LOG - X_LOG.mean(axis=0)) / X_LOG.std(axis=0)).astype(np.float64)
W = np.random.default_rng(0).normal(size=X_LOG.shape[1]) / 4


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

    def values(self, scores, q):
        return -np.add.reduceat((scores - q.relevance) ** 2, q.offsets[:-1])


HILL = Queries([1, 2, 3, 4], sizes=[4])
X, Q = web_search_log(queries=60, documents=10, features=16, seed=1)


def test_a_leaf_shifts_as_the_library_would_set_it():
    model = trees(X, Q, LambdaRank())
    found = weight_sweep(leaf_weights(model, X), Q, NDCG(5), [60], [0, 0.5], largest=1)
    tree, leaf = map(int, re.findall(r"\d+", found.weights[0]))
    changed = lgb.Booster(model_str=model.model_to_string())
    changed.set_leaf_output(tree, leaf, 1.5 * changed.get_leaf_output(tree, leaf))
    expected = [NDCG(5)(m.predict(X, raw_score=True), Q) for m in (model, changed)]
    assert found.values[0, 0].tolist() == pytest.approx(expected, abs=1e-12)


def test_a_known_hill():
    """Its top passes; from 1 off the top a step h rises where its angle is less than arccos(h/2)."""
    top, near = (linear_weights(w, np.eye(4)) for w in ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 5.0]))
    t = np.array([-1.0, -0.1, 0.0, 0.1, 1.0])
    sweep = weight_sweep(top, HILL, Nearness(), [1], t, largest=3)
    assert sweep.weights == ("feature 3", "feature 2", "feature 1")
    np.testing.assert_allclose(sweep.values[0], -np.outer([16, 9, 4], t**2), atol=1e-12)
    np.testing.assert_allclose(sweep.roughness, 1)
    found, beside = (local_optimum_test(weights, HILL, Nearness()) for weights in (top, near))
    assert (found.rises, found.trials) == (0, 459) and found.is_local_optimum
    np.testing.assert_allclose(found.changes, -0.3, atol=1e-12)  # every step is a tenth of √30 long
    assert found.p_value == pytest.approx(0.99**459)
    assert 0.2 < beside.rises / 459 < 0.4 and not beside.is_local_optimum
    level = local_optimum_test(linear_weights(np.ones(16), X), Q, NDCG(3), step=1e-12)
    assert level.trials == 0 and level.p_value == 1 and not level.is_local_optimum
