"""The project's Numba policy: how kernels are compiled and spread over threads.

Kernels release the GIL and run over blocks of queries on a small pool of plain threads instead of `prange`: no
threading layer to clash with the engines' OpenMP, nothing that breaks after a fork, two trainings may run at once,
and a much shorter compilation. Each query is computed by one thread in one order, so results are bit-identical for any
number of threads. The files behind this one say what each is worth: `_inlined` (functions compiled into kernels),
`_kernel_cache` (where kernels are kept), `_threads` (how many there are), `_team` (the engine's threads in the pool's
place while it trains).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, TypeVar

import numba
import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from lambdaboost._inlined import DisjointIntoCallers, Inlined, IntoCallers
from lambdaboost._kernel_cache import KernelCache
from lambdaboost._threads import calling_team, threads

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and products fused, which is what lets loops fill vector lanes; NaN and infinity keep their
# meaning (no nnan, ninf), since missing labels are NaN.
FASTMATH = frozenset({"reassoc", "contract", "nsz", "arcp"})


def _compiled(function: F, **options: Any) -> F:
    dispatcher = numba.njit(error_model="numpy", **options)(function)
    if not numba.config.DISABLE_JIT:
        dispatcher._cache = KernelCache(function)
    return dispatcher


# A function that only kernels call: no entry for Python or C, no optimisation and no machine code of its own.
INTO_CALLERS = {
    "nopython": True,
    "boundscheck": None,
    "error_model": "numpy",
    "nogil": True,
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def _into_callers(function: F, pipeline_class: Any = IntoCallers, **options: Any) -> F:
    if numba.config.DISABLE_JIT:
        return function
    dispatcher = Inlined(function, targetoptions=INTO_CALLERS | options, pipeline_class=pipeline_class)
    dispatcher._cache = KernelCache(function)
    return dispatcher


def by_type(choose: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    """A function that is what `choose` gives for the type of its first argument; compiled like `no_refcount`.

    As `functools.singledispatch`, but decided while a kernel is compiled: `rank_delta(swap, i, j)` is the function of
    that swap, inlined. Closures of a factory would do the same, and put four files of loops into it; Numba's cache
    never finds one, since it names closures by objects of one process.
    """

    def call(value: Any, *args: Any) -> Any:
        return choose(type(value))(value, *args)

    @overload(call, strict=False, jit_options=INTO_CALLERS | {"pipeline_class": IntoCallers, "_nrt": False})
    def _call(value, *args):
        return choose(value.instance_class)

    return call


def known_by_type(of_type: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that says of a value what `of_type` says of its type; a constant in kernels, so that no loop asks."""

    def answer(value: Any) -> Any:
        return of_type(type(value))

    @overload(answer, jit_options=INTO_CALLERS | {"pipeline_class": IntoCallers})
    def _answer(value):
        constant = of_type(value.instance_class)
        return lambda value: constant

    return answer


def kernel(function: F) -> F:
    """Compile to a cached, GIL-free kernel whose divisions do not stop vectorisation."""
    return _compiled(function, nogil=True, fastmath=set(FASTMATH))


def inlined(function: F) -> F:
    """Compile like `kernel`, into its callers: for every loop over floats that a kernel calls.

    A function of its own would be optimised once by itself and once more inside its callers, and which of the two ran
    would depend on whether they were just compiled or came from the cache: the sums would differ in their last bits.
    """
    # _nrt is given since it would be inherited from a caller that is `no_refcount`.
    return _into_callers(function, fastmath=set(FASTMATH), _nrt=True)


def no_refcount(function: F) -> F:
    """Compile like `inlined`, without reference counts of arrays: for functions that neither make nor return one.

    Counting is an atomic operation for every slice and every array in a tuple, a third of the time of a short query.
    """
    return _into_callers(function, fastmath=set(FASTMATH), _nrt=False)


def inlined_disjoint(function: F) -> F:
    """Compile like `no_refcount`, for arguments of which none reads or writes what another one writes.

    The compiler checks before each loop whether arrays overlap, unless it knows that they do not: in a short loop most
    instructions were such checks.
    """
    return _into_callers(function, DisjointIntoCallers, fastmath=set(FASTMATH), _nrt=False)


def inlined_strict_fp(function: F) -> F:
    """Compile like `inlined`, with every operation in the order written: where another order would overflow."""
    return _into_callers(function, fastmath=False)


def kernel_strict_fp(function: F) -> F:
    """Compile like `kernel`, with every operation in the order written, and without reference counts."""
    return _compiled(function, nogil=True, fastmath=False, _nrt=False)


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """A pool that makes this thread one of `threads`; one pool per number, so that none has more threads."""
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads - 1, thread_name_prefix="lambdaboost")
    return _pools[threads]


# A child process does not inherit a pool's threads, only the object that would wait for them for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def _start_helpers(work: Callable[[], None], threads: int) -> None:
    """Start `work` on all of a pool's threads that can be started."""
    for _ in range(threads - 1):
        try:
            _pool(threads).submit(work)
        except RuntimeError:  # the interpreter is exiting, or the process has its limit of threads
            return


BLOCKS_PER_THREAD = 4


def over_queries(
    function: Callable[..., None], offsets: NDArray[np.int64], *args: Any, lists: int = 1
) -> None:
    """Call ``function(first, last, offsets, *args)`` so that the blocks first:last cover all queries.

    With `lists` each of them is a batch of that number of lists of about the same length, which gives its cost.
    The blocks run on `threads` threads, or on as many of them as can be started. During a training these are the
    engine's threads.
    """
    n_queries = offsets.size - 1
    if n_queries == 0:
        return
    most = threads()
    n_threads = min(most, n_queries) if offsets[-1] >= 2000 else 1
    if n_threads == 1:
        function(0, n_queries, offsets, *args)
        return
    # Equal shares of the pairs, roughly: a query costs about n log n for sorting and n² for its pairs.
    sizes = np.diff(offsets) / lists
    cost = np.cumsum(sizes * (200.0 + sizes))
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], n_threads * BLOCKS_PER_THREAD + 1)[1:-1])
    bounds = np.unique(np.concatenate([[0], cuts, [n_queries]]))
    blocks = deque(pairwise(bounds.tolist()))
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def next_block() -> tuple[int, int] | None:
        try:
            return blocks.popleft()
        except IndexError:  # another thread took the last
            return None

    def work() -> None:
        for first, last in iter(next_block, None):
            error = None
            try:
                function(first, last, offsets, *args)
            except BaseException as raised:
                error = raised
            ended.put(error)

    team = calling_team(most)
    if team is not None:
        team.each(work)
    else:
        _start_helpers(work, n_threads)
    # This thread takes its share: it is here already, and waking another costs as much as a thousand documents.
    work()
    # Blocks are waited for, not helpers: one that could not be started has none, one that is late needs none.
    errors = [ended.get() for _ in range(bounds.size - 1)]
    for error in errors:
        if error is not None:
            raise error
