"""XGBoost's `LambdaRanker`: metrics, saved models, leaves, and numbers that XGBoost misreads."""

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from sklearn.base import clone

from lambdaboost import MRR, NDCG, Precision, RankNet, load, save
from lambdaboost.datasets import web_search_log
from lambdaboost.engines import xgboost
from lambdaboost.xgboost import LambdaRanker

LOG = web_search_log(queries=40, documents=15, seed=1)
X, Q = LOG.features, LOG.queries
QID = Q.query_of_row
X_VALID, Q_VALID = web_search_log(queries=30, documents=15, seed=2)
SMALL = {"n_estimators": 4, "max_depth": 3, "learning_rate": 0.3, "n_jobs": 1}
LONG = SMALL | {"n_estimators": 80, "learning_rate": 1.0, "early_stopping_rounds": 4}
FRAME = pd.DataFrame(X, columns=list(LOG.feature_names)).assign(qid=QID)
VALID = pd.DataFrame(X_VALID, columns=list(LOG.feature_names)).assign(qid=Q_VALID.query_of_row)


def fitted(parameters=SMALL, **more):
    """A ranker, and its curves on the validation data."""
    made = LambdaRanker(**parameters, **more).fit(
        FRAME, Q.relevance, eval_set=[(FRAME, Q.relevance), (VALID, Q_VALID.relevance)]
    )
    return made, made.evals_result()["validation_1"]


# Metrics.


@pytest.mark.parametrize(
    ("eval_metric", "names"),
    [
        (None, ["ndcg@3"]),
        (
            [MRR(5), "ndcg@5", "NDCG(k=3)"],
            ["pre-mrr@5", "ndcg@5", "ndcg@3"],
        ),
        # XGBoost evaluates its own first.
        ([MRR(5), "xgboost:ndcg@5"], ["ndcg@5", "pre-mrr@5"]),
        (["ndcg@3", "ndcg@10", "ndcg@1"], ["ndcg@3", "ndcg@10", "ndcg@1"]),
        ([NDCG(3), "rmse"], ["rmse", "ndcg@3"]),
    ],
    ids=str,
)
@pytest.mark.parametrize("given", ["parameter", "callback"])
def test_the_first_metric_stops(eval_metric, names, given):
    stop = xgb.callback.EarlyStopping(rounds=4)
    size = LONG if given == "parameter" else LONG | {"early_stopping_rounds": None, "callbacks": [stop]}
    ranker, curves = fitted(size, eval_metric=eval_metric)
    assert list(curves) == names
    first = {MRR: "pre-mrr@5", NDCG: "ndcg@3"}.get(type(eval_metric[0]) if eval_metric else NDCG, "ndcg@3")
    curve = curves[first]
    assert len(curve) == np.argmax(curve) + 5 < 80
    assert ranker.best_iteration == np.argmax(curve) and ranker.best_score == max(curve)
    assert stop.metric_name is None  # the callback is left as it is
    best = ranker.get_booster()[: ranker.best_iteration + 1]
    np.testing.assert_array_equal(ranker.predict(VALID), best.inplace_predict(VALID.drop(columns="qid")))
    assert ranker.apply(VALID).shape[1] == ranker.best_iteration + 1


def test_the_score_is_of_the_first_measure():
    ranker, _ = fitted()
    for metric, measure in (
        ("pre@2", Precision(2)),
        ("mrr@5", MRR(5)),
        ([NDCG(7), MRR()], NDCG(7)),
        ("rmse", NDCG(3)),
    ):
        ranker.set_params(eval_metric=metric)
        assert ranker.score(FRAME, Q.relevance) == pytest.approx(measure(ranker.predict(FRAME), Q), abs=1e-12)


def spread(y_true, y_score):
    """A metric of one query as scikit-learn's are."""
    return float(np.ptp(y_score) + y_true.mean())


@pytest.mark.parametrize("eval_metric", [spread, [spread, NDCG(3)]], ids=["alone", "beside a measure"])
def test_callables_evaluate_as_in_xgbranker(eval_metric):
    theirs = xgb.XGBRanker(**SMALL, objective="rank:ndcg", eval_metric=spread)
    ours = LambdaRanker(**SMALL, objective="rank:ndcg", eval_metric=eval_metric)
    for model in (theirs, ours):
        model.fit(X, Q.relevance, qid=QID, eval_set=[(X, Q.relevance)], eval_qid=[QID])
    expected, got = (model.evals_result()["validation_0"]["spread"] for model in (theirs, ours))
    assert got == expected
    assert clone(ours).get_params()["eval_metric"] == eval_metric
    assert pickle.loads(pickle.dumps(ours)).predict(X).tolist() == ours.predict(X).tolist()


