"""McRank on both engines: the engines' own classifiers, ranked by the expected grade."""

import pickle

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from lightgbm_data import Q_VALID, X_VALID, Q, X
from sklearn.base import clone

from lambdaboost import NDCG, Blend, GradientStep, LambdaRank, McRank, OrdinalMcRank
from lambdaboost import lightgbm as ours_lgb
from lambdaboost import xgboost as ours_xgb
from lambdaboost.objectives import Objective, parse
from lambdaboost.objectives.base.objective import check_objective

LGB = {"n_estimators": 20, "num_leaves": 5, "verbose": -1, "n_jobs": 1, "random_state": 0}
XGB = {"n_estimators": 20, "max_depth": 3, "n_jobs": 1}
RANKERS = [(ours_lgb.LambdaRanker, LGB), (ours_xgb.LambdaRanker, XGB)]
EACH = pytest.mark.parametrize(("ranker", "settings"), RANKERS, ids=["lightgbm", "xgboost"])
MODELS = pytest.mark.parametrize("model", [McRank(), OrdinalMcRank()], ids=repr)


def fitted(ranker, settings, model, **more):
    return ranker(objective=model, **settings).fit(X, Q.relevance, group=Q.sizes, **more)


def test_the_expected_grade():
    p = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(McRank(3).scores(p), [0 * 0.2 + 1 * 0.3 + 2 * 0.5, 0.0])
    reached = np.cumsum(p[:, ::-1], axis=1)[:, ::-1][:, 1:]  # P(y ≥ 1), P(y ≥ 2)
    np.testing.assert_allclose(OrdinalMcRank(3).scores(reached), McRank(3).scores(p))
    np.testing.assert_array_equal(OrdinalMcRank(3).reached(np.array([0, 1, 2])), [[0, 0], [1, 0], [1, 1]])


def test_lightgbm_is_its_own_classifier():
    classifier = lgb.LGBMClassifier(objective="multiclass", **LGB).fit(X, Q.relevance.astype(int))
    ours = fitted(ours_lgb.LambdaRanker, LGB, McRank())
    np.testing.assert_allclose(
        ours.predict(X_VALID), classifier.predict_proba(X_VALID) @ np.arange(5), rtol=1e-9
    )


def test_xgboost_is_its_own_classifier():
    classifier = xgb.XGBClassifier(objective="multi:softprob", **XGB).fit(X, Q.relevance.astype(int))
    ours = fitted(ours_xgb.LambdaRanker, XGB, McRank())
    np.testing.assert_allclose(
        ours.predict(X_VALID), classifier.predict_proba(X_VALID) @ np.arange(5), rtol=1e-5
    )


def test_xgboost_ordinal_is_one_classifier_a_threshold():
    p = [
        xgb.XGBClassifier(objective="binary:logistic", **XGB)
        .fit(X, Q.relevance >= z)
        .predict_proba(X_VALID)[:, 1]
        for z in range(1, 5)
    ]
    np.testing.assert_allclose(
        fitted(ours_xgb.LambdaRanker, XGB, OrdinalMcRank()).predict(X_VALID), np.sum(p, axis=0), rtol=1e-4
    )


def test_lightgbm_ordinal_is_one_classifier_a_threshold():
    p = [
        lgb.LGBMClassifier(boost_from_average=False, **LGB)
        .fit(X, Q.relevance >= z)
        .predict_proba(X_VALID)[:, 1]
        for z in range(1, 5)
    ]
    np.testing.assert_allclose(
        fitted(ours_lgb.LambdaRanker, LGB, OrdinalMcRank()).predict(X_VALID), np.sum(p, axis=0), rtol=1e-4
    )


@EACH
@MODELS
def test_beats_random_order(ranker, settings, model):
    scores = fitted(ranker, settings, model).predict(X_VALID)
    chance = np.mean(
        [NDCG()(np.random.default_rng(i).random(Q_VALID.n_documents), Q_VALID) for i in range(20)]
    )
    assert NDCG()(scores, Q_VALID) > chance + 0.05


