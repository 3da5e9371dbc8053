"""Two trainings at once, in threads and in processes forked and spawned: no deadlock, and the models of each alone.

Each case is a fresh Python, since what a fork takes over depends on everything that its parent ever did.
"""

import os

import pytest
from child import printed

pytestmark = pytest.mark.slow

# Python 3.12 and later warn of every fork of a process with threads.
FORKING = "ignore::DeprecationWarning:multiprocessing.popen_fork"
PRELUDE = """
import hashlib, json, multiprocessing, os, sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from lambdaboost import Blend, LambdaRank, Linear, RankNet
from trainings import GROUP, X, Y, train

OBJECTIVES = [Blend(LambdaRank(), RankNet(), Linear(0.1, 0.05)), LambdaRank()]


def model(which, threads):
    return hashlib.sha256(train(sys.argv[1], OBJECTIVES[which], 12, threads=threads).encode()).hexdigest()


def used_threads():
    import numba
    from lambdaboost import _jit

    return numba.get_num_threads(), sorted(_jit._pools)


def in_turn(threads):
    return [model(0, threads), model(1, threads)]


def at_once(pool, threads):
    with pool:
        return [job.result(timeout=600) for job in [pool.submit(model, which, threads) for which in (0, 1)]]


def processes(start):
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(start))
"""


def ran(tmp_path, engine, code):
    """What a new process prints as JSON."""
    script = tmp_path / "script.py"  # a file, for a spawned process reads it again
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    script.write_text(f"{PRELUDE}\n\nif __name__ == '__main__':\n{body}\n")
    return printed("-W", "error", "-W", FORKING, script, engine, env=os.environ | {"NUMBA_NUM_THREADS": "2"})


ENGINE = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


@ENGINE
def test_in_threads(tmp_path, engine):
    """Numba's number of threads, which each thread has for itself, stays as it was set."""
    found = ran(
        tmp_path,
        engine,
        """
import numba


def limited(which, threads):
    numba.set_num_threads(1)
    return model(which, threads), numba.get_num_threads()


alone, before = in_turn(2), used_threads()
together = at_once(ThreadPoolExecutor(2), 2)
with ThreadPoolExecutor(2) as pool:
    one, other = pool.submit(limited, 0, 2), pool.submit(model, 1, 2)
    mixed = [one.result()[0], other.result()]
print(json.dumps([alone, together, mixed, one.result()[1], before, used_threads()]))
""",
    )
    alone, together, mixed, limited, before, after = found
    assert together == mixed == alone and alone[0] != alone[1]
    assert limited == 1
    assert before == after == [2, []]  # the engines' own threads did all of it


@ENGINE
def test_in_spawned_processes(tmp_path, engine):
    found = ran(
        tmp_path,
        engine,
        """
alone = in_turn(2)
together = at_once(processes("spawn"), 2)
print(json.dumps([alone, together, used_threads()]))
""",
    )
    alone, together, after = found
    assert together == alone and after == [2, []]


@ENGINE
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_in_forks(tmp_path, engine):
    """A fork has none of its parent's threads, and its locks as they just were.

    Neither engine trains on several threads in a fork of a process where it has done so, whatever the objective
    (OpenMP's own threads are gone); on one it does.
    """
    found = ran(
        tmp_path,
        engine,
        """
import threading
from lambdaboost import Queries

q, done = Queries(Y, sizes=GROUP), threading.Event()


def gradients():
    while not done.is_set():
        LambdaRank().gradient(X[:, 0], q)


before_anything = at_once(processes("fork"), 2), used_threads()[1]
LambdaRank().gradient(X[:, 0], q)
after_a_gradient = at_once(processes("fork"), 2), used_threads()[1]
one_thread = in_turn(1)
after_a_training = at_once(processes("fork"), 1)
working = [threading.Thread(target=gradients) for _ in range(2)]
for thread in working:
    thread.start()
during_gradients = [at_once(processes("fork"), 1) for _ in range(2)]
done.set()
for thread in working:
    thread.join()
two_threads = in_turn(2)
after_several_threads = at_once(processes("fork"), 1)
print(json.dumps([
    [one_thread, after_a_training, *during_gradients, after_several_threads],
    [two_threads, before_anything[0], after_a_gradient[0]],
    [before_anything[1], after_a_gradient[1], used_threads()[0]],
]))
""",
    )
    on_one, on_two, threads = found
    assert on_one == [on_one[0]] * 5 and on_two == [on_two[0]] * 3 and on_one[0][0] != on_one[0][1]
    assert threads == [[], [2], 2]