def test_metrics_of_the_same_name():
    ranker, curves = fitted(LONG, eval_metric=[NDCG(3, empty=0.0), "xgboost:ndcg@3"])
    assert list(curves) == ["ndcg@3", "ndcg@3-lambdaboost"]
    assert ranker.best_score == max(curves["ndcg@3-lambdaboost"]) != max(curves["ndcg@3"])


# Fitted rankers.


def test_saved_and_loaded_and_fitted_again(tmp_path):
    ranker, _ = fitted()
    ranker.save_model(tmp_path / "model.ubj")
    loaded = LambdaRanker(objective=RankNet(), **SMALL)
    loaded.load_model(tmp_path / "model.ubj")
    np.testing.assert_array_equal(loaded.predict(FRAME[FRAME.columns[::-1]]), ranker.predict(FRAME))
    assert loaded.objective == loaded.objective_ == RankNet()
    expected = LambdaRanker(objective=RankNet(), **SMALL).fit(FRAME, Q.relevance).predict(FRAME)
    np.testing.assert_array_equal(loaded.fit(FRAME, Q.relevance).predict(FRAME), expected)


# Numbers that XGBoost misreads: foreign byte orders and, column by column, long doubles.


def backwards(kind):
    return lambda X: X.astype(np.dtype(kind).newbyteorder())


MISREAD = {
    "float32 backwards": backwards("f4"),
    "float64 backwards": backwards("f8"),
    "long doubles by column": lambda X: np.asfortranarray(X.astype(np.longdouble)),
    "a frame backwards": lambda X: pd.DataFrame(X.astype(np.dtype("f4").newbyteorder())),
    "a frame of long doubles": lambda X: pd.DataFrame(X.astype(np.longdouble)),
}


@pytest.mark.parametrize("kind", MISREAD)
def test_features_of_any_byte_order(kind, tmp_path):
    """In `fit`, with labels, margins and weights, `predict` and `apply`, in saved models, and in a booster's scores."""
    features = np.round(10 * X).astype(np.float32)
    odd = MISREAD[kind](features)
    plain = pd.DataFrame(features) if isinstance(odd, pd.DataFrame) else features
    margin, weight = np.linspace(0, 3, len(X)), np.linspace(0.5, 2, Q.n_queries)
    of_rows = {"y": Q.relevance, "group": Q.sizes, "base_margin": margin, "sample_weight": weight}
    turned = {name: values.astype(values.dtype.newbyteorder()) for name, values in of_rows.items()}
    expected, got = (
        LambdaRanker(**SMALL).fit(x, **given, eval_set=(x, Q.relevance), eval_qid=[QID])
        for x, given in ((plain, of_rows), (odd, turned))
    )
    scores = expected.predict(plain)
    assert np.unique(scores).size > 9
    for fitted_ranker in (expected, got):
        np.testing.assert_array_equal(fitted_ranker.predict(odd), scores)
        np.testing.assert_array_equal(fitted_ranker.apply(odd), expected.apply(plain))
    assert got.evals_result() == expected.evals_result()
    save(expected, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(odd), scores)
    if not isinstance(odd, pd.DataFrame):
        np.testing.assert_array_equal(xgboost.scores(expected.get_booster(), odd), scores)


@pytest.mark.parametrize("random", [np.random.RandomState, np.random.default_rng])
def test_random_generators_seed_the_training(random):
    fitted = [
        LambdaRanker(n_estimators=2, subsample=0.5, random_state=random(3)).fit(X, Q.relevance, group=Q.sizes)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*(ranker.predict(X) for ranker in fitted))
    assert clone(fitted[0]).get_params()["subsample"] == 0.5


@pytest.mark.parametrize(("first", "then"), [("gblinear", None), ("gbtree", "gblinear")])
def test_trees_and_linear_models_do_not_continue_each_other(first, then):
    """XGBoost ends with a stack of C++, or drops the trees."""
    model = LambdaRanker(n_estimators=2, booster=first).fit(X, Q.relevance, group=Q.sizes)
    with pytest.raises(
        ValueError, match=r"^xgb_model: trees cannot continue a linear model.* give the booster="
    ):
        LambdaRanker(n_estimators=2, booster=then).fit(X, Q.relevance, group=Q.sizes, xgb_model=model)
