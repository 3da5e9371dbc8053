"""Shifted weights, local optima and the costs of λ rules: hills known by formula, real boosters, each user error."""

import json
from types import SimpleNamespace

import drawn
import lightgbm as lgb
import naive
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from engine_rules import LightGBMRule, XGBoostRule
from rules import RULES
from scipy.sparse import csr_matrix
from sklearn.linear_model import LinearRegression

from experiments.common.cubic import cubic_polynomial
from experiments.optimality import lambda_jacobian, local_optimum_test, loop_work, plots, weight_sweep
from experiments.optimality.model_weights import weights_of
from lambdaboost import (
    CNDCG,
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    SigmoidLocal,
    Spearman,
)
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

LAMBDA = LambdaRank()
TOP_TEN = NDCG(10)


def lightgbm_booster(**params):
    data = lgb.Dataset(X, Q.relevance, group=Q.sizes)
    params = {"objective": LAMBDA, "num_leaves": 5, "min_data_in_leaf": 5, "verbose": -1} | params
    return lgb.train(params, data, 4)


def xgboost_booster(obj=LAMBDA, **params):
    data = xgb.DMatrix(X, Q.relevance, group=Q.sizes)
    return xgb.train({"max_depth": 2, "verbosity": 0} | params, data, 4, obj=obj)


def gblinear(features=X):
    data = xgb.DMatrix(features, Q.relevance, group=Q.sizes)
    return xgb.train({"booster": "gblinear", "eta": 0.5, "verbosity": 0}, data, 20, obj=LambdaRank())


def bytes_of(model):
    return bytes(model.save_raw("json")) if hasattr(model, "save_raw") else model.model_to_string().encode()


MODELS = {
    "lightgbm": lightgbm_booster,
    "lightgbm dart": lambda: lightgbm_booster(
        objective="lambdarank", boosting="dart", drop_rate=0.9, skip_drop=0.0
    ),
    "lightgbm forest": lambda: lightgbm_booster(
        objective="lambdarank", boosting="rf", bagging_freq=1, bagging_fraction=0.5
    ),
    "xgboost": xgboost_booster,
    "xgboost dart": lambda: xgboost_booster(booster="dart", rate_drop=0.9),
    "xgboost parallel": lambda: xgboost_booster(num_parallel_tree=2, subsample=0.5),
    "gblinear": gblinear,
}


def margin(model):
    if hasattr(model, "save_raw"):
        return model.predict(xgb.DMatrix(X), output_margin=True)
    return model.predict(X, raw_score=True)


# Weights


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_linear_in_the_weights_and_the_model_stays(name):
    model = MODELS[name]()
    before = bytes_of(model)
    weights = weights_of(model, X, Q)
    rest = margin(model) - weights.scores
    np.testing.assert_allclose(rest, rest.mean(), atol=1e-5)
    direction = np.random.default_rng(0).normal(size=weights.trained.size)
    by_one = sum(d * weights.moves_of(w) for w, d in enumerate(direction))
    np.testing.assert_allclose(weights.moves(direction), by_one, atol=1e-4)
    np.testing.assert_allclose(weights.moves(weights.trained), weights.scores, atol=1e-4)
    weight_sweep(model, X, Q, shifts=[-0.5, 0, 0.5])
    local_optimum_test(model, X, Q, share=0.2, alpha=0.2)
    assert bytes_of(model) == before


def test_a_lightgbm_leaf_shifts_as_the_library_would_set_it():
    model = lightgbm_booster()
    found = weight_sweep(model, X, Q, NDCG(5), weights=[7], shifts=[0, 0.5], sizes=[60])
    assert found.weights == ("tree 1, leaf 2",)
    changed = lgb.Booster(model_str=model.model_to_string())
    changed.set_leaf_output(1, 2, 1.5 * changed.get_leaf_output(1, 2))
    expected = [NDCG(5)(m.predict(X, raw_score=True), Q) for m in (model, changed)]
    assert found.values[0, 0].tolist() == pytest.approx(expected, abs=1e-12)


