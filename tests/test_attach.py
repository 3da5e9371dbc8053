"""`attach`: label sources and positions on any stock data set, read by objectives and measures in stock trainings."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from on_xgboost import QUIET

from lambdaboost import (
    CNDCG,
    MRR,
    NDCG,
    LambdaRank,
    Queries,
    attach,
    graded,
    iteration_dependent,
    query_folds,
)
from lambdaboost.attaching import ATTRIBUTE
from lambdaboost.callback import known_data
from lambdaboost.datasets import web_search_log

X, Q = web_search_log(queries=40, documents=20, features=16, seed=3).shuffled(0)
X_VALID, Q_VALID = web_search_log(queries=25, documents=20, features=16, seed=4).shuffled(0)
CLICKS, QID = Q.labels["clicks"], Q.query_of_row
GAPS = np.where(np.arange(len(X)) % 3, Q.relevance, np.nan)  # grades, of which some are missing
SALES = np.random.default_rng(0).random(len(X)).astype(np.float32)
VALID = {"clicks": Q_VALID.labels["clicks"]}
LGB = {"verbose": -1, "num_threads": 1, "deterministic": True, "num_leaves": 7, "metric": "None"}
XGB = QUIET | {"nthread": 1, "max_depth": 3}


class Rows(lgb.Sequence):
    batch_size = 100

    def __init__(self, rows):
        self.rows = rows.astype(np.float64)  # others LightGBM refuses

    def __getitem__(self, at):
        return self.rows[at]

    def __len__(self):
        return len(self.rows)


class Days(xgb.DataIter):
    """The rows in four batches of whole queries."""

    def __init__(self, folder=None):
        super().__init__(cache_prefix=None if folder is None else str(folder / "cache"))
        self.at = 0

    def next(self, input_data):
        if self.at == 4:
            return False
        rows = Q.rows_of(range(10 * self.at, 10 * self.at + 10))
        input_data(data=X[rows], label=Q.relevance[rows], qid=QID[rows])
        self.at += 1
        return True

    def reset(self):
        self.at = 0


KINDS = {
    "Dataset": lambda folder: lgb.Dataset(X, Q.relevance, group=Q.sizes),
    "constructed": lambda folder: lgb.Dataset(X, Q.relevance, group=Q.sizes).construct(),
    "Sequence": lambda folder: lgb.Dataset([Rows(X[:300]), Rows(X[300:])], Q.relevance, group=Q.sizes),
    "DMatrix": lambda folder: xgb.DMatrix(X, Q.relevance, qid=QID),
    "QuantileDMatrix": lambda folder: xgb.QuantileDMatrix(X, Q.relevance, group=Q.sizes),
    "DataIter": lambda folder: xgb.QuantileDMatrix(Days()),
    "on disk": lambda folder: xgb.DMatrix(Days(folder)),
    "ExtMemQuantileDMatrix": lambda folder: xgb.ExtMemQuantileDMatrix(Days(folder)),
}
of_every_kind = pytest.mark.parametrize("kind", KINDS)


def made(kind, folder, **sources):
    if kind == "ExtMemQuantileDMatrix" and not hasattr(xgb, kind):
        pytest.skip("came with XGBoost 3")
    return attach(KINDS[kind](folder), **sources)


def train(data, objective, rounds=8, **more):
    if isinstance(data, lgb.Dataset):
        return lgb.train({**LGB, "objective": objective}, data, rounds, **more)
    return xgb.train(XGB, data, rounds, obj=objective, verbose_eval=False, **more)


def scores(booster, rows=X):
    return booster.predict(rows if isinstance(booster, lgb.Booster) else xgb.DMatrix(rows))


def by_hand(data, objective, q):
    """The same training by the gradient of `Queries` that are made here."""
    rounds = iter(range(100))
    return train(data, lambda preds, _: objective.gradient(preds, q, next(rounds)))


# Trainings.


@of_every_kind
@pytest.mark.parametrize("objective", [graded(0.3), iteration_dependent(), LambdaRank(CNDCG(3))], ids=repr)
@pytest.mark.filterwarnings("ignore:min_")  # gradient steps at the engine's least leaf
def test_the_trees_are_those_of_the_gradient(kind, objective, tmp_path):
    booster = train(made(kind, tmp_path, clicks=CLICKS), objective)
    (tmp_path / "other").mkdir()
    expected = by_hand(
        KINDS[kind](tmp_path / "other"), objective, Queries(Q.relevance, Q.sizes, clicks=CLICKS)
    )
    np.testing.assert_array_equal(scores(booster), scores(expected))
    assert np.ptp(scores(booster)) > 0.5


def test_validation_sets_have_their_own(engine):
    history, measures = {}, [NDCG(3), CNDCG(k=3), MRR(k=10)]
    if engine == "lightgbm":
        data = made("Dataset", None, clicks=CLICKS)
        valid = attach(data.create_valid(X_VALID, Q_VALID.relevance, group=Q_VALID.sizes), **VALID)
        more = {"valid_sets": [valid], "feval": measures, "callbacks": [lgb.record_evaluation(history)]}
    else:
        data = made("DMatrix", None, clicks=CLICKS)
        valid = attach(xgb.DMatrix(X_VALID, Q_VALID.relevance, group=Q_VALID.sizes), **VALID)
        more = {"custom_metric": lambda preds, rows: [measure(preds, rows) for measure in measures]}
        more |= {"evals": [(valid, "valid_0")], "evals_result": history}
    found = scores(train(data, graded(0.3), **more), X_VALID)
    for curve, measure in zip(history["valid_0"].values(), measures, strict=True):
        assert curve[-1] == pytest.approx(measure(found, Q_VALID), abs=1e-6)


def test_lightgbms_cv_keeps_sources_in_folds_of_whole_queries():
    """And sets parameters of the data set, which it cannot after that was constructed."""
    data = attach(lgb.Dataset(X, Q.relevance, group=list(Q.sizes)), clicks=CLICKS)
    folds = query_folds(data, 4)
    for rows, expected in zip(folds, query_folds(Q, 4), strict=True):
        np.testing.assert_array_equal(rows[0], expected[0])
    params = {**LGB, "objective": graded(0.3), "max_bin": 31, "min_data_in_leaf": 3}
    found = lgb.cv(params, data, 5, folds=folds, feval=CNDCG(k=3), return_cvbooster=True)
    booster, (fit, _) = found["cvbooster"].boosters[0], folds[0]
    assert len(found["valid ndcg@3-clicks-mean"]) == 5
    of_fold = known_data(booster.train_set).queries
    np.testing.assert_array_equal(of_fold.labels["clicks"], CLICKS[fit])
    np.testing.assert_array_equal(of_fold.sizes, Q.take(np.unique(QID[fit])).sizes)


def test_folds():
    folds = query_folds(Q, 3, seed=1)
    assert [len(np.unique(QID[test])) for _, test in folds] == [14, 13, 13]
    for fit, test in folds:
        assert not set(QID[fit]) & set(QID[test]) and len(fit) + len(test) == len(X)
    data = lgb.Dataset(X, Q.relevance, group=Q.sizes)
    same = query_folds(data, 3, seed=1), query_folds(xgb.DMatrix(X, Q.relevance, qid=QID), 3, seed=1)
    for other in same:
        assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, other, strict=True))
    for given, words in (
        ((Q, 41), "41 folds of 40 different queries: give fewer folds"),
        ((Q, 1), "n is 1: give a whole number ≥ 2"),
        ((pd.DataFrame(X),), r"queries is of type DataFrame, expected Queries, such as Queries\(y, ids=…\)"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            query_folds(*given)


LOST = (
    r"reads the label source 'clicks', which the data set does not have: give it by attach\(data, clicks=…\)"
)


def test_xgboosts_cv_loses_sources_and_says_so():
    clicks, grades = made("DMatrix", None, clicks=CLICKS), made("DMatrix", None, relevance=GAPS)
    for data, objective, more, lost in (
        (clicks, graded(0.3), {}, LOST + ".*xgboost.cv"),
        (clicks, LambdaRank(), {"custom_metric": CNDCG(k=3)}, LOST + ".*xgboost.cv"),
        (grades, LambdaRank(), {}, "loses 'relevance'"),
    ):
        with pytest.raises(ValueError, match=f"{lost}.*cross_validate and GroupKFold, or use tune"):
            xgb.cv(XGB, data, 3, nfold=2, obj=objective, **more)
    table = xgb.cv(XGB, clicks, 3, nfold=2, obj=LambdaRank(), custom_metric=NDCG(3))
    assert "test-ndcg@3-mean" in table
    data = xgb.DMatrix(X, Q.relevance, qid=QID, weight=np.arange(1.0, Q.n_queries + 1))
    with pytest.warns(
        UserWarning, match="xgboost.cv, loses the weights of queries, so that all count the same"
    ):
        xgb.cv(XGB, data, 3, nfold=2, obj=LambdaRank())


@of_every_kind
def test_a_missing_source_is_named_with_the_way(kind, tmp_path):
    with pytest.raises(ValueError, match=LOST):
        train(made(kind, tmp_path), graded(0.3))
    data = made(kind, tmp_path).construct() if kind == "Dataset" else made(kind, tmp_path)
    if kind != "Sequence":
        with pytest.raises(ValueError, match=LOST):
            CNDCG()(np.zeros(len(X)), data)
    with pytest.raises(ValueError, match=r"LGBMRanker passes only y: use lambdaboost.lightgbm.LambdaRanker"):
        lgb.LGBMRanker(objective=graded(0.3), verbose=-1).fit(X, Q.relevance, group=Q.sizes)


# What is given.


@pytest.mark.parametrize("kind", [lgb.Dataset, xgb.DMatrix], ids=["lightgbm", "xgboost"])
def test_a_wrong_length_shows_without_labels_too(kind):
    """By the queries; without them in the first round, as the docstring says."""
    with pytest.raises(ValueError, match=rf"clicks has {len(X) - 1} rows, the data set has {len(X)}"):
        attach(kind(X, group=Q.sizes), clicks=CLICKS[1:])
    attach(kind(X), clicks=CLICKS[1:])


@of_every_kind
def test_wrong_lengths_and_values_are_named(kind, tmp_path):
    for sources, error, words in (
        ({"clicks": CLICKS[1:]}, ValueError, rf"clicks has {len(X) - 1} rows, the data set has {len(X)}"),
        ({"position": [1, 2]}, ValueError, f"position has 2 rows, the data set has {len(X)}"),
        ({"clicks": np.r_[np.inf, CLICKS[1:]]}, ValueError, r"clicks\[0\] is inf: .*finite"),
        ({"clicks": ["a"] * len(X)}, TypeError, "clicks must be numbers"),
        ({"weight": CLICKS}, ValueError, "a label source cannot be called 'weight'"),
        ({"position": np.zeros(len(X))}, ValueError, r"position\[0\] is 0: give the rank"),
    ):
        data = made(kind, tmp_path)
        with pytest.raises(error, match=words):
            attach(data, **sources)
        assert not getattr(data, ATTRIBUTE).sources


def test_a_column_whose_rows_are_in_another_order_is_refused():
    frame, clicks = pd.DataFrame(X), pd.Series(CLICKS)
    frame.index = clicks.index = [f"row {at}" for at in range(len(X))]
    grades = pd.Series(Q.relevance, frame.index)
    for data, own in (
        (lgb.Dataset(X, grades, group=Q.sizes), "label"),
        (lgb.Dataset(frame, Q.relevance, group=Q.sizes), "data"),
    ):
        with pytest.raises(
            ValueError, match=rf"^clicks has the rows of {own} in another order.*\.loc\[{own}\.index"
        ):
            attach(data, clicks=clicks[::-1])
        with pytest.raises(ValueError, match=f"^position has the rows of {own} in another order"):
            attach(data, position=(clicks * 0 + 1)[::-1])
        attach(data, clicks=clicks)


def test_only_data_sets_take_sources():
    for wrong in (X, Q, pd.DataFrame(X), None):
        with pytest.raises(TypeError, match=r"expected a lightgbm.Dataset or an xgboost.DMatrix"):
            attach(wrong, clicks=CLICKS)


def test_missing_grades_in_the_label_are_refused():
    """LightGBM makes them 0 when it constructs the data set."""
    with pytest.raises(
        ValueError, match=r"label of data has NaN, which LightGBM makes 0: give attach\(data, relev"
    ):
        attach(lgb.Dataset(X, GAPS, group=Q.sizes), clicks=CLICKS)
    for label in (GAPS, None):
        data = attach(lgb.Dataset(X, label, group=Q.sizes), relevance=GAPS).construct()
        np.testing.assert_array_equal(known_data(data).queries.relevance, GAPS.astype(np.float32))


@pytest.mark.parametrize("kind", ["Dataset", "DMatrix"])
def test_a_saved_data_set_loses_what_is_attached(kind, tmp_path):
    """Missing grades are 0 in LightGBM's own label."""
    attach(KINDS[kind](tmp_path), clicks=CLICKS, relevance=GAPS).save_binary(str(tmp_path / "saved"))
    read = lgb.Dataset if kind == "Dataset" else xgb.DMatrix
    with pytest.raises(ValueError, match=LOST):
        train(read(str(tmp_path / "saved")), graded(0.3))
    loaded = read(str(tmp_path / "saved"))
    if kind == "Dataset":
        loaded = loaded.construct()
    assert not np.isnan(known_data(loaded).queries.relevance).any()
    again = known_data(attach(loaded, clicks=CLICKS, relevance=GAPS)).queries
    np.testing.assert_array_equal(again.labels["clicks"], CLICKS)
    np.testing.assert_array_equal(again.relevance, GAPS.astype(np.float32))


