"""Both `LambdaRanker`s as scikit-learn's estimators: its own checks, frames of each kind, searches, weights."""

import importlib
import pickle

import joblib
import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import xgboost
from engine_rules import LightGBMRule, XGBoostRule
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lambdaboost import CNDCG, NDCG, Blend, LambdaRank, Queries, graded
from lambdaboost.datasets import web_search_log
from lambdaboost.evaluation import parse

LOG = web_search_log(queries=30, documents=15, features=16, seed=5)
X, Q = LOG.features, LOG.queries
QID, CLICKS = Q.query_of_row, Q.labels["clicks"]
NAMES = [f"f{i}" for i in range(16)]
SMALL = {"n_estimators": 3, "n_jobs": 1, "random_state": 0}


@pytest.fixture(params=["lightgbm", "xgboost"])
def engine(request):
    return request.param


def ranker(engine, **more):
    quiet = {"verbose": -1} if engine == "lightgbm" else {}
    return importlib.import_module(f"lambdaboost.{engine}").LambdaRanker(**SMALL | quiet | more)


def parent(engine):
    return {"lightgbm": lightgbm.LGBMRanker, "xgboost": xgboost.XGBRanker}[engine]


# scikit-learn's checks know no queries: all rows are one.


def of_one_query(of):
    class OneQuery(of):
        def fit(self, X, y, sample_weight=None):
            rows = X.shape[0] if hasattr(X, "shape") else len(X)
            if sample_weight is not None and "xgboost" in of.__module__:
                sample_weight = [np.mean(sample_weight)]
            return super().fit(X, y, group=[rows], sample_weight=sample_weight)

        @classmethod
        def _get_param_names(cls):
            return of._get_param_names()

    if "lambdaboost" in of.__module__:
        OneQuery.score = lambda self, X, y: of.score(self, X, y, group=[len(X)])
    OneQuery.__name__ = of.__name__
    return OneQuery


def passed(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    return {result["check_name"] for result in results if result["status"] == "passed"}


@pytest.mark.parametrize(("queries", "least"), [("none", 8), ("one", 30)])
@pytest.mark.filterwarnings("ignore")  # of data without a split, of which the checks have many
def test_passes_each_check_that_its_parent_passes(engine, queries, least):
    pytest.importorskip("sklearn", minversion="1.6")  # before, check_estimator stops at the first
    classes = type(ranker(engine)), parent(engine)
    if queries == "one":
        classes = map(of_one_query, classes)
    settings = {"n_estimators": 3, "n_jobs": 1} | ({"verbose": -1} if engine == "lightgbm" else {})
    ours, theirs = (passed(estimator(**settings)) for estimator in classes)
    assert theirs - ours == set()
    assert len(theirs) >= least


# Frames of each kind.


def table(kind, columns):
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind](columns)


def of_kind(kind, name, values):
    if kind == "column":
        return pl.DataFrame({name: values})
    return {"pandas": pd.Series, "polars": pl.Series, "list": list, "numpy": np.asarray}[kind](values)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
