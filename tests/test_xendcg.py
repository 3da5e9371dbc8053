"""XE-NDCG against a float64 reference that draws one number after the other, as LightGBM does."""

import copy
import pickle

import drawn
import naive
import numpy as np
import pytest
from rules import naive_xendcg

from lambdaboost import (
    CNDCG,
    MAP,
    NDCG,
    XENDCG,
    Blend,
    Constant,
    GradientStep,
    LambdaRank,
    Queries,
    Scorecard,
)
from lambdaboost._threads import using
from lambdaboost.objectives import parse

OBJECTIVES = [XENDCG(), XENDCG(seed=12_345), XENDCG(CNDCG(), seed=7), XENDCG(NDCG(gain="linear"))]
GAINS = [naive.exponential, naive.exponential, naive.click_gain, float]


def expected(objective, gain, scores, q, iteration):
    lam, mu = naive_xendcg(scores, q, iteration, objective.seed, objective.metric.source, gain)
    return -lam, mu


def assert_equals_the_reference(objective, gain, scores, q, iteration):
    for got, right in zip(
        objective.gradient(scores, q, iteration), expected(objective, gain, scores, q, iteration), strict=True
    ):
        for rows, _ in drawn.rows(q):
            np.testing.assert_allclose(
                got[rows], right[rows], rtol=0, atol=1e-6 * max(np.abs(right[rows]).max(), 1e-30)
            )


@pytest.mark.parametrize(
    ("objective", "gain"), [*zip(OBJECTIVES, GAINS, strict=True)], ids=map(repr, OBJECTIVES)
)
@pytest.mark.parametrize("spread", [0.0, 1.0, 60.0, 1e6])
def test_equals_the_reference(objective, gain, spread):
    """Lists shorter and longer than those that share one pass, with and without missing labels."""
    for seed, missing in enumerate((False, True)):
        scores, q = drawn.make(seed, [1, 2, 3, 5, 17, 40, 300, 250, 530, 8, 2], spread, missing=missing)
        assert_equals_the_reference(objective, gain, scores, q, iteration=3)


@pytest.mark.parametrize("iteration", [0, 1, 2, 7, 64, 400])
def test_draws_go_on_from_round_to_round(iteration):
    scores, q = drawn.make(3, [5, 5, 9, 40, 5])
    assert_equals_the_reference(XENDCG(seed=3), naive.exponential, scores, q, iteration)


def test_golden_values():
    """Two tied documents of grades 1 and 0: the second term takes the gradient away, the third adds it again."""
    grad, hess = XENDCG(seed=9).gradient([4.0, 4.0], Queries([1, 0], sizes=[2]))
    first, second = naive.lightgbm_floats(9, 0, 2)
    one, other = 2 - first, 1 - second
    np.testing.assert_allclose(grad, [0.5 - one / (one + other), 0.5 - other / (one + other)], rtol=1e-6)
    np.testing.assert_array_equal(hess, [0.25, 0.25])


def test_lambda_over_mu_is_nearer_to_the_newton_step_than_the_gradient():
    scores, q = drawn.make(4, [12])
    grad, hess = XENDCG().gradient(scores, q)
    rho = np.exp(scores) / np.exp(scores).sum()
    phi = 2.0**q.relevance - naive.lightgbm_floats(0, 0, 12)
    g = rho - phi / phi.sum()
    step = np.linalg.pinv(np.diag(rho) - np.outer(rho, rho)) @ g

    def off(direction):  # up to a constant, which moves no document past another
        apart = direction - step
        return np.abs(apart - apart.mean()).max()

    assert off(grad / hess) < 0.2 * off(g / (rho * (1 - rho)))


def test_same_draws_in_every_run_and_others_by_seed_and_round():
    scores, q = drawn.make(5, [30] * 100)
    results = []
    for threads in (1, 2):
        with using(threads):
            results.append(np.concatenate(XENDCG(seed=1).gradient(scores, q, 6)).tobytes())
    assert results[0] == results[1]
    for objective, iteration in ((XENDCG(seed=2), 6), (XENDCG(seed=1), 7)):
        assert np.concatenate(objective.gradient(scores, q, iteration)).tobytes() != results[0]


def test_one_document_far_above_the_others():
    """LightGBM divides by 1 − ρ = 0 here; the others still have their forces."""
    q = Queries([0, 2, 1, 0], sizes=[4])
    for far in (40.0, 1e3, 1e9):
        grad, hess = XENDCG().gradient([far, 0.0, 0.5, -0.5], q)
        assert np.isfinite(grad).all() and (hess >= 0).all()
        assert grad[0] > 0 > grad[1]
        assert abs(grad.sum()) < 1e-6
    assert_equals_the_reference(XENDCG(), naive.exponential, np.array([40.0, 0.0, 0.5, -0.5]), q, 0)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
def test_is_a_value(objective):
    assert parse(repr(objective)) == objective == pickle.loads(pickle.dumps(objective))
    assert copy.deepcopy(objective) is objective


def test_combines_with_the_rest():
    scores, q = drawn.make(6, [20, 30])
    parts = XENDCG().gradient(scores, q, 2), LambdaRank().gradient(scores, q, 2)
    for both, one, two in zip(
        Blend(XENDCG(), LambdaRank(), Constant(0.25)).gradient(scores, q, 2), *parts, strict=True
    ):
        np.testing.assert_allclose(both, 0.75 * one + 0.25 * two, rtol=1e-5, atol=1e-7)
    for both, one, two in zip(
        Scorecard((XENDCG(), LambdaRank()), (2.0, 0.5)).gradient(scores, q, 2), *parts, strict=True
    ):
        np.testing.assert_allclose(both, 2 * one + 0.5 * two, rtol=1e-5, atol=1e-7)
    assert GradientStep(XENDCG()).gradient(scores, q)[1].min() == 1
    weight = np.repeat([2.0, 0.5], [20, 30])
    weighted = XENDCG().gradient(scores, Queries(q.relevance, sizes=q.sizes, weight=[2.0, 0.5]), 2)
    for got, one in zip(weighted, parts[0], strict=True):
        np.testing.assert_array_equal(got, (one * weight).astype(np.float32))


def test_wrong_input():
    with pytest.raises(TypeError, match=r"metric is MAP\(\), expected a measure of the DCG family"):
        XENDCG(MAP())
    with pytest.raises(ValueError, match=r"metric is NDCG\(k=3\): shares of a softmax have no cutoff"):
        XENDCG(NDCG(k=3))
    with pytest.raises(ValueError, match="seed is -1"):
        XENDCG(seed=-1)
    with pytest.raises(TypeError, match="seed is True: give a whole number"):
        XENDCG(seed=True)
    with pytest.raises(ValueError, match="no label source 'clicks' here"):
        XENDCG(CNDCG()).gradient([0.0], Queries([1], sizes=[1]))
    with pytest.raises(ValueError, match=r"relevance\[1\] is 1023: the gains of its query sum to more"):
        XENDCG().gradient([0.0] * 3, Queries([1, 1023, 1023], sizes=[1, 2]))
    with pytest.raises(ValueError, match=r"relevance\[1\] is 1024: its gain 2\^l − 1 overflows"):
        XENDCG().gradient([0.0] * 2, Queries([1, 1024], sizes=[2]))
