"""How evenly blocks of queries load 2 to 64 threads, from the time of every block alone."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import graded
from benchmarks.plan import Plan
from benchmarks.section import Section
from lambdaboost import LambdaRank, Queries, _jit
from lambdaboost._threads import using

THREADS = (2, 4, 8, 16, 32, 64)
Sizes = NDArray[np.int64]
METHOD = """\
The seconds of the longest thread over the mean of all threads, in one gradient of LambdaRank(), simulated: each block \
of queries that so many threads would share is timed alone on one (processor time, the least of {repetitions}), then \
goes to the thread that is free first, as in `_jit.over_queries`; every call of a kernel waits for its longest thread. \
Outside blocks: the share of the time that one thread spends on whole arrays while others wait. The short lists of a \
mix make few batches of lanes, each of which is one thread's. In the last mix the long list's sort is one thread's; \
its tree counts as outside blocks."""


def _of(length: int) -> Callable[[int, np.random.Generator], Sizes]:
    return lambda n, rng: np.full(n // length, length)


def _between(least: int, most: int) -> Callable[[int, np.random.Generator], Sizes]:
    return lambda n, rng: rng.integers(least, most + 1, 2 * n // (least + most))


def _search_engine(n: int, rng: np.random.Generator) -> Sizes:
    return np.maximum(1, rng.gamma(4, 30, n // 120)).astype(np.int64)


def _one_long(n: int, rng: np.random.Generator) -> Sizes:
    return np.append(_of(100)(n, rng), n)


MIXES = {
    "lists of 25": _of(25),
    "lists of 1 to 3": _between(1, 3),
    "lists of 1 to 40": _between(1, 40),
    "about 120, as in MSLR-WEB30K": _search_engine,
    "lists of 5 to 2,000": _between(5, 2000),
    "lists of 100, and one with as many documents as all": _one_long,
}


class Alone:
    """Stands for the team of an engine, whose threads leave every block to the one that calls."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.calls: list[list[float]] = []  # seconds of each block of each call

    def each(self, work: Callable[[], None]) -> None:
        """Do nothing on the other threads; the blocks of a call begin."""
        self.calls.append([])
        self.since = time.process_time()

    def ended(self) -> None:
        """A block has ended."""
        now = time.process_time()
        self.calls[-1].append(now - self.since)
        self.since = time.process_time()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time the blocks of all calls in this block."""

        class Ended(SimpleQueue[Any]):
            def put(_, item: Any, *args: Any) -> None:
                if self.calls:
                    self.ended()
                super().put(item, *args)

        team: Any = self
        with patch.object(_jit, "SimpleQueue", Ended), using(self.size, team):
            yield


def balance(plan: Plan, threads: int) -> Section:
    """Every mix of lengths on simulated threads, whatever `threads` is."""
    rows = [(name, *_cells(make, plan)) for name, make in MIXES.items()]
    heads = ("lists", "ns a document", "outside blocks", *(f"{n} threads" for n in THREADS))
    method = f"{METHOD.format(repetitions=plan.repetitions)} {plan.balance_documents:,} documents."
    return Section("Balance over threads", method, heads, tuple(rows))


def _cells(make: Callable[[int, np.random.Generator], Sizes], plan: Plan) -> list[str]:
    rng = np.random.default_rng(0)
    sizes = make(plan.balance_documents, rng)
    scores = rng.normal(size=sizes.sum())
    q = Queries(graded(scores + 2 * rng.normal(size=scores.size)), sizes=sizes)
    cells, seconds, blocks = [], 0.0, 0.0
    for n in THREADS:
        seconds, calls = least_of_blocks(scores, q, n, plan.repetitions)
        blocks = sum(map(sum, calls))
        cells.append(f"{sum(longest(call, n) for call in calls) / (blocks / n):.2f}")
    return [f"{1e9 * seconds / scores.size:.1f}", f"{1 - blocks / seconds:.0%}", *cells]


def least_of_blocks(
    scores: NDArray[np.float64], q: Queries, threads: int, repetitions: int
) -> tuple[float, list[list[float]]]:
    """Seconds of a gradient, and of every block of every call in it: the least of some repetitions."""
    LambdaRank().gradient(scores, q)
    least, found = np.inf, []
    for _ in range(repetitions):
        team = Alone(threads)
        start = time.process_time()
        with team.watching():
            LambdaRank().gradient(scores, q)
        least = min(least, time.process_time() - start)
        found.append(team.calls)
    return least, [np.min(call, axis=0).tolist() for call in zip(*found, strict=True)]


def longest(blocks: list[float], threads: int) -> float:
    """Seconds of the longest thread, where each block goes to the thread that is free first.

    >>> longest([3.0, 1.0, 1.0, 2.0], 2)
    4.0
    """
    busy = [0.0] * threads
    for seconds in blocks:
        heapq.heapreplace(busy, busy[0] + seconds)
    return max(busy)
