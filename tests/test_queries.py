"""`Queries`: what it holds, and every way to get it wrong."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lambdaboost import Queries
from lambdaboost.datasets.queries import REMEMBERED

Y = [2, 0, 1, 1, 0]


def test_labels_are_float32_and_read_only():
    q = Queries(Y, sizes=[5], clicks=[0.5, np.nan, 0, 0, 1])
    assert list(q.labels) == ["relevance", "clicks"]
    assert q.labels["clicks"].dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        q.labels["clicks"][0] = 1
    with pytest.raises(AttributeError, match="cannot assign to field 'offsets'"):
        q.offsets = None


def test_weights_per_query_and_per_document():
    assert Queries(Y, sizes=[3, 2]).query_weight.tolist() == [1, 1]
    assert Queries(Y, sizes=[3, 2], weight=[2, 4]).weight.tolist() == [2, 2, 2, 4, 4]
    assert Queries(Y, sizes=[3, 2], weight=[1, 2, 3, 4, 6]).query_weight.tolist() == [2, 5]


def test_reordered_and_sent():
    q = Queries(Y, ids=list("aaabb"), weight=[1, 2], clicks=[0.1, 0.2, 0.3, 0.4, 0.5])
    rows = q.shuffled_rows(seed=1)
    assert q.reordered(rows).relevance.tolist() == q.relevance[rows].tolist()
    again = pickle.loads(pickle.dumps(q))
    assert again.ids.tolist() == q.ids.tolist() and again.weight.tolist() == [1, 1, 1, 2, 2]
    assert again.labels["clicks"].tobytes() == q.labels["clicks"].tobytes()


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (ValueError, "sizes sum to 4, but there are 5 rows", {"sizes": [3, 1]}),
        (ValueError, r"sizes\[1\] is 0", {"sizes": [5, 0]}),
        (TypeError, "sizes must be whole numbers", {"sizes": [2.5, 2.5]}),
        (ValueError, r"sizes has shape \(0,\)", {"sizes": []}),
        (ValueError, "sizes has shape", {"sizes": [[3, 2]]}),
        (ValueError, "give one of sizes=", {}),
        (ValueError, "give one of sizes=", {"sizes": [5], "ids": [1] * 5}),
        (ValueError, r"ids\[3\] is 1 again, after other queries: sort", {"ids": [1, 1, 2, 1, 1]}),
        (ValueError, "ids has shape", {"ids": [1, 1]}),
        (ValueError, "clicks has 2 rows, relevance has 5", {"sizes": [5], "clicks": [1, 2]}),
        (ValueError, r"clicks\[1\] is inf", {"sizes": [5], "clicks": [0, np.inf, 0, 0, 0]}),
        (ValueError, r"clicks has shape \(5, 2\)", {"sizes": [5], "clicks": [[0, 1]] * 5}),
        (TypeError, "clicks must be numbers", {"sizes": [5], "clicks": list("abcde")}),
        (ValueError, "weight has 3 values", {"sizes": [3, 2], "weight": [1, 2, 3]}),
        (ValueError, r"weight\[1\] is -2", {"sizes": [3, 2], "weight": [1, -2]}),
        (ValueError, r"weight\[0\] is nan", {"sizes": [3, 2], "weight": [np.nan, 1]}),
        (ValueError, r"weight\[1\] is 1e\+39: .* below 9.9e37", {"sizes": [3, 2], "weight": [1, 1e39]}),
        (ValueError, r"sizes\[0\] is 4611686018427387904, but", {"sizes": [2**62] * 4 + [5]}),
    ],
)
def test_wrong_arguments(error, message, arguments):
    with pytest.raises(error, match=message):
        Queries(Y, **arguments)


@pytest.mark.parametrize(
    "ids",
    [
        [7.0, 7.0, np.nan, np.nan, 8.0],
        [7, 7, None, None, 8],
        ["a", "a", None, "b", "b"],
        ["a", "a", float("nan"), "b", "b"],
        np.array(["2026-01-01", "2026-01-01", "NaT", "NaT", "2026-01-02"], dtype="M8[D]"),
        np.ma.masked_equal([7, 7, -1, -1, 8], -1),
        pd.Series([7, 7, None, None, 8], dtype="Int64"),
        pd.Series(["a", "a", None, None, "b"], dtype="string"),
        pl.Series([7, 7, None, None, 8]),
        pl.Series(["a", "a", None, None, "b"]),
    ],
    ids=lambda ids: f"{type(ids).__module__}-{getattr(ids, 'dtype', ids[2])}",
)
def test_a_missing_query_id_is_one_clear_error(ids):
    with pytest.raises(ValueError, match=r"^ids\[2\] is missing: give the query of every row$"):
        Queries(Y, ids=ids)


@pytest.mark.parametrize(
    "labels",
    [
        np.ma.masked_equal([2.0, 9, 1, 1, 0], 9),
        np.ma.masked_equal([2, 9, 1, 1, 0], 9),
        [2, None, 1, 1, 0],
        pd.Series([2, None, 1, 1, 0], dtype="Int64"),
        pd.Series([2, None, 1, 1, 0], dtype="Float32"),
        pl.Series([2, None, 1, 1, 0]),
        pa.chunked_array([[2, None, 1, 1, 0]]),
    ],
    ids=lambda labels: f"{type(labels).__module__}-{getattr(labels, 'dtype', '')}",
)
def test_masked_and_null_labels_are_missing_labels(labels):
    q = Queries(labels, sizes=[5], clicks=labels)
    np.testing.assert_array_equal(q.relevance, np.array([2, np.nan, 1, 1, 0], dtype=np.float32))
    np.testing.assert_array_equal(q.labels["clicks"], q.relevance)
    with pytest.raises(ValueError, match=r"weight\[1\] is nan: weights must be finite"):
        Queries(Y, sizes=[5], weight=labels)
    with pytest.raises(ValueError, match=r"scores\[1\] is nan: every score must be finite"):
        q.scores(labels)


@pytest.mark.parametrize(
    "dates",
    [
        np.arange(5).astype("M8[D]"),
        np.arange(5).astype("m8[s]"),
        pd.Series(pd.date_range("2026-01-01", periods=5, tz="UTC")),
        pl.Series([0, 1, 2, 3, 4]).cast(pl.Date),
        np.arange(5) * 1j,
    ],
    ids=lambda dates: f"{type(dates).__module__}-{dates.dtype}",
)
def test_dates_are_neither_labels_nor_scores(dates):
    for arguments in (
        {"relevance": dates},
        {"relevance": Y, "clicks": dates},
        {"relevance": Y, "weight": dates},
    ):
        with pytest.raises(TypeError, match="must be numbers, one per document: "):
            Queries(sizes=[5], **arguments)
    with pytest.raises(TypeError, match="scores must be numbers, one per document: "):
        Queries(Y, sizes=[5]).scores(dates)


def test_labels_below_0_are_no_gains():
    q = Queries([0.5, -1.0, np.nan], sizes=[3], clicks=[0, 0, -0.25], fresh=[0, 1, 2])
    for name, value in (("relevance", r"\[1\] is -1"), ("clicks", r"\[2\] is -0.25")):
        with pytest.raises(
            ValueError, match=f"^{name}{value}: labels must be ≥ 0, except for measures and obj"
        ):
            q.source(name)
        assert q.source(name, allow_negative=True) is q.labels[name]
    assert q.source("fresh").tolist() == [0, 1, 2]


def test_what_is_kept_beside_queries_is_bounded():
    """A search over thousands of settings must not fill the memory; what is dropped is computed again, not the rest."""
    q = Queries(Y, sizes=[3, 2])
    for key in range(REMEMBERED + 2):
        q.memo(key, lambda key=key: key)
    assert list(q._memo) == list(range(2, REMEMBERED + 2)) and q.memo(0, lambda: "again") == "again"


@pytest.mark.parametrize("rows", [[0, 1, 1], [0, 1], [0, 1, 3], [0, 1, -1], [[0, 1, 2]]])
def test_reordering_takes_each_row_once(rows):
    q = Queries([1, 2, 3], sizes=[3])
    with pytest.raises(ValueError, match="rows must hold each of 0 to 2 once"):
        q.reordered(np.array(rows))
    assert q.reordered(np.array([2, 0, 1])).relevance.tolist() == [3, 1, 2]


def test_wrong_choices():
    q = Queries(Y, sizes=[3, 2])
    with pytest.raises(ValueError, match="moves documents between queries"):
        q.reordered(np.array([4, 1, 2, 3, 0]))
    with pytest.raises(
        ValueError, match=r"no label source 'clicks' here, only relevance: .* by attach\(data, clicks=…\)$"
    ):
        q.source("clicks")


def test_columns_of_pandas_are_of_the_same_rows_in_the_same_order():
    """Rows are taken as they come; a column of the table before it was sorted would be of other rows."""
    y = pd.Series([0, 1, 2, 3], index=[3, 2, 1, 0])
    for name in ("ids", "clicks", "weight"):
        given = {"ids": [1, 1, 2, 2], name: pd.Series([1, 1, 1, 1])}
        with pytest.raises(
            ValueError, match=rf"^{name} has the rows of relevance in another order, by their index"
        ):
            Queries(y, **given)
    with pytest.warns(UserWarning, match="clicks has the row numbers of relevance in another order"):
        Queries(pd.Series([0, 1, 2, 3]), sizes=[4], clicks=y)
    with warnings.catch_warnings(action="error"):
        Queries(y.to_numpy(), sizes=[4], clicks=pd.Series([1, 0, 0, 0]))
