"""All of the project's Numba policy: how kernels are compiled, cached and spread over threads.

Kernels release the GIL and run over blocks of queries on a small pool of plain threads instead of `prange`: no
threading layer to clash with the engines' OpenMP, nothing that breaks after a fork, two trainings may run at once,
and a much shorter compilation. Each query is computed by one thread in one order, so results have the same bits
whatever the number of threads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and products fused, which is what lets loops fill vector lanes; NaN and infinity keep their
# meaning (no nnan, ninf), since missing labels are NaN.
FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})


def kernel(function: F) -> F:
    """Compile to a cached, GIL-free kernel whose divisions do not stop vectorisation."""
    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=set(FASTMATH))(function)


def inlined(function: F) -> F:
    """Compile like `kernel`, into its callers: for every loop over floats that a kernel calls.

    A function of its own would be optimised once by itself and once more inside its callers, and which of the two ran
    would depend on whether they were just compiled or came from the cache: the sums would differ in their last bits.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": set(FASTMATH), "forceinline": True}
    return numba.njit(cache=True, _nrt=True, **options)(function)  # not inherited from a caller that borrows


def borrowing(function: F) -> F:
    """Compile like `inlined`, without counting who holds an array: for functions that neither make nor return one.

    Counting is an atomic operation for every slice and every array in a tuple, a third of the time of a short query.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": set(FASTMATH), "forceinline": True}
    return numba.njit(cache=True, _nrt=False, **options)(function)


def inlined_exact(function: F) -> F:
    """Compile like `inlined`, with every operation in the order written: where another order would overflow."""
    options = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": True}
    return numba.njit(cache=True, **options)(function)


def exact(function: F) -> F:
    """Compile like `kernel`, but with every operation in the order written: for copies of an engine's own sums."""
    return numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=False)(function)


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """The pool that makes this thread one of so many; one for each number, so that none ever runs more."""
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="lambdaboost")
    return _pools[threads]


# A child process does not inherit a pool's threads, only the object that would wait for them for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)

BLOCKS_PER_THREAD = 4


def over_queries(function: Callable[..., None], offsets: NDArray[np.int64], *args: Any) -> None:
    """Call ``function(first, last, offsets, *args)`` so that the blocks first:last cover all queries.

    The blocks run on as many threads as Numba is set to use (``numba.set_num_threads``, ``NUMBA_NUM_THREADS``).
    """
    n_queries = offsets.size - 1
    threads = min(numba.get_num_threads(), n_queries)
    if threads == 1 or offsets[-1] < 2000:
        function(0, n_queries, offsets, *args)
        return
    # Equal shares of the pairs, roughly: a query costs about n log n for sorting and n² for its pairs.
    sizes = np.diff(offsets).astype(np.float64)
    cost = np.cumsum(sizes * (200.0 + sizes))
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], threads * BLOCKS_PER_THREAD + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [n_queries]]))
    blocks = deque(pairwise(bounds.tolist()))

    def next_block() -> tuple[int, int] | None:
        try:
            return blocks.popleft()
        except IndexError:  # another thread took the last
            return None

    def work() -> None:
        for first, last in iter(next_block, None):
            function(first, last, offsets, *args)

    # This thread takes its share: it is here already, and waking another costs as much as a thousand documents.
    helpers = [_pool(threads).submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        wait(helpers)
    for helper in helpers:
        helper.result()
