"""`LambdaRanker`: scikit-learn's manners, sources, and the attributes of a fitted ranker."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import sklearn
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X, dataset
from on_lightgbm import train
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lambdaboost import CNDCG, MRR, NDCG, ClickTier, GradientStep, KendallTau, LambdaRank, Queries, graded
from lambdaboost.lightgbm import LambdaRanker

SIZE = {
    "n_estimators": 4,
    "num_leaves": 5,
    "min_child_samples": 10,
    "n_jobs": 1,
    "verbose": -1,
    "deterministic": True,
}
CLICKS = Q.labels["clicks"]
EVAL = {
    "eval_set": [(X_VALID, Q_VALID.relevance)],
    "eval_group": [Q_VALID.sizes],
    "eval_sources": [{"clicks": Q_VALID.labels["clicks"]}],
}


@pytest.mark.parametrize("objective", [graded(), "Blend(LambdaRank(), ClickTier(), 0.1)"], ids=str)
def test_same_model_as_training(objective):
    ranker = LambdaRanker(objective=objective, **SIZE)
    assert ranker.fit(X, Q.relevance, group=Q.sizes, sources={"clicks": CLICKS}) is ranker
    expected = train(PARAMS, dataset(), 4, objective=graded()).predict(X)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    assert ranker.objective_ == graded()


def test_same_model_as_the_stock_ranker():
    stock = lgb.LGBMRanker(objective=LambdaRank(), **SIZE).fit(X, Q.relevance, group=Q.sizes)
    ours = LambdaRanker(**SIZE).fit(X, Q.relevance, qid=Q.query_of_row)
    np.testing.assert_array_equal(ours.predict(X), stock.predict(X))


def test_measures_on_sources_and_early_stopping():
    ranker = LambdaRanker(**SIZE | {"n_estimators": 60, "learning_rate": 0.5})
    ranker.fit(
        X, Q.relevance, group=Q.sizes, **EVAL, eval_names=["held out"], eval_metric=[CNDCG(3), MRR()],
        callbacks=[lgb.early_stopping(3, first_metric_only=True, verbose=False)],
    )  # fmt: skip
    curves = ranker.evals_result_["held out"]
    assert list(curves) == ["ndcg@3-clicks", "mrr"]
    best = int(np.argmax(curves["ndcg@3-clicks"]))
    assert ranker.best_iteration_ == best + 1 < len(curves["ndcg@3-clicks"])
    assert ranker.best_score_["held out"]["ndcg@3-clicks"] == max(curves["ndcg@3-clicks"])
    assert CNDCG(3)(ranker.predict(X_VALID), Q_VALID) == pytest.approx(
        max(curves["ndcg@3-clicks"]), abs=1e-12
    )


def test_default_measures_and_training_data_as_validation():
    ranker = LambdaRanker(**SIZE)
    ranker.fit(
        X, Q.relevance, qid=Q.query_of_row, eval_at=[3, 10],
        eval_set=[(X, Q.relevance), (X_VALID, Q_VALID.relevance)], eval_qid=[Q.query_of_row, Q_VALID.query_of_row],
    )  # fmt: skip
    assert list(ranker.evals_result_) == ["training", "valid_1"]
    assert list(ranker.evals_result_["valid_1"]) == ["ndcg@3", "ndcg@10"]
    last = ranker.evals_result_["training"]["ndcg@3"][-1]
    assert last == pytest.approx(NDCG(3)(ranker.predict(X), Q), abs=1e-12)


@pytest.mark.filterwarnings("ignore:Found .* in params")
@pytest.mark.parametrize(
    ("name", "cutoffs"),
    [("ndcg_eval_at", [2, 9]), ("ndcg_at", (2, 9)), ("map_eval_at", "2,9"), ("eval_at", np.array([2, 9]))],
    ids=str,
)
def test_cutoffs_by_the_aliases_of_eval_at(name, cutoffs):
    ranker = LambdaRanker(**SIZE, **{name: cutoffs}).fit(X, Q.relevance, group=Q.sizes, **EVAL)
    assert list(ranker.evals_result_["valid_0"]) == ["ndcg@2", "ndcg@9"]


def test_native_metrics_and_callables():
    def rows(y_true, y_pred):
        return "rows", len(y_pred), True

    def weighted(y_true, y_pred, weight, group):
        return "weight", weight.sum() * len(group), True

    ranker = LambdaRanker(**SIZE)
    ranker.fit(
        X, Q.relevance, group=Q.sizes, **EVAL, eval_sample_weight=[np.full(len(X_VALID), 2.0)],
        eval_metric=["map", rows, weighted], eval_at=[5],
    )  # fmt: skip
    curves = ranker.evals_result_["valid_0"]
    assert list(curves) == ["map@5", "rows", "weight"]
    assert curves["rows"][0] == len(X_VALID)
    assert curves["weight"][0] == 2 * len(X_VALID) * 20
    named = LambdaRanker(metric="map", **SIZE).fit(X, Q.relevance, group=Q.sizes, **EVAL, eval_at=[2])
    assert list(named.evals_result_["valid_0"]) == ["map@2"]


def test_fitted_attributes_and_frames():
    frame = pd.DataFrame(X).add_prefix("f")
    ranker = LambdaRanker(**SIZE)
    with pytest.raises(NotFittedError):
        ranker.predict(frame)
    ranker.fit(frame, pd.Series(Q.relevance), group=Q.sizes)
    assert ranker.n_features_in_ == ranker.n_features_ == 16
    assert list(ranker.feature_names_in_) == ranker.feature_name_ == list(frame)
    assert ranker.feature_importances_.sum() == 4 * 4
    assert ranker.n_estimators_ == ranker.n_iter_ == ranker.booster_.num_trees() == 4
    assert ranker.best_iteration_ == 0
    assert ranker.evals_result_ == {}
    plain = LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes)
    stock = lgb.LGBMRanker(n_estimators=1, verbose=-1).fit(X, Q.relevance, group=Q.sizes)
    # LightGBM 4.6 always has them.
    assert hasattr(plain, "feature_names_in_") == hasattr(stock, "feature_names_in_")
    np.testing.assert_array_equal(plain.predict(X), ranker.predict(frame))
    with pytest.raises(ValueError, match="features"):
        plain.predict(X[:, :3])


def test_continued_fit_and_weights():
    weight = np.linspace(0.5, 2, len(X))
    whole = LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes, sample_weight=weight)
    half = LambdaRanker(**SIZE | {"n_estimators": 2}).fit(X, Q.relevance, group=Q.sizes, sample_weight=weight)
    rest = clone(half).fit(X, Q.relevance, group=Q.sizes, sample_weight=weight, init_model=half)
    np.testing.assert_allclose(rest.predict(X), whole.predict(X), rtol=0, atol=1e-13)
    assert not np.allclose(
        whole.predict(X), LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes).predict(X)
    )


def test_parameters_are_scikit_learns():
    ranker = LambdaRanker(objective=graded(), **SIZE)
    params = ranker.get_params()
    assert params["objective"] == graded() and params["num_leaves"] == 5
    assert params.keys() >= lgb.LGBMRanker().get_params().keys()
    twin = clone(ranker)
    assert twin is not ranker and twin.get_params() == params
    assert twin.set_params(objective=ClickTier()).objective == ClickTier()
    with pytest.raises(ValueError, match="reads the label source 'clicks'"):
        twin.fit(X, Q.relevance, group=Q.sizes)


def test_pickle_and_joblib(tmp_path):
    ranker = LambdaRanker(objective=graded(), **SIZE).fit(
        X, Q.relevance, group=Q.sizes, sources={"clicks": CLICKS}
    )
    joblib.dump(ranker, tmp_path / "ranker")
    for copy in (pickle.loads(pickle.dumps(ranker)), joblib.load(tmp_path / "ranker")):
        np.testing.assert_array_equal(copy.predict(X), ranker.predict(X))
        assert copy.objective_ == graded()


def test_grid_search_over_objectives():
    """Rows of `qid` and of a frame of sources are cut as scikit-learn cuts X."""

    def ndcg(ranker, rows, y):
        return NDCG(10)(ranker.predict(rows), Queries(y, ids=rows[:, -1]))

    objectives = [LambdaRank(), LambdaRank(NDCG(k=3)), "GradientStep(LambdaRank())", graded()]
    search = GridSearchCV(
        LambdaRanker(**SIZE),
        {"objective": objectives, "num_leaves": [4, 7]},
        scoring=ndcg,
        cv=GroupKFold(3),
    )
    rows = np.column_stack([X, Q.query_of_row])  # the scorer, too, must know the queries
    search.fit(
        rows, Q.relevance, groups=Q.query_of_row, qid=Q.query_of_row, sources=pd.DataFrame({"clicks": CLICKS})
    )
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.predict(rows).shape == (len(X),)


def test_rankers_in_threads_do_not_mix():
    objectives = [LambdaRank(), GradientStep(LambdaRank()), graded(0.5), ClickTier()] * 2

    def fitted(objective):
        ranker = LambdaRanker(objective=objective, **SIZE)
        return ranker.fit(X, Q.relevance, group=Q.sizes, sources={"clicks": CLICKS}, **EVAL).predict(X)

    alone = [fitted(objective) for objective in objectives]
    with ThreadPoolExecutor(4) as pool:
        for a, b in zip(alone, pool.map(fitted, objectives), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"group": None}, ValueError, "X has no column 'qid': .* as group= or qid="),
        ({"qid": Q.query_of_row}, ValueError, "group and qid are both given"),
        ({"group": None, "qid": np.roll(Q.query_of_row, 2)}, ValueError, "in two places"),
        ({"sources": {"clicks": CLICKS[1:]}}, ValueError, r"clicks has \d+ rows"),
        (
            {"eval_set": EVAL["eval_set"]},
            ValueError,
            r"eval_set\[0\] has no column 'qid': .* as eval_group= or eval_qid=",
        ),
        ({**EVAL, "eval_group": [Q_VALID.sizes] * 2}, ValueError, "eval_group has 2 items, eval_set 1"),
        ({"eval_group": [Q_VALID.sizes]}, ValueError, "eval_group has 1 items, eval_set 0"),
        ({**EVAL, "eval_metric": 3}, TypeError, "eval_metric has 3"),
        (
            {**EVAL, "eval_sources": None, "eval_metric": CNDCG()},
            ValueError,
            r"eval_set\[0\]: no label source 'clicks'",
        ),
    ],
)
def test_wrong_arguments_of_fit(arguments, error, words):
    with pytest.raises(error, match=words):
        LambdaRanker(**SIZE).fit(X, Q.relevance, **{"group": Q.sizes} | arguments)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"objective": "lambdarnk"}, ValueError, "did you mean 'lambdarank'"),
        ({"objective": None}, TypeError, "objective is None"),
    ],
)
def test_wrong_parameters(parameters, error, words):
    with pytest.raises(error, match=words):
        LambdaRanker(**SIZE | parameters).fit(X, Q.relevance, group=Q.sizes)


def test_kendall_tau_of_clicks_evaluates_too():
    ranker = LambdaRanker(objective=ClickTier(), **SIZE)
    ranker.fit(X, Q.relevance, group=Q.sizes, sources={"clicks": CLICKS}, **EVAL, eval_metric=KendallTau())
    (curve,) = ranker.evals_result_["valid_0"].values()
    assert curve[-1] == pytest.approx(KendallTau()(ranker.predict(X_VALID), Q_VALID), abs=1e-12)


# Early stopping and the names of metrics.

FAST = {
    "n_estimators": 80,
    "num_leaves": 15,
    "learning_rate": 0.3,
    "min_child_samples": 2,
    "n_jobs": 1,
    "verbose": -1,
}


def stopped(eval_metric=None, **parameters):
    """The ranker, stopped early, and its curves."""
    fitted = LambdaRanker(**FAST | parameters).fit(
        X, Q.relevance, group=Q.sizes, **EVAL, eval_metric=eval_metric,
        callbacks=[lgb.early_stopping(6, verbose=False)],
    )  # fmt: skip
    return fitted, fitted.evals_result_["valid_0"]


def rounds_until(curve, patience=6):
    """The rounds that early stopping trains, going by this curve alone."""
    best = 0
    for m, value in enumerate(curve):
        if value > curve[best]:
            best = m
        if m - best >= patience:
            return m + 1
    return len(curve)


@pytest.mark.parametrize(
    "eval_metric",
    [
        None,
        [NDCG(10), NDCG(1), MRR()],
        ["ndcg@10", "ndcg@1"],
        [NDCG(10), "ndcg@1"],
        ["map@5", MRR(), "ndcg@10"],
    ],
    ids=str,
)
def test_the_first_metric_stops(eval_metric):
    ranker, curves = stopped(eval_metric)
    first = next(iter(curves.values()))
    assert len(first) == rounds_until(first)
    assert ranker.best_iteration_ == 1 + int(np.argmax(first))


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
    ranker = LambdaRanker(**FAST | parameters | parameter).fit(
        X, Q.relevance, group=Q.sizes, **EVAL, eval_metric=[scripted(*metric) for metric in values.items()],
        callbacks=[] if parameter else [lgb.early_stopping(6, verbose=False)],
    )  # fmt: skip
    assert [len(curve) for curve in ranker.evals_result_["valid_0"].values()] == [rounds] * 2
    assert ranker.best_iteration_ == rounds - 6


def test_an_early_stopping_callback_is_left_as_it_is():
    stopping = lgb.early_stopping(6, verbose=False)
    LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes, **EVAL, callbacks=[stopping])
    assert not stopping.first_metric_only


@pytest.mark.parametrize(
    ("eval_metric", "names"),
    [
        ("ndcg@5", ["ndcg@5"]),
        (["ndcg@5"], ["ndcg@5"]),
        (["ndcg@10", "map@5", "ndcg@3"], ["ndcg@10", "map@5", "ndcg@3"]),
        (["map@5", NDCG(7), "ndcg@3"], ["map@5", "ndcg@7", "ndcg@3"]),
        ("map@5,ndcg@2", ["map@5", "ndcg@2"]),
        ("ndcg", ["ndcg@1", "ndcg@2", "ndcg@3", "ndcg@4", "ndcg@5"]),
    ],
    ids=str,
)
def test_names_with_cutoffs_give_results_under_these_names(eval_metric, names):
    ranker = LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes, **EVAL, eval_metric=eval_metric)
    assert list(ranker.evals_result_["valid_0"]) == list(ranker.best_score_["valid_0"]) == names
    for name in names:
        if name.startswith("ndcg@"):
            value = NDCG(int(name[5:]))(ranker.predict(X_VALID), Q_VALID)
            assert ranker.best_score_["valid_0"][name] == pytest.approx(value, abs=1e-6)


def test_a_cutoff_of_a_metric_without_one():
    with pytest.raises(ValueError, match="l2"):
        LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes, **EVAL, eval_metric="l2@32")


def test_validation_data_as_lightgbm_4_7_takes_them():
    by_set = LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes, **EVAL).evals_result_
    group = EVAL["eval_group"]
    one = LambdaRanker(**SIZE).fit(
        X, Q.relevance, group=Q.sizes, eval_X=X_VALID, eval_y=Q_VALID.relevance, eval_group=group
    )
    tuples = LambdaRanker(**SIZE).fit(
        X, Q.relevance, group=Q.sizes, eval_X=(X_VALID,), eval_y=(Q_VALID.relevance,), eval_group=group
    )
    assert one.evals_result_ == tuples.evals_result_ == by_set


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"eval_X": X_VALID}, "eval_y is missing: give both"),
        ({"eval_y": Q_VALID.relevance}, "eval_X is missing: give both"),
        ({"eval_X": (X_VALID,), "eval_y": Q_VALID.relevance}, "give both as tuples"),
        ({"eval_X": (X_VALID,), "eval_y": (Q_VALID.relevance,) * 2}, "eval_X has 1 sets, eval_y 2"),
        ({**EVAL, "eval_X": X_VALID, "eval_y": Q_VALID.relevance}, "eval_set is given beside eval_X"),
    ],
)
def test_validation_data_that_do_not_go_together(arguments, words):
    with pytest.raises(ValueError, match=words):
        LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes, **arguments)


def test_a_metric_of_lightgbms_under_an_alias_does_not_stop():
    """LightGBM calls mae l1, and evaluates it before the measures."""
    ranker, curves = stopped([NDCG(3), "mae"])
    assert list(curves) == ["ndcg@3", "l1"]
    assert len(curves["ndcg@3"]) == rounds_until(curves["ndcg@3"])
    assert ranker.best_iteration_ == 1 + int(np.argmax(curves["ndcg@3"]))


def test_own_validation_labels_of_the_training_rows_are_read():
    """Sources, positions or weights of their own make the training rows another set."""
    weight = np.repeat(np.linspace(0.1, 5, Q.n_queries), Q.sizes)
    rows = {
        "group": Q.sizes,
        "sources": {"clicks": CLICKS},
        "eval_set": (X, Q.relevance),
        "eval_group": [Q.sizes],
    }
    flat = [{"clicks": np.zeros(len(X))}]
    found = [
        LambdaRanker(**SIZE).fit(X, Q.relevance, **rows, **more, eval_metric=[CNDCG(3), NDCG(3)])
        for more in ({}, {"eval_sources": flat}, {"eval_sample_weight": [weight], "eval_sources": flat})
    ]
    assert [list(ranker.evals_result_) for ranker in found] == [["training"], ["valid_0"], ["valid_0"]]
    assert found[1].evals_result_["valid_0"]["ndcg@3-clicks"] == [0.0] * 4
    weighted = Queries(Q.relevance, Q.sizes, weight=weight)
    expected = NDCG(3)(found[2].predict(X), weighted)
    assert found[2].evals_result_["valid_0"]["ndcg@3"][-1] == pytest.approx(expected, abs=1e-9)


def test_a_continued_model_reads_categories_as_the_first():
    kind = np.array(list("abc"))[np.arange(len(X)) % 3]
    first, other = (
        pd.DataFrame(X[:, :3]).add_prefix("f").assign(c=pd.Categorical(kind, list(order)))
        for order in ("abc", "cba")
    )
    half = LambdaRanker(**SIZE).fit(first, Q.relevance, group=Q.sizes)
    whole, same = (
        LambdaRanker(**SIZE).fit(X, Q.relevance, group=Q.sizes, init_model=half) for X in (other, first)
    )
    np.testing.assert_array_equal(whole.predict(other), same.predict(first))


def test_a_pipeline_with_routed_weights_scores():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = LambdaRanker(**SIZE).set_fit_request(qid=True, sample_weight=True)
        ranker.set_score_request(qid=True, sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, ranker)
        weight = np.linspace(0.5, 2, len(X))
        pipeline.fit(X, Q.relevance, qid=Q.query_of_row, sample_weight=weight)
        found = pipeline.score(X, Q.relevance, qid=Q.query_of_row, sample_weight=weight)
    expected = NDCG(3)(pipeline.predict(X), Queries(Q.relevance, Q.sizes, weight=weight))
    assert found == pytest.approx(expected)


def test_arrow_types():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X).add_prefix("f").assign(qid=Q.query_of_row)
    expected = LambdaRanker(**SIZE).fit(frame, Q.relevance).predict(frame)
    arrow = frame.convert_dtypes(dtype_backend="pyarrow")
    batch = pa.RecordBatch.from_pandas(frame)
    for table in (arrow, batch, pa.table(batch.to_pydict())):
        np.testing.assert_array_equal(LambdaRanker(**SIZE).fit(table, Q.relevance).predict(table), expected)
