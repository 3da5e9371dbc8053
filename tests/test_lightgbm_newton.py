"""`leaves="newton"`: least-squares splits, Newton leaves worked by hand, and scores that follow."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X, dataset, valid

from lambdaboost import NDCG, GradientStep, LambdaRank, RankNet, graded
from lambdaboost.engines.leaves import LARGEST_STEP
from lambdaboost.lightgbm import Dataset, newton, train

ROUNDS = 6


def structure(booster, tree):
    """The splits of a tree and its leaves' sizes, from the text of the model."""
    text = booster.model_to_string(num_iteration=1, start_iteration=tree)
    kept = ("split_feature=", "threshold=", "left_child=", "right_child=", "leaf_count=", "split_gain=")
    return [line for line in text.splitlines() if line.startswith(kept)]


def leaf_values(booster, X, tree):
    """(leaf of each row, output of each leaf) of a tree."""
    leaf = booster.predict(X, pred_leaf=True).reshape(len(X), -1)[:, tree].astype(int)
    return leaf, np.array([booster.get_leaf_output(tree, i) for i in range(leaf.max() + 1)])


def scores_of(booster):
    seen = []
    look = lambda scores, data: (seen.append(scores.copy()), [])[1]  # noqa: E731
    booster.eval_train(look)
    booster.eval_valid(look)
    return seen


def assert_newton(booster, X, q, objective, rate, l2, scores=None):
    """Every leaf of every tree is −rate·G/(H + l2) at the scores of its round."""
    scores = np.zeros(len(X)) if scores is None else scores.copy()
    for m in range(booster.num_trees()):
        grad, hess = objective.gradient(scores, q, m)
        leaf, outputs = leaf_values(booster, X, m)
        expected = -rate * np.bincount(leaf, grad) / (np.bincount(leaf, hess) + l2)
        # A gradient cast to float32 at scores that differ in the last bit may differ in its last bit.
        np.testing.assert_allclose(outputs, expected, rtol=1e-6, atol=1e-9)
        scores += outputs[leaf]
    return scores


@pytest.mark.parametrize("objective", [LambdaRank(), RankNet(sigma=2.0), graded(0.3)], ids=repr)
def test_leaves_are_newtons_and_splits_least_squares(objective):
    weight = np.linspace(0.5, 2.0, len(X))
    params = {**PARAMS, "eta": 0.123456789, "reg_lambda": 0.0123456789}
    booster = train(params, dataset(weight=weight), ROUNDS, objective=objective, leaves="newton")
    q = Q.__class__(Q.relevance, Q.sizes, weight=weight, clicks=Q.labels["clicks"])
    assert booster.num_trees() == ROUNDS
    assert_newton(booster, X, q, objective, 0.123456789, 0.0123456789)
    for m in range(ROUNDS):
        start = booster.predict(X, num_iteration=m) if m else np.zeros(len(X))
        plain = train(
            params,
            dataset(weight=weight, init_score=start),
            1,
            objective=GradientStep(objective, normalize="none"),
        )
        assert structure(booster, m) == structure(plain, 0)


def test_newton_leaves_are_exact_where_sums_are():
    """In float64 from the very gradient that training saw."""
    booster = train(PARAMS, dataset(), 1, leaves="newton")
    grad, hess = LambdaRank().gradient(np.zeros(len(X)), Q)
    leaf, outputs = leaf_values(booster, X, 0)
    np.testing.assert_allclose(outputs, -0.1 * np.bincount(leaf, grad) / np.bincount(leaf, hess), rtol=1e-14)


def test_scores_follow_the_model_in_every_round():
    data, history, checked = dataset(), {}, []

    def model_is_right(env):
        for scores, features in zip(scores_of(env.model), (X, X_VALID), strict=True):
            np.testing.assert_allclose(scores, env.model.predict(features), rtol=0, atol=1e-13)
        checked.append(env.iteration)

    booster = train(
        PARAMS, data, ROUNDS, leaves="newton", valid_sets=[data, valid(data)], valid_names=["train", "valid"],
        feval=[NDCG(3), NDCG(10)], callbacks=[model_is_right, lgb.record_evaluation(history)],
    )  # fmt: skip
    assert checked == list(range(ROUNDS))
    for m in range(ROUNDS):
        for name, features, q in (("train", X, Q), ("valid", X_VALID, Q_VALID)):
            for measure in (NDCG(3), NDCG(10)):
                expected = measure(booster.predict(features, num_iteration=m + 1), q)
                assert history[name][repr(measure)][m] == pytest.approx(expected, abs=1e-12)


