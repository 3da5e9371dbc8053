"""`LambdaRanker` over XGBRanker."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from engine_rules import XGBoostRule
from on_xgboost import dataset as DMatrix
from on_xgboost import train
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

from lambdaboost import (
    CNDCG,
    MRR,
    NDCG,
    Blend,
    LambdaRank,
    Queries,
    RankNet,
    graded,
    iteration_dependent,
    load,
    save,
)
from lambdaboost.datasets import web_search_log
from lambdaboost.xgboost import LambdaRanker

xgb = pytest.importorskip("xgboost")

LOG = web_search_log(queries=40, documents=15, seed=1)
X, Q = LOG.features, LOG.queries
QID, CLICKS = Q.query_of_row, Q.labels["clicks"]
OTHER = web_search_log(queries=30, documents=15, seed=2)
X_VALID, Q_VALID = OTHER.features, OTHER.queries
WEIGHT = np.linspace(0.5, 2.0, Q.n_queries)
SMALL = {"n_estimators": 4, "max_depth": 3, "learning_rate": 0.3, "n_jobs": 1}
FRAME = pd.DataFrame(X, columns=list(LOG.feature_names)).assign(qid=QID)


def test_is_xgbranker_under_its_own_objective():
    native = {"lambdarank_num_pair_per_sample": 32, "base_score": 0.0}
    theirs = xgb.XGBRanker(**SMALL, **native).fit(X, Q.relevance, qid=QID, sample_weight=WEIGHT)
    ours = LambdaRanker(objective=XGBoostRule(), **SMALL)
    ours.fit(X, Q.relevance, qid=QID, sample_weight=WEIGHT)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-6)


@pytest.mark.parametrize("objective", ["graded", graded()], ids=["text", "value"])
def test_is_train(objective):
    ranker = LambdaRanker(objective=objective, **SMALL)
    ranker.fit(X, Q.relevance, group=Q.sizes, sources={"clicks": CLICKS}, sample_weight=WEIGHT)
    data = DMatrix(X, Q.relevance, qid=QID, sources={"clicks": CLICKS}, weight=WEIGHT)
    params = {"max_depth": 3, "eta": 0.3, "nthread": 1}
    expected = train(params, data, 4, objective=graded()).predict(data)
    scores = ranker.predict(X)
    assert scores.shape == (len(X),)
    np.testing.assert_allclose(scores, expected, atol=1e-5)


def test_evaluation_with_sources_and_early_stopping():
    ranker = LambdaRanker(
        objective="graded", eval_metric=[MRR(5), "ndcg@5", "NDCG(k=3)", CNDCG(3)], early_stopping_rounds=4,
        **SMALL | {"n_estimators": 80, "learning_rate": 1.0},
    )  # fmt: skip
    ranker.fit(
        X, Q.relevance, qid=QID, sources={"clicks": CLICKS},
        eval_set=[(X, Q.relevance), (X_VALID, Q_VALID.relevance)], eval_qid=[QID, Q_VALID.query_of_row],
        eval_sources=[{"clicks": CLICKS}, pd.DataFrame({"clicks": Q_VALID.labels["clicks"]})],
    )  # fmt: skip
    curves = ranker.evals_result()["validation_1"]
    assert list(curves) == ["ndcg@5", "pre-mrr@5", "ndcg@3", "ndcg@3-clicks"]
    curve = curves["pre-mrr@5"]  # the first of eval_metric, though XGBoost evaluates ndcg@5 before it
    assert len(curve) < 80 and ranker.best_iteration == np.argmax(curve)
    assert ranker.best_score == pytest.approx(MRR(5)(ranker.predict(X_VALID), Q_VALID), abs=1e-6)


def test_the_first_of_the_native_metrics_stops():
    names = ["ndcg@3", "ndcg@10", "ndcg@1"]
    ranker = LambdaRanker(eval_metric=names, early_stopping_rounds=4, **SMALL | {"n_estimators": 80})
    ranker.fit(
        X, Q.relevance, qid=QID, eval_set=[(X_VALID, Q_VALID.relevance)], eval_qid=[Q_VALID.query_of_row]
    )
    curves = ranker.evals_result()["validation_0"]
    assert list(curves) == names
    first = curves[names[0]]
    best = np.argmax(first)
    assert ranker.best_iteration == best and ranker.best_score == first[best]


def spread(y_true, y_score):
    """A metric of one query as scikit-learn's are."""
    return float(np.ptp(y_score) + y_true.mean())


@pytest.mark.parametrize("eval_metric", [spread, [spread, NDCG(3)]], ids=["alone", "beside a measure"])
def test_callables_evaluate_as_in_xgbranker(eval_metric):
    native = {"lambdarank_num_pair_per_sample": 32, "base_score": 0.0}
    theirs = xgb.XGBRanker(**SMALL, **native, eval_metric=spread)
    theirs.fit(X, Q.relevance, qid=QID, eval_set=[(X, Q.relevance)], eval_qid=[QID])
    ours = LambdaRanker(objective=XGBoostRule(), eval_metric=eval_metric, **SMALL)
    ours.fit(X, Q.relevance, qid=QID, eval_set=[(X, Q.relevance)], eval_qid=[QID])
    expected, got = (model.evals_result()["validation_0"]["spread"] for model in (theirs, ours))
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    assert clone(ours).get_params()["eval_metric"] == eval_metric
    pickle.loads(pickle.dumps(ours)).score(FRAME, Q.relevance)


