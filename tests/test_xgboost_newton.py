"""Least-squares splits with Newton leaves in XGBoost."""

import json
import pickle
import sys

import numpy as np
import pytest

from lambdaboost import CNDCG, NDCG, Blend, GradientStep, LambdaRank, Queries, RankNet, graded
from lambdaboost.datasets import web_search_log
from lambdaboost.engines.leaves import LARGEST_STEP
from lambdaboost.xgboost import DMatrix, LambdaRanker, cv, train

xgb = pytest.importorskip("xgboost", minversion="3.2")

LOG = web_search_log(queries=40, documents=15, seed=1)
X, Q = LOG.features, LOG.queries
QID, CLICKS = Q.query_of_row, Q.labels["clicks"]
PARAMS = {"nthread": 1, "max_depth": 3, "eta": 0.3}
WEIGHT = np.linspace(0.5, 2.0, Q.n_queries)


def matrix(**more):
    return DMatrix(X, Q.relevance, qid=QID, sources={"clicks": CLICKS}, **more)


def quiet(data, rounds=3, params=PARAMS, leaves="newton", **more):
    return train(params, data, rounds, leaves=leaves, verbose_eval=False, **more)


def first_tree(booster):
    return json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"][0]


GROWN = pytest.mark.parametrize(
    "more",
    [
        {},
        {"lambda": 4.0},
        {"gamma": 2.0},
        {"colsample_bynode": 0.4},
        {"max_bin": 8},
        {"grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0},
    ],
    ids=str,
)


@GROWN
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_structure_by_least_squares_and_leaves_by_newton(more, weight):
    """Splits are those of hess = 1 (times weight); leaves are −eta·G/(H + lambda), worked out here."""
    data = matrix(weight=weight)
    params = PARAMS | more
    booster = quiet(data, 1, params)
    splits = GradientStep(LambdaRank(), normalize="none")
    squares = quiet(data, 1, params | {"min_child_weight": 0}, leaves="gradient", objective=splits)
    ours, theirs = first_tree(booster), first_tree(squares)
    for part in ("split_indices", "left_children", "right_children", "parents", "default_left"):
        assert ours[part] == theirs[part], part
    inner = np.array(ours["left_children"]) != -1
    np.testing.assert_array_equal(
        np.array(ours["split_conditions"])[inner], np.array(theirs["split_conditions"])[inner]
    )
    leaf = booster.predict(data, pred_leaf=True).astype(int)
    grad, hess = LambdaRank().gradient(np.zeros(len(X)), Queries(Q.relevance, Q.sizes, weight=weight))
    expected = -0.3 * np.bincount(leaf, grad) / (np.bincount(leaf, hess) + more.get("lambda", 1.0))
    np.testing.assert_allclose(booster.predict(data), expected[leaf], rtol=1e-5, atol=1e-6)
    assert not np.allclose(expected[leaf], squares.predict(data))


def test_an_ordinary_booster(tmp_path):
    names = list(LOG.feature_names)
    data = matrix(feature_names=names)
    booster = quiet(data, 4)
    scores = booster.predict(data)
    assert scores.shape == (len(X),) and booster.num_boosted_rounds() == 4
    assert booster.feature_names == names
    booster.save_model(tmp_path / "model.json")
    for same in (
        xgb.Booster(model_file=tmp_path / "model.json"),
        pickle.loads(pickle.dumps(booster)),
        booster[:4],
    ):
        np.testing.assert_array_equal(same.predict(data), scores)
    np.testing.assert_allclose(booster.predict(data, pred_contribs=True).sum(1), scores, atol=1e-5)
    assert set(booster.trees_to_dataframe()["Feature"]) <= {*names, "Leaf"}
    np.testing.assert_allclose(
        booster.inplace_predict(LOG.features, validate_features=False), scores, atol=1e-6
    )


def test_narrowing_changes_no_score():
    """What training saw in its last evaluation is what the finished model gives."""
    history = {}
    booster = quiet(
        matrix(), 5, evals=[(matrix(), "t")], custom_metric=[NDCG(3), CNDCG(5)], evals_result=history
    )
    assert history["t"]["ndcg(k=3)"][-1] == pytest.approx(NDCG(3)(booster.predict(matrix()), Q), abs=1e-6)
    assert history["t"]["pre-cndcg(k=5)"][-1] == pytest.approx(
        CNDCG(5)(booster.predict(matrix()), Q), abs=1e-6
    )


def test_missing_values_go_the_learned_way():
    features = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    data = DMatrix(features, Q.relevance, qid=QID)
    history = {}
    booster = quiet(data, 4, evals=[(data, "t")], evals_result=history)
    assert 1 in first_tree(booster)["default_left"]
    assert history["t"]["ndcg(k=3)"][-1] == pytest.approx(NDCG(3)(booster.predict(data), Q), abs=1e-6)


@pytest.mark.parametrize("start", [0.0, 0.25])
def test_continued_models_equal_one_training(start):
    params = PARAMS | {"base_score": start}
    straight = quiet(matrix(), 5, params, objective=graded())
    continued = quiet(
        matrix(), 2, objective=graded(), xgb_model=quiet(matrix(), 3, params, objective=graded())
    )
    np.testing.assert_array_equal(continued.predict(matrix()), straight.predict(matrix()))
    assert continued.num_boosted_rounds() == 5


@pytest.mark.parametrize(("start", "again"), [(0.25, 0.25), (0.25, 0.5)])
def test_continued_by_the_same_call(start, again):
    """With `base_score` among the parameters, which as with XGBoost's own leaves is that of the whole model."""
    whole = quiet(matrix(), 5, PARAMS | {"base_score": start}, objective=graded())
    first = quiet(matrix(), 3, PARAMS | {"base_score": start}, objective=graded())
    went_on = quiet(matrix(), 2, PARAMS | {"base_score": again}, objective=graded(), xgb_model=first)
    of_first = went_on.predict(matrix(), iteration_range=(0, 3)) - first.predict(matrix())
    np.testing.assert_allclose(of_first, again - start, atol=1e-6)
    if start == again:
        np.testing.assert_array_equal(went_on.predict(matrix()), whole.predict(matrix()))


def test_resumed_with_a_base_score(tmp_path):
    params, place = PARAMS | {"base_score": 0.25}, tmp_path / "checkpoint"
    whole = quiet(matrix(), 14, params)
    quiet(matrix(), 11, params, checkpoint=place)
    np.testing.assert_array_equal(
        quiet(matrix(), 14, params, checkpoint=place).predict(matrix()), whole.predict(matrix())
    )


@pytest.mark.parametrize("largest", [0.05, 0.3])
def test_max_delta_step_caps_the_step(largest):
    booster = quiet(matrix(), 1, PARAMS | {"max_delta_step": largest})
    leaf = booster.predict(matrix(), pred_leaf=True).astype(int)
    grad, hess = LambdaRank().gradient(np.zeros(len(X)), Q)
    step = -np.bincount(leaf, grad) / (np.bincount(leaf, hess) + 1.0)
    np.testing.assert_allclose(
        booster.predict(matrix()), 0.3 * np.clip(step, -largest, largest)[leaf], rtol=1e-5
    )
    assert (np.abs(step[leaf]) > largest).any()


@pytest.mark.parametrize("rate", [3.0, 10.0])
def test_high_learning_rates_stay_finite(rate):
    booster = quiet(matrix(), 60, PARAMS | {"eta": rate, "lambda": 0.0})
    assert np.abs(booster.predict(matrix())).max() <= 60 * rate * LARGEST_STEP


def test_continues_a_model_of_other_leaves():
    first = quiet(matrix(), 3, leaves="engine")
    more = quiet(matrix(), 2, xgb_model=first)
    np.testing.assert_array_equal(more.predict(matrix(), iteration_range=(0, 3)), first.predict(matrix()))


def test_the_schedule_sees_the_round():
    rounds = []
    objective = Blend(LambdaRank(), RankNet(), lambda m: rounds.append(m) or 0.5)
    booster = quiet(matrix(), 2, objective=objective)
    quiet(matrix(), 1, objective=objective, xgb_model=booster)
    assert rounds == [0, 1, 2]
    cv(PARAMS, matrix(), 2, nfold=2, leaves="newton", objective=objective)
    assert rounds[3:] == [0, 0, 1, 1]


def test_early_stopping_and_cv_read_the_first_column():
    history = {}
    other = web_search_log(queries=30, documents=15, seed=2)
    valid = DMatrix(other.features, other.queries.relevance, qid=other.queries.query_of_row)
    booster = quiet(
        matrix(), 60, PARAMS | {"eta": 1.0, "max_depth": 6}, evals=[(valid, "valid")],
        early_stopping_rounds=4, evals_result=history,
    )  # fmt: skip
    curve = history["valid"]["ndcg(k=3)"]
    assert len(curve) < 60 and booster.best_iteration == np.argmax(curve)
    table = cv(PARAMS, matrix(), 3, nfold=3, leaves="newton")
    assert len(table) == 3 and table["test-ndcg(k=3)-mean"].between(0.3, 1).all()


def test_the_ranker_predicts_one_column(tmp_path):
    ranker = LambdaRanker(leaves="newton", n_estimators=3, max_depth=3, n_jobs=1, base_score=0.0)
    scores = ranker.fit(X, Q.relevance, qid=QID).predict(X)
    assert scores.shape == (len(X),)
    np.testing.assert_allclose(scores, quiet(matrix(), 3).predict(matrix()), atol=1e-6)
    ranker.save_model(tmp_path / "ranker.json")
    loaded = LambdaRanker()
    loaded.load_model(tmp_path / "ranker.json")
    np.testing.assert_array_equal(loaded.predict(X), scores)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("booster", "dart"),
        ("rate_drop", 0.5),
        ("one_drop", True),
        ("tree_method", "approx"),
        ("tree_method", "exact"),
        ("sampling_method", "gradient_based"),
        ("monotone_constraints", "(1)"),
        ("interaction_constraints", "[[0, 1]]"),
        ("eval_metric", "ndcg"),
        ("min_child_weight", 5),
        ("multi_strategy", "one_output_per_tree"),
    ],
)
def test_parameters_that_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"params\['{name}'\] is .* which leaves='newton' cannot use"):
        quiet(matrix(), params=PARAMS | {name: value})


def test_objectives_and_matrices_that_are_refused():
    with pytest.raises(ValueError, match="a gradient step has no curvature"):
        quiet(matrix(), objective=GradientStep(LambdaRank()))
    with pytest.raises(ValueError, match="data has a base_margin, which leaves='newton' cannot start from"):
        quiet(matrix(base_margin=np.zeros(len(X))))
    with pytest.raises(ValueError, match="data has categorical features, which leaves='newton' cannot split"):
        quiet(matrix(feature_types=["c"] + ["q"] * (X.shape[1] - 1), enable_categorical=True))


def test_an_older_xgboost_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost.objective", None)
    with pytest.raises(NotImplementedError, match=r"leaves='newton' needs xgboost ≥ 3.2, here is"):
        quiet(matrix())
