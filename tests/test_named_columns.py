"""Rankers that name the columns of queries and label sources: frames of each kind through all of scikit-learn."""

import pickle
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from rankers import CLICKS, QID, Q, X, curves_of, ranker, table, with_metric
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lambdaboost import CNDCG, NDCG, LambdaRank, Queries, graded

PRICE = np.random.default_rng(0).integers(0, 3, len(X)) / 2
NAMES = [f"x{i}" for i in range(16)]
COLUMNS = {
    "srch_id": QID,
    **dict(zip(NAMES[:4], X[:, :4].T, strict=True)),
    "ctr": CLICKS,
    **dict(zip(NAMES[4:], X[:, 4:].T, strict=True)),
    "price_rank": PRICE,
}
NAMED = {"query": "srch_id", "sources": {"clicks": "ctr", "price_rank": "price_rank"}}
CHEAP = graded(0.5, source="price_rank", metric=NDCG(k=5))


MAKE = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=["pandas", "polars", pytest.param("pyarrow", marks=pytest.mark.slow)])
def frame(request):
    return MAKE[request.param](COLUMNS)


def same_kind(frame, columns):
    return pa.table(columns) if isinstance(frame, pa.Table) else type(frame)(columns)


def last_of(fitted, eval_set):
    """The last result of a validation set's only metric."""
    (curve,) = curves_of(fitted)[eval_set].values()
    return curve[-1]


def without(frame, *names):
    return nw.from_native(frame).drop(*names).to_native()


def test_named_columns_are_no_features_in_frames_of_each_kind(engine, frame):
    named = ranker(engine, objective=CHEAP, **NAMED).fit(frame, Q.relevance)
    expected = ranker(engine, objective=CHEAP, sources=["clicks", "price_rank"])
    rows = table(price_rank=PRICE)
    scores = expected.fit(rows, Q.relevance).predict(rows)
    assert list(named.feature_names_in_) == NAMES
    np.testing.assert_array_equal(named.predict(frame), scores)
    np.testing.assert_array_equal(named.predict(without(frame, "srch_id", "ctr", "price_rank")), scores)
    for rows in (frame, without(frame, "ctr", "price_rank")):  # which the measure does not read
        assert named.score(rows, Q.relevance) == pytest.approx(NDCG(3)(scores, Q), abs=1e-9)
    q = Queries(Q.relevance, Q.sizes, clicks=CLICKS, price_rank=PRICE)
    for measure in (NDCG(k=3), CNDCG(k=3), CNDCG(k=3, source="price_rank")):
        assert measure(named, frame, Q.relevance) == pytest.approx(measure(scores, q), abs=1e-9)


def test_a_column_of_weights(engine, frame):
    """Of rows, equal within a query; also of validation sets and of scores."""
    weight = np.repeat(np.linspace(0.5, 3, Q.n_queries), Q.sizes)
    weighted = same_kind(frame, {**COLUMNS, "w": weight})
    named, more = with_metric(engine, NDCG(3), weight="w", **NAMED)
    named.fit(weighted, Q.relevance, eval_set=[(weighted, Q.relevance)], **more)
    by_array = ranker(engine, **NAMED).fit(frame, Q.relevance, sample_weight=weight)
    np.testing.assert_array_equal(named.predict(frame), by_array.predict(frame))
    value = NDCG(3)(named.predict(frame), Queries(Q.relevance, Q.sizes, weight=weight))
    assert last_of(named, 0) == pytest.approx(value, abs=1e-6)
    assert named.score(weighted, Q.relevance) == pytest.approx(value, abs=1e-6)
    with pytest.raises(ValueError, match=r"X has a column 'w', and weight is also given"):
        named.fit(weighted, Q.relevance, sample_weight=weight)


