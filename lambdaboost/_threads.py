"""How many threads lambdaboost's kernels use.

The first of these that says so: `using`, which is set to the engine's own number while an engine trains;
``numba.set_num_threads``; ``NUMBA_NUM_THREADS``; ``OMP_NUM_THREADS``; the processors that this process may use.

Nothing here starts Numba's threading layer. Starting it calls ``omp_set_num_threads`` on the OpenMP runtime that an
engine may share, and so would override the user's own setting for the rest of the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from numba import config
from numba.np.ufunc import parallel

_in_use: ContextVar[int | None] = ContextVar("lambdaboost_threads", default=None)


def threads() -> int:
    """The number of threads to use here and now."""
    return _in_use.get() or _set_in_numba() or _set_in_environment() or _processors()


@contextmanager
def using(n: int | None) -> Iterator[None]:
    """Use `n` threads in this block; with None as many as without it."""
    token = _in_use.set(n or _in_use.get())
    try:
        yield
    finally:
        _in_use.reset(token)


@contextmanager
def using_one() -> Iterator[None]:
    """One thread for lambdaboost's kernels and for the engines' predictions, in this block."""
    from threadpoolctl import threadpool_limits  # only searches need it

    with using(1), threadpool_limits(1):
        yield


def use(n: int) -> None:
    """Use `n` threads from now on in this thread: for a worker process that does nothing else."""
    _in_use.set(n)


def _set_in_numba() -> int | None:
    """What ``numba.set_num_threads`` left for this thread; only a layer that already runs is asked."""
    if not parallel._is_initialized:
        return None
    n = int(parallel.get_num_threads())
    return n if n != config.NUMBA_NUM_THREADS else None


def _set_in_environment() -> int | None:
    if "NUMBA_NUM_THREADS" in os.environ or config.NUMBA_NUM_THREADS != config.NUMBA_DEFAULT_NUM_THREADS:
        return int(config.NUMBA_NUM_THREADS)
    # One number for each level of nesting.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


@cache
def _processors() -> int:
    """The processors of this process by affinity and by the quota of its control group."""
    import joblib  # both engines import it too

    return int(joblib.cpu_count())
