"""Shifted weights, local optima and the costs of λ rules: hills known by formula, real boosters."""

import re
from types import SimpleNamespace

import lightgbm as lgb
import naive
import numpy as np
import pytest
import xgboost as xgb
from engine_rules import LightGBMRule, XGBoostRule

from experiments.common.cubic import cubic_polynomial
from experiments.yue2007.optimality import lambda_jacobian, local_optimum_test, loop_work, weight_sweep
from experiments.yue2007.optimality.weights import weights_of
from lambdaboost import NDCG, GradientStep, LambdaRank, Queries, RankNet, SigmoidLocal
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective


class Nearness(Measure, registered=False):
    """Minus the squared distance of the scores from the grades: a hill with its top where they are equal."""

    empty: float = 0.0

    @property
    def source(self):
        return "relevance"

    def _per_query(self, scores, q):
        return -np.add.reduceat((scores - q.relevance) ** 2, q.offsets[:-1])


def linear(*coefficients):
    return SimpleNamespace(coef_=np.array(coefficients))


HILL = Queries([1, 2, 3, 4], sizes=[4])
EYE = np.eye(4)
TOP = linear(1.0, 2.0, 3.0, 4.0)
X, Q = cubic_polynomial(queries=60, documents=10, features=6, seed=1)


@pytest.mark.slow
def test_lambdarank_ends_at_an_optimum_of_ndcg():
    data, q = cubic_polynomial(queries=1000, documents=15, features=8, seed=2)
    matrix = xgb.DMatrix(data, q.relevance, group=q.sizes)
    params = {"booster": "gblinear", "nthread": 1, "eta": 0.5, "lambda": 0, "verbosity": 0}
    trained = xgb.train(params, matrix, 60, obj=LambdaRank())
    untrained = linear(*np.random.default_rng(0).normal(size=8))
    found, other = (local_optimum_test(model, data, q, NDCG(), step=0.7) for model in (trained, untrained))
    assert found.is_local_optimum and not other.is_local_optimum


def booster(**params):
    data = lgb.Dataset(X, Q.relevance, group=Q.sizes)
    params = {"objective": LambdaRank(), "num_leaves": 5, "min_data_in_leaf": 5, "verbose": -1} | params
    return lgb.train(params, data, 4)


def gblinear():
    data = xgb.DMatrix(X, Q.relevance, group=Q.sizes)
    return xgb.train({"booster": "gblinear", "eta": 0.5, "verbosity": 0}, data, 20, obj=LambdaRank())


@pytest.mark.parametrize("train", [booster, gblinear])
def test_scores_are_linear_in_the_weights(train):
    model = train()
    predicted = model.predict(X if train is booster else xgb.DMatrix(X))
    weights = weights_of(model, X)
    rest = predicted - weights.scores
    np.testing.assert_allclose(rest, rest.mean(), atol=1e-5)
    direction = np.random.default_rng(0).normal(size=weights.trained.size)
    by_one = sum(d * weights.moves(one) for one, d in zip(np.eye(direction.size), direction, strict=True))
    np.testing.assert_allclose(weights.moves(direction), by_one, atol=1e-4)


def test_a_leaf_shifts_as_the_library_would_set_it():
    model = booster()
    found = weight_sweep(model, X, Q, NDCG(5), weights=1, shifts=[0, 0.5], sizes=[60])
    tree, leaf = map(int, re.findall(r"\d+", found.weights[0]))
    changed = lgb.Booster(model_str=model.model_to_string())
    changed.set_leaf_output(tree, leaf, 1.5 * changed.get_leaf_output(tree, leaf))
    expected = [NDCG(5)(m.predict(X, raw_score=True), Q) for m in (model, changed)]
    assert found.values[0, 0].tolist() == pytest.approx(expected, abs=1e-12)


def test_a_sweep_of_a_known_hill():
    t = np.array([-1.0, -0.1, 0.0, 0.1, 1.0])
    found = weight_sweep(TOP, EYE, HILL, Nearness(), shifts=t, weights=3)
    assert found.weights == ("feature 3", "feature 2", "feature 1")
    np.testing.assert_allclose(found.values[0], -np.outer([16, 9, 4], t**2), atol=1e-12)
    assert (found.best_shift == 0).all()
    np.testing.assert_allclose(found.roughness, 1)