def test_an_xgboost_leaf_shifts_as_its_json_says():
    model = xgboost_booster()
    found = weight_sweep(model, X, Q, NDCG(5), weights=[5], shifts=[0, 0.5], sizes=[60])
    text = json.loads(model.save_raw("json"))
    tree = text["learner"]["gradient_booster"]["model"]["trees"][1]
    (node,) = [node for node in range(99) if found.weights == (f"tree 1, leaf {node}",)]
    assert tree["left_children"][node] == -1
    tree["split_conditions"][node] = tree["base_weights"][node] = 1.5 * tree["split_conditions"][node]
    changed = xgb.Booster(model_file=bytearray(json.dumps(text).encode()))
    expected = [NDCG(5)(margin(m), Q) for m in (model, changed)]
    assert found.values[0, 0].tolist() == pytest.approx(expected, abs=1e-9)


def test_rankers_of_both_libraries_and_linear_models():
    ranker = lgb.LGBMRanker(objective=LambdaRank(), n_estimators=3, num_leaves=5, verbose=-1)
    ranker.fit(X, Q.relevance, group=Q.sizes)
    assert weights_of(ranker, X, Q).trained.size == 15
    ranker = xgb.XGBRanker(n_estimators=3, max_depth=1, verbosity=0).fit(X, Q.relevance, group=Q.sizes)
    assert weights_of(ranker, X, Q).trained.size == 6
    fitted = LinearRegression().fit(X, Q.relevance)
    for features in (X, csr_matrix(X), pd.DataFrame(X, columns=list("abcdef"))):
        weights = weights_of(fitted, features, Q)
        np.testing.assert_allclose(weights.scores, fitted.predict(X) - fitted.intercept_, atol=1e-5)
        assert weights.names == (
            tuple("abcdef") if hasattr(features, "columns") else tuple(f"feature {i}" for i in range(6))
        )
        assert weights.moving.all()


def test_an_estimator_counts_the_trees_up_to_its_best_round():
    ranker = xgb.XGBRanker(n_estimators=30, max_depth=2, verbosity=0, early_stopping_rounds=2)
    ranker.fit(
        X, Q.relevance, group=Q.sizes, eval_set=[(X[::-1], Q.relevance)], eval_group=[Q.sizes], verbose=False
    )
    assert ranker.best_iteration < ranker.get_booster().num_boosted_rounds() - 1
    rest = ranker.predict(X) - weights_of(ranker, X, Q).scores
    np.testing.assert_allclose(rest, rest.mean(), atol=1e-5)


# One shifted weight


def test_a_sweep_of_a_known_hill():
    t = np.array([-1.0, -0.1, 0.0, 0.1, 1.0])
    found = weight_sweep(TOP, EYE, HILL, Nearness(), shifts=t, weights=3)
    assert found.weights == ("feature 3", "feature 2", "feature 1") and found.trained.tolist() == [4, 3, 2]
    np.testing.assert_allclose(found.values[0], -np.outer([16, 9, 4], t**2), atol=1e-12)
    assert (found.best_shift == 0).all()
    np.testing.assert_allclose(found.roughness, 1)
    frame = found.frame()
    assert list(frame.columns) == ["queries", "weight", "trained", "shift", "Nearness()"]
    assert frame.iloc[6].tolist() == [1, "feature 2", 3.0, -0.1, pytest.approx(-0.09)]


def test_roughness_and_best_shift_of_a_staircase():
    # The second document passes the first, graded 1, above shift 1 and the third, graded 4, above 3: 1, 1, 0.
    q = Queries([1, 2, 4], sizes=[3])
    best = 15
    found = weight_sweep(linear(2.0, 1.0, 4.0), np.eye(3), q, NDCG(1), weights=[1], shifts=[0.0, 2.0, 4.0])
    np.testing.assert_allclose(found.values[0, 0], [1, 1, 3 / best])
    assert found.best_shift[0, 0] == 0 and found.roughness[0, 0] == 1
    found = weight_sweep(linear(1.0, 2.0, 0.0), np.eye(3), q, NDCG(1), weights=[0], shifts=[0.0, 0.5])
    assert np.isnan(found.roughness[0, 0])  # nothing changes


