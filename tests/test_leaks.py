"""Features that give the labels away are named in a training, and others are not."""

import numpy as np
import pandas as pd
import pytest
import rankers
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from lambdaboost import Queries
from lambdaboost.datasets import web_search_log
from lambdaboost.leaks import leaks, warn_of_leaks

X, Q = web_search_log(queries=40, documents=20, features=16, seed=5)
X = X[:, :8]
CLICKS = Q.labels["clicks"]
LEAK = np.column_stack([X, -np.exp(CLICKS) * 3 - 7])


def with_leak(values):
    return np.column_stack([X, values])


def found(X, q=Q):
    return [(leak.column, leak.source, round(leak.value)) for leak in leaks(X, q)]


def test_a_feature_in_the_order_of_a_source_is_found_whatever_its_scale_and_sign():
    assert found(X) == []
    assert found(LEAK) == [(8, "clicks", -1)]
    assert found(sparse.csr_matrix(LEAK)) == [(8, "clicks", -1)]
    assert found(with_leak(Q.relevance**3)) == [(8, "relevance", 1)]
    shifted = CLICKS + 10.0 * Q.query_of_row  # another scale in each query
    assert found(with_leak(shifted)) == [(8, "clicks", 1)]
    assert found(with_leak(Q.query_of_row)) == [] and found(with_leak(np.full(len(X), np.nan))) == []
    missing = np.where(np.arange(CLICKS.size) % 3 == 0, np.nan, CLICKS)
    q = Queries(Q.relevance, Q.sizes, clicks=missing)
    assert found(with_leak(np.nan_to_num(missing, nan=-5)), q) == [(8, "clicks", 1)]


def test_the_correlation_is_spearmans_within_queries():
    """Of queries of one length, which pool to the mean, with ties."""
    rng = np.random.default_rng(1)
    grades = np.tile(np.arange(10) // 2, 20)
    noisy = grades + np.where(rng.random(200) < 0.1, 1, 0)
    (leak,) = leaks(noisy[:, None], Queries(grades, [10] * 20))
    each = [spearmanr(a, b)[0] for a, b in zip(np.split(noisy, 20), np.split(grades, 20), strict=True)]
    assert leak.value == pytest.approx(np.mean(each), abs=0.01) and leak.value < 0.999


def test_few_queries_may_agree_by_chance():
    for sizes in ([6] * 9, [2] * 30):
        y = np.tile([0, 1], sum(sizes) // 2)
        assert found(np.c_[y, y], Queries(y, sizes)) == []


def test_long_lists_and_large_data_are_sampled():
    y = np.random.default_rng(0).integers(0, 5, 200_000)
    rows = []

    class Rows:
        def __getitem__(self, chosen):
            rows.append(len(chosen))
            return y[chosen][:, None].astype(float)

    assert found(Rows(), Queries(y, [10_000] * 20)) == [(0, "relevance", 1)]
    assert max(rows) <= 2000  # 100 of each query


def test_rankers_warn_of_a_leak_and_of_nothing_else(engine):
    least = {"lightgbm": {"min_child_samples": 5}, "xgboost": {"min_child_weight": 0}}[engine]

    def fit(X, **more):
        rankers.ranker(engine, **least, **more).fit(X, Q.relevance, group=Q.sizes)

    message = r"feature 'f8' orders the documents of a query as the label source 'clicks' does, rank correlation -1\.0"
    with pytest.warns(UserWarning, match=message):
        fit(pd.DataFrame(LEAK).add_prefix("f").assign(clicks=CLICKS), sources=["clicks"])
    with pytest.warns(
        UserWarning, match=r"feature 8 \(counted from 0\) .*: drop it, unless it is known before"
    ):
        fit(with_leak(Q.relevance * 2.0))
    fit(X)  # warnings are errors


@pytest.mark.parametrize("seed", range(4))
def test_what_tells_the_bookings_is_found_under_grades_of_clicks_and_bookings(seed):
    """Grades 5/1/0: most queries have clicks and no booking, so that their mean correlation is low."""
    rng = np.random.default_rng(seed)
    clicked = np.zeros((400, 26))
    clicked[np.arange(400), rng.integers(0, 26, 400)] = 1
    clicked[rng.random((400, 26)) < 0.008] = 1
    booked = (clicked * (rng.random((400, 1)) < 0.15)).ravel()
    clicked = clicked.ravel()
    price = rng.lognormal(5, 0.5, clicked.size)
    paid, stars = np.where(booked > 0, price * 3, np.nan), np.round(rng.random(clicked.size) * 5)
    of_bookings = leaks(np.c_[price, booked, paid, stars], Queries(4 * booked + clicked, [26] * 400))
    assert [(leak.column, leak.least) for leak in of_bookings] == [(1, 5), (2, 5)]
    # Where only bookings are labels, most clicks tell them too.
    (leak,) = leaks(np.c_[clicked, price], Queries(booked, [26] * 400))
    assert leak.column == 0
    lists = zip(booked.reshape(400, 26), clicked.reshape(400, 26), strict=True)
    areas = [roc_auc_score(of_query, clicks) for of_query, clicks in lists if of_query.any()]
    assert leak.value == pytest.approx(np.mean(areas), abs=0.01)


@pytest.mark.parametrize("others", [1, 2])
def test_a_click_is_found_where_bookings_are_clicks(others):
    """Every booked document was clicked, and so were one or two others of 25: its rank correlation is .7 to .8."""
    rng = np.random.default_rng(others)
    booked, clicked = np.zeros((2, 200, 25))
    booked[:, 0] = clicked[:, : 1 + others] = 1
    rows = np.argsort(rng.random((200, 25)), axis=1)
    booked, clicked = (np.take_along_axis(one, rows, axis=1).ravel() for one in (booked, clicked))
    q = Queries(booked, [25] * 200)
    features = np.c_[rng.random(booked.size), clicked, booked + rng.normal(size=booked.size)]
    (leak,) = leaks(features, q)
    assert (leak.column, leak.least) == (1, 1) and leak.value == pytest.approx(1 - others / 24 / 2, abs=1e-3)
    with pytest.warns(UserWarning, match=r"feature 1 .* 'relevance' of 1 or more, area under the curve 0\.9"):
        warn_of_leaks(features, q)


def test_clicks_are_found_where_many_documents_are_clicked():
    """Every bought document and a quarter of the others; what some bought documents lack is no leak."""
    rng = np.random.default_rng(0)
    bought = np.zeros((200, 12))
    bought[:, 5] = 1
    clicked = np.maximum(bought, rng.random(bought.shape) < 0.25)
    most = clicked.copy()
    most[::10, 5] = 0
    lowest = -bought
    lowest[:4, 0] = -2  # in all but four queries
    features = np.c_[clicked.ravel(), most.ravel(), -clicked.ravel(), rng.random(bought.size), lowest.ravel()]
    assert [leak.column for leak in leaks(features, Queries(bought.ravel(), [12] * 200))] == [0, 2, 4]