def test_the_top_of_a_hill_passes_and_its_slope_does_not():
    found = local_optimum_test(TOP, EYE, HILL, Nearness())
    assert (found.rises, found.trials, found.n_weights) == (0, 459, 4)
    # Every step is a tenth of √30 long.
    np.testing.assert_allclose(found.changes, -0.3, atol=1e-12)
    assert found.is_local_optimum and found.p_value == pytest.approx(0.99**459)
    assert "along 0 of 459 random directions" in str(found) and "a local optimum at" in str(found)
    near = local_optimum_test(linear(1.0, 2.0, 3.0, 5.0), EYE, HILL, Nearness())
    # From 1 off the top a step h rises where its angle is less than arccos(h/2).
    assert 0.2 < near.rises / 459 < near.highest_share < 0.4
    assert not near.is_local_optimum and "not shown to be an optimum" in str(near)
    level = local_optimum_test(linear(*np.ones(6)), X, Q, NDCG(3), step=1e-12)
    assert level.trials == 0 and level.p_value == level.highest_share == 1 and not level.is_local_optimum


def test_errors():
    with pytest.raises(ValueError, match="not the sum of its leaf"):
        weights_of(booster(linear_tree=True, objective="lambdarank"), X)
    with pytest.raises(ValueError, match="too close for derivatives"):
        lambda_jacobian(RankNet(), [1.0, 1.0], Queries([1, 0], [2]))


# Costs of λ rules

SCORES = np.array([0.3, -1.0, 2.0, 0.9, -0.2, 1.4])
LABELS = Queries([1, 0, 2, 0, 3, 1], sizes=[6], clicks=[0.1, 0.5, 0.3, 0.2, 0.9, 0.0], fresh=np.zeros(6))


def hessian(weight, force, sigma=1.0):
    """Σ w μ (e_i − e_j)(e_i − e_j)ᵀ over the pairs."""
    total = np.zeros((6, 6))
    for i, j in naive.graded_pairs(LABELS.relevance.astype(float)):
        e = np.eye(6)[i] - np.eye(6)[j]
        total += weight(i, j) * force(SCORES[i] - SCORES[j])[1] * np.outer(e, e)
    return total


def swap(i, j):
    gains = [naive.exponential(x) for x in LABELS.relevance.astype(float)]
    return naive.swap_ndcg(gains, naive.ranks(SCORES), i, j, None)


@pytest.mark.parametrize(
    ("objective", "expected", "convex"),
    [
        (RankNet(), hessian(lambda i, j: 1, naive.logistic), True),
        (RankNet(sigma=2.0), hessian(lambda i, j: 1, lambda o: naive.logistic(o, 2.0)), True),
        (LambdaRank(), hessian(swap, naive.logistic), True),
        (SigmoidLocal(), hessian(swap, naive.local), False),
    ],
    ids=lambda given: repr(given) if isinstance(given, Objective) else "",
)
def test_jacobians_in_one_order_are_sums_over_pairs(objective, expected, convex):
    found = lambda_jacobian(objective, SCORES, LABELS)
    np.testing.assert_allclose(-found.matrix, expected, atol=1e-4 * abs(expected).max())
    assert found.error < 1e-3 * abs(expected).max() and found.asymmetry < found.tolerance
    assert found.has_cost and found.is_convex is convex and found.is_balanced
    np.testing.assert_allclose(found.least_eigenvalue, np.linalg.eigvalsh(expected)[0], atol=1e-4)
    assert ("is convex here" in str(found)) is convex


@pytest.mark.parametrize("objective", [LightGBMRule(), XGBoostRule(), GradientStep(LambdaRank())], ids=repr)
def test_what_divides_by_all_scores_has_no_cost(objective):
    found = lambda_jacobian(objective, SCORES, LABELS)
    assert found.asymmetry > 10 * found.tolerance
    assert not found.has_cost and not found.is_convex and "no cost has these λ" in str(found)


def test_work_around_loops():
    q, s = Queries([0, 2, 1], sizes=[3]), np.array([0.5, 0.0, -0.5])
    still = loop_work(RankNet(sigma=2.0), s, q)
    assert abs(still).max() < 1e-6
    work = loop_work(LambdaRank(), s, q)
    np.testing.assert_array_equal(work, -work.T)
    assert abs(work).max() > 0.01
    # Squares too small to change the order: there it has a cost.
    assert abs(loop_work(LambdaRank(), s, q, side=0.4)).max() < 1e-6
