"""`merge`: the raw score of the merged model is the weighted sum of the models', on both engines."""

import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from on_xgboost import stores_values

import lambdaboost.lightgbm
import lambdaboost.xgboost
from lambdaboost import LambdaRank, graded, load, merge, save

RNG = np.random.default_rng(0)
N, SIZES = 600, np.full(30, 20)
VALUES = list("uvwxyz")
# Numbers with NaN, and 40 categories: LightGBM stores sets of them in words of 32 bits.
MANY = [f"c{n}" for n in range(40)]
FRAME = pd.DataFrame(RNG.normal(size=(N, 3)), columns=list("abc"))
FRAME.iloc[::7, 1] = np.nan
FRAME["kind"] = pd.Categorical(RNG.choice(VALUES, N), categories=VALUES)
FRAME["brand"] = pd.Categorical(RNG.choice(MANY, N), categories=MANY)
TASTE = FRAME["a"] + FRAME["kind"].cat.codes / 2 + (FRAME["brand"].cat.codes % 3)
GRADES = np.clip(np.rint(TASTE + RNG.normal(size=N)), 0, 4).to_numpy()
APPEAL = FRAME["b"].fillna(1) + FRAME["kind"].cat.codes % 2
CLICKS = (RNG.random(N) < 1 / (1 + np.exp(1 - APPEAL))).to_numpy().astype(int)
NUMBERS = FRAME[["a", "b", "c"]]
WEIGHTS = (0.7, -1.3)
LIGHTGBM = {"verbose": -1, "num_threads": 1, "min_data_per_group": 5, "cat_smooth": 1, "min_data_in_leaf": 5}
XGBOOST = {"nthread": 1, "max_depth": 4, "min_child_weight": 0, "seed": 1}


def matrix(X, *labels, **more):
    return xgb.DMatrix(X, *labels, enable_categorical=True, **more)


def on_lightgbm(objective="lambdarank", X=FRAME, rounds=8, y=GRADES, **params):
    """A LightGBM booster; clicks are the label of classifiers."""
    labels = CLICKS if objective in ("binary", "cross_entropy") else y
    data = lgb.Dataset(X, labels, group=SIZES, params=LIGHTGBM)
    return lgb.train({**LIGHTGBM, "seed": 1, "objective": objective, **params}, data, rounds)


def on_xgboost(objective="rank:ndcg", X=FRAME, rounds=8, y=GRADES, obj=None, **params):
    """An XGBoost booster; clicks are the label of classifiers."""
    labels = CLICKS if "logi" in objective else y
    data = matrix(X, labels, group=SIZES)
    return xgb.train({**XGBOOST, "objective": objective, **params}, data, rounds, obj=obj)


def raw(booster, X=FRAME):
    """The raw score of a booster up to its best round."""
    if isinstance(booster, lgb.Booster):
        return booster.predict(X, raw_score=True)
    best = booster.attr("best_iteration")
    rounds = (0, 0 if best is None else int(best) + 1)
    return booster.predict(matrix(X), output_margin=True, iteration_range=rounds)


def rounds_of(booster):
    return booster.num_trees() if isinstance(booster, lgb.Booster) else booster.num_boosted_rounds()


def check(boosters, weights=WEIGHTS, X=FRAME):
    """The merged booster predicts the weighted sum, without a transformation; return it."""
    merged = merge(boosters, weights)
    wanted = np.sum([w * raw(one, X).astype(float) for w, one in zip(weights, boosters, strict=True)], axis=0)
    tolerance = (1e-12 if isinstance(merged, lgb.Booster) else 1e-6) * np.ptp(wanted)
    np.testing.assert_allclose(raw(merged, X), wanted, rtol=0, atol=tolerance)
    predicted = merged.predict(X if isinstance(merged, lgb.Booster) else matrix(X))
    np.testing.assert_array_equal(predicted, raw(merged, X))
    return merged


FIRSTS = {
    "lightgbm": (on_lightgbm, "lambdarank", "binary"),
    "xgboost": (on_xgboost, "rank:ndcg", "binary:logistic"),
}
# Beside a ranking of the engine's own. Transformations are removed, base scores are not.
OTHERS = [
    *((on_lightgbm, name, {}) for name in ("binary", "cross_entropy", "poisson", "regression", "rank_xendcg")),
    (on_lightgbm, LambdaRank(), {}),
    # DART's weights are in the leaves; linear leaves read numbers alone, splits read categories; a tree without splits.
    *((on_lightgbm, "regression", params) for params in (
        {"boosting": "dart"}, {"linear_tree": True}, {"num_leaves": 2}, {"boosting": "goss"}, {"min_data_in_leaf": N})),
    *((on_xgboost, name, {}) for name in ("binary:logistic", "reg:logistic", "count:poisson", "reg:squarederror")),
    (on_xgboost, "rank:map", {"y": (GRADES > 1).astype(int)}),
    (on_xgboost, "reg:squarederror", {"gamma": 1e9}),
    (on_xgboost, "rank:ndcg", {"booster": "dart", "rate_drop": 0.5, "rounds": 6}),
    *((on_xgboost, "rank:ndcg", {"obj": LambdaRank()} | more) for more in ({}, {"base_score": 0})),
]  # fmt: skip


