"""How fast each kernel is beside the machine's own limit.

Usage: python -m benchmarks.limits

One thread, least processor time of several calls. A pair cannot take less than its division: `divisions` is a loop of
nothing else, over as many columns as a tile has. The clock comes from a chain of dependent multiplications.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.common.report import table
from lambdaboost import (
    NDCG,
    ApproxNDCG,
    GumbelRanks,
    LambdaRank,
    PairAccuracy,
    PairwiseHinge,
    Queries,
    _threads,
)
from lambdaboost._jit import kernel
from lambdaboost.objectives.kernels import tree

SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # of the grades, as in MSLR-WEB30K
COLUMNS = 1024
LCG_CYCLES = 4  # of a dependent 64-bit multiplication (3) and addition (1)
REPETITIONS = 15


@kernel
def _chain(n: Any) -> Any:
    x = np.uint64(1)
    for _ in range(n):
        x = x * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return x


@kernel
def _divisions(rounds: Any, e: Any, out: Any) -> None:
    for _ in range(rounds):
        e0, e1, e2, e3 = e[0], e[1], e[2], e[3]
        for j in range(out.size):
            a, b = np.float32(1) / (e0 + e[j]), np.float32(1) / (e1 + e[j])
            c, d = np.float32(1) / (e2 + e[j]), np.float32(1) / (e3 + e[j])
            out[j] += (a + b) + (c + d)


@kernel
def _copies(rounds: Any, a: Any, b: Any) -> None:
    for _ in range(rounds):
        for j in range(a.size):
            b[j] += a[j]


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
    clock = 4_000_000 * LCG_CYCLES / least(lambda: _chain(4_000_000))
    division = least(lambda: _divisions(2000, e, out)) / (2000 * 4 * COLUMNS)
    copied = least(lambda: _copies(4000, e, out)) / (4000 * COLUMNS)
    print(
        f"clock {clock / 1e9:.2f} GHz; a division {division * clock:.2f} cycles, an addition in memory {copied * clock:.2f}\n"
    )
    rows = []
    with _threads.using(1):
        for name, objective, queries, documents in (
            ("lanes", LambdaRank(), 10_000, 10),
            ("tiles", LambdaRank(), 1000, 120),
            ("tiles", LambdaRank(), 100, 1200),
            ("tree", LambdaRank(), 30, 5000),
            ("tree", LambdaRank(), 1, 100_000),
            ("two by two", LambdaRank(PairAccuracy()), 100, 1200),
            ("chances", ApproxNDCG(), 100, 120),
            ("noisy pairs", GumbelRanks(LambdaRank()), 100, 120),
            ("inference", PairwiseHinge(), 100, 1200),
        ):
            scores, q = drawn(queries, documents)
            seconds = least(lambda: objective.gradient(scores, q))
            cycles, pairs = seconds * clock, pairs_of(q)
            ordering = least(lambda: NDCG().per_query(scores, q)) * clock
            rows.append(
                (
                    name,
                    repr(objective),
                    f"{queries:,} × {documents:,}",
                    f"{1e3 * seconds:.2f}",
                    f"{cycles / q.n_documents:.0f}",
                    f"{ordering / q.n_documents:.0f}",
                    f"{cycles / pairs:.2f}",
                    f"{division * clock * pairs / cycles:.0%}",
                )
            )
        heads = (
            "kernel",
            "objective",
            "lists",
            "ms",
            "cycles a document",
            "NDCG's",
            "cycles a pair",
            "division's share",
        )
        print(table(heads, tuple(rows)))
        print(
            "\n" + table(("lists", "pairs, ms", "tree, ms"), tuple(_by_both(n) for n in (1200, 2500, 5000)))
        )


def _by_both(documents: int) -> tuple[str, str, str]:
    threshold, found = tree.PAIRS_A_DOCUMENT, []
    try:
        for limit in (10**18, 0):
            tree.PAIRS_A_DOCUMENT = limit
            scores, q = drawn(20, documents)
            found.append(f"{1e3 * least(lambda: LambdaRank().gradient(scores, q)):.2f}")
    finally:
        tree.PAIRS_A_DOCUMENT = threshold
    return f"20 × {documents:,}", *found


if __name__ == "__main__":
    main()