@pytest.mark.parametrize("labels", ["pandas", "polars", "list", "column"])
def test_frames_are_arrays(engine, frame, labels):
    """Features, grades, queries and sources of each kind: the model of plain arrays, by the columns' names."""
    rows = table(frame, dict(zip(NAMES, X.T, strict=True)))
    y = of_kind(labels, "grade", Q.relevance)
    qid = of_kind("numpy" if labels == "column" else labels, "qid", [f"q{i:02d}" for i in QID])
    sources = table(frame, {"clicks": CLICKS})
    valid = {"eval_set": [(rows, y)], "eval_qid": [qid], "eval_sources": [sources]}
    got = ranker(engine, objective=graded()).fit(rows, y, qid=qid, sources=sources, **valid)
    expected = ranker(engine, objective=graded()).fit(
        X, Q.relevance, group=Q.sizes, sources={"clicks": CLICKS}
    )
    np.testing.assert_array_equal(got.predict(rows), expected.predict(X))
    assert list(got.feature_names_in_) == NAMES
    assert got.n_features_in_ == 16
    curves = got.evals_result_ if engine == "lightgbm" else got.evals_result()
    (curve,) = (
        next(iter(curves.values())).values()
        if engine == "xgboost"
        else [next(iter(curves.values()))["ndcg@3"]]
    )
    assert curve[-1] == pytest.approx(NDCG(3)(got.predict(rows), Q), abs=1e-6)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_queries_as_a_column(engine, kind):
    columns = dict(zip(NAMES, X.T, strict=True))
    rows = table(kind, {"qid": QID, **columns})
    got = ranker(engine).fit(rows, Q.relevance, eval_set=[(rows, Q.relevance)])
    assert list(got.feature_names_in_) == NAMES
    expected = ranker(engine).fit(X, Q.relevance, qid=QID)
    for rows_or_features in (rows, table(kind, columns)):
        np.testing.assert_array_equal(got.predict(rows_or_features), expected.predict(X))
    figure = NDCG(3)(expected.predict(X), Q)
    assert got.score(rows, Q.relevance) == pytest.approx(figure, abs=1e-9)
    assert expected.score(X, Q.relevance, group=Q.sizes) == pytest.approx(figure, abs=1e-9)
    assert NDCG(3)(got, rows, Q.relevance) == pytest.approx(figure, abs=1e-9)
    with pytest.raises(ValueError, match="X has a column 'qid', and group or qid is also given"):
        got.fit(rows, Q.relevance, group=Q.sizes)
    with pytest.raises(ValueError, match="X has no column 'qid'"):
        got.score(X, Q.relevance)
    with pytest.raises(ValueError, match="X has no column 'qid': a measure as scoring="):
        NDCG(3)(got, X, Q.relevance)


def test_queries_in_any_order_of_ids(engine):
    """Adjacent is enough, sorted they need not be."""
    got = ranker(engine).fit(X, Q.relevance, qid=100 - QID)
    np.testing.assert_array_equal(got.predict(X), ranker(engine).fit(X, Q.relevance, qid=QID).predict(X))
    with pytest.raises(ValueError, match=r"qid has query .* in two places"):
        ranker(engine).fit(X, Q.relevance, qid=np.roll(QID, 3))


def test_names_pass_through_a_pipeline(engine):
    for kind in ("pandas", "polars"):
        pipe = make_pipeline(StandardScaler(), ranker(engine)).set_output(transform=kind)
        rows = table(kind, dict(zip(NAMES, X.T, strict=True)))
        pipe.fit(rows, Q.relevance, lambdaranker__qid=QID)
        assert list(pipe[-1].feature_names_in_) == NAMES
        assert pipe.predict(rows).shape == (len(X),)


# Searches.


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("scoring", [None, NDCG(10)], ids=str)
def test_grid_search_in_a_line(engine, kind, scoring):
    rows = table(kind, {"qid": QID, **dict(zip(NAMES, X.T, strict=True))})
    objectives = {"objective": [LambdaRank(), graded()]}
    search = GridSearchCV(ranker(engine), objectives, scoring=scoring, cv=GroupKFold(3))
    search.fit(rows, Q.relevance, groups=QID, sources=table(kind, {"clicks": CLICKS}))
    figures = []
    for train, test in GroupKFold(3).split(X, groups=QID):
        fitted = ranker(engine, objective=graded())
        fitted.fit(X[train], Q.relevance[train], qid=QID[train], sources={"clicks": CLICKS[train]})
        q = Queries(Q.relevance[test], ids=QID[test])
        figures.append((scoring or NDCG(3))(fitted.predict(X[test]), q))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(figures), abs=1e-6)
    assert search.best_estimator_.predict(rows).shape == (len(X),)