@EACH
@MODELS
def test_measures_and_early_stopping_see_the_expected_grade(ranker, settings, model):
    more = {"eval_set": [(X_VALID, Q_VALID.relevance)], "eval_group": [Q_VALID.sizes]}
    if ranker is ours_lgb.LambdaRanker:
        stop = lgb.early_stopping(5, verbose=False)
        made = fitted(ranker, settings, model, eval_metric=NDCG(k=5), callbacks=[stop], **more)
        best, seen = made.best_score_["valid_0"]["NDCG(k=5)"], made.evals_result_["valid_0"]["NDCG(k=5)"]
    else:
        stopping = {"eval_metric": NDCG(k=5), "early_stopping_rounds": 5}
        made = fitted(ranker, settings | stopping, model, **more)
        best, seen = made.best_score, made.evals_result()["validation_0"]["ndcg(k=5)"]
    assert best == pytest.approx(max(seen), abs=1e-6)
    assert NDCG(k=5)(made.predict(X_VALID), Q_VALID) == pytest.approx(best, abs=1e-5)


@EACH
@MODELS
def test_an_estimator_like_any_other(ranker, settings, model):
    made = fitted(ranker, settings, model)
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.predict(X_VALID), made.predict(X_VALID))
    assert clone(made).objective == model
    by_text = ranker(objective=repr(model), **settings).fit(X, Q.relevance, qid=Q.query_of_row)
    np.testing.assert_array_equal(by_text.predict(X_VALID), made.predict(X_VALID))


@EACH
@pytest.mark.parametrize("model", [McRank(2), OrdinalMcRank(2)], ids=repr)
def test_two_grades(ranker, settings, model):
    y = (Q.relevance > 0).astype(float)
    scores = ranker(objective=model, **settings).fit(X, y, group=Q.sizes).predict(X_VALID)
    assert scores.shape == (len(X_VALID),)
    assert ((scores >= 0) & (scores <= 1)).all()


def test_what_else_predict_is_asked_for():
    made = fitted(ours_lgb.LambdaRanker, LGB, McRank())
    assert made.predict(X_VALID, raw_score=True).shape == (len(X_VALID), 5)
    assert made.predict(X_VALID, pred_leaf=True).shape == (len(X_VALID), 5 * 20)
    assert fitted(ours_xgb.LambdaRanker, XGB, McRank()).predict(X_VALID, output_margin=True).shape[1] == 5


def test_weights_of_rows_on_lightgbm():
    weight = np.linspace(0.5, 2.0, len(X))
    classifier = lgb.LGBMClassifier(objective="multiclass", **LGB).fit(X, Q.relevance.astype(int), weight)
    ours = fitted(ours_lgb.LambdaRanker, LGB, McRank(), sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), classifier.predict_proba(X) @ np.arange(5), rtol=1e-9)
    one = fitted(ours_lgb.LambdaRanker, LGB, OrdinalMcRank()).predict(X)
    assert (fitted(ours_lgb.LambdaRanker, LGB, OrdinalMcRank(), sample_weight=weight).predict(X) != one).any()


def test_values():
    for model in (McRank(classes=3), OrdinalMcRank(classes=2), McRank()):
        assert parse(repr(model)) == model
        assert pickle.loads(pickle.dumps(model)) == model
        assert hash(model) == hash(parse(repr(model)))
    assert McRank(3) != OrdinalMcRank(3)


def both_data():
    return [
        (ours_lgb, ours_lgb.Dataset(X, Q.relevance, group=Q.sizes, free_raw_data=False), LGB_PARAMS),
        (ours_xgb, ours_xgb.DMatrix(X, Q.relevance, group=Q.sizes), XGB_PARAMS),
    ]


LGB_PARAMS = {"num_leaves": 5, "verbose": -1, "num_threads": 1, "seed": 0}
XGB_PARAMS = {"max_depth": 3, "nthread": 1}