@pytest.mark.parametrize("kind", ["constructed", "DMatrix"])
def test_later_calls_add_and_replace(kind, tmp_path):
    data = made(kind, tmp_path, clicks=CLICKS)
    first = known_data(data).queries
    assert attach(data, sales=SALES) is data
    assert list(known_data(data).queries.labels) == ["relevance", "clicks", "sales"]
    attach(data, clicks=SALES, position=np.ones(len(X)))
    q = known_data(data).queries
    np.testing.assert_array_equal(q.labels["clicks"], SALES)
    assert (q.position == 1).all() and first.position is None
    given = CLICKS.copy()
    attach(data, clicks=given)
    given[:] = 0  # the caller's array is not the data set's
    np.testing.assert_array_equal(known_data(data).queries.labels["clicks"], CLICKS)


def test_pickles_and_subsets_keep_them():
    data = attach(lgb.Dataset(X, Q.relevance, group=Q.sizes), clicks=CLICKS, position=np.ones(len(X)))
    copy = pickle.loads(pickle.dumps(data)).construct()
    np.testing.assert_array_equal(known_data(copy).queries.labels["clicks"], CLICKS)
    rows = Q.rows_of(range(10, 30))
    part = copy.subset(rows).construct()
    np.testing.assert_array_equal(known_data(part).queries.labels["clicks"], CLICKS[rows])
    assert known_data(part).queries.position.size == rows.size
    assert known_data(part).queries is known_data(part).queries
    attach(copy, clicks=SALES)
    attach(part, sales=CLICKS[rows])
    q = known_data(part).queries
    np.testing.assert_array_equal(q.labels["clicks"], SALES[rows])
    np.testing.assert_array_equal(q.labels["sales"], CLICKS[rows])