def test_grid_search_by_routed_metadata(engine):
    """Plain arrays, the queries routed to `fit` and `score`; weights too, one a row."""
    weight = np.repeat(np.linspace(0.5, 2, Q.n_queries), Q.sizes)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ranker(engine, objective=graded()).set_fit_request(
            qid=True, sources=True, sample_weight=True
        )
        search = GridSearchCV(
            routed.set_score_request(qid=True, sample_weight=True), {"max_depth": [2, 3]}, cv=GroupKFold(3)
        )
        sources = pd.DataFrame({"clicks": CLICKS})
        search.fit(X, Q.relevance, qid=QID, groups=QID, sources=sources, sample_weight=weight)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.4


def test_cross_val_score_by_a_measure(engine):
    rows = pd.DataFrame(X, columns=NAMES).assign(qid=QID)
    scores = cross_val_score(ranker(engine), rows, Q.relevance, groups=QID, scoring=NDCG(5), cv=GroupKFold(3))
    assert scores.shape == (3,) and (scores > 0.3).all()


# Values.


def test_clone_pickle_and_joblib(engine, tmp_path):
    objective = graded()
    made = ranker(engine, objective=objective, learning_rate=0.2)
    twin = clone(made)
    assert twin.get_params()["objective"] is objective
    twin.fit(X, Q.relevance, qid=QID, sources={"clicks": CLICKS})
    joblib.dump(twin, tmp_path / "ranker")
    for copy in (pickle.loads(pickle.dumps(twin)), joblib.load(tmp_path / "ranker")):
        np.testing.assert_array_equal(copy.predict(X), twin.predict(X))
        assert copy.objective == objective


@pytest.mark.parametrize(
    "measure", [CNDCG(3), NDCG(3, empty=1.0), "MAP()", "ERR(k=5)", "KendallTau()"], ids=str
)
def test_early_stopping_on_any_measure(engine, measure):
    other = web_search_log(queries=20, documents=15, features=16, seed=6)
    q = other.queries
    valid = {
        "eval_set": [(other.features, q.relevance)],
        "eval_group": [q.sizes],
        "eval_sources": [pl.DataFrame({"clicks": q.labels["clicks"]})],
    }
    value = parse(measure) if isinstance(measure, str) else measure
    size = {"n_estimators": 60, "learning_rate": 1.0}
    if engine == "lightgbm":
        fitted = ranker(engine, **size)
        stop = lightgbm.early_stopping(3, verbose=False)
        fitted.fit(X, Q.relevance, qid=QID, **valid, eval_metric=value, callbacks=[stop])
        (curve,) = fitted.evals_result_["valid_0"].values()
        best = fitted.best_iteration_ - 1
    else:
        fitted = ranker(engine, eval_metric=measure, early_stopping_rounds=3, **size)
        fitted.fit(X, Q.relevance, qid=QID, **valid)
        (curve,) = fitted.evals_result()["validation_0"].values()
        best = fitted.best_iteration
    assert len(curve) < 60 and best == np.argmax(curve)
    assert value(fitted.predict(other.features), q) == pytest.approx(max(curve), abs=1e-6)


# Weights.


def test_weights_of_queries_are_weights_of_their_rows(engine):
    of_query = np.linspace(0.5, 2, Q.n_queries)
    by_query, by_row = (
        ranker(engine).fit(X, Q.relevance, qid=QID, sample_weight=weight)
        for weight in (of_query, np.repeat(of_query, Q.sizes))
    )
    np.testing.assert_array_equal(by_query.predict(X), by_row.predict(X))
    even = ranker(engine).fit(X, Q.relevance, qid=QID)
    assert not np.allclose(by_query.predict(X), even.predict(X))


def test_weighted_as_the_native_ranker(engine):
    """Rows on LightGBM, queries on XGBoost, each as its own objective counts them."""
    weight = np.random.default_rng(0).uniform(0.2, 3, len(X) if engine == "lightgbm" else Q.n_queries)
    ours = ranker(engine, objective={"lightgbm": LightGBMRule, "xgboost": XGBoostRule}[engine]())
    if engine == "lightgbm":
        native = parent(engine)(objective="lambdarank", verbose=-1, **SMALL)
    else:
        native = parent(engine)(
            objective="rank:ndcg", lambdarank_num_pair_per_sample=32, base_score=0.0, **SMALL
        )
    for model in (ours, native):
        model.fit(X, Q.relevance, group=Q.sizes, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), native.predict(X), atol=1e-5)


