"""Start-up time: import, loading and compiling of kernels."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import lambdaboost
from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import Timed

BEFORE = "LambdaRank()"  # what an installation that meets a further objective has compiled; the first of JOBS
JOBS = (BEFORE, "LambdaRank(MAP())", "RankNet()", "graded()", "NDCG()")
METHOD = """\
All times are from new processes. Import: LambdaRank and Queries, after numpy and numba, in seconds. First gradient: \
Queries and one gradient or measure of 10 lists of 100 documents, in seconds of the processor, which other programs \
change less. Nothing compiled: with an empty cache (NUMBA_CACHE_DIR), once per installation. After LambdaRank(): with \
the kernels of LambdaRank() in the cache, as a further objective finds it. Compiled: with its own \
kernels in the cache. Medians with the lowest and highest."""

IMPORT = """
import json, time
start = time.perf_counter()
import numpy, numba
needed = time.perf_counter()
from lambdaboost import LambdaRank, Queries
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
        (*_imports(plan), *_first(plan)),
    )


def _imports(plan: Plan) -> list[tuple[str, ...]]:
    measured(IMPORT)
    found = [measured(IMPORT) for _ in range(plan.start_repetitions)]
    names = {
        "import lambdaboost, beyond numpy and numba": "lambdaboost",
        "import numpy and numba": "numpy and numba",
    }
    return [
        (what, "", "", Timed(tuple(one[name] for one in found)).text(" s"), "")
        for what, name in names.items()
    ]


def _first(plan: Plan) -> list[tuple[str, ...]]:
    """Processor times of the first call of each job in each state of the cache, and of the next call."""
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(plan.start_repetitions):
        with tempfile.TemporaryDirectory() as folder:
            before = f"{folder}/{BEFORE}"
            for job in JOBS:
                code, cache = FIRST.format(job=job), {"NUMBA_CACHE_DIR": f"{folder}/{job}"}
                seconds[job, "nothing compiled"].append(measured(code, cache)["first"])
                compiled = measured(code, cache)
                seconds[job, "compiled"].append(compiled["first"])
                seconds[job, "next"].append(compiled["next"])
                if job != BEFORE:
                    after = {"NUMBA_CACHE_DIR": str(shutil.copytree(before, f"{folder}/{job} after"))}
                    seconds[job, "after"].append(measured(code, after)["first"])
    rows = []
    for job in JOBS:
        states = "nothing compiled", "after", "compiled"
        texts = [Timed(tuple(seconds[job, at])).text(" s") if seconds[job, at] else "" for at in states]
        rows.append((f"{job}, first", *texts, Timed(tuple(seconds[job, "next"])).milliseconds()))
    return rows


def measured(code: str, cache: dict[str, str] | None = None) -> dict[str, float]:
    """Run `code` in a new process, which imports the same lambdaboost, and return the JSON that it prints."""
    package = str(Path(lambdaboost.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    given = {**os.environ, "PYTHONPATH": path, **(cache or {})}
    done = subprocess.run([sys.executable, "-c", code], env=given, stdout=subprocess.PIPE, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result
