"""Data for either engine: what one refuses the other refuses, in the same words and at the same moment."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost
from lambdaboost._checks import RESERVED
from lambdaboost.calls.data import queries_of

N, SIZES = 40, [10, 10, 20]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, 3))
Y = RNG.integers(0, 4, N).astype(np.float32)
QID = np.repeat([5, 6, 9], SIZES)
NAMES = ["a", "b", "c"]
DATA = {"lightgbm": lb_lightgbm.Dataset, "xgboost": lb_xgboost.DMatrix, "bins": lb_xgboost.QuantileDMatrix}
RANKER = {"lightgbm": lb_lightgbm.LambdaRanker, "xgboost": lb_xgboost.LambdaRanker}
RANKER["bins"] = RANKER["xgboost"]
ENGINE = pytest.mark.parametrize("engine", DATA)


def with_(values, row, value):
    values = np.array(values, dtype=np.float64)
    values[row] = value
    return values


def queries(data):
    return queries_of(data.construct() if hasattr(data, "construct") else data)


@ENGINE
@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0, 1e39])
@pytest.mark.parametrize("of", ["rows", "queries"])
def test_weights_that_are_no_weights_are_refused(engine, bad, of):
    weight = with_(np.ones(N if of == "rows" else 3), 2, bad)
    with pytest.raises(ValueError, match=r"^weight\[2\] is .*: weights must be finite and ≥ 0"):
        DATA[engine](X, Y, group=SIZES, weight=weight)
    with pytest.raises(ValueError, match="weights must be finite and ≥ 0"):
        RANKER[engine](n_estimators=1).fit(X, Y, group=SIZES, sample_weight=weight)


def test_weights_set_later_are_checked_too():
    data = lb_lightgbm.Dataset(X, Y, group=SIZES)
    with pytest.raises(ValueError, match=r"weight\[0\] is nan"):
        data.set_weight(np.full(N, np.nan))
    assert data.set_weight(np.full(N, 2.0)).construct().get_weight()[3] == 2


@ENGINE
@pytest.mark.parametrize("value", [np.nan, None], ids=str)
def test_a_row_without_a_query_is_refused(engine, value):
    qid = np.array(QID, dtype=object)
    qid[[3, 4]] = value
    for given in (qid, qid.tolist(), pd.Series(qid), pd.Series(with_(QID, [3, 4], np.nan))):
        with pytest.raises(ValueError, match=r"^qid is missing in row 3: give the query of every row"):
            DATA[engine](X, Y, qid=given)
        with pytest.raises(ValueError, match=r"^qid is missing in row 3: give the query of every row"):
            RANKER[engine](n_estimators=1).fit(X, Y, qid=given)
    frame = pd.DataFrame(X, columns=NAMES).assign(qid=pd.Series(qid))
    with pytest.raises(ValueError, match=r"^column 'qid' of X is missing in row 3"):
        RANKER[engine](n_estimators=1).fit(frame, Y)


@ENGINE
def test_masked_labels_are_missing_labels(engine):
    grades = np.ma.masked_array(Y, np.arange(N) % 7 == 0)
    data = DATA[engine](X, grades, group=SIZES, sources={"clicks": grades})
    expected = np.where(grades.mask, np.nan, Y)
    np.testing.assert_array_equal(queries(data).relevance, expected)
    np.testing.assert_array_equal(queries(data).labels["clicks"], expected)


@ENGINE
def test_labels_as_a_column(engine):
    for label in (Y[:, None], pd.DataFrame({"y": Y}), pl.DataFrame({"y": Y}), Y[:, None].tolist()):
        np.testing.assert_array_equal(queries(DATA[engine](X, label, group=SIZES)).relevance, Y)


@ENGINE
@pytest.mark.parametrize(
    ("label", "error", "words"),
    [
        (
            np.arange(N).astype("M8[D]"),
            TypeError,
            r"^label must be numbers, one per document: got datetime64",
        ),
        (with_(Y, 4, np.inf), ValueError, r"^label\[4\] is inf: labels must be finite, or NaN"),
    ],
)
def test_labels_that_are_no_grades_are_refused_at_once(engine, label, error, words):
    with pytest.raises(error, match=words):
        DATA[engine](X, label, group=SIZES)


@ENGINE
@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        (with_(Y, 4, np.inf), ValueError, r"^sources\['clicks'\]\[4\] is inf: labels must be finite"),
        (np.arange(N).astype("M8[D]"), TypeError, r"^sources\['clicks'\] must be numbers"),
        (Y[:5], ValueError, r"^sources\['clicks'\] has 5 rows, data has 40: give one label per document"),
        (
            ["many"] * N,
            TypeError,
            r"^sources\['clicks'\] must be numbers, one per document: could not convert",
        ),
    ],
)
def test_sources_that_are_no_labels_are_refused_at_once(engine, values, error, words):
    with pytest.raises(error, match=words):
        DATA[engine](X, Y, group=SIZES, sources={"clicks": values})


@ENGINE
@pytest.mark.parametrize("name", sorted(set(RESERVED) - {"relevance"}))
def test_reserved_names_are_the_same_on_both_engines(engine, name):
    with pytest.raises(ValueError, match=f"^a label source cannot be called '{name}': ids, offsets"):
        DATA[engine](X, Y, group=SIZES, sources={name: Y})


@ENGINE
def test_query_ids_given_as_group_are_told_apart(engine):
    with pytest.raises(ValueError, match=r"^group has one value for each of the 40 rows.*give it as qid="):
        DATA[engine](X, Y, group=QID)
    with pytest.raises(ValueError, match=r"^group has one value for each of the 40 rows.*give it as qid="):
        RANKER[engine](n_estimators=1).fit(X, Y, group=QID)
    with pytest.raises(
        ValueError, match=r"^group sums to 30, data has 40 rows: give the number of documents"
    ):
        DATA[engine](X, Y, group=[10, 20])
    assert queries(DATA[engine](X, Y, group=[1] * N)).n_queries == N  # one row a query


@ENGINE
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_of_dates_is_named(engine, frame):
    days = np.arange(N).astype("M8[D]").astype("M8[ms]")
    data = frame({"bm25": X[:, 0], "seen": days})
    for given in (DATA[engine], RANKER[engine](n_estimators=1).fit):
        with pytest.raises(
            TypeError, match=r"^data has the column 'seen' of .*convert it to numbers, .*or drop it"
        ):
            given(data, Y, group=SIZES)
    with pytest.raises(TypeError, match=r"^data is datetime64.* convert dates to numbers"):
        DATA[engine](np.column_stack([days, days]), Y, group=SIZES)


@ENGINE
@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_a_column_of_text_is_named(engine, frame):
    """It is a KeyError of XGBoost, and the end of the process in LightGBM."""
    data = frame({"bm25": X[:, 0], "city": ["u", "v"] * (N // 2)})
    for given in (DATA[engine], RANKER[engine](n_estimators=1).fit):
        with pytest.raises(TypeError, match=r"^data has the column 'city' of String, which .* cannot read: "):
            given(data, Y, group=SIZES)


def test_subsets_that_cut_a_query_are_refused():
    """As slices are on XGBoost."""
    for constructed in (False, True):
        data = lb_lightgbm.Dataset(X, Y, qid=QID)
        if constructed:
            data.construct()
        with pytest.raises(
            ValueError, match=r"^used_indices holds 5 of the 10 rows of query 1 \(rows 10:20\)"
        ):
            data.subset(range(15))
        part = data.subset([*range(10), *range(20, 40)])
        assert queries(part).sizes.tolist() == [10, 20]
    with pytest.raises(ValueError, match="rindex holds 5 of the 10 rows of query 1"):
        lb_xgboost.DMatrix(X, Y, qid=QID).slice(range(15))


def test_stock_folds_that_cut_queries_are_refused():
    import lightgbm as lgb

    from lambdaboost import LambdaRank

    data = lb_lightgbm.Dataset(X, Y, group=SIZES)
    with pytest.raises(ValueError, match=r"used_indices holds .* keep every query whole, as GroupKFold does"):
        lgb.cv(
            {"objective": LambdaRank(), "verbose": -1, "min_data_in_leaf": 2},
            data,
            2,
            nfold=2,
            stratified=False,
        )


@ENGINE
def test_queries_are_made_once_until_a_label_changes(engine):
    """A training asks in every round; what is set between two rounds counts from the next one on."""
    grades = with_(Y, 3, np.nan)
    data = DATA[engine](X, grades, group=SIZES, weight=np.ones(N), sources={"clicks": with_(Y, 5, np.nan)})
    q = queries(data)
    assert queries(data) is q
    data.sources["clicks"][0] = 7
    changed = queries(data)
    assert changed is not q and changed.labels["clicks"][0] == 7 and q.labels["clicks"][0] == Y[0]
    assert queries(data) is changed
    data.set_weight(np.full(N if engine == "lightgbm" else 3, 2.0))
    assert queries(data).weight[0] == 2
    data.sources.pop("relevance")
    data.set_label(Y[::-1].copy())
    np.testing.assert_array_equal(queries(data).relevance, Y[::-1])
    data.set_group([20, 10, 10])
    assert queries(data).sizes.tolist() == [20, 10, 10]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.longdouble, object])
def test_sources_of_any_kind_of_number_are_compared(dtype):
    data = lb_lightgbm.Dataset(X, Y, group=SIZES).construct()
    data.sources["shown"] = np.ones(N, dtype=dtype)
    q = queries(data)
    assert queries(data) is q
    data.sources["shown"][2] = 0
    assert queries(data).labels["shown"][:3].tolist() == [1, 1, 0]


@pytest.mark.parametrize("values", [[False, True], [0.5, 1.5]])
def test_categories_that_xgboost_cannot_read_are_named(values):
    """XGBoost says that a bool has no len()."""
    data = pd.DataFrame({"bm25": X[:, 0], "promo": pd.Categorical.from_codes([0, 1] * (N // 2), values)})
    for given in (DATA["xgboost"], RANKER["xgboost"](n_estimators=1).fit):
        with pytest.raises(
            TypeError, match=r"^data has the column 'promo' with the category .*rename_categories"
        ):
            given(data, Y, group=SIZES)
    data["promo"] = data["promo"].cat.rename_categories(str)
    RANKER["xgboost"](n_estimators=1).fit(data, Y, group=SIZES)


@ENGINE
def test_too_few_labels_are_counted(engine):
    for given in (DATA[engine], RANKER[engine](n_estimators=1).fit):
        with pytest.raises(ValueError, match=f"^label has {N - 1} rows, data has {N}: give one grade"):
            given(X, Y[1:], group=SIZES)
