"""`InversePropensity`: its references, what it reduces to, what it refuses."""

import drawn
import numpy as np
import pytest
from on_lightgbm import dataset as Dataset
from on_lightgbm import train

from lambdaboost import (
    NDCG,
    ClickTier,
    InversePropensity,
    LambdaRank,
    PairAccuracy,
    Queries,
    RankNet,
    graded,
)
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import web_search_log

SIZES = [1, 2, 5, 10, 40, 41, 100, 300]
PAIRWISE = [RankNet(sigma=2.0), LambdaRank(), LambdaRank(NDCG(k=3)), LambdaRank(PairAccuracy()), ClickTier()]


def flat(value, n=400):
    return Propensities([value] * n)


@pytest.mark.parametrize("objective", PAIRWISE, ids=repr)
def test_propensity_1_is_the_objective_itself(objective):
    for scores, q in (drawn.make(0, SIZES, missing=True), drawn.make(1, [5000])):
        weighted = InversePropensity(objective, flat(1.0, 5000), clip=3.0)
        for one, other in zip(objective.gradient(scores, q), weighted.gradient(scores, q), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("spread", [1.0, 1e4], ids=["narrow", "wide"])
@pytest.mark.parametrize("objective", PAIRWISE, ids=repr)
def test_equal_propensities_scale_the_objective(objective, spread):
    scores, q = drawn.make(2, SIZES, spread)
    half = InversePropensity(objective, flat(0.5)).gradient(scores, q)
    for one, two in zip(objective.gradient(scores, q), half, strict=True):
        np.testing.assert_allclose(two, 2 * one, rtol=2e-6, atol=2e-6 * np.abs(one).max())


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


def test_clicks_alone_order_a_query_without_grades():
    nothing = [np.nan] * 3
    q = Queries(
        [2, 1, 0, *nothing, 1, np.nan, 1],
        sizes=[3, 3, 3],
        clicks=[0.1, 0.5, 0.2, 0.1, 0.5, 0.2, 0.1, 0.5, 0.2],
    )
    scores = np.arange(9.0)
    grad, _ = ClickTier().gradient(scores, q)
    alone, _ = ClickTier(within=()).gradient(scores, q)
    assert (grad[:3] == 0).all()  # no two grades tie
    np.testing.assert_array_equal(grad[3:6], alone[3:6])
    assert (grad[3:6] != 0).all()
    assert grad[7] == 0 and grad[6] != 0 and grad[8] != 0  # where others have grades, it has no tier
    both, _ = graded(0.5).gradient(scores, q)
    np.testing.assert_allclose(both[3:6], 0.5 * alone[3:6])
    third = ClickTier(source="fresh", within=("relevance", "clicks"))
    q = Queries(nothing, sizes=[3], clicks=[0.5, 0.5, 0.1], fresh=[0.2, 0.6, 0.9])
    assert (third.gradient(scores[:3], q)[0] != 0).tolist() == [True, True, False]


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


def test_trains_with_positions_of_the_data_set():
    X, q = web_search_log(queries=60, documents=20, features=16, seed=3)
    rng = np.random.default_rng(5)
    position = np.concatenate([rng.permutation(n) + 1 for n in q.sizes])
    clicks = rng.random(q.n_documents) < (0.1 + 0.2 * q.relevance) / position**0.7
    data = Dataset(X, clicks, group=q.sizes, position=position)
    objective = InversePropensity(LambdaRank(), CURVE)
    booster = train({"verbose": -1, "num_leaves": 7, "num_threads": 1}, data, 5, objective=objective)
    assert np.ptp(booster.predict(X)) > 0
