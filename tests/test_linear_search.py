"""Slopes in weight space."""

import numpy as np
import pytest

from experiments.yue2007.linear_search import (
    CrossEntropy,
    Gains,
    Shortfall,
    finite_difference,
    in_weights,
    spsa,
    weight_gradient,
)
from lambdaboost import NDCG, LambdaRank, RankNet
from lambdaboost.datasets import web_search_log

X, Q = web_search_log(queries=12, documents=10, features=16, seed=1)
X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float64)
W = np.random.default_rng(0).normal(size=X.shape[1]) / 4


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
    for scale in (1.0, 100.0):
        assert CrossEntropy(Q)(scale * (X @ W)) == pytest.approx(
            entropy_by_hand(scale * (X @ W), Q), rel=1e-9
        )
    assert CrossEntropy(Q)(np.array([1e4, *np.zeros(Q.n_documents - 1)])) >= 0
    two = CrossEntropy(Q)(np.column_stack([X @ W, -(X @ W)]))
    np.testing.assert_allclose(two, [entropy_by_hand(X @ W, Q), entropy_by_hand(-(X @ W), Q)])


def test_finite_difference_is_the_closed_form_of_ranknet():
    cost = in_weights(CrossEntropy(Q), X)
    closed = weight_gradient(RankNet(), X, Q, W) * Q.n_queries / CrossEntropy(Q).n_pairs
    np.testing.assert_allclose(finite_difference(cost, W, 1e-3), closed, rtol=1e-4, atol=1e-6)


def test_spsa_is_the_slope_in_expectation():
    cost, rng = in_weights(CrossEntropy(Q), X), np.random.default_rng(1)
    slope = finite_difference(cost, W, 1e-4)
    draws = spsa(cost, np.repeat(W[:, None], 6000, axis=1), 1e-4, 1, rng)
    error = (draws.mean(axis=1) - slope) / (draws.std(axis=1, ddof=1) / np.sqrt(6000))
    assert np.abs(error).max() < 4  # of 16 standard normals, once in 1,000 seeds
    averaged = spsa(cost, np.repeat(W[:, None], 500, axis=1), 1e-4, 4, rng)
    ratio = averaged.std(axis=1) / draws.std(axis=1)  # four draws halve the spread
    np.testing.assert_allclose(ratio, 0.5, atol=0.1)


def test_shortfall_and_gradients_of_many_models():
    pair = np.column_stack([W, -W])
    cost = in_weights(Shortfall(NDCG(k=5), Q), X)
    np.testing.assert_allclose(cost(pair), [1 - NDCG(k=5)(X @ W, Q), 1 - NDCG(k=5)(-(X @ W), Q)])
    both = weight_gradient(LambdaRank(), X, Q, pair)
    np.testing.assert_allclose(both[:, 1], weight_gradient(LambdaRank(), X, Q, -W), rtol=1e-6)
    np.testing.assert_allclose(both[:, 0], X.T @ LambdaRank().gradient(X @ W, Q)[0] / Q.n_queries, rtol=1e-6)


def test_spalls_gains():
    gains = Gains(rate=2.0, step=0.1, after=9)
    assert gains.rates(0) == 2.0 / 10**0.602
    assert gains.steps(3) == 0.1 / 4**0.101