@pytest.mark.parametrize(
    ("train", "other", "params"),
    OTHERS,
    ids=[f"{train.__name__} {other} {[*params]}" for train, other, params in OTHERS],
)
def test_raw_scores_of_any_objective_and_kind_of_trees_are_summed(train, other, params):
    """Whichever model comes first."""
    for X in (FRAME, NUMBERS):
        ranking, second = train(X=X, rounds=5), train(other, X=X, **params)
        check([second, ranking], X=X)
        check([ranking, second], X=X)


def test_random_forests():
    """LightGBM's forest predicts the mean of its trees, XGBoost's their sum."""
    forests = [on_lightgbm("regression", rounds=n, **FOREST) for n in (5, 9)]
    wanted = np.dot(WEIGHTS, [one.predict(FRAME) for one in forests])
    merged = merge(forests, WEIGHTS).predict(FRAME)
    np.testing.assert_allclose(merged, wanted, rtol=0, atol=1e-12 * np.ptp(wanted))
    forest = {"num_parallel_tree": 4, "subsample": 0.6}
    check([on_xgboost(**forest, rounds=1), on_xgboost("binary:logistic", **forest, rounds=2)])


FOREST = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}


@stores_values
def test_order_of_categories_and_features_differs(engine):
    """Codes and places are those of the first model; the second is scored in its own order."""
    train = FIRSTS[engine][0]
    brand = FRAME["brand"].cat.reorder_categories(MANY[5:] + MANY[:5])
    other = FRAME.assign(kind=FRAME["kind"].cat.reorder_categories(VALUES[::-1]), brand=brand)
    other = other[["brand", "c", "kind", "a", "b"]]
    first, second = train(), train(X=other, y=4 - GRADES)
    wanted = WEIGHTS[0] * raw(first) + WEIGHTS[1] * raw(second, other)
    np.testing.assert_allclose(
        raw(merge([first, second], WEIGHTS)), wanted, rtol=0, atol=2e-6 * np.ptp(wanted)
    )
    assert np.ptp(raw(second, other)) > 1e-3


def test_best_rounds_and_no_transformation_of_three(engine):
    """Each model counts up to its best round, the last one too; a weight of 0 leaves its trees out."""
    train, ranking, classifier = FIRSTS[engine]
    early, last = train(ranking, rounds=20), train(ranking, rounds=3)
    for booster, best in ((early, 6), (last, 3)):
        if engine == "lightgbm":
            booster.best_iteration = best
        else:
            booster.set_attr(best_iteration=str(best - 1))
    merged = check([last, early, train(classifier, rounds=4)], (0.5, 0.25, 2.0))
    assert rounds_of(merged) == 13
    assert (merged.best_iteration if engine == "lightgbm" else merged.attr("best_iteration")) in (-1, None)
    assert rounds_of(check([early, train(classifier, rounds=4)], (0.0, 1.5))) == 4


@stores_values
def test_a_merged_model_is_a_stock_model(engine, tmp_path):
    """It is merged again, saved, loaded and continued; what cuts rounds takes those of the first model first."""
    train = FIRSTS[engine][0]
    a, b = train(rounds=4), train(FIRSTS[engine][2], rounds=5)
    merged = merge([a, b], WEIGHTS)
    check([merged, a], (2.0, 0.5))
    path = tmp_path / "model.txt" if engine == "lightgbm" else tmp_path / "model.json"
    save(merged, path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict(FRAME), raw(merged))
    described = "Merged(objectives=(None, None), weights=(0.7, -1.3), rounds=9)"
    assert loaded.about["objective"] == repr(merged.objective_) == described
    np.testing.assert_array_equal(raw(type(a)(model_file=str(path))), raw(merged))
    if engine == "lightgbm":
        cut, nodes = merged.predict(FRAME, num_iteration=4), a.trees_to_dataframe()["value"]
        np.testing.assert_allclose(merged.trees_to_dataframe()["value"][: len(nodes)], WEIGHTS[0] * nodes)
        data = lgb.Dataset(FRAME, GRADES, group=SIZES)
        more = lgb.train({**LIGHTGBM, "objective": "lambdarank"}, data, 3, init_model=merged)
    else:
        cut = merged.predict(matrix(FRAME), iteration_range=(0, 4))
        data = matrix(FRAME, GRADES, group=SIZES)
        more = xgb.train({**XGBOOST, "objective": "rank:ndcg"}, data, 3, xgb_model=merged)
    # Base scores are in every cut of XGBoost.
    np.testing.assert_allclose(cut - cut[0], WEIGHTS[0] * (raw(a) - raw(a)[0]), atol=1e-5)
    assert rounds_of(more) == 12


