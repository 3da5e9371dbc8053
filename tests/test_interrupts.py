"""Signals and forks inside a training: no interrupt is lost, and a fork computes with its own threads.

Each case is a process of its own, whose OpenMP threads sleep between regions, so that many trainings run at once.
"""

import os

import pytest
from child import printed

PRELUDE = """
import json, multiprocessing, random, signal, sys, time
from lambdaboost import NDCG, LambdaRank, Queries
import trainings
from trainings import GROUP, X, Y


def train(rounds, **more):
    return trainings.train(sys.argv[1], rounds=rounds, threads=int(sys.argv[2]), **more)


"""


def ran(code, engine, threads, *arguments):
    """What a new process prints as JSON."""
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    given = ("-c", PRELUDE + code, engine, threads, *arguments)
    return printed(*given, env=environment | {"OMP_WAIT_POLICY": "passive"})


ENGINE = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])

INTERRUPTED = """
class Stop(Exception):
    pass


def stop(*_):
    raise kind


signal.signal(signal.SIGALRM, stop)
whole = train(20)
begun = time.perf_counter()
train(20)
took, draw, lost, wrong, n = time.perf_counter() - begun, random.Random(1), 0, 0, int(sys.argv[3])
for at in range(n):
    kind = (KeyboardInterrupt, Stop)[at % 2]
    try:
        signal.setitimer(signal.ITIMER_REAL, took * draw.uniform(0.2, 1.0))
        train(400)
        lost += 1
    except kind:
        pass
    if at % 10 == 0:
        wrong += train(20) != whole
print(json.dumps([lost, wrong]))
"""


@ENGINE
def test_an_interrupt_at_any_instant_ends_the_training(engine):
    """A Python function that ctypes calls loses what a signal's handler raises at its first instruction."""
    lost, wrong = ran(INTERRUPTED, engine, 2, 20)
    assert lost <= 1 and wrong == 0  # a quarter was lost


@pytest.mark.slow
def test_of_a_hundred_interrupts_one_is_lost_at_most():
    """200 for each engine and number of threads, counted together."""
    found = [
        ran(INTERRUPTED, engine, threads, 200) for engine in ("lightgbm", "xgboost") for threads in (1, 2)
    ]
    assert sum(lost for lost, _ in found) <= 8
    assert all(wrong == 0 for _, wrong in found)


@ENGINE
@pytest.mark.parametrize("inside", ["objective", "measure"])
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_forked_inside_a_training_computes(engine, inside):
    code = """
expected = LambdaRank().gradient(X[:, 0], Queries(Y, sizes=GROUP))[0].tobytes()


def child(queue):
    queue.put(LambdaRank().gradient(X[:, 0], Queries(Y, sizes=GROUP))[0].tobytes() == expected)


same = []


def forks(*_):
    if not same:
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        same.append(queue.get(timeout=300))
        process.join()




class Forking(NDCG):
    def _per_query(self, scores, q):
        forks()
        return super()._per_query(scores, q)


class ForkingRank(LambdaRank):
    def lambdas(self, scores, q, iteration):
        forks()
        return super().lambdas(scores, q, iteration)


if sys.argv[3] == "objective":
    train(3, objective=ForkingRank())
else:
    train(3, measure=Forking(3))
print(json.dumps(same))
"""
    assert ran(code, engine, 2, inside) == [True]
