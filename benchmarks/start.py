"""Start-up time: import, loading and compiling of kernels."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable

from benchmarks.child import measured
from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import Timed

BEFORE = "LambdaRank()"  # what an installation that meets a further objective has compiled
JOBS = (BEFORE, "LambdaRank(MAP())", "RankNet()", "graded()", "NDCG()")
METHOD = """\
All times are from new processes. Import: lambdaboost, after numpy and numba, in seconds. First gradient: \
Queries and one gradient or measure of 10 lists of 100 documents, in seconds of the processor, which other programs \
change less. Nothing compiled: with an empty cache (NUMBA_CACHE_DIR), once per installation. After LambdaRank(): with \
the kernels of LambdaRank() in the cache, as a further objective finds it. Compiled: with its own \
kernels in the cache. Medians with the lowest and highest."""

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
job = {job}
job = getattr(job, "gradient", job)
start = time.process_time()
q = Queries(grades, sizes=np.full(10, 100), clicks=clicks)
job(scores, q)
first = time.process_time()
job(scores, q)
print(json.dumps({{"first": first - start, "next": time.process_time() - first}}))
"""


def start(plan: Plan, threads: int) -> Section:
    """Measure imports and first gradients."""
    return Section(
        "Start",
        f"{METHOD} {plan.start_repetitions} processes each.",
        ("what", "nothing compiled", f"after {BEFORE}", "compiled", "the next"),
        tuple(_imports(plan) + [(f"{job}, first", *_first(job, plan)) for job in JOBS]),
    )


def _imports(plan: Plan) -> list[tuple[str, ...]]:
    measured(IMPORT)
    found = [measured(IMPORT) for _ in range(plan.start_repetitions)]
    names = {
        "import lambdaboost, beyond numpy and numba": "lambdaboost",
        "import numpy and numba": "numpy and numba",
    }
    return [
        (what, "", "", _collected(one[name] for one in found).text(" s"), "") for what, name in names.items()
    ]


def _first(job: str, plan: Plan) -> tuple[str, ...]:
    """Processor times of the first call in each state of the cache, and of the next."""
    code = FIRST.format(job=job)
    from_nothing, further, compiled = [], [], []
    for _ in range(plan.start_repetitions):
        with tempfile.TemporaryDirectory() as cache:
            from_nothing.append(measured(code, {"NUMBA_CACHE_DIR": cache}))
            compiled.append(measured(code, {"NUMBA_CACHE_DIR": cache}))
        if job != BEFORE:
            with tempfile.TemporaryDirectory() as cache:
                measured(FIRST.format(job=BEFORE), {"NUMBA_CACHE_DIR": cache})
                further.append(measured(code, {"NUMBA_CACHE_DIR": cache}))
    return (
        _collected(one["first"] for one in from_nothing).text(" s"),
        _collected(one["first"] for one in further).text(" s") if further else "",
        _collected(one["first"] for one in compiled).text(" s"),
        _collected(one["next"] for one in compiled).milliseconds(),
    )


def _collected(values: Iterable[float]) -> Timed:
    return Timed(tuple(values))