def test_weights_of_rows_that_xgboost_cannot_count():
    weight = np.linspace(0.5, 2, len(X))
    with pytest.raises(
        ValueError, match=r"sample_weight\[1\] is 0\.5\d*: unlike .* XGBoost weights whole queries"
    ):
        ranker("xgboost").fit(X, Q.relevance, qid=QID, sample_weight=weight)


LISTS = {
    "lightgbm": ("eval_group", "eval_qid", "eval_sources", "eval_sample_weight", "eval_init_score"),
    "xgboost": ("eval_group", "eval_qid", "eval_sources", "sample_weight_eval_set", "base_margin_eval_set"),
}


@pytest.mark.parametrize("given", [[], [None, None]])
@pytest.mark.parametrize("name", range(5))
def test_each_list_of_fit_has_one_item_for_each_validation_set(engine, name, given):
    name = LISTS[engine][name]
    with pytest.raises(
        ValueError, match=rf"^{name} has {len(given)} items, eval_set 1: give one for each set$"
    ):
        ranker(engine).fit(X, Q.relevance, qid=QID, eval_set=[(X, Q.relevance)], **{name: given})


def test_measures_weigh_queries(engine):
    weight = np.linspace(0.5, 2, Q.n_queries)
    names = {"lightgbm": "eval_sample_weight", "xgboost": "sample_weight_eval_set"}
    more = {"eval_metric": NDCG(5)} if engine == "lightgbm" else {}
    made = ranker(engine) if engine == "lightgbm" else ranker(engine, eval_metric=NDCG(5))
    made.fit(
        X, Q.relevance, qid=QID, eval_set=[(X.copy(), Q.relevance)], eval_qid=[QID], **{names[engine]: [weight]}, **more
    )  # fmt: skip
    curves = made.evals_result_ if engine == "lightgbm" else made.evals_result()
    ((curve,),) = (list(of_set.values()) for of_set in curves.values())
    figure = NDCG(5)(made.predict(X), Queries(Q.relevance, Q.sizes, weight=weight))
    assert curve[-1] == pytest.approx(figure, abs=1e-6)


# Parameters of the objective.


def test_a_search_over_parameters_of_the_objective(engine):
    rows = pd.DataFrame(X, columns=NAMES).assign(qid=QID)
    objective = Blend(LambdaRank(), LambdaRank(NDCG(k=3)), 0.5)
    grid = {"objective__weight": [0.0, 1.0], "objective__first__sigma": [2.0]}
    search = GridSearchCV(ranker(engine, objective=objective), grid, cv=GroupKFold(3)).fit(
        rows, Q.relevance, groups=QID
    )
    a, b = search.cv_results_["mean_test_score"]
    assert a != b
    best = search.best_estimator_.get_params()["objective"]
    assert best.first == LambdaRank(sigma=2.0) and best.weight == search.best_params_["objective__weight"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("objective__wieght", r"LambdaRank\(\) has no parameter 'wieght'; give one of 'metric'"),
        ("objective__sigma__x", "1 has no parameter 'x'|1.0 has no parameter 'x'"),
    ],
)
def test_parameters_that_no_objective_has_are_refused(engine, name, words):
    with pytest.raises(ValueError, match=words):
        ranker(engine, objective="LambdaRank").set_params(**{name: 1})


def test_unknown_names_are_refused_before_any_training(engine):
    for name, words in (
        ("foo", "foo=3 is no parameter of a ranker: leave it out"),
        ("querry", "did you mean 'query'"),
    ):
        with pytest.raises(ValueError, match=words):
            ranker(engine, **{name: 3}).fit(X, Q.relevance, qid=QID)


def test_the_repr_shows_what_differs_from_the_defaults(engine):
    made = type(ranker(engine))(objective=graded(), n_jobs=1)
    assert repr(made) == f"LambdaRanker(objective={graded()!r}, n_jobs=1)"
