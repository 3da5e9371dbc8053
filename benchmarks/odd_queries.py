"""Objectives on unusual queries, compared with the float64 reference.

Usage: python -m benchmarks.odd_queries [queries] [seed] [long lists]

Thousands of short queries, and lists of 100,000 documents: single documents, all tied, scores of ±1e6, differences
of 1e-30, both at once, no gain, some or all labels missing. Exits with code 1 if any value is wrong or not finite.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import numpy as np
import odd

from experiments.common.report import table as markdown

HEADS = ("objective", "queries", "documents", "farthest from the reference", "wrong", "not finite")


def main(queries: int = 10_000, seed: int = 0, lists: int = 12) -> None:
    start, rng = time.perf_counter(), np.random.default_rng(seed)
    short = {rule.objective: odd.Checked() for rule in odd.CHECKED}
    for done in range(0, queries, 1000):
        drawn = odd.thousand(rng)
        print(f"{done:,} queries, {time.perf_counter() - start:.0f} s …", file=sys.stderr)
        for rule in odd.CHECKED:
            odd.check_queries(rule, drawn, short[rule.objective])
    print(f"{queries:,} drawn queries of {min(odd.SIZES)} to {max(odd.SIZES)} documents, seed {seed}:\n")
    print(table(short))
    long = {objective: odd.Checked() for objective in odd.LONG_OBJECTIVES}
    for number in range(lists):
        print(f"long list {number}, {time.perf_counter() - start:.0f} s …", file=sys.stderr)
        for objective, checked in long.items():
            odd.check_long(objective, odd.long_list((seed, number), odd.LONG_OBJECTIVES[objective]), checked)
    print(f"\n{lists} long lists, {odd.SAMPLED} documents and more of each against all others:\n")
    print(table(long))
    print(f"\nTook {time.perf_counter() - start:.0f} s.")
    if any(checked.wrong or checked.not_finite for checked in [*short.values(), *long.values()]):
        sys.exit(1)


def table(found) -> str:
    rows = tuple(
        (repr(o), f"{c.queries:,}", f"{c.documents:,}", f"{c.worst:.0e}", str(c.wrong), str(c.not_finite))
        for o, c in found.items()
    )
    return markdown(HEADS, rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
