"""Both `LambdaRanker`s as scikit-learn's estimators: its own checks, frames of each kind, searches, weights."""

import pickle

import joblib
import lightgbm
import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost
from rankers import CLICKS, QID, SMALL, Q, X, curves_of, ranker, stock, table, with_metric
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from lambdaboost import (
    CNDCG,
    NDCG,
    XENDCG,
    ClickDCG,
    GradientStep,
    InversePropensity,
    LambdaRank,
    Propensities,
    Queries,
    graded,
)
from lambdaboost.datasets import web_search_log

X_VALID, Q_VALID = web_search_log(queries=20, documents=15, features=16, seed=6)
NAMES = [f"f{i}" for i in range(16)]
FRAME = pd.DataFrame(X, columns=NAMES).assign(qid=QID)


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


# The same model as a stock training.


def stock_training(engine, objective, params, weight=None, position=None):
    """Scores of X by the engine's own `train`."""
    threads = {"lightgbm": {"verbose": -1, "num_threads": 1}, "xgboost": {"nthread": 1}}[engine]
    more = {"sources": {"clicks": CLICKS}, "position": position, "weight": weight}
    data = stock(engine).dataset(X, Q.relevance, group=Q.sizes, **more)
    booster = stock(engine).train({"seed": 0, **threads, **params}, data, 3, objective=objective)
    return booster.predict(X if engine == "lightgbm" else data)