def test_data_sets_without_groups_or_labels():
    for data, said in (
        (lgb.Dataset(X, Q.relevance), "the lightgbm.Dataset has no groups: give group="),
        (xgb.DMatrix(X, Q.relevance), "the xgboost.DMatrix has no groups: give qid="),
        (xgb.DMatrix(X, qid=QID), "the xgboost.DMatrix has no labels: give label=grades"),
    ):
        with pytest.raises(ValueError, match=said):
            train(data, LambdaRank())
    data = attach(xgb.DMatrix(X, qid=QID), relevance=Q.relevance)
    np.testing.assert_array_equal(known_data(data).queries.relevance, Q.relevance)


def test_a_label_that_changes_beside_attached_grades_is_refused(engine):
    """The attached grades would be trained on and measured, and the new label by nothing."""
    other = np.roll(Q.relevance, 1)

    def made(y):
        return lgb.Dataset(X, y, group=Q.sizes) if engine == "lightgbm" else xgb.DMatrix(X, y, qid=QID)

    def trained(data):
        return scores(train(data, LambdaRank(), 2))

    for trained_before in (False, True):
        data = attach(made(Q.relevance), relevance=Q.relevance)
        if trained_before:
            trained(data)
        data.set_label(other)
        with pytest.raises(
            ValueError, match=r"^the label of the .* has changed since attach\(data, relevance=…\)"
        ):
            trained(data)
        attach(data, relevance=other)
        np.testing.assert_array_equal(trained(data), trained(made(other)))