def test_sets_of_queries_are_nested_means_weighted_and_less_the_undefined():
    scores, q = drawn.make(4, [6] * 30)
    weighted = Queries(q.relevance, q.sizes, weight=np.arange(30.0) + 1)
    features = np.stack([scores, np.random.default_rng(0).normal(size=180)], axis=1)
    model, measure, t = linear(1.0, 0.5), NDCG(3, empty=float("nan")), [-0.5, 0.25]
    found = weight_sweep(model, features, weighted, measure, shifts=t, sizes=[7, 30], seed=3)
    drawn_queries = np.random.default_rng(3).permutation(30)
    for size, values in zip((7, 30), found.values, strict=True):
        part = weighted.take(drawn_queries[:size])
        rows = weighted.rows_of(drawn_queries[:size])
        expected = [[measure((features * [1 + a, 0.5])[rows].sum(1), part) for a in t],
                    [measure((features * [1, 0.5 + 0.5 * a])[rows].sum(1), part) for a in t]]  # fmt: skip
        np.testing.assert_allclose(values, expected, atol=1e-12)


def test_default_sizes_and_weights_that_move_nothing():
    constant = np.column_stack([X, np.ones(len(X))])
    found = weight_sweep(linear(0, 0, 1, 0, 0, -2, 9), constant, Q, shifts=[0.0])
    assert found.weights == ("feature 5", "feature 2") and found.sizes.tolist() == [60]
    many = Queries(np.tile([1, 0], 1000), sizes=[2] * 1000)
    found = weight_sweep(linear(1.0), np.tile([[1.0], [0.0]], (1000, 1)), many, shifts=[0.0])
    assert found.sizes.tolist() == [100, 1000] and (found.values == 1).all()
    assert repr(found) == "WeightSweep(NDCG(k=10), 1 weights × 1 shifts, 100, 1,000 queries)"


# Local optima


def test_the_top_of_a_hill_passes_and_its_slope_does_not():
    found = local_optimum_test(TOP, EYE, HILL, Nearness())
    assert (found.rises, found.falls, found.level, found.n_weights) == (0, 459, 0, 4)
    # Every step is a tenth of √30 long.
    np.testing.assert_allclose(found.changes, -0.3, atol=1e-12)
    assert (
        found.is_local_optimum
        and found.p_value == pytest.approx(0.99**459)
        and found.p_value <= 0.01 < 0.99**458
    )
    assert "raise it along 0 of 459 random directions" in str(
        found
    ) and "a local optimum at this step" in str(found)

    beside = local_optimum_test(linear(1.0, 2.0, 3.0, 5.0), EYE, HILL, Nearness())
    # From 1 off the top a step h rises where its angle is less than arccos(h/2).
    assert 0.2 < beside.rises / 459 < 0.4 and beside.falls == 459 - beside.rises
    assert not beside.is_local_optimum and beside.p_value > 0.99
    assert "not shown to be an optimum" in str(beside)
    assert beside.rises / 459 < beside.highest_share < 0.45
    assert repr(beside).startswith(f"LocalOptimum(Nearness(): {beside.rises} of 459 directions rise, p=1")


def test_directions_that_change_nothing_show_nothing():
    found = local_optimum_test(linear(*np.ones(6)), X, Q, NDCG(3), step=1e-12)
    assert found.level == 459 and found.p_value == found.highest_share == 1 and not found.is_local_optimum
    assert "459 more do not change it" in str(found)


