"""LightGBM's `LambdaRanker`: metrics and their names, early stopping, validation data, fitted attributes."""

from dataclasses import replace

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from rankers import table

from lambdaboost import CNDCG, MRR, NDCG, YetiLoss
from lambdaboost.datasets import web_search_log
from lambdaboost.evaluation import parse
from lambdaboost.lightgbm import LambdaRanker

X, Q = web_search_log(queries=30, documents=20, features=16, seed=5)
X_VALID, Q_VALID = web_search_log(queries=20, documents=20, features=16, seed=6)
QUIET = {"n_jobs": 1, "verbose": -1}
SMALL = {"n_estimators": 4, "num_leaves": 5, "min_child_samples": 10, **QUIET}
FAST = {"n_estimators": 80, "num_leaves": 15, "learning_rate": 0.3, "min_child_samples": 2, **QUIET}
EVAL = {"eval_set": [(X_VALID, Q_VALID.relevance)], "eval_group": [Q_VALID.sizes]}


def fitted(parameters=None, **arguments):
    """A ranker, and its curves on the first validation set."""
    made = LambdaRanker(**SMALL | (parameters or {})).fit(X, Q.relevance, group=Q.sizes, **arguments)
    return made, next(iter(made.evals_result_.values()), {})


def test_fitted_attributes():
    frame = pd.DataFrame(X).add_prefix("f")
    ranker, _ = fitted()
    stock = lgb.LGBMRanker(objective=YetiLoss(), **SMALL).fit(X, Q.relevance, group=Q.sizes)
    named = LambdaRanker(**SMALL).fit(frame, pd.Series(Q.relevance), group=Q.sizes)
    np.testing.assert_array_equal(ranker.predict(X), stock.predict(X))
    np.testing.assert_array_equal(ranker.predict(X), named.predict(frame[frame.columns[::-1]]))
    for name in ("n_features", "n_features_in", "n_estimators", "n_iter", "best_iteration", "evals_result"):
        assert getattr(ranker, f"{name}_") == getattr(stock, f"{name}_"), name
    np.testing.assert_array_equal(ranker.feature_importances_, stock.feature_importances_)
    # LightGBM 4.6 always has them.
    assert hasattr(ranker, "feature_names_in_") == hasattr(stock, "feature_names_in_")
    assert list(named.feature_names_in_) == named.feature_name_ == list(frame)
    assert fitted(feature_name=list(frame))[0].booster_.feature_name() == list(frame)
    with pytest.raises(ValueError, match="features"):
        ranker.predict(X[:, :3])
    with pytest.raises(ValueError, match=r"class_weight='balanced': .* give sample_weight"):
        fitted({"class_weight": "balanced"})


def test_places_of_categories_count_the_features():
    """A table has other columns too, by which places would shift."""
    frame = pd.DataFrame(X).add_prefix("f")
    frame.insert(0, "qid", Q.query_of_row)
    ranker, codes = LambdaRanker(**SMALL), frame.assign(f2=np.arange(len(X)) % 5)
    with pytest.raises(
        ValueError, match=r"categorical_feature=\[3\] counts features, and X has other .*: give names"
    ):
        ranker.fit(codes, Q.relevance, categorical_feature=[3])
    by_name = ranker.fit(codes, Q.relevance, categorical_feature=["f2"]).predict(codes)
    behind = codes[[*codes.columns[1:], "qid"]]
    by_place = ranker.fit(behind, Q.relevance, categorical_feature=[2])
    np.testing.assert_array_equal(by_name, by_place.predict(behind))


# Metrics.


@pytest.mark.parametrize(
    ("eval_metric", "names"),
    [
        (None, ["ndcg@1", "ndcg@2", "ndcg@3", "ndcg@4", "ndcg@5"]),
        (["map@5", NDCG(7), "ndcg@3"], ["map@5", "ndcg@7", "ndcg@3"]),
        ("map@5,ndcg@2", ["map@5", "ndcg@2"]),
        (["mrr@10", "NDCG(k=4)"], ["mrr@10", "ndcg@4"]),
        ("ndcg", ["ndcg"]),
        ("lightgbm:ndcg", ["ndcg@1", "ndcg@2", "ndcg@3", "ndcg@4", "ndcg@5"]),
    ],
    ids=str,
)
def test_names_give_results_under_these_names(eval_metric, names):
    ranker, curves = fitted(**EVAL, eval_metric=eval_metric)
    assert list(curves) == list(ranker.best_score_["valid_0"]) == names
    for name in names:
        measure = parse(name)
        if eval_metric == "lightgbm:ndcg":  # which counts a query without a positive grade as 1
            measure = replace(measure, empty=1.0)
        value = measure(ranker.predict(X_VALID), Q_VALID)
        assert curves[name][-1] == pytest.approx(value, abs=1e-6)