def test_folds_that_cut_queries_are_said(engine):
    """scikit-learn's KFold; not of whole queries, of the training data, or of a frame that was numbered apart."""
    rows, y = table(), Q.relevance
    made = ranker(engine, sources=["clicks"])
    with pytest.warns(UserWarning, match="^queries: .* were trained on with other rows than these: KFold"):
        cross_val_score(made, rows, y, cv=KFold(3, shuffle=True, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_score(made, rows, y, groups=QID, cv=GroupKFold(3))
        made.fit(rows, y).score(rows, y)
        half = QID < 15
        rest = rows[~half].assign(qid=QID[~half] - 15).reset_index(drop=True)
        made.fit(rows[half], y[half]).score(rest, y[~half])
    assert b"Index" not in pickle.dumps(made)  # the rows of the training are of this process alone


@pytest.mark.parametrize("scoring", [None, CNDCG(k=3, source="price_rank")], ids=str)
def test_searches_score_by_a_measure_of_any_source(engine, frame, scoring):
    measure = scoring or NDCG(3)
    grid = {"objective": [LambdaRank(), CHEAP]}
    search = GridSearchCV(ranker(engine, **NAMED), grid, scoring=scoring, cv=GroupKFold(3))
    search.fit(frame, Q.relevance, groups=QID)
    figures = []
    for train, test in GroupKFold(3).split(X, groups=QID):
        fitted = ranker(engine, objective=CHEAP, sources=["price_rank"])
        rows = table(price_rank=PRICE).drop(columns="clicks")
        fitted.fit(rows.iloc[train], Q.relevance[train])
        q = Queries(Q.relevance[test], ids=QID[test], price_rank=PRICE[test])
        figures.append(measure(fitted.predict(rows.iloc[test]), q))
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(figures), abs=1e-6)
    assert measure(search, frame, Q.relevance) == search.score(frame, Q.relevance)


def test_the_last_step_of_a_pipeline_names_the_columns(engine, frame):
    if isinstance(frame, pa.Table):
        pytest.skip("scikit-learn's ColumnTransformer takes no pyarrow")
    scaled = make_column_transformer(
        (StandardScaler(), NAMES), remainder="passthrough", verbose_feature_names_out=False
    )
    pipe = make_pipeline(scaled, ranker(engine, objective=CHEAP, **NAMED))
    pipe.set_output(transform="pandas" if hasattr(frame, "iloc") else "polars").fit(frame, Q.relevance)
    assert list(pipe[-1].feature_names_in_) == NAMES
    measure = CNDCG(k=3, source="price_rank")
    figure = measure(pipe.predict(frame), Queries(Q.relevance, Q.sizes, price_rank=PRICE))
    assert measure(pipe, frame, Q.relevance) == pytest.approx(figure, abs=1e-9)
    folds = {"groups": QID, "cv": GroupKFold(3), "scoring": measure}
    assert np.isfinite(cross_val_score(pipe, frame, Q.relevance, **folds)).all()


# Parameters, the words, and what is given in place of a frame.
WRONG = [
    ({"query": "search_id"}, r"query: X has no column 'search_id' \(did you mean", None),
    ({}, "query: X has no column 'srch_id': give a table with it, or the queries as", X),
    ({"qid": "srch_id"}, r"qid='srch_id' is no parameter of a ranker: give it to fit\(qid=…", None),
]


@pytest.mark.parametrize(("more", "message", "given"), WRONG)
def test_wrong_columns_are_answered_in_a_line(engine, frame, more, message, given):
    with pytest.raises((TypeError, ValueError), match=f"^{message}") as caught:
        ranker(engine, **NAMED | more).fit(frame if given is None else given, Q.relevance)
    assert "\n" not in str(caught.value)


def test_a_measure_of_a_source_that_is_not_there(engine, frame):
    fitted = ranker(engine, query="srch_id").fit(without(frame, "ctr"), Q.relevance)
    with pytest.raises(
        ValueError, match=r"'clicks', which X does not have: name its column in sources=, and"
    ):
        CNDCG(k=3)(fitted, frame, Q.relevance)
