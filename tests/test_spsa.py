"""Finite differences and SPSA: against slow references, in expectation, and against functions that misbehave."""

import drawn
import numpy as np
import pytest
from hypothesis import given, settings

from experiments.yue2007 import slopes
from experiments.yue2007.slopes import SPSA, FiniteDifference
from lambdaboost import (
    ERR,
    MAP,
    MRR,
    NDCG,
    LambdaRank,
    Precision,
    Queries,
    Recall,
)
from lambdaboost.evaluation import MEASURES as KNOWN

MEASURES = [
    NDCG(k=3),
    MRR(k=5),
    *(cls(k=2) if cls in (Precision, Recall) else cls() for cls in KNOWN.values()),
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


def test_finite_difference_in_pieces_is_the_same(monkeypatch):
    scores, q = drawn.make(0, [30, 1, 40, 7])
    whole = FiniteDifference(NDCG(k=5), 0.5).gradient(scores, q)[0]
    monkeypatch.setattr(slopes, "MEASURED_DOCUMENTS", 100)
    np.testing.assert_array_equal(FiniteDifference(NDCG(k=5), 0.5).gradient(scores, q)[0], whole)


def test_golden_values():
    q = Queries([0, 1, 0], sizes=[3])
    # Scores 0.2, 0.1, 0: a step of 0.15 swaps each document with the next one up and the next one down.
    d = 1 / np.log2(1 + np.arange(1, 4))
    lam = -FiniteDifference(NDCG(), 0.15).gradient([0.2, 0.1, 0.0], q)[0]
    np.testing.assert_allclose(lam, np.array([d[1] - d[0], d[0] - d[2], d[2] - d[1]]) / (2 * 0.15), rtol=1e-6)


def smooth(scores, q):
    """−Σ (s − y)³ of each query, whose slope is −3(s − y)²."""
    return np.add.reduceat(-((scores - q.relevance) ** 3), q.offsets[:-1])


def test_a_function_of_the_users_own():
    scores, q = drawn.make(3, [8, 5, 1])
    slope = -3 * (scores - q.relevance) ** 2
    grad, _ = FiniteDifference(smooth, 1e-4).gradient(scores, q)
    np.testing.assert_allclose(-grad, slope, rtol=1e-4, atol=1e-6)
    # A bound method of a measure is a function too, and gives what the measure gives.
    same = FiniteDifference(NDCG(k=3).per_query, 0.5).gradient(scores, q)[0]
    np.testing.assert_array_equal(same, FiniteDifference(NDCG(k=3), 0.5).gradient(scores, q)[0])


def test_spsa_is_the_slope_in_expectation():
    scores, q = drawn.make(4, [6, 4])
    slope = -3 * (scores - q.relevance) ** 2
    draws = np.array([-SPSA(smooth, 1e-4, 1, seed=7).gradient(scores, q, m)[0] for m in range(4000)])
    error = (draws.mean(axis=0) - slope) / (draws.std(axis=0, ddof=1) / np.sqrt(len(draws)))
    assert np.abs(error).max() < 4  # of ten standard normals, once in 1,600 seeds
    # The mean of so many draws in one call is no worse than that.
    many = -SPSA(smooth, 1e-4, draws=4000, seed=8).gradient(scores, q)[0]
    np.testing.assert_allclose(many, slope, atol=4 * (draws.std(axis=0) / np.sqrt(4000)).max())


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


def test_draws_follow_from_seed_and_round_alone():
    scores, q = drawn.make(6, [30])
    first = SPSA(seed=1).gradient(scores, q, 3)[0]
    np.testing.assert_array_equal(SPSA(seed=1).gradient(scores, q, 3)[0], first)
    assert (SPSA(seed=1).gradient(scores, q, 4)[0] != first).any()
    assert (SPSA(seed=2).gradient(scores, q, 3)[0] != first).any()


def test_weights_and_queries_without_anything_to_gain():
    scores, q = drawn.make(7, [9, 6])
    weighted = Queries(q.relevance, q.sizes, weight=[2.0, 0.5])
    for objective in (FiniteDifference(step=0.5), SPSA(step=0.5)):
        one, two = objective.gradient(scores, q), objective.gradient(scores, weighted)
        factor = np.repeat([2.0, 0.5], q.sizes)
        np.testing.assert_allclose(two[0], factor * one[0], rtol=1e-6)
        np.testing.assert_allclose(two[1], factor)
        left_out = type(objective)(NDCG(empty=float("nan")), 0.5)
        assert (left_out.gradient(np.arange(4.0), Queries(np.zeros(4), sizes=[4]))[0] == 0).all()


@pytest.mark.parametrize("rule", [FiniteDifference, SPSA])
@pytest.mark.parametrize("given", [0.5, np.nan, np.zeros((2, 1))], ids=str)
def test_functions_that_misbehave(rule, given):
    def wrong(scores, q):
        return np.full(q.n_queries, given) if given is np.nan else given

    with pytest.raises(ValueError, match=r"expected . finite numbers, one a query"):
        rule(wrong, 0.5).gradient(np.array([0.1, 0.2, 0.3, 0.4]), Queries([0, 1, 0, 1], sizes=[2, 2]))


def test_the_slope_of_ndcg_points_where_lambdarank_does():
    scores, q = drawn.make(8, [40] * 20)
    slope = FiniteDifference(NDCG(), 1.0).gradient(scores, q)[0]
    lam = LambdaRank().gradient(scores, q)[0]
    assert np.corrcoef(slope, lam)[0, 1] > 0.5
