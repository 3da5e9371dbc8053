"""Start-up time: import, loading and compiling of kernels."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable

from benchmarks.child import measured
from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import Timed

OBJECTIVES = ("LambdaRank()", "iteration_dependent()", "graded()")
METHOD = """\
All times are from new processes. Import: lambdaboost, after numpy and numba. First gradient: \
Queries and one gradient of 1,000 documents, in a process with compiled kernels on disk, and in one with an empty \
cache (NUMBA_CACHE_DIR), which compiles them: once per installation. Medians with the lowest and highest."""

IMPORT = """
import json, time
start = time.perf_counter()
import numpy, numba
needed = time.perf_counter()
import lambdaboost
print(json.dumps({"numpy and numba": needed - start, "lambdaboost": time.perf_counter() - needed}))
"""
FIRST = """
import json, time
import numpy as np
from lambdaboost import *
rng = np.random.default_rng(0)
scores, grades, clicks = rng.normal(size=1000), rng.integers(0, 5, 1000), rng.random(1000)
start = time.perf_counter()
q = Queries(grades, sizes=np.full(10, 100), clicks=clicks)
{objective}.gradient(scores, q)
first = time.perf_counter()
{objective}.gradient(scores, q)
print(json.dumps({{"first": first - start, "next": time.perf_counter() - first}}))
"""


def start(plan: Plan, threads: int) -> Section:
    """Measure imports and first gradients."""
    found = _imports(plan, threads)
    for objective in OBJECTIVES:
        found |= _first_gradients(objective, plan, threads)
    return Section(
        "Start",
        f"{METHOD} {plan.start_repetitions} processes each.",
        ("what", "seconds"),
        tuple((name, one.text(" s")) for name, one in found.items()),
    )


def _imports(plan: Plan, threads: int) -> dict[str, Timed]:
    measured(IMPORT)
    found = []
    for _ in range(plan.start_repetitions):
        found.append(measured(IMPORT))
    return {
        "import lambdaboost, beyond numpy and numba": _collected(one["lambdaboost"] for one in found),
        "import numpy and numba": _collected(one["numpy and numba"] for one in found),
    }


def _first_gradients(objective: str, plan: Plan, threads: int) -> dict[str, Timed]:
    code = FIRST.format(objective=objective)
    cold, warm = [], []
    for _ in range(plan.start_repetitions):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(measured(code, {"NUMBA_CACHE_DIR": cache}))
            warm.append(measured(code, {"NUMBA_CACHE_DIR": cache}))
    return {
        f"{objective}, first gradient, kernels on disk": _collected(one["first"] for one in warm),
        f"{objective}, next gradient": _collected(one["next"] for one in warm),
        f"{objective}, first gradient ever": _collected(one["first"] for one in cold),
    }


def _collected(values: Iterable[float]) -> Timed:
    return Timed(tuple(values))
