"""Signals, forks and two trainings at once: no interrupt lost, no deadlock, and the models of each training alone."""

import os
import random
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numba
import pytest
from trainings import GROUP, X, Y, ran, train

from lambdaboost import Blend, LambdaRank, Linear, Queries, RankNet

pytestmark = pytest.mark.slow
ENGINES = (["lightgbm"], ["xgboost"])
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


class Stop(Exception):
    pass


def interrupted(engine, threads, times):
    """How many signals were lost, and how many later models are wrong."""

    came = []

    def stop(*_):
        came.append(kind)
        raise kind

    signal.signal(signal.SIGALRM, stop)
    whole, begun = train(engine, rounds=20, threads=threads), time.perf_counter()
    train(engine, rounds=20, threads=threads)
    took, draw, lost, wrong = time.perf_counter() - begun, random.Random(1), 0, 0
    for at in range(times):
        kind = (KeyboardInterrupt, Stop)[at % 2]
        came.clear()
        try:
            signal.setitimer(signal.ITIMER_REAL, took * draw.uniform(0.2, 1.0))
            train(engine, rounds=400, threads=threads)
            signal.setitimer(signal.ITIMER_REAL, 0)  # where another process had slowed down what was timed
            lost += bool(came)
        except kind:
            pass
        if at % 10 == 0:
            wrong += train(engine, rounds=20, threads=threads) != whole
    return lost, wrong


def test_of_a_hundred_interrupts_one_is_lost_at_most(times=200):
    """A Python function that ctypes calls loses what a signal's handler raises at its first instruction: a quarter."""
    calls = [(*engine, threads, times) for engine in ENGINES for threads in (1, 2)]
    found = ran(interrupted, *calls, refused=())
    assert sum(lost for lost, _ in found) <= times * len(calls) / 100
    assert all(wrong == 0 for _, wrong in found)


OBJECTIVES = [Blend(LambdaRank(), RankNet(), Linear(0.1, 0.05)), LambdaRank()]


def model(engine, which, threads):
    return train(engine, OBJECTIVES[which], 12, threads=threads)


def in_turn(engine, threads):
    return [model(engine, which, threads) for which in (0, 1)]


def at_once(pool, engine, threads):
    with pool:
        jobs = [pool.submit(model, engine, which, threads) for which in (0, 1)]
        return [job.result(timeout=600) for job in jobs]


def forks():
    return ProcessPoolExecutor(2, mp_context=get_context("fork"))


def used_threads():
    return numba.get_num_threads(), sum(
        thread.name.startswith("lambdaboost_") for thread in threading.enumerate()
    )


def threads_after_a_gradient():
    LambdaRank().gradient(X[:, 0], Queries(Y, sizes=GROUP))
    return used_threads()[1]


def limited(engine):
    numba.set_num_threads(1)
    return model(engine, 0, 2), numba.get_num_threads()


def trained_in_threads(engine):
    alone, before = in_turn(engine, 2), used_threads()
    together = at_once(ThreadPoolExecutor(2), engine, 2)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.submit(limited, engine), pool.submit(model, engine, 1, 2)
        (first, number), second = one.result(), other.result()
    same = together == [first, second] == alone and alone[0] != alone[1]
    return same, number, before, used_threads()


def test_in_threads():
    """Numba's number of threads, which each thread has for itself, stays as it was set; a pool of two does the work."""
    found = ran(trained_in_threads, *ENGINES, NUMBA_NUM_THREADS="2")
    assert found == [[True, 1, [2, 1], [2, 1]]] * 2


def trained_in_forks(engine):
    q, done = Queries(Y, sizes=GROUP), threading.Event()

    def gradients():
        while not done.is_set():
            LambdaRank().gradient(X[:, 0], q)

    before_anything = at_once(forks(), engine, 2), used_threads()[1]
    threads = [threads_after_a_gradient()]
    after_a_gradient = at_once(forks(), engine, 2)
    with forks() as pool:
        threads.append(pool.submit(threads_after_a_gradient).result(timeout=600))
    one_thread = in_turn(engine, 1)
    after_a_training = at_once(forks(), engine, 1)
    working = [threading.Thread(target=gradients) for _ in range(2)]
    for thread in working:
        thread.start()
    during_gradients = [at_once(forks(), engine, 1) for _ in range(2)]
    done.set()
    for thread in working:
        thread.join()
    two_threads = in_turn(engine, 2)
    after_several_threads = at_once(forks(), engine, 1)
    on_one = [after_a_training, *during_gradients, after_several_threads]
    same = on_one == [one_thread] * 4 and before_anything[0] == after_a_gradient == two_threads
    return same, one_thread[0] != one_thread[1], before_anything[1], threads, used_threads()[0]


@FORKS
def test_in_forks(engine):
    """A fork has none of its parent's threads, and its locks as they just were.

    Neither engine trains on several threads in a fork of a process where it has done so, whatever the objective
    (OpenMP's own threads are gone); on one it does.
    """
    assert ran(trained_in_forks, [engine], NUMBA_NUM_THREADS="2") == [[True, True, 0, [1, 1], 2]]