def test_early_stopping_returns_the_best_rounds():
    data, history = dataset(), {}
    booster = train(
        {**PARAMS, "learning_rate": 0.7, "num_leaves": 15}, data, 60, leaves="newton", valid_sets=[valid(data)],
        callbacks=[lgb.early_stopping(4, verbose=False), lgb.record_evaluation(history)],
    )  # fmt: skip
    curve = history["valid_0"]["NDCG(k=3)"]
    assert len(curve) < 60
    assert booster.best_iteration == booster.num_trees() == 1 + int(np.argmax(curve))
    assert NDCG(3)(booster.predict(X_VALID), Q_VALID) == pytest.approx(max(curve), abs=1e-12)


@pytest.mark.parametrize("name", ["max_delta_step", "max_tree_output"])
def test_max_delta_step_caps_the_step(name):
    free = train(PARAMS, dataset(), 1, leaves="newton")
    capped = train({**PARAMS, name: 1.123456789}, dataset(), 1, leaves="newton", keep_training_booster=True)
    assert structure(capped, 0) == structure(free, 0)
    expected = np.clip(free.predict(X), -0.1123456789, 0.1123456789)
    np.testing.assert_allclose(capped.predict(X), expected, rtol=1e-12)
    np.testing.assert_allclose(scores_of(capped)[0], expected, rtol=1e-12)
    assert (np.abs(free.predict(X)) > 0.1123456789).any()


@pytest.mark.parametrize("rate", [3.0, 10.0])
def test_high_learning_rates_stay_finite(rate):
    booster = train({**PARAMS, "learning_rate": rate}, dataset(), 60, leaves="newton")
    assert np.abs(booster.predict(X)).max() <= 60 * rate * LARGEST_STEP


def test_the_cap_can_be_left_out():
    booster = train({**PARAMS, "learning_rate": 3.0, "max_delta_step": 0.0}, dataset(), 60, leaves="newton")
    assert np.abs(booster.predict(X)).max() > 60 * 3.0 * LARGEST_STEP


def test_learning_rate_by_callback():
    rates = [0.3, 0.2, 0.0712345678]
    reset = lgb.reset_parameter(learning_rate=rates)
    booster = train({**PARAMS, "eta": 0.5}, dataset(), 3, leaves="newton", callbacks=[reset])
    scores = np.zeros(len(X))
    for m, rate in enumerate(rates):
        grad, hess = LambdaRank().gradient(scores, Q)
        leaf, outputs = leaf_values(booster, X, m)
        np.testing.assert_allclose(
            outputs, -rate * np.bincount(leaf, grad) / np.bincount(leaf, hess), rtol=1e-6
        )
        scores += outputs[leaf]


def test_documents_in_a_leaf_are_counted():
    booster = train({**PARAMS, "num_leaves": 31, "min_data_in_leaf": 40}, dataset(), 3, leaves="newton")
    for m in range(3):
        assert np.bincount(leaf_values(booster, X, m)[0]).min() >= 40


def test_leaves_are_told_apart_where_scores_are_large():
    """At scores of 10^11 the leaves' outputs drown in rounding, so that marks identify the rows."""
    plain = train(PARAMS, dataset(), 3, objective=RankNet(), leaves="newton")
    start = np.full(len(X), 2.0**38)
    data = dataset(init_score=start)
    shifted = train(PARAMS, data, 3, objective=RankNet(), leaves="newton", keep_training_booster=True)
    np.testing.assert_allclose(shifted.predict(X), plain.predict(X), rtol=0, atol=2e-3)
    np.testing.assert_allclose(scores_of(shifted)[0] - start, shifted.predict(X), rtol=0, atol=2e-3)


