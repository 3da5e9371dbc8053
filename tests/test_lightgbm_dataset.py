"""`lambdaboost.lightgbm.Dataset`: queries, sources and gaps, through subsets and validation sets."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from lightgbm_data import PARAMS, Q_VALID, Q, X, dataset, valid

from lambdaboost.calls.data import queries_of
from lambdaboost.lightgbm import Dataset

CLICKS = Q.labels["clicks"]
QID = 100 - Q.query_of_row


def labels_of(data):
    return queries_of(data.construct()).labels


@pytest.mark.parametrize(
    "sources",
    [{"clicks": CLICKS}, {"clicks": list(map(float, CLICKS))}, pd.DataFrame({"clicks": CLICKS})],
    ids=["array", "list", "frame"],
)
def test_sources_and_qid_are_found(sources):
    data = Dataset(X, Q.relevance, qid=QID, sources=sources, params=PARAMS)
    q = queries_of(data.construct())
    assert list(q.labels) == ["relevance", "clicks"]
    np.testing.assert_array_equal(q.labels["clicks"], CLICKS)
    np.testing.assert_array_equal(q.offsets, Q.offsets)


def test_gaps_in_the_label_stay_gaps():
    y = Q.relevance.copy()
    y[[1, 7]] = np.nan
    data = Dataset(pd.DataFrame(X), pd.Series(y), group=Q.sizes, params=PARAMS, free_raw_data=False)
    np.testing.assert_array_equal(labels_of(data)["relevance"], y)
    assert data.get_label()[1] == 0
    other = dataset(params=PARAMS).construct()
    data.set_reference(other)  # makes LightGBM construct it again, from the label that it kept
    np.testing.assert_array_equal(labels_of(data)["relevance"], y)
    data.set_label(Q.relevance)
    np.testing.assert_array_equal(labels_of(data)["relevance"], Q.relevance)


@pytest.mark.parametrize("constructed", [False, True])
def test_subsets_of_subsets(constructed):
    y = Q.relevance.copy()
    y[Q.offsets[4]] = np.nan
    data = Dataset(X, y, group=Q.sizes, sources={"clicks": CLICKS}, weight=np.arange(len(X)), params=PARAMS)
    if constructed:
        data.construct()
    one = Q.rows_of(np.arange(2, 20))
    two = np.arange(one.size)[Q.take(np.arange(2, 20)).rows_of([1, 2, 5])]
    part = data.subset(one.tolist()).subset(two.tolist())
    q = queries_of(part.construct())
    rows = one[two]
    np.testing.assert_array_equal(q.relevance, y[rows])
    np.testing.assert_array_equal(q.labels["clicks"], CLICKS[rows])
    np.testing.assert_array_equal(q.weight, rows)
    np.testing.assert_array_equal(q.sizes, Q.sizes[[3, 4, 7]])


def test_validation_sets_and_their_subsets():
    data = dataset(params=PARAMS)
    made = valid(data)
    assert isinstance(made, Dataset)
    assert made.reference is data
    np.testing.assert_array_equal(
        labels_of(made.subset(range(Q_VALID.sizes[0])))["clicks"], made.sources["clicks"][: Q_VALID.sizes[0]]
    )
    assert data.create_valid(X).sources == {}


def test_sources_of_a_stock_dataset_are_an_attribute():
    data = lgb.Dataset(X, Q.relevance, group=Q.sizes, params=PARAMS)
    data.sources = {"clicks": CLICKS}
    np.testing.assert_array_equal(labels_of(data)["clicks"], CLICKS)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"qid": np.roll(QID, 3)}, ValueError, r"qid has query 71 in two places.*sort the rows"),
        ({"qid": QID, "group": Q.sizes}, ValueError, "group and qid are both given"),
        (
            {"sources": {"clicks": CLICKS[:5]}},
            ValueError,
            r"sources\['clicks'\] has 5 rows, data has \d+: give one label per document",
        ),
        ({"sources": {"relevance": CLICKS}}, ValueError, "what label= gives"),
        ({"sources": {"weight": CLICKS}}, ValueError, "label source cannot be called 'weight'"),
        ({"sources": {3: CLICKS}}, TypeError, "label source needs a name of type str, got 3"),
        ({"sources": CLICKS}, TypeError, "sources is a ndarray: give a dict"),
        ({"sources": {"clicks": CLICKS + np.inf}}, ValueError, r"sources\['clicks'\]\[\d+\] is inf"),
        ({"label": Q.relevance + np.inf}, ValueError, "labels must be finite"),
    ],
)
def test_wrong_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        Dataset(X, **{"label": Q.relevance} | arguments)


@pytest.mark.parametrize("kind", ["Categorical", "String"])
@pytest.mark.parametrize("to", ["polars", "pyarrow"])
def test_columns_that_would_end_the_process_are_refused(to, kind):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {"a": X[:, 0], "b": X[:, 0] > 0, "city": ["u", "v"] * (len(X) // 2) + ["u"] * (len(X) % 2)}
    )
    frame = frame.with_columns(pl.col("city").cast(getattr(pl, kind)))
    frame, plain = (f if to == "polars" else f.to_arrow() for f in (frame, frame.drop("city")))
    with pytest.raises(TypeError, match=f"data has the column 'city' of {kind}, which LightGBM cannot read"):
        Dataset(frame, Q.relevance, group=Q.sizes)
    if to == "pyarrow" and lgb.__version__ < "4.7":
        pytest.importorskip("cffi")  # which older versions read pyarrow with
    assert Dataset(plain, Q.relevance, group=Q.sizes, params=PARAMS).construct().num_data() == len(X)
