"""Kernels on the threads of the engine that calls: same bits, nothing left behind. Each case is a new process."""

import signal
import sys
import threading
import time

import numpy as np
import pytest
from trainings import Calls, ran, train

from lambdaboost import NDCG, LambdaRank, _jit
from lambdaboost._threads import using
from lambdaboost.callback import booster_state, calling_booster

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the pool does the work here")
ENGINES = (["lightgbm"], ["xgboost"])  # most of a process is imports, so both train in it
BLOCKS = np.arange(0, 6001, 100)


def run_as_called(block):
    """Run blocks as an objective does that the engine calls."""
    with using(*booster_state(calling_booster()).threads):
        _jit.over_queries(block, BLOCKS)


def threads_of_regions(engine):
    """The numbers of threads in the rounds, how many sets of threads there were, started pools, the bits."""
    helpers = []

    def noted(scores, data):
        names, both = set(), threading.Event()

        def block(first, last, offsets):
            names.add(threading.get_native_id())
            if len(names) > 1:
                both.set()
            both.wait(60)  # a thread cannot take all blocks before the other has come

        run_as_called(block)
        helpers.append(tuple(sorted(names)))
        return LambdaRank()(scores, data)

    on_two = train(engine, Calls(noted), measure=NDCG(3))
    started = sorted(_jit._pools)
    return [len(names) for names in helpers], len(set(helpers)), started, on_two == train(engine, threads=1)


def test_objective_and_measure_run_on_the_engines_threads():
    """As many threads as the engine has, no others, and the bits of one thread."""
    assert ran(threads_of_regions, *ENGINES) == [[[2] * 5, 1, [], True]] * 2  # the same two in every round


def pools_of_a_training(engine):
    _jit._pools.clear()
    train(engine, rounds=2)
    return sorted(_jit._pools)


@pytest.mark.slow
def test_small_stacks_are_not_used():
    assert ran(pools_of_a_training, *ENGINES, OMP_STACKSIZE="256k") == [[2], [2]]


def stopped(engine):
    """The messages of errors in a block, and whether the next training is as the one before."""
    expected = train(engine)

    def stopped_by(error, act):
        def fails(scores, data):
            run_as_called(lambda first, last, offsets: act(last == offsets.size - 1))

        try:
            train(engine, Calls(fails))
        except error as raised:
            return str(raised), train(engine) == expected
        return "nothing", False

    def raising(error):
        def act(last):
            if last:
                raise error("in the last block")

        return act

    def interrupt(last):
        if threading.current_thread() is threading.main_thread():
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.01)

    return [
        stopped_by(ZeroDivisionError, raising(ZeroDivisionError)),
        stopped_by(KeyboardInterrupt, raising(KeyboardInterrupt)),
        stopped_by(KeyboardInterrupt, interrupt),
    ]


def test_an_error_on_any_thread_and_an_interruption_end_the_training():
    """One after the other, and a training after each; Ctrl-C inside a kernel is like anywhere else."""
    expected = [["in the last block", True], ["in the last block", True], ["", True]]
    assert ran(stopped, *ENGINES) == [expected, expected]