def test_shap_values_add_up(engine):
    """Contributions are the sum of the models'."""
    train = FIRSTS[engine][0]
    boosters = [train(), train(FIRSTS[engine][2])]
    merged = merge(boosters, WEIGHTS)

    def contributions(booster):
        if engine == "lightgbm":
            return booster.predict(FRAME, pred_contrib=True)
        return booster.predict(matrix(FRAME), pred_contribs=True)

    wanted = sum(w * contributions(one) for w, one in zip(WEIGHTS, boosters, strict=True))
    np.testing.assert_allclose(contributions(merged), wanted, atol=1e-4)


RANKERS = {"lightgbm": lambdaboost.lightgbm.LambdaRanker, "xgboost": lambdaboost.xgboost.LambdaRanker}
TABLE = FRAME.assign(srch=np.repeat(np.arange(30), 20), clicked=CLICKS).rename(columns={"kind": "thé kind"})


def unfitted(engine, objective=LambdaRank(), **params):  # noqa: B008
    """A ranker of the table."""
    quiet = {"verbose": -1, "min_child_samples": 5} if engine == "lightgbm" else {"min_child_weight": 0}
    settings = {"query": "srch", "sources": ["clicked"], "n_estimators": 6, "n_jobs": 1, **quiet, **params}
    return RANKERS[engine](objective=objective, **settings)


def fitted(engine, objective=LambdaRank(), X=TABLE, **params):  # noqa: B008
    return unfitted(engine, objective, **params).fit(X, GRADES)


def test_rankers(engine, tmp_path):
    """The first one is copied with another booster: it predicts, is saved, exported, and fits anew.

    The second was fitted on columns and categories in another order.
    """
    turned = TABLE["thé kind"].cat.reorder_categories(VALUES[::-1])
    other = TABLE.assign(**{"thé kind": turned})[TABLE.columns[::-1]]
    a, b = fitted(engine), fitted(engine, graded(0.3, "clicked"), other, n_estimators=4)
    before = a.predict(TABLE)
    merged = merge([a, b], WEIGHTS)
    wanted = WEIGHTS[0] * before + WEIGHTS[1] * b.predict(TABLE)
    np.testing.assert_allclose(merged.predict(TABLE), wanted, atol=1e-6 * np.ptp(wanted))
    np.testing.assert_array_equal(merged.predict(other), merged.predict(TABLE))
    np.testing.assert_array_equal(a.predict(TABLE), before)
    assert type(merged) is type(a)
    assert merged.objective_ == ((LambdaRank(), graded(0.3, "clicked")), WEIGHTS, 10)
    path = tmp_path / "model.txt"
    save(merged, path)
    np.testing.assert_array_equal(load(path).predict(TABLE), merged.predict(TABLE))
    assert json.loads((tmp_path / "model.txt.json").read_text())["objective"] == repr(merged.objective_)
    assert merged.score(TABLE, GRADES) > 0
    again = merged.fit(TABLE, GRADES)
    np.testing.assert_array_equal(again.predict(TABLE), before)
    assert again.objective_ == LambdaRank()