def test_directions_are_drawn_by_seed_and_more_of_them_forgive_rises():
    one, again, other = (local_optimum_test(linear(*np.ones(6)), X, Q, seed=s).changes for s in (1, 1, 2))
    assert one.tobytes() == again.tobytes() != other.tobytes()
    found = local_optimum_test(TOP, EYE, HILL, Nearness(), share=0.05, alpha=0.05)
    assert found.changes.size == 59  # 0.95⁵⁹ is just below 0.05
    assert local_optimum_test(TOP, EYE, HILL, Nearness(), directions=700).changes.size == 700


@pytest.mark.slow
def test_lambdarank_ends_at_an_optimum_of_ndcg():
    data, q = cubic_polynomial(queries=1000, documents=15, features=8, seed=2)
    matrix = xgb.DMatrix(data, q.relevance, group=q.sizes)
    params = {"booster": "gblinear", "nthread": 1, "eta": 0.5, "lambda": 0, "verbosity": 0}
    trained = xgb.train(params, matrix, 60, obj=LambdaRank())
    untrained = linear(*np.random.default_rng(0).normal(size=8))
    found, other = (local_optimum_test(model, data, q, NDCG(), step=0.7) for model in (trained, untrained))
    assert found.is_local_optimum and not other.is_local_optimum


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
    words = str(found)
    assert "∂λ/∂s is symmetric" in words and ("is convex here" in words) is convex
    assert ("a convex cost" if convex else "a cost here") in repr(found)


@pytest.mark.parametrize(
    "objective",
    [LightGBMRule(), XGBoostRule(), GradientStep(LambdaRank())],
    ids=repr,
)
def test_what_divides_by_all_scores_has_no_cost(objective):
    found = lambda_jacobian(objective, SCORES, LABELS)
    assert found.asymmetry > 10 * found.tolerance
    assert not found.has_cost and not found.is_convex and "no cost has these λ" in str(found)


def thirty(rule):
    _, q = drawn.make(5, [30])
    grades = np.minimum(q.relevance, rule.highest)
    return np.random.default_rng(0).permutation(30) / 10, Queries(
        grades, q.sizes, clicks=q.labels["clicks"], fresh=q.labels["fresh"], position=q.positions
    )


BALANCED = RULES


def test_forces_sum_to_zero():
    for rule in BALANCED:
        lam, _ = rule.objective.lambdas(*thirty(rule), 0)
        assert np.abs(lam).sum() > 0 and abs(lam.sum()) < 1e-5 * np.abs(lam).sum(), rule.objective


@pytest.mark.slow
@pytest.mark.parametrize("rule", BALANCED, ids=lambda rule: repr(rule.objective)[:80])
def test_moving_all_scores_alike_moves_no_force(rule):
    scores, q = thirty(rule)
    lam, _ = rule.objective.lambdas(scores, q, 0)
    found = lambda_jacobian(rule.objective, scores, q)
    assert found.is_balanced
    np.testing.assert_array_equal(found.lam, lam)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 0, atol=30 * found.tolerance)


class Drift(RankNet, registered=False):
    """Forces that do not balance, of a cost that is not convex."""

    def lambdas(self, scores, q, iteration):
        return 1 + scores, np.ones_like(scores)


def test_forces_that_do_not_balance():
    found = lambda_jacobian(Drift(), SCORES, LABELS)
    np.testing.assert_allclose(found.matrix, np.eye(6), atol=1e-9)
    assert found.has_cost and not found.is_convex and found.least_eigenvalue == pytest.approx(-1)
    total = 1 + SCORES
    assert found.net_force == pytest.approx(abs(total.sum()) / abs(total).sum()) and not found.is_balanced
    assert "The λ do not sum to zero" in str(found) and "unbalanced forces" in repr(found)


def test_an_edge_of_a_hinge_has_no_slope():
    """A pair's hinge max(0, 1 − o) has its edge where the two are 1 apart, its λ are constant elsewhere."""

    class Hinge(RankNet, registered=False):
        def lambdas(self, scores, q, iteration):
            return np.array([1.0, -1.0]) * (scores[0] - scores[1] < 1), np.zeros(2)

    q = Queries([1, 0], sizes=[2])
    found = lambda_jacobian(Hinge(), [0.0, 0.5], q)
    assert found.has_cost and found.is_convex and found.is_balanced and not found.matrix.any()
    with pytest.raises(ValueError, match="λ have no derivative at these scores"):
        lambda_jacobian(Hinge(), [1.0, 0.0], q)


