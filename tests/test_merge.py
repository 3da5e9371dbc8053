"""`merge`: the raw score of the merged model is the weighted sum of the models', on both engines."""

import json

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import lambdaboost.lightgbm
import lambdaboost.xgboost
from lambdaboost import NDCG, LambdaRank, export, graded, load, merge, save
from lambdaboost.engines.lightgbm_model import categories

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
CLICKS = (
    (RNG.random(N) < 1 / (1 + np.exp(1 - FRAME["b"].fillna(1) - FRAME["kind"].cat.codes % 2)))
    .to_numpy()
    .astype(int)
)
NUMBERS = FRAME[["a", "b", "c"]]
WEIGHTS = (0.7, -1.3)
LIGHTGBM = {
    "verbose": -1,
    "num_threads": 1,
    "min_data_per_group": 5,
    "cat_smooth": 1,
    "min_data_in_leaf": 5,
    "seed": 1,
}
XGBOOST = {"nthread": 1, "max_depth": 4, "min_child_weight": 0, "seed": 1}


def on_lightgbm(objective="lambdarank", X=FRAME, rounds=8, y=GRADES, **params):
    """A LightGBM booster; clicks are the label of classifiers."""
    labels = CLICKS if objective in ("binary", "cross_entropy") else y
    data = lgb.Dataset(X, labels, group=SIZES, params=LIGHTGBM)
    return lgb.train({**LIGHTGBM, "objective": objective, **params}, data, rounds)


def on_xgboost(objective="rank:ndcg", X=FRAME, rounds=8, y=GRADES, obj=None, **params):
    """An XGBoost booster; clicks are the label of classifiers."""
    labels = CLICKS if "logi" in objective else y
    data = xgb.DMatrix(X, labels, group=SIZES, enable_categorical=True)
    return xgb.train({**XGBOOST, "objective": objective, **params}, data, rounds, obj=obj)


def raw(booster, X=FRAME):
    """The raw score of a booster up to its best round."""
    if isinstance(booster, lgb.Booster):
        return booster.predict(X, raw_score=True)
    best = booster.attr("best_iteration")
    rounds = (0, 0 if best is None else int(best) + 1)
    return booster.predict(
        xgb.DMatrix(X, enable_categorical=True), output_margin=True, iteration_range=rounds
    )


def check(boosters, weights=WEIGHTS, X=FRAME, of=raw):
    """The merged booster predicts the weighted sum, without a transformation; return it."""
    merged = merge(boosters, weights)
    wanted = np.sum([w * raw(one, X).astype(float) for w, one in zip(weights, boosters, strict=True)], axis=0)
    tolerance = (1e-12 if isinstance(merged, lgb.Booster) else 1e-6) * np.ptp(wanted)
    np.testing.assert_allclose(of(merged, X), wanted, rtol=0, atol=tolerance)
    predicted = merged.predict(
        X if isinstance(merged, lgb.Booster) else xgb.DMatrix(X, enable_categorical=True)
    )
    np.testing.assert_array_equal(predicted, raw(merged, X))
    return merged


FIRSTS = {
    "lightgbm": (on_lightgbm, "lambdarank", "binary"),
    "xgboost": (on_xgboost, "rank:ndcg", "binary:logistic"),
}
EACH = pytest.mark.parametrize("engine", FIRSTS)
OTHERS = [
    *(
        (on_lightgbm, name)
        for name in ("binary", "cross_entropy", "poisson", "regression", "rank_xendcg", LambdaRank())
    ),
    *(
        (on_xgboost, name)
        for name in ("binary:logistic", "reg:logistic", "count:poisson", "reg:squarederror", "rank:map")
    ),
]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("train", "other"), OTHERS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_raw_scores_of_any_objective_are_summed(train, other, first):
    """Transformations are removed, base scores are not."""
    ranking = train("lambdarank" if train is on_lightgbm else "rank:ndcg", rounds=5)
    given = (GRADES > 1).astype(int) if other == "rank:map" else GRADES
    second = train(other, y=given)
    check([second, ranking] if first else [ranking, second])


