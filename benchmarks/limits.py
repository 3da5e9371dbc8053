"""How fast each kernel is beside the machine's own limit.

Usage: python -m benchmarks.limits

One thread, least processor time of several calls. A pair cannot take less than its division: `divisions` is a loop of
nothing else, over as many columns as a tile has. The clock comes from a chain of dependent one-cycle operations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from experiments.common.report import table
from lambdaboost import (
    ApproxNDCG,
    GumbelRanks,
    LambdaRank,
    PairAccuracy,
    PairwiseHinge,
    Queries,
    _threads,
)
from lambdaboost._jit import kernel
from lambdaboost.objectives import Objective
from lambdaboost.objectives.kernels import tree

SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # of the grades, as in MSLR-WEB30K
COLUMNS = 1024
CHAIN_CYCLES = 6  # of three shifts and three exclusive ors, each of which waits for the one before
REPETITIONS = 15
HEADS = ("kernel", "objective", "lists", "ms", "cycles a document", "cycles a pair", "of them its division")
CASES: tuple[tuple[str, Objective, int, int], ...] = (
    ("lanes", LambdaRank(), 10_000, 10),
    ("tiles", LambdaRank(), 1000, 120),
    ("tiles", LambdaRank(), 100, 1200),
    ("tree", LambdaRank(), 30, 5000),
    ("tree", LambdaRank(), 1, 100_000),
    ("two by two", LambdaRank(PairAccuracy()), 100, 1200),
    ("chances", ApproxNDCG(), 100, 120),
    ("noisy pairs", GumbelRanks(LambdaRank()), 100, 120),
    ("inference", PairwiseHinge(), 100, 1200),
)


@kernel
def _chain(n: Any) -> Any:
    x = np.uint64(1)
    for _ in range(n):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
    return x


@kernel
def _divisions(rounds: Any, e: Any, out: Any) -> None:
    for _ in range(rounds):
        e0, e1, e2, e3 = e[0], e[1], e[2], e[3]
        for j in range(out.size):
            a, b = np.float32(1) / (e0 + e[j]), np.float32(1) / (e1 + e[j])
            c, d = np.float32(1) / (e2 + e[j]), np.float32(1) / (e3 + e[j])
            out[j] += (a + b) + (c + d)


def least(call: Callable[[], Any]) -> float:
    """Seconds of processor time of the fastest of several calls."""
    call()
    seconds = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def pairs_of(q: Queries) -> int:
    """Pairs of different grades."""
    count = 0
    for a, b in zip(q.offsets[:-1], q.offsets[1:], strict=True):
        of_grade = np.unique(q.relevance[a:b], return_counts=True)[1]
        count += ((b - a) ** 2 - (of_grade**2).sum()) // 2
    return int(count)


def drawn(queries: int, documents: int) -> tuple[np.ndarray, Queries]:
    """Scores and grades of queries of one length."""
    rng = np.random.default_rng(documents)
    n = queries * documents
    return rng.normal(size=n), Queries(rng.choice(5, p=SHARES, size=n) * 1.0, sizes=[documents] * queries)


def main() -> None:
    """Print a table of the kernels, and the tree beside the pairs."""
    rng = np.random.default_rng(0)
    e, out = rng.random(COLUMNS, dtype=np.float32) + 1, np.zeros(COLUMNS, np.float32)
    clock = 4_000_000 * CHAIN_CYCLES / least(lambda: _chain(4_000_000))
    division = clock * least(lambda: _divisions(2000, e, out)) / (2000 * 4 * COLUMNS)
    print(f"Clock {clock / 1e9:.2f} GHz; a division in a vector {division:.2f} cycles.\n", flush=True)
    with _threads.using(1):
        rows = tuple(_row(*case, clock=clock, division=division) for case in CASES)
        print(table(HEADS, rows), flush=True)
        print("\n" + table(("lists", "pairs, ms", "tree, ms"), tuple(map(_both, (1200, 2500, 5000)))))


def _row(
    kernel: str, objective: Objective, queries: int, documents: int, clock: float, division: float
) -> tuple[str, ...]:
    scores, q = drawn(queries, documents)
    seconds = least(lambda: objective.gradient(scores, q))
    pairs = pairs_of(q)
    return (
        kernel,
        repr(objective),
        f"{queries:,} × {documents:,}",
        f"{1e3 * seconds:.2f}",
        f"{seconds * clock / q.n_documents:.0f}",
        f"{seconds * clock / pairs:.2f}",
        "" if kernel in ("tree", "inference") else f"{division * pairs / (seconds * clock):.0%}",
    )


def _both(documents: int) -> tuple[str, ...]:
    """Milliseconds by pairs and by the tree."""
    threshold, found = tree.PAIRS_A_DOCUMENT, []
    scores, q = drawn(20, documents)
    try:
        for limit in (10**18, 0):
            tree.PAIRS_A_DOCUMENT = limit
            alone = Queries(q.relevance, sizes=q.sizes)
            found.append(f"{1e3 * least(partial(LambdaRank().gradient, scores, alone)):.2f}")
    finally:
        tree.PAIRS_A_DOCUMENT = threshold
    return f"20 × {documents:,}", *found


if __name__ == "__main__":
    main()
