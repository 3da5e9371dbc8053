"""The number of threads: whose setting holds, and that nobody else's is touched. Each case is a fresh process."""

import json
import os

import numpy as np
import pytest
from child import printed

from lambdaboost import LambdaRank, Queries, _jit
from lambdaboost._threads import threads, using

PRELUDE = """
import ctypes, json, sys
from threadpoolctl import threadpool_info


def openmp():
    \"\"\"omp_get_max_threads() of every OpenMP runtime in this process.\"\"\"
    paths = [one["filepath"] for one in threadpool_info() if one["user_api"] == "openmp"]
    return {path: ctypes.CDLL(path).omp_get_max_threads() for path in paths}


def made():
    import numpy as np
    from lambdaboost import Queries

    rng = np.random.default_rng(0)
    return rng.normal(size=6000), Queries(rng.integers(0, 5, 6000), sizes=[60] * 100)
"""
SETTINGS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "LOKY_MAX_CPU_COUNT")


def ran(code, *arguments, **environment):
    """What a new process prints as JSON, none of the settings there but the given ones."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return printed("-W", "error", "-c", PRELUDE + code, *arguments, env=kept | environment)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("omp", "order"),
    [("1", "lightgbm xgboost"), ("3", "xgboost lightgbm"), ("1", "lambdaboost"), (None, "sklearn lightgbm")],
)
def test_openmp_keeps_its_number_of_threads(omp, order):
    """With OMP_NUM_THREADS=1 LightGBM was twenty times slower after the first gradient, under any objective."""
    code = """
import importlib
for name in sys.argv[1].split():
    importlib.import_module(name)
before = openmp()
scores, q = made()
from lambdaboost import LambdaRank, NDCG
LambdaRank().gradient(scores, q)
after_gradient = openmp()
NDCG(k=10)(scores, q)
import lightgbm, xgboost
print(json.dumps([before, after_gradient, openmp()]))
"""
    before, after_gradient, after_all = ran(code, order, **({"OMP_NUM_THREADS": omp} if omp else {}))
    assert after_gradient == {**after_gradient, **before}
    assert after_all == {**after_all, **after_gradient}
    assert after_all
    if omp:
        assert set(after_all.values()) == {int(omp)}


COUNT = """
import os
from lambdaboost import _threads
print(json.dumps(_threads.threads()))
"""


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NUMBA_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"}, 3),
        ({"OMP_NUM_THREADS": "5"}, 5),
        ({"LOKY_MAX_CPU_COUNT": "1"}, 1),
        ({"LOKY_MAX_CPU_COUNT": "1", "OMP_NUM_THREADS": "many"}, 1),
    ],
)
def test_environment_sets_the_number(environment, expected):
    assert ran(COUNT, **environment) == expected


def test_using_sets_the_number_inside():
    outside = threads()
    with using(5):
        with using(None):
            assert threads() == 5
        with using(2):
            assert threads() == 2
        assert threads() == 5
    assert threads() == outside


TRAINED = """
import numpy as np
from lambdaboost import LambdaRank, NDCG, _jit

seen, count = [], _jit.threads
_jit.threads = lambda: seen.append(count()) or seen[-1]
scores, q = made()
X, y = np.stack([scores, scores**2], axis=1), q.relevance


def stock_lightgbm(**params):
    import lightgbm as lgb

    data = lgb.Dataset(X, y, group=q.sizes, params={"verbose": -1})
    given = params | {"objective": LambdaRank(), "verbose": -1, "metric": "None"}
    lgb.train(given, data, 1, valid_sets=[data], feval=NDCG())


def stock_lgbm_ranker(**params):
    import lightgbm as lgb

    lgb.LGBMRanker(objective=LambdaRank(), n_estimators=1, verbose=-1, **params).fit(X, y, group=q.sizes)


def stock_xgboost(**params):
    import xgboost as xgb

    data = xgb.DMatrix(X, y, group=q.sizes)
    given = params | {"objective": "rank:ndcg", "disable_default_eval_metric": True}
    metric = {"custom_metric": NDCG(), "evals": [(data, "train")], "verbose_eval": False}
    xgb.train(given, data, 1, obj=LambdaRank(), **metric)


found = []
for function, params in json.loads(sys.argv[1]):
    seen.clear()
    globals()[function](**params)
    inside = sorted(set(seen))
    seen.clear()
    LambdaRank().gradient(scores, q)
    found.append([inside, sorted(set(seen))])
print(json.dumps(found))
"""
LIGHTGBM = [
    ("stock_lightgbm", {"num_threads": 3}, 3),
    ("stock_lightgbm", {"nthread": 4, "num_threads": 3}, 3),
    ("stock_lgbm_ranker", {"n_jobs": 3}, 3),
    ("stock_lightgbm", {}, 2),
]
XGBOOST = [
    ("stock_xgboost", {"nthread": 3}, 3),
    ("stock_xgboost", {}, 2),
]


@pytest.mark.slow
@pytest.mark.parametrize("cases", [LIGHTGBM, XGBOOST], ids=["lightgbm", "xgboost"])
def test_engine_sets_the_number_while_it_trains(cases):
    found = ran(TRAINED, json.dumps([case[:2] for case in cases]), OMP_NUM_THREADS="2")
    assert found == [[[expected], [2]] for _, _, expected in cases]


def test_gradient_where_no_thread_can_be_started(monkeypatch):
    rng = np.random.default_rng(0)
    scores, q = rng.normal(size=6000), Queries(rng.integers(0, 5, 6000), sizes=[60] * 100)
    wanted = LambdaRank().gradient(scores, q)

    class Full:
        def submit(self, work):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_jit, "_pool", lambda threads: Full())
    with using(4):
        np.testing.assert_array_equal(LambdaRank().gradient(scores, q), wanted)


def test_an_error_in_any_block_is_raised():
    def fails_late(first, last, offsets):
        if last == offsets.size - 1:
            raise ZeroDivisionError(f"block {first}:{last}")

    with using(3), pytest.raises(ZeroDivisionError, match="block"):
        _jit.over_queries(fails_late, np.arange(0, 6001, 60))