RENAMED = FRAME.assign(kind=FRAME["kind"].cat.rename_categories({"u": "new"}))
CODES = FRAME.assign(kind=FRAME["kind"].cat.codes.astype(float))
WRONG = [
    (lambda on: ([on()], [1]), ValueError, "models has 1: give two or more"),
    (lambda on: (on(), [1]), TypeError, "models is of type Booster: give a list"),
    (lambda on: ([on(), "model.txt"], [1, 1]), TypeError, r"models\[1\] is of type str"),
    (lambda on: ([on_lightgbm(), on_xgboost()], [1, 1]), TypeError, "different engines"),
    (lambda on: ([on(), on()], [1]), ValueError, "weights has 1 values, models has 2"),
    (lambda on: ([on(), on()], 0.5), TypeError, "weights is 0.5"),
    (lambda on: ([on(), on()], [1, float("nan")]), ValueError, r"weights\[1\] is nan"),
    (lambda on: ([on(), on()], [1e308, 1]), ValueError, r"weights\[0\] is 1e\+308: give a "),
    (lambda on: ([on(), on()], [1, "2"]), TypeError, r"weights\[1\] is '2'"),
    (lambda on: ([on(), on()], [0, 0]), ValueError, "at least one weight that is not 0"),
    (lambda on: ([on(), on(X=FRAME.drop(columns="c"))], [1, 1]), ValueError, "train all on the same columns"),
    (lambda on: ([on(), on(X=FRAME.rename(columns={"c": "d"}))], [1, 1]), ValueError, "'c', 'd' are in one"),
    (lambda on: ([on(), on(X=RENAMED)], [1, 1]), ValueError, "CategoricalDtype"),
    (lambda on: ([on(), on(X=CODES)], [1, 1]), ValueError, "categorical"),
]


@stores_values
@pytest.mark.parametrize(("make", "error", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_wrong_arguments(engine, make, error, message):
    models, weights = make(FIRSTS[engine][0])
    with pytest.raises(error, match=message):
        merge(models, weights)


def of_classes():
    return lgb.train({**LIGHTGBM, "objective": "multiclass", "num_class": 5}, lgb.Dataset(FRAME, GRADES), 2)


UNFIT = [
    # No plain sum
    (lambda: [on_lightgbm(), on_lightgbm("regression", **FOREST)], "random forest"),
    (lambda: [on_xgboost(), on_xgboost(num_parallel_tree=3)], "random forest"),
    (lambda: [on_lightgbm(), of_classes()], r"^models\[1\]: it has 5 scores for a row"),
    (lambda: [on_xgboost(), on_xgboost("multi:softmax", num_class=5)], r"^models\[1\]: it has several scores"),
    (lambda: [on_xgboost(X=NUMBERS), on_xgboost(X=NUMBERS, booster="gblinear", verbosity=0)], "gblinear"),
    (lambda: [on_xgboost(), xgb.Booster()], r"models\[1\] was not trained .XGBoost reports: [^\n]*interface"),
    # Rankers that do not fit together
    (lambda: [fitted("lightgbm"), unfitted("lightgbm")], r"models\[1\] is not fitted"),
    (lambda: [fitted("lightgbm"), on_lightgbm()], r"models\[1\] lightgbm.basic.Booster"),
    (lambda: [fitted("lightgbm"), fitted("lightgbm", X=TABLE.rename(columns={"srch": "day"}), query="day")],
     "query is 'srch' in models"),
    (lambda: [fitted("xgboost"), fitted("xgboost", missing=-1.0)], "missing is nan in models"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), UNFIT, ids=[message for _, message in UNFIT])
def test_models_that_cannot_be_one(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        merge(make(), [1, 1])


def test_a_weight_beyond_float32():
    """XGBoost's scores of the merged model would be NaN; LightGBM's are float64."""
    with pytest.raises(ValueError, match=r"weights\[1\] is 1e\+50, times which scores of models\[1\]"):
        merge([on_xgboost(), on_xgboost()], [1, 1e50])
    assert np.isfinite(merge([on_lightgbm(), on_lightgbm()], [-1e100, 1e100]).predict(FRAME)).all()


def test_threads_of_xgboost_are_those_of_the_first_model():
    """A model without keeps the engine's default."""

    def threads(booster):
        return json.loads(booster.save_config())["learner"]["generic_param"]["nthread"]

    two, free = on_xgboost(nthread=2, rounds=2), on_xgboost(nthread=None, rounds=2)
    assert [threads(merge(models, WEIGHTS)) for models in ([two, free], [free, two])] == ["2", "0"]


def test_a_feature_that_is_constant_in_the_first():
    """It has the type of the next model that splits by it, which the third must share."""
    constant = FRAME.assign(c=1.0)
    merged = check([on_lightgbm(X=constant), on_lightgbm(), on_lightgbm("binary")], (1.0, 2.0, 0.5))
    assert "c" in merged.dump_model()["feature_infos"]
    codes = FRAME.assign(c=pd.Categorical(RNG.choice(VALUES, N)))
    with pytest.raises(ValueError, match=r"'c' is numeric before models\[2\] and categorical in it"):
        merge([on_lightgbm(X=constant), on_lightgbm(), on_lightgbm(X=codes)], (1.0, 2.0, 0.5))