def test_own_objective_on_xgboost():
    """Boosters of lambdaboost's objectives start at base_score 0 or not."""
    check([on_xgboost(obj=LambdaRank(), base_score=0), on_xgboost(obj=graded_alone())])


def graded_alone():
    """An objective of the grades alone."""
    return LambdaRank(NDCG(3))


def test_a_merged_booster_of_lightgbm_knows_which_columns_are_categories():
    """`export` and `save` read this from the model's text, as from that of its members."""
    one = on_lightgbm()
    merged = merge([one, on_lightgbm(LambdaRank())], WEIGHTS)
    merged = lgb.Booster(model_str=merged.model_to_string())
    assert categories(merged) == categories(one) == {"kind": VALUES, "brand": MANY}


@EACH
def test_order_of_categories_and_features_differs(engine):
    """Codes and places are those of the first model; the second is scored in its own order."""
    train = FIRSTS[engine][0]
    other = FRAME.assign(
        kind=FRAME["kind"].cat.reorder_categories(VALUES[::-1]),
        brand=FRAME["brand"].cat.reorder_categories(MANY[5:] + MANY[:5]),
    )
    first, second = train(), train(X=other[["brand", "c", "kind", "a", "b"]], y=4 - GRADES)
    merged = merge([first, second], WEIGHTS)
    wanted = WEIGHTS[0] * raw(first) + WEIGHTS[1] * raw(second, other[["brand", "c", "kind", "a", "b"]])
    np.testing.assert_allclose(raw(merged), wanted, rtol=0, atol=2e-6 * np.ptp(wanted))
    assert np.ptp(raw(second, other[["brand", "c", "kind", "a", "b"]])) > 1e-3


@EACH
def test_best_rounds_and_no_transformation_of_three(engine):
    """Each model counts up to its best round; a weight of 0 leaves its trees out."""
    train, ranking, classifier = FIRSTS[engine]
    early = train(ranking, rounds=20)
    if engine == "lightgbm":
        early.best_iteration = 6
    else:
        early.set_attr(best_iteration="5")
    merged = check([early, train(classifier, rounds=4), train(ranking, rounds=3)], (0.5, 0.25, 2.0))
    rounds = merged.num_trees() if engine == "lightgbm" else merged.num_boosted_rounds()
    assert rounds == 13
    assert (merged.best_iteration if engine == "lightgbm" else merged.attr("best_iteration")) in (-1, None)
    left = check([early, train(classifier, rounds=4)], (0.0, 1.5))
    assert (left.num_trees() if engine == "lightgbm" else left.num_boosted_rounds()) == 4


@pytest.mark.parametrize(
    "params", [{"boosting": "dart"}, {"linear_tree": True}, {"num_leaves": 2}, {"boosting": "goss"}]
)
def test_kinds_of_trees_of_lightgbm(params):
    """DART's weights are in the leaves; linear trees, also beside others."""
    linear = on_lightgbm("regression", X=NUMBERS, **params)
    check([linear, on_lightgbm(X=NUMBERS)], X=NUMBERS)
    check([on_lightgbm("binary", X=NUMBERS), linear], X=NUMBERS)


def test_linear_trees_with_categories():
    """Linear leaves read numbers alone, splits read categories."""
    check([on_lightgbm("regression", linear_tree=True), on_lightgbm()])


def test_random_forests():
    """LightGBM's forest predicts the mean of its trees, XGBoost's their sum."""
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    forests = [on_lightgbm("regression", rounds=n, **forest) for n in (5, 9)]
    wanted = np.dot(WEIGHTS, [one.predict(FRAME) for one in forests])
    np.testing.assert_allclose(
        merge(forests, WEIGHTS).predict(FRAME), wanted, rtol=0, atol=1e-12 * np.ptp(wanted)
    )
    forest = {"num_parallel_tree": 4, "subsample": 0.6}
    check([on_xgboost(**forest, rounds=1), on_xgboost("binary:logistic", **forest, rounds=2)])


