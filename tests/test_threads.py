"""The number of threads: whose setting holds, and that nobody else's is touched. Each case is a fresh process."""

import ctypes
import importlib
import threading

import numpy as np
import pytest
from trainings import GROUP, X, Y, ran

from lambdaboost import NDCG, LambdaRank, Queries, _jit
from lambdaboost._jit import threads, using
from lambdaboost.objectives import Objective


def openmp():
    """omp_get_max_threads() of every OpenMP runtime in this process."""
    from threadpoolctl import threadpool_info

    paths = [one["filepath"] for one in threadpool_info() if one["user_api"] == "openmp"]
    return {path: ctypes.CDLL(path).omp_get_max_threads() for path in paths}


def openmp_around_a_gradient(*imported):
    for name in imported:
        importlib.import_module(name)
    before = openmp()
    LambdaRank().gradient(X[:, 0], Queries(Y, sizes=GROUP))
    after_gradient = openmp()
    NDCG(k=10)(X[:, 0], Queries(Y, sizes=GROUP))
    importlib.import_module("lightgbm"), importlib.import_module("xgboost")
    return before, after_gradient, openmp()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("omp", "order"),
    [
        ("1", ["lightgbm", "xgboost"]),
        ("3", ["xgboost", "lightgbm"]),
        ("1", []),
        (None, ["sklearn", "lightgbm"]),
    ],
)
def test_openmp_keeps_its_number_of_threads(omp, order):
    """With OMP_NUM_THREADS=1 LightGBM was twenty times slower after the first gradient, under any objective."""
    environment = {"OMP_NUM_THREADS": omp} if omp else {}
    ((before, after_gradient, after_all),) = ran(openmp_around_a_gradient, order, **environment)
    assert after_gradient == {**after_gradient, **before}
    assert after_all == {**after_all, **after_gradient}
    assert after_all
    if omp:
        assert set(after_all.values()) == {int(omp)}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NUMBA_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"}, 3),
        ({"LOKY_MAX_CPU_COUNT": "1", "OMP_NUM_THREADS": "many"}, 1),
        pytest.param({"OMP_NUM_THREADS": "5"}, 5, marks=pytest.mark.slow),
        pytest.param({"LOKY_MAX_CPU_COUNT": "1"}, 1, marks=pytest.mark.slow),
    ],
)
def test_environment_sets_the_number(environment, expected):
    assert ran(threads, [], **environment) == [expected]


def test_using_sets_the_number_inside():
    outside = threads()
    with using(5):
        with using(None):
            assert threads() == 5
        with using(2):
            assert threads() == 2
        assert threads() == 5
    assert threads() == outside


SEEN = []


class WatchedRank(Objective, registered=False):
    objective: Objective = LambdaRank()

    def lambdas(self, scores, q, iteration):
        SEEN.append(threads())
        return self.objective.on(q)(scores, iteration)


class WatchedNDCG(NDCG, registered=False):
    def values(self, scores, q):
        SEEN.append(threads())
        return super().values(scores, q)


def stock_lightgbm(**params):
    import lightgbm as lgb

    data = lgb.Dataset(X, Y, group=GROUP, params={"verbose": -1})
    given = params | {"objective": WatchedRank(), "verbose": -1, "metric": "None"}
    lgb.train(given, data, 1, valid_sets=[data], feval=WatchedNDCG())


def stock_lgbm_ranker(**params):
    import lightgbm as lgb

    lgb.LGBMRanker(objective=WatchedRank(), n_estimators=1, verbose=-1, **params).fit(X, Y, group=GROUP)


def stock_xgboost(**params):
    import xgboost as xgb

    data = xgb.DMatrix(X, Y, group=GROUP)
    given = params | {"objective": "rank:ndcg", "disable_default_eval_metric": True}
    metric = {"custom_metric": WatchedNDCG(), "evals": [(data, "train")], "verbose_eval": False}
    xgb.train(given, data, 1, obj=WatchedRank(), **metric)


def numbers_of_threads(name, params):
    """Those inside a training, and those of a gradient after it."""
    SEEN.clear()
    globals()[name](**params)
    inside = sorted(set(SEEN))
    SEEN.clear()
    WatchedRank().gradient(X[:, 0], Queries(Y, sizes=GROUP))
    return inside, sorted(set(SEEN))


TRAININGS = [
    ("stock_lightgbm", {"num_threads": 3}, 3),
    ("stock_lightgbm", {"nthread": 4, "num_threads": 3}, 3),
    ("stock_lgbm_ranker", {"n_jobs": 3}, 3),
    ("stock_lightgbm", {}, 2),
    ("stock_xgboost", {"nthread": 3}, 3),
    ("stock_xgboost", {}, 2),
]


@pytest.mark.slow
def test_engine_sets_the_number_while_it_trains():
    found = ran(numbers_of_threads, *[row[:2] for row in TRAININGS], OMP_NUM_THREADS="2")
    assert found == [[[expected], [2]] for _, _, expected in TRAININGS]


def test_gradient_where_no_thread_can_be_started(monkeypatch):
    q = Queries(Y, sizes=GROUP)
    wanted = LambdaRank().gradient(X[:, 0], q)

    class Full(threading.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_jit, "Thread", Full)
    monkeypatch.setattr(_jit, "_pools", {})
    with using(4):
        np.testing.assert_array_equal(LambdaRank().gradient(X[:, 0], q), wanted)


def test_an_error_in_any_block_is_raised():
    def fails_late(first, last, offsets):
        if last == offsets.size - 1:
            raise ZeroDivisionError(f"block {first}:{last}")

    with using(3), pytest.raises(ZeroDivisionError, match="block"):
        _jit.over_queries(fails_late, np.arange(0, 6001, 60))