def test_no_pairs_is_a_constant_cost():
    found = lambda_jacobian(RankNet(), [0.5, 0.0], Queries([1, 1], sizes=[2]))
    assert found.has_cost and found.is_convex and found.is_balanced and not found.matrix.any()
    assert lambda_jacobian(RankNet(), [0.5], Queries([1], sizes=[1])).matrix.shape == (1, 1)


def test_work_around_loops():
    q, s = Queries([0, 2, 1], sizes=[3]), np.array([0.5, 0.0, -0.5])
    still = loop_work(RankNet(sigma=2.0), s, q)
    assert abs(still).max() < 1e-6
    work = loop_work(LambdaRank(), s, q)
    np.testing.assert_array_equal(work, -work.T)
    assert abs(work).max() > 0.01
    # Squares too small to change the order: there it has a cost.
    assert abs(loop_work(LambdaRank(), s, q, side=0.4)).max() < 1e-6


def test_work_of_a_rule_that_turns():
    """λ_0 = −s_1, λ_1 = s_0 turns by 2 everywhere."""

    class Turn(RankNet, registered=False):
        def lambdas(self, scores, q, iteration):
            return np.array([-scores[1], scores[0]]), np.ones(2)

    work = loop_work(Turn(), [0.0, 0.0], Queries([1, 0], sizes=[2]), side=0.5)
    np.testing.assert_allclose(work, [[0, 2 * 0.25], [-2 * 0.25, 0]])


# Pictures


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = weight_sweep(linear(*np.ones(6)), X, Q, sizes=[20, 60], shifts=[-0.1, 0.0, 0.1])
    ax = plots.plot_weight_sweep(found, 20)
    assert "20 queries" in ax.get_ylabel() and "60 queries" in plots.plot_weight_sweep(found).get_ylabel()
    np.testing.assert_allclose(ax.get_lines()[1].get_ydata(), found.values[0, 0])
    test = local_optimum_test(linear(*np.ones(6)), X, Q, share=0.2, alpha=0.2)
    ax = plots.plot_local_optimum({"ones": test})
    np.testing.assert_allclose(ax.get_lines()[1].get_xdata(), np.sort(test.changes))
    found = lambda_jacobian(LambdaRank(), SCORES, LABELS)
    np.testing.assert_allclose(plots.plot_lambda_jacobian(found).images[0].get_array(), found.matrix)
    plt.close("all")


# What a user can get wrong


def sweep(model=TOP, features=EYE, q=HILL, measure=TOP_TEN, **kwargs):
    return weight_sweep(model, features, q, measure, **kwargs)


def optimum(model=TOP, features=EYE, q=HILL, measure=TOP_TEN, **kwargs):
    return local_optimum_test(model, features, q, measure, **kwargs)