def test_trees_without_splits():
    """A constant model, and one without trees."""
    constant = on_lightgbm("regression", min_data_in_leaf=N)
    check([constant, on_lightgbm()])
    check([on_lightgbm(), on_lightgbm(min_data_in_leaf=N)])
    check([on_xgboost("reg:squarederror", gamma=1e9), on_xgboost()])


@EACH
def test_a_merged_model_is_merged_again_saved_and_continued(engine, tmp_path):
    """It is a stock model."""
    train = FIRSTS[engine][0]
    a, b = train(rounds=4), train(FIRSTS[engine][2], rounds=5)
    merged = merge([a, b], WEIGHTS)
    check([merged, a], (2.0, 0.5))
    path = tmp_path / "model.txt" if engine == "lightgbm" else tmp_path / "model.json"
    save(merged, path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict(FRAME), raw(merged))
    described = "merge([Booster, Booster], weights=[0.7, -1.3])  # 9 rounds"
    assert loaded.about["objective"] == repr(merged.objective_) == described
    kind = lgb.Booster if engine == "lightgbm" else xgb.Booster
    np.testing.assert_array_equal(raw(kind(model_file=str(path))), raw(merged))
    if engine == "lightgbm":
        more = lgb.train(
            {**LIGHTGBM, "objective": "lambdarank"},
            lgb.Dataset(FRAME, GRADES, group=SIZES),
            3,
            init_model=merged,
        )
        assert more.num_trees() == 12
    else:
        data = xgb.DMatrix(FRAME, GRADES, group=SIZES, enable_categorical=True)
        more = xgb.train({**XGBOOST, "objective": "rank:ndcg"}, data, 3, xgb_model=merged)
        assert more.num_boosted_rounds() == 12


@EACH
def test_rounds_are_those_of_the_first_model_first(engine):
    """What num_iteration= cuts."""
    train = FIRSTS[engine][0]
    a, b = train(rounds=4), train(FIRSTS[engine][2], rounds=5)
    merged = merge([a, b], WEIGHTS)
    if engine == "lightgbm":
        cut = merged.predict(FRAME, num_iteration=4)
    else:
        cut = merged.predict(xgb.DMatrix(FRAME, enable_categorical=True), iteration_range=(0, 4))
    # Base scores are in every cut of XGBoost.
    np.testing.assert_allclose(cut - cut[0], WEIGHTS[0] * (raw(a) - raw(a)[0]), atol=1e-5)


@EACH
def test_shap_values_add_up(engine):
    """Contributions sum to the merged score, and are the sum of the models'."""
    train = FIRSTS[engine][0]
    boosters = [train(), train(FIRSTS[engine][2])]
    merged = merge(boosters, WEIGHTS)

    def contributions(booster):
        if engine == "lightgbm":
            return booster.predict(FRAME, pred_contrib=True)
        return booster.predict(xgb.DMatrix(FRAME, enable_categorical=True), pred_contribs=True)

    found = contributions(merged)
    np.testing.assert_allclose(found.sum(axis=1), raw(merged), atol=1e-4)
    wanted = sum(w * contributions(one) for w, one in zip(WEIGHTS, boosters, strict=True))
    np.testing.assert_allclose(found, wanted, atol=1e-4)


@EACH
def test_onnx_and_treelite(engine, tmp_path):
    """Other systems read it."""
    onnxruntime, treelite = pytest.importorskip("onnxruntime"), pytest.importorskip("treelite")
    train = FIRSTS[engine][0]
    X = NUMBERS.to_numpy(np.float32)
    merged = merge([train(X=X), train(FIRSTS[engine][2], X=X)], WEIGHTS)
    export(merged, tmp_path / "model.onnx", format="onnx")
    (scores,) = onnxruntime.InferenceSession(str(tmp_path / "model.onnx")).run(None, {"X": X})
    np.testing.assert_allclose(scores.ravel(), raw(merged, X), atol=1e-5)
    other = getattr(treelite.frontend, f"from_{engine}")(merged)
    np.testing.assert_allclose(treelite.gtil.predict(other, X).ravel(), raw(merged, X), atol=1e-5)


RANKERS = {"lightgbm": lambdaboost.lightgbm.LambdaRanker, "xgboost": lambdaboost.xgboost.LambdaRanker}
TABLE = FRAME.assign(srch=np.repeat(np.arange(30), 20), clicked=CLICKS)


