"""The project's Numba policy: how kernels are compiled, and how they are spread over threads.

Kernels release the GIL and run over blocks of queries on a small pool of plain threads instead of `prange`: no
threading layer to clash with the engines' OpenMP, nothing that breaks after a fork, two trainings may run at once,
and a much shorter compilation. Each query is computed by one thread in one order, so results are bit-identical for any
number of threads. `_kernel_cache` keeps what was compiled.

What each of these is worth, by `LambdaRank()` on one core of a server (Numba 0.68); on the right what a plain `njit`
would give:

    kernels are kept in files     first gradient of a process, 120 documents           0.2 s    4.8 s
    threads of our own            to compile one loop over queries, beside `prange`    0.2 s    0.9 s
    functions put into callers    λ of lists of 10 documents                           1        1.2
                                  λ of lists of 120 documents                          1        2.1
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numba
import numpy as np
from numba import config
from numba.extending import overload
from numpy.typing import NDArray

from lambdaboost._kernel_cache import keep

F = TypeVar("F", bound=Callable[..., Any])

# How functions are compiled.

# Sums may be reordered and products fused, which is what lets loops fill vector lanes; NaN and infinity keep their
# meaning (no nnan, ninf), since missing labels are NaN. A dict, and not a set: its text is a part of the names of files
# (`_kernel_cache`), and the same in every process.
FASTMATH = dict.fromkeys(("reassoc", "contract", "nsz", "arcp"), True)

# A function that only kernels call becomes part of them: LLVM sees its loops with the kernel's constants and types, and
# there is no entry for Python or C.
INTO_CALLERS = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def _compiled(function: F, **options: Any) -> F:
    dispatcher: F = numba.njit(error_model="numpy", nogil=True, **options)(function)
    if not config.DISABLE_JIT:
        keep(dispatcher, str(options))
    return dispatcher


def kernel(function: F) -> F:
    """Compile to a cached, GIL-free kernel whose divisions do not stop vectorisation."""
    return _compiled(function, fastmath=FASTMATH, no_cfunc_wrapper=True)


def inlined(function: F) -> F:
    """Compile like `kernel`, into its callers."""
    return _compiled(function, fastmath=FASTMATH, **INTO_CALLERS)


def inlined_strict_fp(function: F) -> F:
    """Compile like `inlined`, with every operation in the order written: where that decides bits or an overflow."""
    return _compiled(function, fastmath=False, **INTO_CALLERS)


def by_type(choose: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A function that is what `choose` gives for the type of its first argument, compiled like `inlined`.

    As `functools.singledispatch`, but decided while a kernel is compiled: `rank_delta(swap, i, j)` is the function of
    that swap, inlined. Closures of a factory would do the same, and put four files of loops into it; Numba names
    closures by objects of one process, so that they cannot be kept.
    """

    def call(value: Any, *args: Any) -> Any:
        return choose(type(value))(value, *args)

    # What is not given here, such as fastmath, is inherited from the caller.
    @overload(call, strict=False, jit_options=INTO_CALLERS | {"nopython": True, "error_model": "numpy"})
    def _call(value, *args):
        return choose(value.instance_class)

    return call


# How many threads there are.

in_use: ContextVar[int | None] = ContextVar("lambdaboost_threads", default=None)


def threads() -> int:
    """The number of threads to use here and now.

    While an engine trains this is its own number: ``num_threads=1`` means one here too. Otherwise ``NUMBA_NUM_THREADS``
    decides, then ``OMP_NUM_THREADS``, then the processors that this process may use. Nothing here starts Numba's
    threading layer, which would call ``omp_set_num_threads`` on the OpenMP runtime that an engine may share, and so
    override the user's own setting for the rest of the process.
    """
    number = in_use.get()
    if number is not None:
        return number
    if "NUMBA_NUM_THREADS" in os.environ or config.NUMBA_NUM_THREADS != config.NUMBA_DEFAULT_NUM_THREADS:
        return int(config.NUMBA_NUM_THREADS)
    # One number for each level of nesting.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else _processors()


@contextmanager
def using(number: int | None) -> Iterator[None]:
    """Use that many threads in this block; with None as many as without it."""
    token = in_use.set(number or in_use.get())
    try:
        yield
    finally:
        in_use.reset(token)


@cache
def _processors() -> int:
    """The processors of this process by affinity and by the quota of its control group."""
    import joblib  # both engines import it too

    return int(joblib.cpu_count())


# How kernels are spread over them.

BLOCKS_PER_THREAD = 4


def _serve(queue: SimpleQueue[Callable[[], None]]) -> None:
    """Do the work of a queue, for as long as the process lives."""
    while True:
        queue.get()()


@cache
def _pool(n_threads: int) -> tuple[SimpleQueue[Callable[[], None]], list[Thread]]:
    """A queue, and the threads that serve it: so many, or as many as can be started.

    Ctrl-C may raise anywhere in the calling thread. Nothing here is left locked by it, as the semaphore of a
    `ThreadPoolExecutor` can be: putting into this queue is one step.
    """
    queue: SimpleQueue[Callable[[], None]] = SimpleQueue()
    threads = []
    with suppress(RuntimeError):  # the interpreter is exiting, or the process has its limit of threads
        for number in range(n_threads):
            thread = Thread(target=_serve, args=(queue,), name=f"lambdaboost_{number}", daemon=True)
            thread.start()
            threads.append(thread)
    return queue, threads


# A child process does not inherit a pool's threads, only the queue that nobody would read.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def over_queries(function: Callable[..., None], offsets: NDArray[np.int64], *args: Any) -> None:
    """Call ``function(first, last, offsets, *args)`` so that the blocks first:last cover all queries.

    The blocks run on `threads` threads, or on as many of them as can be started.
    """
    n_queries = offsets.size - 1
    if n_queries == 0:
        return
    # In a training the engine's number is known.
    n_threads = min(in_use.get() or threads(), n_queries) if offsets[-1] >= 2000 else 1
    if n_threads == 1:
        function(0, n_queries, offsets, *args)
        return

    # Equal shares of the pairs, roughly: a query costs about n log n for sorting and n² for its pairs.
    sizes = np.diff(offsets)
    cost = np.cumsum(sizes * (200.0 + sizes))
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], n_threads * BLOCKS_PER_THREAD + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [n_queries]]))
    blocks = deque(pairwise(bounds.tolist()))
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def work() -> None:
        while True:
            try:
                first, last = blocks.popleft()
            except IndexError:  # another thread took the last
                return
            error = None
            try:
                function(first, last, offsets, *args)
            except BaseException as raised:
                error = raised
            ended.put(error)

    queue, helpers = _pool(n_threads - 1)
    for _ in helpers:
        queue.put(work)
    # This thread takes its share: it is here already, and waking another costs as much as a thousand documents.
    work()
    # Blocks are waited for, not helpers: one that could not be started has none, one that is late needs none.
    errors = [ended.get() for _ in range(bounds.size - 1)]
    for error in errors:
        if error is not None:
            raise error
