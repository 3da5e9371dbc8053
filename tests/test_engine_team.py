"""Kernels on the threads of the engine that calls: same bits, nothing left behind. Each case is a process of its own.

Most of a process is imports, so both engines train in it, one after the other.
"""

import os
import sys
from functools import cache

import pytest
from child import printed

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the pool does the work here")

PRELUDE = """
import json, os, sys, threading
import numpy as np
from lambdaboost import NDCG, LambdaRank, _jit
from lambdaboost.callback import booster_state, calling_booster
from lambdaboost._threads import using
from trainings import Calls, train
"""


EACH_ENGINE = """
import contextlib, io, json, sys

found = {}
for engine in ("lightgbm", "xgboost"):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(sys.argv[1], {"ENGINE": engine})
    found[engine] = json.loads(printed.getvalue().splitlines()[-1])
    sys.modules["lambdaboost._jit"]._pools.clear()
print(json.dumps(found))
"""


@cache
def of_both(code, **environment):
    """What a new process prints as JSON for each engine."""
    given = {
        name: value
        for name, value in os.environ.items()
        if name not in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    }
    return printed("-c", EACH_ENGINE, PRELUDE + code, env=given | environment, refused=["ignored"])


def ran(engine, code, **environment):
    """What the code prints for an engine."""
    return of_both(code, **environment)[engine]


ENGINE = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


@ENGINE
def test_objective_and_measure_run_on_the_engines_threads(engine):
    """As many threads as the engine has, no others, and the bits of one thread."""
    code = """
helpers = []


def threads_of_a_region(scores, data):
    names = set()
    both = threading.Event()

    def block(first, last, offsets):
        names.add(threading.get_native_id())
        if len(names) > 1:
            both.set()
        both.wait(60)  # a thread cannot take all blocks before the other has come

    with using(*booster_state(calling_booster()).threads):
        _jit.over_queries(block, np.arange(0, 6001, 100))
    helpers.append(sorted(names))
    return LambdaRank()(scores, data)


on_two = train(ENGINE, Calls(threads_of_a_region), measure=NDCG(3))
started = sorted(_jit._pools)
on_one = train(ENGINE, threads=1)
print(json.dumps([[len(names) for names in helpers], len(set(map(tuple, helpers))), started,
                  on_two == on_one]))
"""
    sizes, different, started, same = ran(engine, code)
    assert sizes == [2] * 5 and different == 1  # the same two in every round
    assert started == [] and same


@ENGINE
def test_small_stacks_are_not_used(engine):
    code = """
train(ENGINE, rounds=2)
print(json.dumps(sorted(_jit._pools)))
"""
    assert ran(engine, code, OMP_STACKSIZE="256k") == [2]


@ENGINE
def test_an_error_on_any_thread_and_an_interruption_end_the_training(engine):
    """One after the other, and a training after each; Ctrl-C inside a kernel is like anywhere else."""
    code = """
import signal, time


def stopped_by(expected, act):
    def fails(scores, data):
        def block(first, last, offsets):
            act(last == offsets.size - 1)

        with using(*booster_state(calling_booster()).threads):
            _jit.over_queries(block, np.arange(0, 6001, 100))

    try:
        train(ENGINE, Calls(fails))
    except expected as raised:
        return str(raised), bool(train(ENGINE, rounds=2))
    return "nothing", False


def raises(error):
    def act(last):
        if last:
            raise error("in the last block")

    return act


def interrupts(last):
    if threading.current_thread() is threading.main_thread():
        signal.raise_signal(signal.SIGINT)
    time.sleep(0.01)


print(json.dumps([
    stopped_by(ZeroDivisionError, raises(ZeroDivisionError)),
    stopped_by(KeyboardInterrupt, raises(KeyboardInterrupt)),
    stopped_by(KeyboardInterrupt, interrupts),
]))
"""
    assert ran(engine, code) == [["in the last block", True], ["in the last block", True], ["", True]]


@ENGINE
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_uses_the_pool(engine):
    """OpenMP's threads are gone there: a gradient of a booster that the parent trained would wait for ever."""
    code = """
from multiprocessing import get_context

boosters = []


def seen(scores, data):
    boosters.append(calling_booster())
    return LambdaRank()(scores, data)


def block(first, last, offsets):
    pass


def child(queue):
    with using(*booster_state(boosters[-1]).threads):
        _jit.over_queries(block, np.arange(0, 6001, 100))
    queue.put(sorted(_jit._pools))


train(ENGINE, Calls(seen), 2)
context = get_context("fork")
queue = context.Queue()
process = context.Process(target=child, args=(queue,))
process.start()
print(json.dumps([queue.get(timeout=300), sorted(_jit._pools)]))
process.join()
"""
    assert ran(engine, code) == [[2], []]