BAD = [
    (lambda: sweep(object()), TypeError, "model is object, which has no readable weights"),
    (lambda: sweep(lgb.LGBMRanker()), TypeError, "LGBMRanker, which has no readable weights: give a trained"),
    (lambda: sweep(linear([1, 2, 3, 4], [1, 2, 3, 4])), ValueError, r"model.coef_ has shape \(2, 4\)"),
    (lambda: sweep(linear(1.0, 2.0)), ValueError, "X has 4 columns, the model 2 coefficients"),
    (lambda: sweep(linear(1, np.nan, 1, 1)), ValueError, r"model.coef_\[1\] is nan"),
    (lambda: sweep(linear(0, 0, 0, 0)), ValueError, "no weight that changes a score"),
    (lambda: sweep(features=np.eye(4) * np.nan), ValueError, r"scores\[0\] is nan"),
    (lambda: sweep(features=[[1.0]]), TypeError, "X is list"),
    (lambda: sweep(features=np.eye(4)[:3]), ValueError, "X has 3 rows, q has 4 documents"),
    (lambda: sweep(q=[1, 2, 3, 4]), TypeError, "q is list"),
    (lambda: sweep(measure=CNDCG()), ValueError, "no label source 'clicks'"),
    (lambda: sweep(weights=[4]), ValueError, "weights has 4: give indices from 0 to 3"),
    (lambda: sweep(weights=[-1]), ValueError, "weights has -1"),
    (lambda: sweep(weights=[]), TypeError, r"weights is \[\]"),
    (lambda: sweep(weights=["feature 1"]), TypeError, "give the number of weights to shift, or their indices"),
    (lambda: sweep(linear(0, 1, 1, 1), weights=[0]), ValueError, "weights has 0, whose value is 0"),
    (lambda: sweep(shifts=[]), ValueError, r"shifts is \[\]"),
    (lambda: sweep(shifts=[0.1, 0.0]), ValueError, "ascending"),
    (lambda: sweep(shifts=[np.inf]), ValueError, "shifts is"),
    (lambda: sweep(sizes=[1, 1]), ValueError, "from 1 to 1, strictly ascending"),
    (lambda: sweep(sizes=[2]), ValueError, r"sizes is \[2\]: give numbers of queries from 1 to 1"),
    (lambda: optimum(object()), TypeError, "has no readable weights"),
    (lambda: optimum(linear(0, 0, 0, 0)), ValueError, "weights are all 0"),
    (lambda: optimum(measure=CNDCG()), ValueError, "no label source 'clicks'"),
    (lambda: optimum(step=0), ValueError, "step is 0"),
    (lambda: optimum(share=1), ValueError, "share is 1"),
    (lambda: optimum(share=0), ValueError, "share is 0"),
    (lambda: optimum(alpha=1.5), ValueError, "alpha is 1.5"),
    (lambda: optimum(directions=458), ValueError, "directions is 458: give at least 459"),
    (lambda: lambda_jacobian(RankNet(), SCORES, Queries([1, 0, 1, 0, 1, 0], [3, 3])), ValueError, "q has 2 queries"),
    (lambda: lambda_jacobian(RankNet(), SCORES[:5], LABELS), ValueError, "scores has shape"),
    (lambda: lambda_jacobian(ClickTier(source="x"), SCORES, LABELS), ValueError, "no label source 'x'"),
    (lambda: lambda_jacobian(RankNet(), [1.0, 0.0, 1.0], Queries([1, 0, 2], [3])), ValueError,
     r"scores\[0\] and scores\[2\] are both 1"),
    (lambda: lambda_jacobian(Blend(RankNet(), LambdaRank(), 0.5), [1.0, 1.0 + 1e-9], Queries([1, 0], [2])),
     ValueError, "scores are only 1.0e-09 apart"),
    (lambda: lambda_jacobian(RankNet(), SCORES, LABELS, iteration=-1), ValueError, "iteration is -1"),
    (lambda: loop_work(RankNet(), SCORES, LABELS, side=0.0), ValueError, "side is 0.0"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lightgbm_booster(objective="lambdarank", linear_tree=True), "not the sum of its leaf"),
        (lambda: lightgbm_booster(objective="multiclass", num_class=5), "several scores"),
        (lambda: xgboost_booster(None, objective="multi:softprob", num_class=5), "several scores"),
    ],
)
def test_boosters_that_are_no_sum_of_leaves(make, message):
    with pytest.raises(ValueError, match=message):
        weight_sweep(make(), X, Q)


def test_a_measure_that_reads_labels_below_0():
    """Spearman reads the order alone; weight_sweep refused such labels."""
    q = Queries([-1.0, 0.5, -2.0], sizes=[3])
    found = weight_sweep(linear(1.0, 3.0, -2.0), np.eye(3), q, Spearman(), weights=[0], shifts=[0.0, 9.0])
    np.testing.assert_allclose(found.values[0, 0], [1.0, 0.5])