@MODELS
def test_train_gives_the_booster_of_the_ranker(model):
    for (module, data, params), (ranker, settings) in zip(both_data(), RANKERS, strict=True):
        quiet = {"verbose_eval": False} if module is ours_xgb else {}
        booster = module.train(params, data, 20, objective=model, **quiet)
        predicted = booster.predict(X if module is ours_lgb else xgb.DMatrix(X))
        if module is ours_lgb and isinstance(model, OrdinalMcRank):
            predicted = 1 / (1 + np.exp(-predicted))
        expected = fitted(ranker, settings, model).predict(X)
        np.testing.assert_allclose(model.scores(predicted), expected, rtol=1e-5)
        np.testing.assert_array_equal(np.ravel(data.get_label()), Q.relevance)  # as it was before


@MODELS
def test_cv_measures_the_expected_grade(model):
    """Each fold's measure is that of a model trained on the other fold."""
    half = Q.n_queries // 2
    rows = np.arange(Q.n_documents)
    folds = [(rows[Q.query_of_row >= half], rows[Q.query_of_row < half])]
    train, test = Q.take(np.arange(half, Q.n_queries)), Q.take(np.arange(half))
    for (module, data, params), (ranker, settings) in zip(both_data(), RANKERS, strict=True):
        given = {"feval": NDCG(5)} if module is ours_lgb else {"custom_metric": NDCG(5)}
        result = module.cv(params, data, 20, objective=repr(model), folds=folds, **given)
        name = "valid NDCG(k=5)-mean" if module is ours_lgb else "test-ndcg(k=5)-mean"
        alone = ranker(objective=model, **settings).fit(X[folds[0][0]], train.relevance, group=train.sizes)
        expected = NDCG(5)(alone.predict(X[folds[0][1]]), test)
        assert np.asarray(result[name])[-1] == pytest.approx(
            expected, abs=0.02 if module is ours_lgb else 1e-5
        )


def with_grade(grade):
    y = Q.relevance.astype(float)
    y[7] = grade
    return y


@EACH
@pytest.mark.parametrize(
    ("grade", "message"),
    [
        (
            5,
            r"relevance\[7\] is 5: McRank\(\) takes the grades 0 to 4; .* make grades whole, and classes one more",
        ),
        (1.5, r"relevance\[7\] is 1.5: .*make grades whole"),
        (np.nan, r"relevance\[7\] is nan: .*leave documents without a grade out"),
    ],
)
def test_grades_that_are_no_class(ranker, settings, grade, message):
    with pytest.raises(ValueError, match=message):
        ranker(objective=McRank(), **settings).fit(X, with_grade(grade), group=Q.sizes)


@EACH
def test_other_leaves(ranker, settings):
    with pytest.raises(ValueError, match=r"leaves is 'gradient'.*leaves='engine' only"):
        ranker(objective=OrdinalMcRank(), leaves="gradient", **settings).fit(X, Q.relevance, group=Q.sizes)


def test_weights_of_queries_on_xgboost():
    with pytest.raises(ValueError, match=r"weights of queries are given.*leave them out"):
        fitted(ours_xgb.LambdaRanker, XGB, McRank(), sample_weight=np.ones(Q.n_queries))


@pytest.mark.parametrize(
    "use",
    [
        lambda: Blend(LambdaRank(), McRank(), 0.1),
        lambda: GradientStep(OrdinalMcRank()),
        lambda: check_objective("first", McRank()),
    ],
)
def test_a_grade_model_is_no_objective(use):
    assert not isinstance(McRank(), Objective) and not hasattr(McRank(), "gradient")
    with pytest.raises(
        TypeError, match=r"McRank\(\), expected an objective with a gradient such as LambdaRank"
    ):
        use()


def test_wrong_classes():
    with pytest.raises(ValueError, match="classes is 1: give a whole number ≥ 2"):
        McRank(1)
    with pytest.raises(TypeError, match=r"classes is .*: give a whole number"):
        OrdinalMcRank("5")