def test_leaves_of_equal_output_are_told_apart():
    """Winners at x = 0 and 2, losers at 1 and 3: four leaves, two outputs."""
    x = np.tile([0.0, 1.0, 2.0, 3.0], 20)[:, None]
    q = Q.__class__(np.tile([1, 0], 40), np.full(40, 2))
    data = Dataset(x, q.relevance, group=q.sizes)
    booster = train({**PARAMS, "num_leaves": 4}, data, 3, leaves="newton", keep_training_booster=True)
    outputs = leaf_values(booster, x, 0)[1]
    assert outputs.size == 4 and np.unique(outputs).size == 2
    assert_newton(booster, x, q, LambdaRank(), 0.1, 0.0)
    np.testing.assert_allclose(scores_of(booster)[0], booster.predict(x), rtol=0, atol=1e-13)


def test_nearest_leaf():
    outputs = np.array([0.3, -0.1, 0.2])
    rows = np.array([0, 2, 2, 1])
    np.testing.assert_array_equal(newton._nearest_leaf(outputs[rows] + 1e-15, outputs, 1.0), rows)
    assert newton._nearest_leaf(outputs[rows], np.array([0.3, 0.3, 0.2]), 1.0) is None
    assert newton._nearest_leaf(outputs[rows], outputs, 1e15) is None


def test_categorical_features_and_frames():
    frame = pd.DataFrame(X[:, :5]).add_prefix("f")
    frame["kind"] = pd.Categorical((np.arange(len(X)) * 7) % 12)
    data = Dataset(frame, Q.relevance, group=Q.sizes)
    booster = train({**PARAMS, "min_data_per_group": 5}, data, 4, leaves="newton", keep_training_booster=True)
    np.testing.assert_allclose(scores_of(booster)[0], booster.predict(frame), rtol=0, atol=1e-13)
    assert_newton(booster, frame, Q, LambdaRank(), 0.1, 0.0)


def test_a_continued_model_goes_on_from_its_scores():
    straight = train(PARAMS, dataset(), 5, leaves="newton")
    half = train(PARAMS, dataset(), 2, leaves="newton")
    data = dataset()
    went_on = train(
        PARAMS,
        data,
        3,
        leaves="newton",
        init_model=half,
        valid_sets=[valid(data)],
        keep_training_booster=True,
    )
    assert went_on.num_trees() == 5
    np.testing.assert_allclose(went_on.predict(X), straight.predict(X), rtol=0, atol=1e-13)
    np.testing.assert_allclose(scores_of(went_on)[1], went_on.predict(X_VALID), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"subsample": 0.5, "bagging_freq": 1}, "bagging_fraction is 0.5: leaves='newton' cannot know"),
        ({"colsample_bytree": 0.5}, "feature_fraction is 0.5: leaves='newton' needs"),
        ({"feature_fraction_bynode": 0.5}, "feature_fraction_bynode is 0.5"),
        ({"extra_trees": True}, "extra_trees is 1"),
        ({"boosting": "dart"}, "boosting is dart"),
        ({"data_sample_strategy": "goss"}, "data_sample_strategy is goss"),
        ({"boosting": "goss"}, "data_sample_strategy is goss"),
        ({"linear_tree": True}, "linear_tree is 1"),
        ({"reg_alpha": 0.1}, "lambda_l1 is 0.1"),
        ({"path_smooth": 0.1}, "path_smooth is 0.1"),
        ({"monotone_constraints": [1] + [0] * 15}, "monotone_constraints is 1,0"),
        ({"use_quantized_grad": True}, "use_quantized_grad is 1"),
    ],
    ids=str,
)
def test_other_growth_is_refused_before_the_first_tree(params, words):
    grown = []
    with pytest.raises(ValueError, match=words):
        train({**PARAMS, **params}, dataset(), 2, leaves="newton", callbacks=[lambda env: grown.append(1)])
    assert not grown


def test_a_gradient_step_has_no_newton_leaves():
    with pytest.raises(ValueError, match="a gradient step has no curvature"):
        train(PARAMS, dataset(), 2, objective=GradientStep(LambdaRank()), leaves="newton")


def test_growth_by_chance_that_a_callback_turns_on_is_noticed():
    with pytest.raises(RuntimeError, match="grew another tree from the same gradients"):
        train(
            PARAMS, dataset(), 4, leaves="newton",
            callbacks=[lgb.reset_parameter(feature_fraction=[1.0, 0.3, 0.3, 0.3])],
        )  # fmt: skip
