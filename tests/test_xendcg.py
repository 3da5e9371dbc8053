"""XE-NDCG against a float64 reference that draws one number after the other, as LightGBM does."""

import drawn
import naive
import numpy as np
import pytest
from rules import naive_xendcg

from lambdaboost import CNDCG, NDCG, XENDCG, Queries

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


def test_one_document_far_above_the_others():
    """LightGBM divides by 1 − ρ = 0 here; the others still have their forces."""
    q = Queries([0, 2, 1, 0], sizes=[4])
    for far in (40.0, 1e3, 1e9):
        grad, hess = XENDCG().gradient([far, 0.0, 0.5, -0.5], q)
        assert np.isfinite(grad).all() and (hess >= 0).all()
        assert grad[0] > 0 > grad[1]
        assert abs(grad.sum()) < 1e-6
    assert_equals_the_reference(XENDCG(), naive.exponential, np.array([40.0, 0.0, 0.5, -0.5]), q, 0)
