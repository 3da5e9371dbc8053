"""The OpenMP team of an engine: the threads with which it trains, for kernels that it calls while it trains.

After each parallel region libgomp's threads spin for milliseconds, waiting for the next. A pool of other threads has to
share the processors with them: λ then takes as long on two threads as on one. So inside an engine's training the
blocks of queries are one more parallel region of the runtime that the engine is linked to, through the function that
its own code calls. No setting of OpenMP is touched.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NamedTuple

from lambdaboost._stock import lightgbm, xgboost

_Body = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Parallel = ctypes.CFUNCTYPE(None, _Body, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
_Size = ctypes.CFUNCTYPE(ctypes.c_int)
# Where these are set, a team's threads may have too small a stack to compile a kernel.
_STACK_SIZES = ("OMP_STACKSIZE", "GOMP_STACKSIZE", "KMP_STACKSIZE")


@dataclass(frozen=True)
class Team:
    """The threads of an engine that calls from the current thread.

    Attributes
    ----------
    size : int
        The number of threads in the engine's own regions. For a region of another size libgomp would end or start
        threads.
    parallel : callable
        ``parallel(body, None, size, 0)`` calls ``body(None)`` on each thread and waits for all.

    """

    size: int
    parallel: Callable[..., None]

    def each(self, work: Callable[[], None]) -> None:
        """Call `work` on every thread of the team, including this one; raise what it raised."""
        raised: list[BaseException] = []

        def body(_: int | None) -> None:
            try:
                work()
            except BaseException as error:  # nothing can be raised through OpenMP
                raised.append(error)

        self.parallel(_Body(body), None, self.size, 0)
        if raised:
            raise raised[0]


_calling: ContextVar[Team | None] = ContextVar("lambdaboost_engine_team", default=None)


def calling_team(size: int) -> Team | None:
    """The team of the engine that is calling lambdaboost here and now, if it has `size` threads."""
    team = _calling.get()
    return team if team is not None and team.size == size else None


@contextmanager
def called_by_team(team: Team | None) -> Iterator[None]:
    """Let `team` run the kernels in this block; with None the pool."""
    token = _calling.set(team)
    try:
        yield
    finally:
        _calling.reset(token)


def team_of(booster: Any, threads: int | None) -> Team | None:
    """The team that trains a booster of either engine on `threads` threads, or, if None, on OpenMP's own number.

    None where it cannot be used: on systems other than Linux, after a fork.
    """
    if booster is None:
        return None
    runtime = _runtime(xgboost if xgboost.is_booster(booster) else lightgbm)
    return None if runtime is None else Team(threads or runtime.default_size(), runtime.parallel)


class _Runtime(NamedTuple):
    """Functions of the OpenMP runtime that an engine is linked to."""

    parallel: Callable[..., None]
    default_size: Callable[[], int]


_runtimes: dict[ModuleType, _Runtime | None] = {}


def _runtime(engine: ModuleType) -> _Runtime | None:
    if engine not in _runtimes:
        _runtimes[engine] = _found(engine.library())
    return _runtimes[engine]


def _found(library: Any) -> _Runtime | None:
    if not sys.platform.startswith("linux") or any(name in os.environ for name in _STACK_SIZES):
        return None
    try:
        return _Runtime(_Parallel(("GOMP_parallel", library)), _Size(("omp_get_max_threads", library)))
    except (AttributeError, TypeError):  # another OpenMP, or a library that was loaded in another way
        return None


def _forget_runtimes() -> None:
    """OpenMP's threads do not exist in a fork, where libgomp would wait for them for ever."""
    _runtimes.update({lightgbm: None, xgboost: None})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_runtimes)