SAMPLED = {  # LightGBM's features are drawn as for its own objectives
    "lightgbm": {"bagging_fraction": 0.6, "bagging_freq": 1},
    "xgboost": {"subsample": 0.6, "colsample_bytree": 0.5},
}
OBJECTIVES = {
    "graded": graded(),
    "Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.2))": None,
    "positions": InversePropensity(LambdaRank(), Propensities.power(1.0, 50)),
    "gradient": GradientStep(LambdaRank()),
}


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("sampled", [False, True], ids=["all", "sampled"])
def test_the_model_of_a_stock_training(engine, name, sampled):
    rule = OBJECTIVES[name] or name
    params = SAMPLED[engine] if sampled else {}
    least = {"lightgbm": "min_data_in_leaf", "xgboost": "min_child_weight"}[engine]
    leaf = {least: max(20, Q.n_documents // 20)} if name == "gradient" else {}
    weight = np.linspace(0.5, 2, Q.n_queries)
    rank = np.concatenate([np.arange(1, n + 1) for n in Q.sizes])
    position = rank if name == "positions" else None
    columns = {"position": "rank"} if name == "positions" else {}
    made = ranker(engine, objective=rule, sources=["clicks"], **columns, **params).fit(
        table(**({"rank": rank} if columns else {})), Q.relevance, sample_weight=weight
    )
    by_row = np.repeat(weight, Q.sizes) if engine == "lightgbm" else weight
    expected = stock_training(engine, made.objective_, {**params, **leaf}, weight=by_row, position=position)
    np.testing.assert_allclose(made.predict(table()), expected, rtol=0, atol=1e-6)
    assert np.unique(expected).size > 3


def test_weighted_as_the_native_ranker(engine):
    """Rows on LightGBM, queries on XGBoost, each as its own objective counts them."""
    weight = np.random.default_rng(0).uniform(0.2, 3, len(X) if engine == "lightgbm" else Q.n_queries)
    name, more = {
        "lightgbm": ("rank_xendcg", {"verbose": -1, "objective_seed": 5}),
        "xgboost": ("rank:ndcg", {}),
    }[engine]
    models = [of(objective=name, **SMALL, **more) for of in (parent(engine), type(ranker(engine)))]
    models += [ranker(engine, objective=XENDCG(seed=5))] if engine == "lightgbm" else []
    native, *ours = (model.fit(X, Q.relevance, group=Q.sizes, sample_weight=weight) for model in models)
    for model in ours:
        np.testing.assert_array_equal(model.predict(X), native.predict(X))
        np.testing.assert_array_equal(model.feature_importances_, native.feature_importances_)


def test_initial_scores_are_those_of_the_rows(engine):
    """LightGBM would take NaN as 0, and of more values than rows those of other rows."""
    name = {"lightgbm": "init_score", "xgboost": "base_margin"}[engine]
    frame, start = table(), pd.Series(X[:, 0])
    frame.index = start.index = np.random.default_rng(0).permutation(len(X)) + 7
    column = start.to_numpy()[:, None]
    expected = ranker(engine).fit(frame, Q.relevance, **{name: start})
    got = ranker(engine).fit(frame, Q.relevance, **{name: column})
    np.testing.assert_array_equal(got.predict(frame), expected.predict(frame))
    for wrong, words in {
        "longer": (np.append(start, 1.0), f"initial score of X has {len(X) + 1} values, expected {len(X)}"),
        "NaN": (start.where(start.index != 9), r"initial score of X\[\d+\] is nan: give finite numbers"),
        "sorted": (start.sort_index(), "initial score of X has the rows of X in another order"),
    }.values():
        with pytest.raises(ValueError, match=words):
            ranker(engine).fit(frame, Q.relevance, **{name: wrong})


# Frames of each kind.


def test_queries_in_any_order_of_ids(engine):
    """Rows of a query that are apart come together, with whatever belongs to them; scores stay in the user's order."""
    got = ranker(engine).fit(X, Q.relevance, qid=100 - QID)
    np.testing.assert_array_equal(got.predict(X), ranker(engine).fit(X, Q.relevance, qid=QID).predict(X))
    apart = np.random.default_rng(0).permutation(len(X))
    together = apart[np.argsort(pd.factorize(QID[apart])[0], kind="stable")]
    start, weights = X[:, 0], 1.0 + QID
    more = {"init_score" if engine == "lightgbm" else "base_margin": start}
    fits = []
    for rows in (together, apart):
        given = {name: values[rows] for name, values in more.items()} | {"sample_weight": weights[rows]}
        fits.append(ranker(engine).fit(X[rows], Q.relevance[rows], qid=QID[rows], **given))
    np.testing.assert_array_equal(fits[0].predict(X), fits[1].predict(X))
    qid = pd.DataFrame(X).assign(qid=QID).rename(columns=str)
    figure = ranker(engine).fit(qid, Q.relevance).score(qid, Q.relevance)
    shuffled = ranker(engine).fit(qid, Q.relevance).score(qid.iloc[apart], Q.relevance[apart])
    assert shuffled == pytest.approx(figure, abs=0.05) and shuffled != 0


def test_missing_grades_stay_missing(engine):
    grades = np.where(np.arange(len(X)) % 4, Q.relevance, np.nan)
    made, metric = with_metric(engine, NDCG(3))
    sets = [(X, grades), (X_VALID, np.full(len(X_VALID), np.nan))]
    with pytest.warns(UserWarning, match="is undefined on every query of an evaluated data set"):
        made.fit(X, grades, qid=QID, eval_set=sets, eval_qid=[QID, Q_VALID.query_of_row], **metric)
    expected = NDCG(3)(made.predict(X), Queries(grades, Q.sizes))
    assert curves_of(made)[0]["ndcg@3"][-1] == pytest.approx(expected, abs=1e-6)
    assert curves_of(made)[1]["ndcg@3"] == [0.0] * 3
    zeros = ranker(engine).fit(X, np.nan_to_num(grades), qid=QID)
    assert not np.allclose(zeros.predict(X), made.predict(X))


# Pipelines.


def test_weights_through_a_routed_pipeline(engine):
    """`fit` and `score` of a pipeline pass the queries and weights that are requested."""
    weight = np.repeat(np.linspace(0.5, 4, Q.n_queries), Q.sizes)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ranker(engine)
        routed.set_fit_request(qid=True, sample_weight=True)
        routed.set_score_request(qid=True, sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), routed)
        given = {"qid": QID, "sample_weight": weight}
        pipe.fit(X, Q.relevance, **given)
        figure = pipe.score(X, Q.relevance, **given)
    q = Queries(Q.relevance, Q.sizes, weight=weight)
    assert figure == pytest.approx(NDCG(3)(pipe.predict(X), q), abs=1e-12)
    assert abs(figure - NDCG(3)(pipe.predict(X), Q)) > 1e-4


# Parameters.


def test_parameters_clone_pickle_and_refit(engine, tmp_path):
    made = ranker(engine, objective=graded(), learning_rate=0.2, sources=["clicks"])
    params = made.get_params()
    assert params["objective"] == graded() and params["learning_rate"] == 0.2
    assert params.keys() >= parent(engine)().get_params().keys()
    twin = clone(made)
    assert twin.get_params() | {"missing": 0} == params | {"missing": 0} and twin.objective is made.objective
    with pytest.raises(sklearn.exceptions.NotFittedError):
        twin.predict(X)
    twin.fit(table(), Q.relevance)
    joblib.dump(twin, tmp_path / "ranker")
    for copy in (pickle.loads(pickle.dumps(twin)), joblib.load(tmp_path / "ranker")):
        np.testing.assert_array_equal(copy.predict(table()), twin.predict(table()))
        assert copy.objective_ == copy.objective == graded()
    # Another objective is another model, and the fitted one stays what it was.
    twin.set_params(objective="RankNet", n_estimators=2, sources=None)
    assert twin.objective_ == graded()
    twin.fit(X, Q.relevance, qid=QID)
    expected = ranker(engine, objective="RankNet", n_estimators=2, learning_rate=0.2)
    np.testing.assert_array_equal(twin.predict(X), expected.fit(X, Q.relevance, qid=QID).predict(X))


def test_the_repr_shows_what_differs_from_the_defaults(engine):
    assert repr(type(ranker(engine))(objective=graded())) == f"LambdaRanker(objective={graded()!r})"
    assert "n_jobs=1" in repr(ranker(engine)) and "position" not in repr(ranker(engine))


VALID = {"eval_set": [(X_VALID, Q_VALID.relevance)], "eval_group": [Q_VALID.sizes]}
WRONG = {
    "a text that is no objective": ({"objective": "lambdarnk"}, {}, ValueError, "did you mean 'lambdarank'"),
    "one of both engines": (
        {"objective": "rank:ndcg"}, {}, ValueError, "which is XGBoost's own: on LightGBM give 'lambdarank' or '"
    ),
    "no objective": ({"objective": None}, {}, TypeError, "objective is None"),
    "an unknown parameter": ({"foo": 3}, {}, ValueError, "foo=3 is no parameter of a ranker: leave it out"),
    "one of the engine": ({"max_dept": 3}, {}, ValueError, "max_dept=3 .* did you mean .*'max_depth'"),
    "queries twice": ({}, {"X": FRAME, "qid": QID}, ValueError, "X has a column 'qid', and group or qid is also given"),
    "no queries": ({}, {"qid": None}, ValueError, "X has no column 'qid': .* as group= or qid="),
    "two queries": ({}, {"group": Q.sizes}, ValueError, "group and qid are both given"),
    "a lost source": (
        {"objective": "graded"}, {}, ValueError,
        "^Blend.* reads the label source 'clicks', which X does not have: name its column in sources=",
    ),
    "a source of an array": ({"sources": ["clicks"]}, {}, ValueError, "^sources: X has no column 'clicks'"),
    "a lost source of a set": (
        {"sources": ["clicks"]}, {"X": table().drop(columns="qid"), **VALID, "metric": CNDCG()}, ValueError,
        r"^CNDCG\(\) reads the label source 'clicks', which eval_set\[0\] does not have: name its column",
    ),
    "several classes": ({"num_class": 5}, {}, ValueError, "^num_class=5: a ranker has one score for a document"),
    "a class": ({"objective": LambdaRank}, {}, TypeError, "^objective is the class LambdaRank: give an object of it"),
    "a class of a metric": ({}, VALID | {"metric": NDCG}, TypeError, "^eval_metric has <class '.{,50}NDCG'>, expected"),
    "short grades": ({}, {"y": Q.relevance[1:]}, ValueError, f"^y has {len(X) - 1} rows, X has {len(X)}"),
    "grades of rows in another order": (
        {}, {"X": FRAME[::-1], "y": pd.Series(Q.relevance), "qid": None}, ValueError,
        r"^y has the rows of X in another order, by their index: give y\.loc\[X\.index\], or y\.to_numpy",
    ),
    "no queries of a set": (
        {}, {"eval_set": VALID["eval_set"]}, ValueError,
        r"eval_set\[0\] has no column 'qid': .*eval_group= or eval_qid=",
    ),
    "a list too long": (
        {}, VALID | {"eval_qid": [None, None]}, ValueError,
        "^eval_qid has 2 items, eval_set 1: give one for each set"
    ),
    "a set of three": (
        {}, {"eval_set": [(X_VALID, Q_VALID.relevance, 1)]}, TypeError,
        r"^eval_set\[0\] is of type tuple, expected a pair \(X, y\)"
    ),
    "a table for a set": (
        {}, {"eval_set": table(X_VALID, Q_VALID)}, TypeError, r"^eval_set\[0\] is of type str, expected a pair"
    ),
    "a set of fewer features": (
        {}, VALID | {"eval_set": [(X_VALID[:, 1:], Q_VALID.relevance)]}, ValueError,
        rf"^eval_set\[0\] has {X.shape[1] - 1} features, X {X.shape[1]}: give the same columns"
    ),
    "a metric of another type": ({}, VALID | {"metric": 3}, TypeError, "eval_metric has 3, expected measures"),
    "an unknown metric": ({}, VALID | {"metric": "NDGC"}, ValueError, "'NDGC' is unknown"),
    "two metrics of one name": (
        {}, VALID | {"metric": [NDCG(3), "NDCG(k=3)"]}, ValueError,
        "eval_metric gives two measures called 'ndcg@3': leave one out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_are_refused_before_any_round(engine, case):
    parameters, arguments, error, words = WRONG[case]
    arguments = {"X": X, "y": Q.relevance, "qid": QID} | arguments
    made, metric = with_metric(engine, arguments.pop("metric", NDCG(3)), **parameters)
    if engine == "xgboost" and "lambdarnk" in str(parameters):
        made, words = ranker(engine, objective="rank:ndgc"), "did you mean 'rank:ndcg'"
    if engine == "xgboost" and "rank:ndcg" in str(parameters):
        made = ranker(engine, objective="lambdarank")
        words = "which is LightGBM's own: on XGBoost give 'rank:ndcg' or '"
    with pytest.raises(error, match=words):
        made.fit(**arguments, **metric)


def test_a_model_of_other_features_is_not_continued(engine):
    first = ranker(engine).fit(X[:, 1:], Q.relevance, qid=QID)
    model = {{"lightgbm": "init_model", "xgboost": "xgb_model"}[engine]: first}
    n = X.shape[1]
    with pytest.raises(ValueError, match=f"^X has {n} features, the model that it continues {n - 1}: give"):
        ranker(engine).fit(X, Q.relevance, qid=QID, **model)


# Validation sets and weights.


def test_the_training_data_as_a_validation_set(engine):
    """It has their queries and weights; with an array that differs it is another set, which has those given alone."""
    weight = np.linspace(0.5, 4, Q.n_queries)
    other_weight = weight[::-1].copy()
    made, metric = with_metric(engine, NDCG(3))
    weights = {"lightgbm": "eval_sample_weight", "xgboost": "sample_weight_eval_set"}[engine]

    def last(**arguments):
        y = Q.relevance
        made.fit(X, y, qid=QID, sample_weight=weight, eval_set=[(X, y)], **arguments, **metric)
        ((curve,),) = (of_set.values() for of_set in curves_of(made))
        return curve[-1]

    def expected(weight, sizes=Q.sizes):
        q = Queries(Q.relevance, sizes, weight=weight)
        return pytest.approx(NDCG(3)(made.predict(X), q), abs=1e-6)

    assert last() == last(eval_qid=[QID.copy()], **{weights: [weight]}) == expected(weight)
    assert last(eval_group=[Q.sizes], **{weights: [other_weight]}) == expected(other_weight)
    halves = np.repeat(Q.sizes // 2, 2) + np.tile([0, 1], Q.n_queries) * np.repeat(Q.sizes % 2, 2)
    assert last(eval_group=[halves]) == expected(None, halves)


def test_validation_sets_have_the_sources_and_positions_of_their_own_columns(engine):
    rank = np.concatenate([np.arange(1, n + 1) for n in Q.sizes])
    measure = ClickDCG(propensities=Propensities.power(1.0, 50))
    columns = {"sources": ["clicks"], "position": "rank"}
    made, metric = with_metric(engine, measure, objective=OBJECTIVES["positions"], **columns)
    train, other = table(rank=rank), table(rank=rank[::-1], clicks=CLICKS[::-1])
    made.fit(train, Q.relevance, eval_set=[(train, Q.relevance), (other, Q.relevance)], **metric)
    frames, ranks = (train, other), (rank, rank[::-1])
    for curves, frame, of_set in zip(curves_of(made), frames, ranks, strict=True):
        clicks = frame["clicks"]
        q = Queries(Q.relevance, Q.sizes, clicks=clicks, position=of_set)
        (curve,) = curves.values()
        assert curve[-1] == pytest.approx(measure(made.predict(train), q), rel=1e-6)
        assert measure(made, frame, Q.relevance) == pytest.approx(curve[-1], rel=1e-6)
    with pytest.raises(ValueError, match="position: X has no column 'rank'"):
        measure(made, train.drop(columns="rank"), Q.relevance)


def test_weights_of_rows_that_xgboost_cannot_count():
    weight = np.linspace(0.5, 2, len(X))
    with pytest.raises(
        ValueError, match=r"sample_weight\[1\] is 0\.5\d*: unlike .* XGBoost weights whole queries"
    ):
        ranker("xgboost").fit(X, Q.relevance, qid=QID, sample_weight=weight)