def ranker_on(engine, objective, **params):
    """A fitted ranker of the table."""
    quiet = {"verbose": -1, "min_child_samples": 5} if engine == "lightgbm" else {"min_child_weight": 0}
    settings = {"query": "srch", "sources": ["clicked"], "n_estimators": 6, "n_jobs": 1, **quiet, **params}
    return RANKERS[engine](objective=objective, **settings)


@EACH
def test_rankers(engine, tmp_path):
    """The first one is copied with another booster: it predicts, is saved, exported, and fits anew."""
    a = ranker_on(engine, LambdaRank()).fit(TABLE, GRADES)
    b = ranker_on(engine, graded(0.3, "clicked"), n_estimators=4).fit(TABLE, GRADES)
    before = a.predict(TABLE)
    merged = merge([a, b], WEIGHTS)
    wanted = WEIGHTS[0] * before + WEIGHTS[1] * b.predict(TABLE)
    np.testing.assert_allclose(merged.predict(TABLE), wanted, atol=1e-6 * np.ptp(wanted))
    np.testing.assert_array_equal(merged.predict(TABLE[TABLE.columns[::-1]]), merged.predict(TABLE))
    np.testing.assert_array_equal(a.predict(TABLE), before)
    assert type(merged) is type(a)
    assert repr(merged.objective_).startswith("merge([LambdaRank(), Blend(")
    assert repr(merged.objective_).endswith(", weights=[0.7, -1.3])  # 10 rounds")
    path = tmp_path / "model.txt"
    save(merged, path)
    np.testing.assert_array_equal(load(path).predict(TABLE), merged.predict(TABLE))
    assert json.loads((tmp_path / "model.txt.json").read_text())["objective"] == repr(merged.objective_)
    assert merged.score(TABLE, GRADES) > 0
    again = merged.fit(TABLE, GRADES)
    np.testing.assert_array_equal(again.predict(TABLE), before)
    assert again.objective_ == LambdaRank()


@EACH
def test_a_ranker_of_merged_ones_as_onnx(engine, tmp_path):
    pytest.importorskip("onnxruntime")
    models = [ranker_on(engine, one).fit(TABLE, GRADES) for one in (LambdaRank(), graded(0.3, "clicked"))]
    export(merge(models, WEIGHTS), tmp_path / "model.onnx", format="onnx")
    assert (tmp_path / "model.onnx").stat().st_size > 0


@EACH
def test_rankers_whose_categories_are_in_another_order(engine):
    """A blank in a name, another order of columns and of values."""
    first = TABLE.rename(columns={"kind": "the kind"})
    turned = first["the kind"].cat.reorder_categories(VALUES[::-1])
    second = first.assign(**{"the kind": turned})[first.columns[::-1]]
    models = [ranker_on(engine, LambdaRank()).fit(X, GRADES) for X in (first, second)]
    merged = merge(models, WEIGHTS)
    wanted = np.dot(WEIGHTS, [model.predict(first) for model in models])
    for X in (first, second):
        np.testing.assert_allclose(merged.predict(X), wanted, atol=1e-6 * np.ptp(wanted))


@EACH
def test_a_ranker_that_stopped_early(engine):
    """Up to its best round."""
    stop = {"early_stopping_rounds": 2, "eval_metric": NDCG(3)} if engine == "xgboost" else {}
    a = ranker_on(engine, LambdaRank(), n_estimators=40, learning_rate=0.9, **stop)
    more = {} if stop else {"eval_metric": NDCG(3), "callbacks": [lgb.early_stopping(2, verbose=False)]}
    half = TABLE["srch"] < 15
    a.fit(TABLE[half], GRADES[half], eval_set=[(TABLE[~half], GRADES[~half])], **more)
    b = ranker_on(engine, "lambdarank" if engine == "lightgbm" else "rank:ndcg").fit(
        TABLE[half], GRADES[half]
    )
    merged = merge([a, b], (1.0, 1.0))
    wanted = a.predict(TABLE) + b.predict(TABLE)
    np.testing.assert_allclose(merged.predict(TABLE), wanted, atol=2e-6 * np.ptp(wanted))
    rounds = (
        merged.booster_.num_trees() if engine == "lightgbm" else merged.get_booster().num_boosted_rounds()
    )
    best = a.best_iteration_ if engine == "lightgbm" else a.best_iteration + 1
    assert rounds == best + 6 < 46


