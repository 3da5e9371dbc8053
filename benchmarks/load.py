"""Reading LETOR text: speed and peak memory, with scikit-learn, and polars on the same numbers as CSV."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.child import measured
from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import Job, Timed, alternate
from lambdaboost._jit import using
from lambdaboost.datasets import read_letor

FEATURES = 136  # as in MSLR-WEB30K, with as many whole numbers and as many decimals
WHOLE = 90
BLOCK = 2000  # number of different rows; further rows repeat their features in other queries
PER_QUERY = 100
SKLEARN, POLARS = "scikit-learn load_svmlight_file", "polars read_csv, same numbers"
METHOD = """\
Text as in MSLR-WEB30K: 136 features in every line. Medians of runs that alternate, with the lowest and highest; the \
file is in the operating system's cache. Memory: the rise of the peak resident set of a new process while it reads, \
relative to the arrays that it returns."""

PEAK = """
import json, sys
from pathlib import Path
import numpy as np
from lambdaboost._jit import using
from lambdaboost.datasets import read_letor

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024

read_letor({small!r})
held = status("VmRSS:")
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
with using({threads}):
    found = read_letor({path!r})
arrays = found.features.nbytes + found.queries.relevance.nbytes
print(json.dumps({{"share": (status("VmHWM:") - held) / arrays}}))
"""


def load(plan: Plan, threads: int) -> Section:
    """Measure all readers on one file."""
    with tempfile.TemporaryDirectory() as folder:
        text, table = Path(folder, "train.txt"), Path(folder, "train.csv")
        rows = write(text, table, plan.load_bytes)
        bytes_of = dict.fromkeys(_lambdaboost(text, threads), text.stat().st_size)
        jobs = dict(_lambdaboost(text, threads))
        jobs[SKLEARN], bytes_of[SKLEARN] = partial(_scikit_learn, text), text.stat().st_size
        if find_spec("polars"):
            jobs[POLARS], bytes_of[POLARS] = partial(_polars, table), table.stat().st_size
        read_letor(_small(folder))  # compiles
        seconds = alternate(jobs, plan.repetitions)
        shares = {name: _peak(text, _small(folder), n) for name, n in _threads(threads).items()}
        size = text.stat().st_size
    return Section(
        f"Reading {size / 1e6:,.0f} MB of LETOR text, {rows:,} rows",
        METHOD,
        ("reader", "MB/s", "time, of scikit-learn's", "peak memory, of the arrays"),
        tuple(_row(name, seconds, bytes_of[name], shares) for name in jobs),
        () if find_spec("polars") else ("polars is not installed: pip install polars",),
    )


def _row(name: str, seconds: Mapping[str, Timed], size: int, shares: Mapping[str, str]) -> tuple[str, ...]:
    speed = Timed(tuple(size / 1e6 / one for one in seconds[name].values))
    return name, speed.text(), (seconds[name] / seconds[SKLEARN]).text(), shares.get(name, "–")


def _threads(threads: int) -> dict[str, int]:
    return {f"lambdaboost read_letor, {n} thread{'s' * (n > 1)}": n for n in sorted({1, threads})}


def _lambdaboost(text: Path, threads: int) -> dict[str, Job]:
    def read(n: int) -> Any:
        with using(n):
            return read_letor(text)

    return {name: partial(read, n) for name, n in _threads(threads).items()}


def _scikit_learn(text: Path) -> Any:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(text), dtype=np.float32, zero_based=False, query_id=True)


def _polars(table: Path) -> Any:
    import polars

    return polars.read_csv(table, has_header=False)


def _peak(text: Path, small: Path, threads: int) -> str:
    if not Path("/proc/self/clear_refs").exists():
        return "–"
    return f"{measured(PEAK.format(small=str(small), path=str(text), threads=threads))['share']:.2f}"


def _small(folder: str) -> Path:
    path = Path(folder, "small.txt")
    path.write_text("1 qid:1 1:1 3:1\n", encoding="ascii")
    return path


def write(text: Path, table: Path, size: int) -> int:
    """Write at least `size` bytes of LETOR text, and its numbers as CSV; the number of rows."""
    rng = np.random.default_rng(0)
    whole = rng.geometric(0.05, (BLOCK, WHOLE)) - 1
    decimal = rng.lognormal(0, 3, (BLOCK, FEATURES - WHOLE)).round(6)
    words = [[*map(str, a), *map(str, b)] for a, b in zip(whole.tolist(), decimal.tolist(), strict=True)]
    grades = rng.integers(0, 5, BLOCK).tolist()
    lines = [" ".join(f"{i}:{word}" for i, word in enumerate(row, 1)) for row in words]
    cells = [",".join(row) for row in words]
    written = rows = 0
    with open(text, "w", encoding="ascii") as letor, open(table, "w", encoding="ascii") as csv:
        while written < size:
            queries = [(rows + i) // PER_QUERY for i in range(BLOCK)]
            written += letor.write(
                "".join(f"{g} qid:{q} {x}\n" for g, q, x in zip(grades, queries, lines, strict=True))
            )
            csv.write("".join(f"{g},{q},{x}\n" for g, q, x in zip(grades, queries, cells, strict=True)))
            rows += BLOCK
    return rows