@pytest.mark.parametrize(
    "size", [{}, {"n_estimators": 60, "learning_rate": 1.0, "early_stopping_rounds": 3}], ids=str
)
def test_contributions_sum_to_the_scores(size):
    """Up to the best round after early stopping, and by the names of features."""
    valid = {"eval_set": [(X_VALID, Q_VALID.relevance)], "eval_qid": [Q_VALID.query_of_row]} if size else {}
    rows = FRAME.drop(columns="qid") if not size else X
    ranker = LambdaRanker(**SMALL | size).fit(rows, Q.relevance, qid=QID, **valid)
    asked = FRAME[FRAME.columns[::-1]] if not size else X
    parts = ranker.predict(asked, pred_contribs=True)
    assert parts.shape == (len(X), X.shape[1] + 1)
    np.testing.assert_allclose(parts.sum(axis=1), ranker.predict(asked), atol=1e-4)
    assert ranker.predict(asked, pred_leaf=True).shape[0] == len(X)


def test_the_default_measure_and_missing_grades():
    grades = np.where(np.arange(len(X)) % 4, Q.relevance, np.nan)
    ranker = LambdaRanker(**SMALL).fit(X, grades, qid=QID, eval_set=[(X, grades)], eval_group=[Q.sizes])
    (curve,) = ranker.evals_result()["validation_0"].values()
    assert list(ranker.evals_result()["validation_0"]) == ["ndcg@3"]
    assert curve[-1] == pytest.approx(NDCG(3)(ranker.predict(X), Queries(grades, Q.sizes)), abs=1e-6)


def test_frames_names_and_score():
    ranker = LambdaRanker(eval_metric=NDCG(5), **SMALL).fit(FRAME, Q.relevance)
    assert list(ranker.feature_names_in_) == list(LOG.feature_names)
    scores = ranker.predict(FRAME)
    np.testing.assert_array_equal(scores, LambdaRanker(**SMALL).fit(X, Q.relevance, qid=QID).predict(X))
    assert ranker.score(FRAME, Q.relevance) == pytest.approx(NDCG(5)(scores, Q), abs=1e-12)
    native = LambdaRanker(eval_metric="ndcg@5", **SMALL).fit(FRAME, Q.relevance)
    assert native.score(FRAME, Q.relevance) == pytest.approx(NDCG(3)(scores, Q), abs=1e-12)
    with pytest.raises(ValueError, match="X has no column 'qid'"):
        ranker.score(X, Q.relevance)


def test_parameters_clone_and_pickle(tmp_path):
    ranker = LambdaRanker(objective=iteration_dependent(), eval_metric=[NDCG(3)], **SMALL)
    params = clone(ranker).get_params()
    assert params == ranker.get_params() | {"missing": params["missing"]}
    assert params["objective"] == iteration_dependent()
    assert params["eval_metric"] == [NDCG(3)] and params["max_depth"] == 3
    assert not {"objective", "query", "eval_metric"} & set(ranker.get_xgb_params())
    ranker.fit(X, Q.relevance, qid=QID)
    assert ranker.get_params()["objective"] == iteration_dependent()
    joblib.dump(ranker, tmp_path / "ranker.joblib")
    for same in (pickle.loads(pickle.dumps(ranker)), joblib.load(tmp_path / "ranker.joblib")):
        np.testing.assert_array_equal(same.predict(X), ranker.predict(X))
        assert same.objective == ranker.objective
    ranker.set_params(objective="RankNet", n_estimators=2)
    expected = LambdaRanker(objective=RankNet(), **SMALL | {"n_estimators": 2}).fit(X, Q.relevance, qid=QID)
    np.testing.assert_array_equal(ranker.fit(X, Q.relevance, qid=QID).predict(X), expected.predict(X))


def test_saved_and_loaded_and_fitted_again(tmp_path):
    ranker = LambdaRanker(**SMALL).fit(FRAME, Q.relevance)
    ranker.save_model(tmp_path / "model.ubj")
    loaded = LambdaRanker(objective=RankNet(), **SMALL)
    loaded.load_model(tmp_path / "model.ubj")
    np.testing.assert_array_equal(loaded.predict(FRAME), ranker.predict(FRAME))
    assert loaded.objective == RankNet()
    loaded.fit(FRAME, Q.relevance)
    expected = LambdaRanker(objective=RankNet(), **SMALL).fit(FRAME, Q.relevance).predict(FRAME)
    np.testing.assert_array_equal(loaded.predict(FRAME), expected)