def other_categories(**changed):
    """The frame with other values of a category."""
    return FRAME.assign(kind=FRAME["kind"].cat.rename_categories({"u": "new"}))


WRONG = {
    "one": (lambda on: ([on()], [1]), ValueError, "models has 1: give two or more"),
    "no list": (lambda on: (on(), [1]), TypeError, "models is a Booster: give a list"),
    "no model": (lambda on: ([on(), "model.txt"], [1, 1]), TypeError, r"models\[1\] is a str"),
    "engines": (lambda on: ([on_lightgbm(), on_xgboost()], [1, 1]), TypeError, "different engines"),
    "numbers": (lambda on: ([on(), on()], [1]), ValueError, "weights has 1 values, models has 2"),
    "no weights": (lambda on: ([on(), on()], 0.5), TypeError, "weights is 0.5"),
    "NaN": (lambda on: ([on(), on()], [1, float("nan")]), ValueError, r"weights\[1\] is nan"),
    "text": (lambda on: ([on(), on()], [1, "2"]), TypeError, r"weights\[1\] is '2'"),
    "zero": (lambda on: ([on(), on()], [0, 0]), ValueError, "at least one weight that is not 0"),
    "missing": (
        lambda on: ([on(), on(X=FRAME.drop(columns="c"))], [1, 1]),
        ValueError,
        "train all on the same columns",
    ),
    "names": (
        lambda on: ([on(), on(X=FRAME.rename(columns={"c": "d"}))], [1, 1]),
        ValueError,
        "'c', 'd' are in one",
    ),
    "values": (lambda on: ([on(), on(X=other_categories())], [1, 1]), ValueError, "CategoricalDtype"),
    "type": (
        lambda on: ([on(), on(X=FRAME.assign(kind=FRAME["kind"].cat.codes.astype(float)))], [1, 1]),
        ValueError,
        "categorical",
    ),
}


@EACH
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_arguments(engine, wrong):
    """Each is refused in a sentence."""
    make, error, message = WRONG[wrong]
    models, weights = make(FIRSTS[engine][0])
    with pytest.raises(error, match=message):
        merge(models, weights)


def test_a_weight_beyond_float32():
    """XGBoost's scores of the merged model would be NaN; LightGBM's are float64."""
    with pytest.raises(
        ValueError, match=r"weights\[1\] is 1e\+300, times which scores of models\[1\] are beyond"
    ):
        merge([on_xgboost(), on_xgboost()], [1, 1e300])
    assert np.isfinite(merge([on_lightgbm(), on_lightgbm()], [1, 1e300]).predict(FRAME)).all()


def test_sums_of_many_trees_of_xgboost():
    """The merged leaves, added in float64, are the weighted sum to float32's last digit; XGBoost adds in float32."""

    def exact(booster):
        learner = json.loads(bytes(booster.save_raw("json")))["learner"]
        places = booster.predict(xgb.DMatrix(FRAME, enable_categorical=True), pred_leaf=True).astype(int)
        trees = learner["gradient_booster"]["model"]["trees"]
        leaves = [np.float32(tree["split_conditions"])[at] for tree, at in zip(trees, places.T, strict=True)]
        return np.sum(leaves, axis=0, dtype=float) + float(
            learner["learner_model_param"]["base_score"].strip("[]")
        )

    boosters = [on_xgboost(rounds=150), on_xgboost(rounds=150, subsample=0.7)]
    wanted = np.dot((0.7, 0.3), [exact(booster) for booster in boosters])
    np.testing.assert_allclose(exact(merge(boosters, (0.7, 0.3))), wanted, rtol=0, atol=1e-7 * np.ptp(wanted))


