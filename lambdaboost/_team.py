"""The OpenMP team of an engine: the threads with which it trains, for kernels that it calls while it trains.

After each parallel region libgomp's threads spin for milliseconds, waiting for the next. A pool of other threads has to
share the processors with them: λ then takes as long on two threads as on one. So inside an engine's training the
blocks of queries are one more parallel region of the runtime that the engine is linked to, through the function that
its own code calls. No setting of OpenMP is touched.

Without it, on two quiet threads, λ in place took 1.3 times as long at 120, 1,200 and 5,000 documents and whole
trainings 1.11, 1.16 and 1.17 times; at 5 documents there was no difference.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Generator
from functools import cache
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any, NamedTuple

# OpenMP passes the body an argument, which this one leaves in its register.
_Body = ctypes.CFUNCTYPE(None)
_Parallel = ctypes.CFUNCTYPE(None, _Body, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
_Size = ctypes.CFUNCTYPE(ctypes.c_int)
# Where these are set, a team's threads may have too small a stack to compile a kernel.
_STACK_SIZES = ("OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE")


class Team(NamedTuple):
    """The threads of an engine in training."""

    size: int  # of the engine's own regions: for a region of another size libgomp would end or start threads
    # ``parallel(body, None, size, 0)`` calls ``body`` on each and waits for all.
    parallel: Callable[..., None]
    process: int  # a fork has none of these threads: libgomp would wait for them for ever

    def each(self, work: Callable[[], None]) -> None:
        """Call `work` on every thread of the team, including this one; raise what it, or a signal's handler, raised."""
        raised: list[BaseException] = []
        shares = [_share(work, raised) for _ in range(self.size)]
        for share in shares:
            next(share)
        # ctypes loses what is raised at the first instruction of a Python function. These are C, and go on in a `try`.
        self.parallel(_Body(map(next, shares).__next__), None, self.size, 0)
        if raised:
            raise raised[0]
        if any(getgeneratorstate(share) == GEN_CLOSED for share in shares):
            raise KeyboardInterrupt  # lost, by a second signal while the exception of a first was caught


def _share(work: Callable[[], None], raised: list[BaseException]) -> Generator[None, None, None]:
    """What one thread does: one step before OpenMP's region, one inside it."""
    try:
        yield
        work()
    except GeneratorExit:  # OpenMP had fewer threads
        return
    except BaseException as error:  # nothing can be raised through OpenMP
        raised.append(error)
    yield


def team_of(library: Any, size: int | None) -> Team | None:
    """The team of `size` threads, or of OpenMP's own number, of an engine's loaded library.

    None where it cannot be used: on systems other than Linux, and with another OpenMP.
    """
    runtime = _runtime(library)
    return runtime and Team(size or runtime[1](), runtime[0], os.getpid())


@cache
def _runtime(library: Any) -> tuple[Callable[..., None], Callable[[], int]] | None:
    """Functions of the OpenMP runtime that an engine is linked to: its parallel region, and its number of threads."""
    if not sys.platform.startswith("linux") or any(name in os.environ for name in _STACK_SIZES):
        return None
    try:
        return _Parallel(("GOMP_parallel", library)), _Size(("omp_get_max_threads", library))
    except (AttributeError, TypeError):  # another OpenMP, or a library that was loaded in another way
        return None