def test_the_schedule_sees_the_round():
    rounds = []
    objective = Blend(LambdaRank(), RankNet(), lambda m: rounds.append(m) or 0.5)
    first = LambdaRanker(objective=objective, **SMALL).fit(X, Q.relevance, qid=QID)
    LambdaRanker(objective=objective, **SMALL).fit(X, Q.relevance, qid=QID, xgb_model=first)
    assert rounds == list(range(8))


def test_grid_search_splits_features_and_sources_together():
    search = GridSearchCV(
        LambdaRanker(**SMALL), {"objective": ["graded", LambdaRank()], "max_depth": [2, 3]}, cv=GroupKFold(3)
    )
    search.fit(FRAME, Q.relevance, groups=QID, sources=pd.DataFrame({"clicks": CLICKS}))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5
    assert search.predict(FRAME).shape == (len(X),)


VALID = {"eval_set": [(X, Q.relevance)], "eval_qid": [QID]}


@pytest.mark.parametrize(
    ("params", "arguments", "error", "text"),
    [
        ({}, {"qid": None}, ValueError, "X has no column 'qid': .* as group= or qid="),
        ({"objective": "graded"}, {}, ValueError, "reads the label source 'clicks'"),
        ({"objective": "rank:ndgc"}, {}, ValueError, "did you mean 'rank:ndcg'"),
        ({}, {"sources": {"clicks": CLICKS[1:]}}, ValueError, r"clicks has \d+ rows"),
        ({}, {"sources": CLICKS}, TypeError, "sources is a ndarray"),
        ({}, {"eval_sources": [None]}, ValueError, "eval_sources has 1 items, eval_set 0"),
        ({}, VALID | {"eval_sources": [None, None]}, ValueError, "eval_sources has 2 items, eval_set 1"),
        ({"eval_metric": CNDCG()}, VALID, ValueError, r"no label source 'clicks'"),
        ({"eval_metric": "NDGC"}, VALID, ValueError, "'NDGC' is unknown"),
        ({"eval_metric": 3}, VALID, TypeError, "eval_metric has 3, expected measures"),
        ({"eval_metric": NDCG}, VALID, TypeError, "eval_metric has <class .*NDCG'>, expected measures"),
        ({"early_stopping_rounds": 2}, {}, ValueError, "at least 1 validation dataset"),
    ],
)
def test_fits_that_are_refused(params, arguments, error, text):
    with pytest.raises(error, match=text):
        LambdaRanker(**SMALL, **params).fit(X, Q.relevance, **({"qid": QID} | arguments))


@pytest.mark.parametrize("kind", [">f4", "longdouble"])
def test_foreign_numbers_are_converted(kind, tmp_path):
    """XGBoost misreads them: foreign byte orders, and long doubles by columns."""
    foreign = np.asfortranarray(X.astype(kind))
    expected = LambdaRanker(**SMALL).fit(X.astype(np.float64), Q.relevance, qid=QID)
    ranker = LambdaRanker(**SMALL).fit(foreign, Q.relevance, qid=QID)
    np.testing.assert_array_equal(ranker.predict(foreign), expected.predict(X.astype(np.float64)))
    save(ranker, tmp_path / "model.ubj")
    np.testing.assert_array_equal(load(tmp_path / "model.ubj").predict(foreign), ranker.predict(foreign))


def test_early_stopping_and_one_validation_set_as_a_pair():
    ranker = LambdaRanker(**SMALL).fit(
        X, Q.relevance, qid=QID, eval_set=(X_VALID, Q_VALID.relevance), eval_qid=[Q_VALID.query_of_row]
    )
    assert list(ranker.evals_result()) == ["validation_0"]


def test_own_validation_labels_of_the_training_rows_are_read():
    """Its own sources make the training rows another set."""
    flat = {"clicks": np.zeros(len(X))}
    rows = {"qid": QID, "sources": {"clicks": CLICKS}, "eval_set": [(X, Q.relevance)], "eval_qid": [QID]}
    curves = [
        LambdaRanker(eval_metric=CNDCG(3), **SMALL)
        .fit(X, Q.relevance, **rows, eval_sources=given)
        .evals_result()
        for given in (None, [{"clicks": CLICKS}], [flat])
    ]
    first, second, third = (of["validation_0"]["ndcg@3-clicks"] for of in curves)
    assert first == second and third == [0.0] * 4


def test_a_continued_model_reads_categories_as_the_first():
    kind = np.array(list("abc"))[np.arange(len(X)) % 3]
    first, other = (
        pd.DataFrame(X[:, :3]).add_prefix("f").assign(c=pd.Categorical(kind, list(order)))
        for order in ("abc", "cba")
    )
    small = {"n_estimators": 3, "n_jobs": 1, "max_depth": 3}
    half = LambdaRanker(**small).fit(first, Q.relevance, qid=QID)
    whole, same = (LambdaRanker(**small).fit(X, Q.relevance, qid=QID, xgb_model=half) for X in (other, first))
    np.testing.assert_array_equal(whole.predict(other), same.predict(first))
    with pytest.raises(ValueError, match="c"):
        LambdaRanker(**small).fit(
            first.assign(c=pd.Categorical(["d"] * len(X))), Q.relevance, qid=QID, xgb_model=half
        )
