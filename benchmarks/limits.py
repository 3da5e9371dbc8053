"""What bounds each kernel, and how far it is from that bound.

Usage: python -m benchmarks.limits, which needs perf, objdump and llvm-mca (see `hot_loops`)

One thread, least processor time of alternating runs. The clock comes from a chain of dependent one-cycle operations. A
kernel that fills vector lanes is compared with what the ports allow its hottest loop; one that follows its data step by
step with itself on data whose branches the processor predicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SHARES
from benchmarks.far_scores import far_scores
from benchmarks.hot_loops import hot_loops
from benchmarks.timing import least
from experiments.common.report import table
from lambdaboost import (
    NDCG,
    ApproxNDCG,
    GumbelRanks,
    LambdaRank,
    PairAccuracy,
    Queries,
    _threads,
)
from lambdaboost._jit import kernel
from lambdaboost.datasets.kernels import letor
from lambdaboost.evaluation import Measure, pairs, rankings
from lambdaboost.objectives import Objective, approx_ndcg
from lambdaboost.objectives.kernels import lanes, query, tree

CHAIN_CYCLES = 6  # of three shifts and three exclusive ors, each of which waits for the one before
HEADS = (
    "kernel",
    "runs",
    "lists",
    "ms",
    "cycles a document",
    "hottest loop",
    "its cycles a unit",
    "its ports allow",
    "unit",
)


class Unit(NamedTuple):
    """What a loop counts by: how many a call has, and how many each instruction of some kind computes."""

    name: str
    of_call: Callable[[Queries], float]
    instruction: str
    of_instruction: float


class Case(NamedTuple):
    """A kernel, what runs it, and the unit of its hottest loop; None where no loop has most of the time."""

    name: str
    runs: Objective | Measure
    kernel: Any
    queries: int
    documents: int
    unit: Unit | None


def pairs_of(q: Queries) -> int:
    """Pairs of different grades."""
    count = 0
    for a, b in zip(q.offsets[:-1], q.offsets[1:], strict=True):
        of_grade = np.unique(q.relevance[a:b], return_counts=True)[1]
        count += ((b - a) ** 2 - (of_grade**2).sum()) // 2
    return int(count)


def _any_pairs(q: Queries) -> float:
    return float((q.sizes * (q.sizes - 1)).sum() / 2)


def _pairs_with_gain(q: Queries) -> float:
    return float((np.add.reduceat(q.relevance > 0, q.offsets[:-1], dtype=int) * q.sizes).sum())


PAIRS = Unit("pair of two grades", pairs_of, "vdivps", 16)
SLOTS = Unit("pair", _any_pairs, "vdivps", 16)
RANKS = Unit("pair", _any_pairs, "vcmpltpd", 8)
CHANCES = Unit("pair, one with gain", _pairs_with_gain, "cmpb", 1)
CASES = (
    Case("tiles", LambdaRank(), query.sum_by_tiles, 100, 1200, PAIRS),
    Case("tiles", LambdaRank(), query.sum_by_tiles, 1000, 120, PAIRS),
    Case("a d for each two levels", LambdaRank(PairAccuracy()), query.sum_by_tiles, 100, 1200, None),
    Case("lanes", LambdaRank(), lanes.sum_by_lanes, 2500, 40, SLOTS),
    Case("lanes", LambdaRank(), lanes.sum_by_lanes, 10_000, 10, SLOTS),
    Case("tree", LambdaRank(), tree.sum_by_tree, 1, 100_000, None),
    Case("four draws", GumbelRanks(LambdaRank()), query.sum_by_tiles, 100, 120, None),
    Case("chances", ApproxNDCG(), approx_ndcg._queries, 100, 120, CHANCES),
    Case("ranks in lanes", NDCG(), rankings._ranked_in_lanes, 10_000, 10, RANKS),
    Case("pairs in lanes", PairAccuracy(), pairs._wrong_in_lanes, 10_000, 10, RANKS),
)


@kernel
def _chain(n: Any) -> Any:
    x = np.uint64(1)
    for _ in range(n):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
    return x


def drawn(queries: int, documents: int) -> tuple[NDArray[np.float64], Queries]:
    """Scores and grades of queries of one length."""
    rng = np.random.default_rng(documents)
    n = queries * documents
    return rng.normal(size=n), Queries(rng.choice(5, p=SHARES, size=n) * 1.0, sizes=[documents] * queries)


def _of_ports(case: Case, clock: float) -> tuple[str, ...]:
    scores, q = drawn(case.queries, case.documents)
    call = partial(getattr(case.runs, "gradient", None) or case.runs.per_query, scores, q)  # type: ignore[union-attr]
    (seconds,) = least(call, repetitions=100)
    loops = hot_loops(call, case.kernel)
    cycles = seconds * clock
    row = (
        case.name,
        repr(case.runs),
        f"{case.queries:,} × {case.documents:,}",
        f"{1e3 * seconds:.2f}",
        f"{cycles / q.n_documents:.0f}",
    )
    if case.unit is None:
        return *row, f"{loops[0].share:.0%}", "", "", ""
    loop = next(loop for loop in loops if loop.count(case.unit.instruction))
    measured = loop.share * cycles / case.unit.of_call(q)
    allowed = loop.cycles() / (loop.count(case.unit.instruction) * case.unit.of_instruction)
    return *row, f"{loop.share:.0%}", f"{measured:.2f}", f"{allowed:.2f}", case.unit.name


class Steps(NamedTuple):
    """A kernel that goes step by step: its call on usual data, and on data whose branches are predicted."""

    name: str
    unit: str
    units: int
    usual: Callable[[], Any]
    regular: Callable[[], Any]


def _steps() -> Iterator[Steps]:
    for queries, documents in ((1000, 120), (1, 100_000)):
        scores, q = drawn(queries, documents)
        descending = -np.sort(-scores.reshape(queries, documents), axis=1).ravel()
        to, none = np.empty(q.n_documents, np.int32), np.zeros(queries, bool)
        sort = partial(rankings.sort_queries, 0, queries, q.offsets, none)
        name = f"sorting {queries:,} × {documents:,}, scores in order"
        yield Steps(name, "document", q.n_documents, partial(sort, scores, to), partial(sort, descending, to))

    n = q.n_documents
    ends, out = q.offsets, np.zeros(1)
    random = np.random.default_rng(0)
    for levels, figures, regular in (
        (5, random.choice(5, p=SHARES, size=n) + 1.0, np.arange(n) % 5 + 1.0),
        (n, random.permutation(n) + 1.0, np.arange(n) + 1.0),
    ):
        count = partial(pairs._wrong_by_tree, 0, 1, ends)
        of = (np.array([levels]), out)
        name = f"Fenwick tree of {levels:,} labels, labels in a cycle"
        yield Steps(name, "document", n, partial(count, figures, *of), partial(count, regular, *of))

    scores, q = drawn(100, 120)
    by_grade = Queries(-np.sort(-q.relevance.reshape(100, 120), axis=1).ravel(), sizes=q.sizes)
    noisy = GumbelRanks(LambdaRank()).gradient
    name = "noisy pairs, documents by grade"
    yield Steps(
        name, "pair of two grades", pairs_of(q), partial(noisy, scores, q), partial(noisy, scores, by_grade)
    )

    usual_text, plain_text = _letor("%d", "%.6g"), _letor("%02d", "%.6f")
    parse = partial(_parse, letor.Rows.for_text(plain_text.size, plain_text.size))
    name = "LETOR text, numbers of one length"
    yield Steps(name, "byte", usual_text.size, partial(parse, usual_text), partial(parse, plain_text))


def _letor(whole: str, decimal: str) -> NDArray[np.uint8]:
    """500 lines of 90 whole numbers and 46 decimals."""
    rng = np.random.default_rng(0)
    wholes, decimals = rng.geometric(0.05, (500, 90)) % 100, rng.lognormal(0, 3, (500, 46)) % 10
    lines = (
        " ".join(f"{i}:{x}" for i, x in enumerate([*(whole % x for x in a), *(decimal % x for x in b)], 100))
        for a, b in zip(wholes.tolist(), decimals.tolist(), strict=True)
    )
    return np.frombuffer("".join(f"1 qid:10 {line}\n" for line in lines).encode(), np.uint8)


def _parse(rows: letor.Rows, text: NDArray[np.uint8]) -> None:
    at, _, _ = letor.parse_lines(text, True, rows, 0, 0, 0)
    if at < text.size:
        raise AssertionError(f"parsed up to byte {at} of {text.size}")


def _both(documents: int) -> tuple[str, ...]:
    """Milliseconds by pairs and by the tree."""
    threshold, found = tree.PAIRS_A_DOCUMENT, []
    scores, q = drawn(20, documents)
    try:
        for limit in (10**18, 0):
            tree.PAIRS_A_DOCUMENT = limit
            alone = Queries(q.relevance, sizes=q.sizes)
            found.append(f"{1e3 * least(partial(LambdaRank().gradient, scores, alone))[0]:.2f}")
    finally:
        tree.PAIRS_A_DOCUMENT = threshold
    return f"20 × {documents:,}", *found


def main() -> None:
    """Print all tables of benchmarks/results/limits.md."""
    clock = 500_000 * CHAIN_CYCLES / least(partial(_chain, 500_000), repetitions=200)[0]
    print(f"Clock: {clock / 1e9:.2f} GHz.\n", flush=True)
    with _threads.using(1):
        print(table(HEADS, [_of_ports(case, clock) for case in CASES]), end="\n\n", flush=True)
        rows = []
        for name, unit, units, usual, regular in _steps():
            cycles = (f"{seconds * clock / units:.1f}" for seconds in least(usual, regular, repetitions=50))
            rows.append((name, unit, *cycles))
        print(
            table(("kernel, and its regular data", "cycles a", "usual", "regular"), rows),
            end="\n\n",
            flush=True,
        )
        print(
            table(("lists", "pairs, ms", "tree, ms"), map(_both, (1200, 2500, 5000))), end="\n\n", flush=True
        )
        print(far_scores(), end="\n\n", flush=True)
        scores, q = drawn(1, 100_000)
        for objective in (LambdaRank(), LambdaRank(PairAccuracy())):
            print(
                f"1 × 100,000: {objective!r} {1e3 * least(partial(objective.gradient, scores, q))[0]:.1f} ms."
            )


if __name__ == "__main__":
    main()
