"""Features that give the labels away are named in a training, and others are not."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import rankdata

from lambdaboost import Queries, lightgbm, xgboost
from lambdaboost import leaks as module
from lambdaboost.datasets import click_rate, read_letor, web_search_log
from lambdaboost.leaks import leaks

X, Q = web_search_log(queries=40, documents=20, features=16, seed=5)
X = X[:, :8]
CLICKS = Q.labels["clicks"]
NAMES = [f"f{i}" for i in range(9)]


def with_leak(values):
    return np.column_stack([X, values])


def found(X, q=Q, names=None):
    return [(leak.feature, leak.source, round(leak.correlation)) for leak in leaks(X, q, names)]


LEAK = with_leak(-np.exp(CLICKS) * 3 - 7)


def test_a_feature_in_the_order_of_a_source_is_found_whatever_its_scale_and_sign():
    assert found(X) == []
    assert found(LEAK) == [("feature 8 (counted from 0)", "clicks", -1)]
    assert found(with_leak(Q.relevance**3)) == [("feature 8 (counted from 0)", "relevance", 1)]
    shifted = CLICKS + 10.0 * Q.query_of_row  # another scale in each query
    assert found(with_leak(shifted)) == [("feature 8 (counted from 0)", "clicks", 1)]
    assert found(with_leak(Q.query_of_row)) == [] and found(with_leak(np.full(len(X), np.nan))) == []


@pytest.mark.parametrize(
    "of",
    [
        sparse.csr_matrix,
        lambda X: pd.DataFrame(X, columns=NAMES).assign(host="a"),
        lambda X: pd.DataFrame(X, columns=NAMES).astype({"f3": "Float64"}),
        lambda X: pl.DataFrame(X, schema=NAMES),
        lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    ],
    ids=["csr", "pandas", "nullable", "polars", "pyarrow"],
)
def test_every_kind_of_features(of):
    name = "feature 'f8'" if hasattr(of(LEAK), "columns") else "feature 8 (counted from 0)"
    assert found(of(LEAK)) == [(name, "clicks", -1)]
    assert found("features.txt") == []


def test_the_correlation_is_spearmans_within_queries():
    """Of all rows, where there are no more than are looked at."""
    few = Q.take(np.arange(30))
    noisy = CLICKS[: few.n_documents] + np.random.default_rng(1).normal(size=few.n_documents) * 0.02
    sides = []
    for values in (noisy, few.labels["clicks"]):
        parts = [rankdata(part) for part in np.split(values, few.offsets[1:-1])]
        sides.append(np.concatenate([(part - part.mean()) / part.size for part in parts]))
    differ = np.repeat([np.ptp(p) > 0 for p in np.split(few.labels["clicks"], few.offsets[1:-1])], few.sizes)
    a, b = (side[differ] for side in sides)
    query = few.query_of_row[differ]
    mine = [module._centred_ranks(v[differ][:, None], query)[:, 0] for v in (noisy, few.labels["clicks"])]
    np.testing.assert_allclose(mine, [a, b], atol=1e-12)


def test_few_queries_may_agree_by_chance():
    for sizes in ([6] * 9, [2] * 30):
        n = sum(sizes)
        y = np.tile([0, 1], n // 2)
        assert found(np.c_[y, y], Queries(y, sizes)) == []


def test_missing_labels_are_left_out():
    clicks = np.where(np.arange(CLICKS.size) % 3 == 0, np.nan, CLICKS)
    q = Queries(Q.relevance, Q.sizes, clicks=clicks)
    assert found(with_leak(np.nan_to_num(clicks, nan=-5)), q) == [("feature 8 (counted from 0)", "clicks", 1)]


def test_long_lists_and_large_data_are_sampled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 200_000)
    q = Queries(y, sizes=[10_000] * 20)
    rows = []

    class Rows:
        format = "csr"

        def __getitem__(self, chosen):
            rows.append(len(chosen))
            return sparse.csr_matrix(y[chosen][:, None].astype(float))

    assert found(Rows(), q) == [("feature 0 (counted from 0)", "relevance", 1)]
    assert max(rows) <= 2000  # 100 of each query


RANKERS = {
    "lightgbm": lightgbm.LambdaRanker(n_estimators=2, verbose=-1, min_child_samples=5, n_jobs=1),
    "xgboost": xgboost.LambdaRanker(n_estimators=2, min_child_weight=0, n_jobs=1),
}


@pytest.mark.parametrize("engine", RANKERS)
def test_rankers_warn_of_a_leak_and_of_nothing_else(engine):
    def fit(X):
        RANKERS[engine].fit(X, Q.relevance, group=Q.sizes, sources={"clicks": CLICKS})

    message = r"feature 'f8' orders the documents of a query as the label source 'clicks' does, rank correlation -1\.0"
    for of in (pd.DataFrame(LEAK, columns=NAMES), pa.table(dict(zip(NAMES, LEAK.T, strict=True)))):
        with pytest.warns(UserWarning, match=message):
            fit(of)
    with pytest.warns(
        UserWarning, match=r"feature 8 \(counted from 0\) .*: drop it, unless it is known before"
    ):
        fit(LEAK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X)


def test_the_dwell_time_of_mslr_gives_its_clicks_away(data):
    """Features 135 and 136 of the text, in columns 134 and 135: the README once left the second among the features."""
    c = read_letor(data / "mslr_web30k_sample" / "train.txt.xz")
    q = c.queries.with_source("clicks", click_rate(c.features[:, 134], c.queries))
    c = c.without_features([134])
    assert found(c.features, q) == [("feature 134 (counted from 0)", "clicks", 1)]
    assert found(c.without_features([134]).features, q) == []


def nested(queries, seed):
    """Clicks and the bookings among them, as a booking site logs them: 26 documents, about 1.2 clicks, 60 % booked."""
    rng = np.random.default_rng(seed)
    clicked = np.zeros((queries, 26))
    clicked[np.arange(queries), rng.integers(0, 26, queries)] = 1
    clicked[rng.random((queries, 26)) < 0.008] = 1
    booked = clicked * (rng.random((queries, 26)) < 0.6)
    return clicked.ravel(), booked.ravel(), [26] * queries


@pytest.mark.parametrize("seed", range(8))
def test_a_feature_of_which_the_label_is_a_part_is_found_in_each_sample(seed):
    clicked, booked, sizes = nested(400, seed)
    other = np.random.default_rng(seed).random(clicked.size)
    frame = pd.DataFrame({"price": other, "click_bool": clicked, "stars": np.round(other * 5)})
    assert [leak.feature for leak in leaks(frame, Queries(booked, sizes))] == ["feature 'click_bool'"]


@pytest.mark.parametrize("seed", range(4))
def test_what_tells_the_bookings_is_found_under_grades_of_clicks_and_bookings(seed):
    """Grades 5/1/0: most queries have clicks and no booking, so that their mean correlation is low."""
    clicked, booked, sizes = nested(400, seed)
    booked *= np.repeat(np.random.default_rng(seed).random(400) < 0.2, 26)
    price = np.random.default_rng(seed).lognormal(5, 0.5, clicked.size)
    frame = pd.DataFrame(
        {
            "price_usd": price,
            "booking_bool": booked,
            "gross_bookings_usd": np.where(booked > 0, price * 3, np.nan),
            "stars": np.round(np.random.default_rng(seed).random(clicked.size) * 5),
        }
    )
    q = Queries(4 * booked + clicked, sizes)
    leaking = {"feature 'booking_bool'", "feature 'gross_bookings_usd'"}
    assert {leak.feature for leak in leaks(frame, q)} == leaking
    assert all("of 5 or more" in str(leak) for leak in leaks(frame, q))
    by_number = leaks(frame.to_numpy(), q, list(frame))
    assert {leak.feature for leak in by_number} == leaking
    with pytest.warns(UserWarning, match="booking") as warned:
        RANKERS["lightgbm"].fit(frame, q.relevance, group=sizes)
    assert len([one for one in warned if "tells which documents" in str(one.message)]) == 2


def test_errors_are_not_hidden(monkeypatch):
    monkeypatch.setattr("lambdaboost.leaks._numbers", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        RANKERS["lightgbm"].fit(LEAK, Q.relevance, group=Q.sizes)


def test_a_part_of_which_few_others_are_no_member_is_named_with_its_share():
    clicked, booked, sizes = nested(400, 0)
    many = np.maximum(clicked, np.random.default_rng(3).random(clicked.size) < 0.1)
    (leak,) = leaks(many[:, None], Queries(booked, sizes))
    assert abs(leak.correlation) < 0.95 and 0.05 < leak.others < 0.2
    assert "is there for all documents with a label 'relevance' of 1 or more" in str(leak)
    in_stock = np.maximum(clicked, np.random.default_rng(3).random(clicked.size) < 0.9)
    assert leaks(in_stock[:, None], Queries(booked, sizes)) == []