def test_threads_of_xgboost_are_those_of_the_first_model():
    """A ranker's n_jobs; a model without keeps the engine's default."""

    def threads(booster):
        return json.loads(booster.save_config())["learner"]["generic_param"]["nthread"]

    two, free = on_xgboost(nthread=2, rounds=2), on_xgboost(nthread=None, rounds=2)
    assert [threads(merge(models, WEIGHTS)) for models in ([two, free], [free, two])] == ["2", "0"]
    rankers = [ranker_on("xgboost", LambdaRank(), n_jobs=2).fit(TABLE, GRADES) for _ in (0, 1)]
    assert threads(merge(rankers, WEIGHTS).get_booster()) == "2"


def test_a_feature_that_is_constant_in_the_first():
    """It has the type of the next model that splits by it, which the third must share."""
    constant = FRAME.assign(c=1.0)
    check([on_lightgbm(X=constant), on_lightgbm(), on_lightgbm("binary")], (1.0, 2.0, 0.5))
    codes = FRAME.assign(c=pd.Categorical(RNG.choice(VALUES, N)))
    with pytest.raises(ValueError, match=r"'c' is numeric before models\[2\] and categorical in it"):
        merge([on_lightgbm(X=constant), on_lightgbm(), on_lightgbm(X=codes)], (1.0, 2.0, 0.5))


def test_models_that_are_no_plain_sum():
    """Each is refused in a sentence."""
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    classes = {"objective": "multiclass", "num_class": 5}
    of_classes = lgb.train({**LIGHTGBM, **classes}, lgb.Dataset(FRAME, GRADES), 2)
    linear = on_xgboost("reg:squarederror", X=NUMBERS, booster="gblinear", verbosity=0)
    dart = on_xgboost(booster="dart", rate_drop=0.5, rounds=6)
    soft = xgb.train(
        {"objective": "multi:softmax", "num_class": 5}, xgb.DMatrix(FRAME, GRADES, enable_categorical=True), 2
    )
    for models, message in (
        ([on_lightgbm(), on_lightgbm("regression", **forest)], "random forest"),
        ([on_xgboost(), on_xgboost(num_parallel_tree=3)], "random forest"),
        ([on_lightgbm(), of_classes], "5 scores per row"),
        ([on_xgboost(), soft], "several scores per row"),
        ([on_xgboost(X=NUMBERS), linear], "gblinear"),
        ([dart, on_xgboost()], "dart"),
        ([on_xgboost(), xgb.Booster()], r"models\[1\] was not trained .XGBoost reports: [^\n]*interface"),
    ):
        with pytest.raises(ValueError, match=message):
            merge(models, [1, 1])


def test_rankers_that_do_not_fit_together():
    """Each is refused in a sentence."""
    a = ranker_on("lightgbm", LambdaRank()).fit(TABLE, GRADES)
    with pytest.raises(ValueError, match=r"models\[1\] is not fitted"):
        merge([a, ranker_on("lightgbm", LambdaRank())], [1, 1])
    with pytest.raises(TypeError, match=r"lightgbm\.LambdaRanker, models"):
        merge([a, ranker_on("xgboost", LambdaRank()).fit(TABLE, GRADES)], [1, 1])
    with pytest.raises(TypeError, match=r"models\[1\] lightgbm.basic.Booster"):
        merge([a, a.booster_], [1, 1])
    other = ranker_on("lightgbm", LambdaRank(), query="day").fit(
        TABLE.rename(columns={"srch": "day"}), GRADES
    )
    with pytest.raises(ValueError, match="query is 'srch' in models"):
        merge([a, other], [1, 1])
    lenient = ranker_on("lightgbm", LambdaRank(), unseen="missing").fit(TABLE, GRADES)
    with pytest.raises(ValueError, match="unseen is 'error' in models"):
        merge([a, lenient], [1, 1])
    x = ranker_on("xgboost", LambdaRank()).fit(TABLE, GRADES)
    with pytest.raises(ValueError, match="missing is nan in models"):
        merge([x, ranker_on("xgboost", LambdaRank(), missing=-1.0).fit(TABLE, GRADES)], [1, 1])
