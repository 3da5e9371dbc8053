"""How many threads lambdaboost's kernels use, and whether they are those of an engine in training.

While an engine trains, kernels use its number of threads: ``num_threads=1`` means one here too. Otherwise
``NUMBA_NUM_THREADS`` decides, then ``OMP_NUM_THREADS``, then the processors that this process may use. This is for the
sake of other processes, not for speed: two trainings of one thread each on two processors took 1.04 and .98 times as
long.

Nothing here starts Numba's threading layer. Starting it calls ``omp_set_num_threads`` on the OpenMP runtime that an
engine may share, and so would override the user's own setting for the rest of the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import NamedTuple

from numba import config

from lambdaboost._team import Team


class Threads(NamedTuple):
    """The number of threads, None where nobody set one; and the team of the engine that calls, if one does."""

    number: int | None = None
    team: Team | None = None


UNSET = Threads()
in_use: ContextVar[Threads] = ContextVar("lambdaboost_threads", default=UNSET)


def threads() -> int:
    """The number of threads to use here and now."""
    return in_use.get().number or _set_in_environment() or _processors()


def calling_team(size: int) -> Team | None:
    """The team of the engine that is calling lambdaboost here and now, if it has `size` threads."""
    team = in_use.get().team
    return team if team is not None and team.size == size and team.process == os.getpid() else None


@contextmanager
def using(number: int | None, team: Team | None = None) -> Iterator[None]:
    """Use that many threads in this block, with None as many as without it; those of `team`, if it has as many."""
    before = in_use.get()
    token = in_use.set(Threads(number or before.number, team or before.team))
    try:
        yield
    finally:
        in_use.reset(token)


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