def test_native_metrics_and_callables():
    def rows(y_true, y_pred):
        return "rows", len(y_pred), True

    def weighted(y_true, y_pred, weight, group):
        return [("weight", weight.sum() * len(group), True), ("queries", len(group), True)]

    weight = [np.full(len(X_VALID), 2.0)]
    _, curves = fitted(**EVAL, eval_sample_weight=weight, eval_metric=["map", rows, weighted], eval_at=[5])
    assert list(curves) == ["map@5", "rows", "weight", "queries"]
    n = len(X_VALID)
    assert [curves[name][0] for name in ("rows", "weight", "queries")] == [n, 2 * n * 20, 20]
    assert list(fitted({"metric": "map"}, **EVAL, eval_at=[2])[1]) == ["map@2"]
    for none in ("None", "none"):  # as LGBMRanker is told to leave its own metric out
        assert list(fitted({"metric": none}, **EVAL, eval_metric=NDCG(3))[1]) == ["ndcg@3"]
        assert fitted({"metric": none}, **EVAL)[1] == {}


# Early stopping.


def rounds_until(curve, patience=6, better=np.greater):
    """The rounds that early stopping trains, going by this curve alone."""
    best = 0
    for m, value in enumerate(curve):
        if better(value, curve[best]):
            best = m
        if m - best >= patience:
            return m + 1
    return len(curve)


@pytest.mark.parametrize(
    ("eval_metric", "first"),
    [
        (None, "ndcg@1"),
        ([NDCG(10), NDCG(1), MRR()], "ndcg@10"),
        ([NDCG(3), "mae"], "ndcg@3"),  # which LightGBM calls l1
        ([NDCG(3), "lightgbm:ndcg"], "ndcg@3-lambdaboost"),  # which has an ndcg@3 of LightGBM's own beside it
        ([NDCG(3), "l2_root", "mean_average_precision"], "ndcg@3"),
        (["mae", NDCG(3)], "l1"),
        (["map@5", MRR(), "ndcg"], "map@5"),
    ],
    ids=str,
)
@pytest.mark.parametrize("given", ["callback", "parameter"])
def test_the_first_metric_stops(eval_metric, first, given):
    stop = [lgb.early_stopping(6, verbose=False)] if given == "callback" else []
    parameters = FAST | ({} if stop else {"early_stopping_round": 6})
    ranker, curves = fitted(parameters, **EVAL, eval_metric=eval_metric, callbacks=stop)
    curve, better = curves[first], np.less if first == "l1" else np.greater
    assert {len(other) for other in curves.values()} == {rounds_until(curve, better=better)}
    assert ranker.best_iteration_ == 1 + int(np.argmin(curve) if first == "l1" else np.argmax(curve))
    assert ranker.best_score_["valid_0"][first] == curve[ranker.best_iteration_ - 1]
    assert not stop or not stop[0].first_metric_only  # the callback is left as it is


def scripted(name, values):
    """A metric that takes these values round by round."""
    rounds = iter(values)
    return lambda y_true, y_pred: (name, next(rounds), True)


@pytest.mark.parametrize(
    ("parameters", "rounds"),
    [({}, 16), ({"first_metric_only": True}, 16), ({"first_metric_only": False}, 7)],
    ids=str,
)
@pytest.mark.parametrize("given", ["callback", "parameter"])
def test_other_metrics_stop_only_on_request(given, parameters, rounds):
    values = {"rises for ten rounds": [*range(10), *[0] * 70], "falls": range(80, 0, -1)}
    parameter = {"early_stopping_round": 6} if given == "parameter" else {}
    ranker, curves = fitted(
        FAST | parameters | parameter, **EVAL, eval_metric=[scripted(*metric) for metric in values.items()],
        callbacks=[] if parameter else [lgb.early_stopping(6, verbose=False)],
    )  # fmt: skip
    assert [len(curve) for curve in curves.values()] == [rounds] * 2
    assert ranker.best_iteration_ == rounds - 6


def test_the_training_data_are_no_reason_to_stop():
    stop = [lgb.early_stopping(3, verbose=False)]
    train, valid = table(X, Q), table(X_VALID, Q_VALID)
    ranker = LambdaRanker(**FAST, sources=["clicks"])
    sets = [(train, Q.relevance), (valid, Q_VALID.relevance)]
    more = {"eval_names": ["fit", "held out"], "eval_metric": CNDCG(3), "callbacks": stop}
    ranker.fit(train, Q.relevance, eval_set=sets, **more)
    assert list(ranker.evals_result_) == ["fit", "held out"]
    curve = ranker.evals_result_["held out"]["ndcg@3-clicks"]
    assert len(curve) == rounds_until(curve, 3) < 80 and ranker.best_iteration_ == 1 + np.argmax(curve)
    assert CNDCG(3)(ranker.predict(valid), Q_VALID) == pytest.approx(max(curve), abs=1e-12)


def test_validation_data_as_lightgbm_4_7_takes_them():
    expected, y, group = fitted(**EVAL)[1], Q_VALID.relevance, EVAL["eval_group"]
    assert fitted(eval_X=X_VALID, eval_y=y, eval_group=group)[1] == expected
    assert fitted(eval_X=(X_VALID,), eval_y=(y,), eval_group=group)[1] == expected
    differ = "eval_X and eval_y differ: give both, .* of the same length"
    for arguments, words in (
        ({"eval_X": X_VALID}, differ),
        ({"eval_X": (X_VALID,), "eval_y": (y, y)}, differ),
        ({**EVAL, "eval_X": X_VALID, "eval_y": y}, "eval_set is given as well as eval_X"),
    ):
        with pytest.raises(ValueError, match=words):
            fitted(**arguments)
