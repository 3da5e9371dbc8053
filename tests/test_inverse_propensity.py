"""`InversePropensity`: its references, what it reduces to, what it refuses."""

import numpy as np
import pytest

from lambdaboost import InversePropensity, LambdaRank, Queries, RankNet
from lambdaboost.clicks import Propensities


def test_a_long_list_with_factors_is_the_sum_over_its_pairs():
    rng = np.random.default_rng(3)
    n = 3000
    relevance, scores = rng.integers(0, 3, n), rng.normal(size=n)
    position = rng.permutation(n) + 1
    q = Queries(relevance, sizes=[n], position=position)
    curve = Propensities.power(0.5, n)
    grad, _ = InversePropensity(RankNet(), curve).gradient(scores, q)
    better = relevance[:, None] > relevance[None, :]
    force = better * position[:, None] ** 0.5 / (1 + np.exp(scores[:, None] - scores[None, :]))
    np.testing.assert_allclose(-grad, force.sum(1) - force.sum(0), atol=1e-5 * np.abs(grad).max())


# As a value, and what it refuses

CURVE = Propensities.power(1.0, 400)


def test_documents_that_were_not_shown():
    objective = InversePropensity(LambdaRank(), CURVE)
    grad, _ = objective.gradient(np.zeros(3), Queries([1, 0, np.nan], sizes=[3], position=[1, 2, None]))
    assert grad[2] == 0 and grad[0] < 0 < grad[1]
    q = Queries([0, 1, 0], sizes=[3], position=[1, None, 2])
    with pytest.raises(ValueError, match=r"relevance\[1\] is 1: the row has no position"):
        objective.gradient(np.zeros(3), q)


def test_positions_past_the_curve():
    q = Queries([0, 0, 1], sizes=[3], position=[1, 2, 3])
    with pytest.raises(ValueError, match="position 3 is past the curve, whose last position is 2"):
        InversePropensity(LambdaRank(), Propensities((1.0, 0.5))).gradient(np.zeros(3), q)
    InversePropensity(LambdaRank(), Propensities((1.0, 0.5, 0.2))).gradient(np.zeros(3), q)
    nobody_clicked = Queries([1, 0, 0], sizes=[3], position=[1, 2, 3])
    InversePropensity(LambdaRank(), Propensities((1.0, 0.5))).gradient(np.zeros(3), nobody_clicked)
