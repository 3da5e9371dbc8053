"""Memory of a gradient beyond its inputs."""

from __future__ import annotations

from benchmarks.child import measured
from benchmarks.plan import Plan
from benchmarks.section import Section

OBJECTIVES = ("LambdaRank()", "RankNet()", "SigmoidLocal()", "graded()", "iteration_dependent()")
METHOD = """\
The rise of the peak resident set of a process during a gradient of one list, per document, with each objective in its \
own process: without the scores and Queries, with the 8 bytes of the result. The first gradient includes what Queries \
caches; later gradients need only the amount in the last column. The kernels' code is not included: a small list has \
loaded it before."""

CODE = """
import gc, json
import numpy as np
from benchmarks.peak import forget_peak, peak
from lambdaboost import *

def made(n):
    rng = np.random.default_rng(0)
    return rng.normal(size=n), Queries(rng.integers(0, 5, n), sizes=[n], clicks=rng.random(n))

for small in (200, 15_000):
    {objective}.gradient(*made(small))
scores, q = made({documents})
gc.collect()
rises = []
for _ in range(3):
    forget_peak()
    before = peak()
    result = {objective}.gradient(scores, q)
    rises.append(peak() - before)
    del result
print(json.dumps({{"first": rises[0] / {documents}, "later": rises[2] / {documents}}}))
"""
# Otherwise the allocator reuses freed memory, and the rise would be underestimated.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}


def memory(plan: Plan, threads: int) -> Section:
    """Measure each objective on the longest list."""
    n = plan.memory_documents
    found = {}
    for objective in OBJECTIVES:
        found[objective] = measured(CODE.format(objective=objective, documents=n), ALLOCATOR)
    rows = tuple((name, f"{one['first']:.0f}", f"{one['later']:.0f}") for name, one in found.items())
    heads = ("objective", "bytes a document, first gradient", "later gradients")
    return Section(f"Memory of a gradient of {n:,} documents", METHOD, heads, rows)
