"""The number of threads: whose setting holds, and that nobody else's is touched. Each case is a fresh process."""

import threading

import numba
import numpy as np
import pytest
from trainings import GROUP, X, Y, ran, train

from lambdaboost import NDCG, LambdaRank, Queries, _jit
from lambdaboost._jit import threads, using
from lambdaboost.objectives import Objective


def layer_after_a_gradient():
    q = Queries(Y, sizes=GROUP)
    LambdaRank().gradient(X[:, 0], q)
    NDCG(k=10)(X[:, 0], q)
    try:
        return numba.threading_layer()
    except ValueError as error:
        return str(error)


def test_numbas_threading_layer_is_not_started():
    """It would set OpenMP's number of threads, which engines share: LightGBM was twenty times slower afterwards."""
    assert ran(layer_after_a_gradient, []) == ["Threading layer is not initialized."]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"NUMBA_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"}, 3),
        ({"LOKY_MAX_CPU_COUNT": "1", "OMP_NUM_THREADS": "many"}, 1),
        pytest.param({"OMP_NUM_THREADS": "5"}, 5, marks=pytest.mark.slow),
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


def numbers_of_threads(engine, given):
    """Those inside a training, and those of a gradient after it; 0 is the engine's default."""
    SEEN.clear()
    train(engine, WatchedRank(), 1, measure=WatchedNDCG(), threads=given)
    inside = sorted(set(SEEN))
    SEEN.clear()
    WatchedRank().gradient(X[:, 0], Queries(Y, sizes=GROUP))
    return inside, sorted(set(SEEN))


@pytest.mark.slow
def test_engine_sets_the_number_while_it_trains():
    calls = [(engine, given) for engine in ("lightgbm", "xgboost") for given in (3, 0)]
    found = ran(numbers_of_threads, *calls, OMP_NUM_THREADS="2")
    assert found == [[[given or 2], [2]] for _, given in calls]


def test_gradient_where_no_thread_can_be_started(monkeypatch):
    q = Queries(Y, sizes=GROUP)
    wanted = LambdaRank().gradient(X[:, 0], q)

    class Full(threading.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_jit, "Thread", Full)
    _jit._pool.cache_clear()
    with using(4):
        np.testing.assert_array_equal(LambdaRank().gradient(X[:, 0], q), wanted)
    _jit._pool.cache_clear()


def test_an_error_in_any_block_is_raised():
    def fails_late(first, last, offsets):
        if last == offsets.size - 1:
            raise ZeroDivisionError(f"block {first}:{last}")

    with using(3), pytest.raises(ZeroDivisionError, match="block"):
        _jit.over_queries(fails_late, np.arange(0, 6001, 60))
