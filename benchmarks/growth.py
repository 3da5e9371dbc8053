"""Growth of processor time and memory of whole trainings with the number of documents, in and out of core."""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.child import measured
from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import Timed
from benchmarks.whole_training import LABEL, QUERY
from lambdaboost.datasets import web_search_log

ENGINES = ("LightGBM", "XGBoost")
FEATURES_ARE = {"in memory": False, "in shards": True}
LENGTH, FEATURES, ROUNDS = 25, 40, 10
METHOD = f"""\
Resident memory at its peak and processor seconds of trainings by the stock engine, each in its own process: with \
LambdaRank() / with the engine's own objective, and the ratio. {FEATURES} features, lists of {LENGTH} documents on \
average, all pairs, {ROUNDS} rounds of the engine's default trees, one thread, no measure. Both objectives read shards \
of Parquet in the same way: into one array, or batch by batch, LightGBM as Sequence, XGBoost into an \
ExtMemQuantileDMatrix, whose bins are on disk. Memory includes imports and mapped pages of files, time neither imports \
nor compilation."""


def growth(plan: Plan, threads: int) -> Section:
    """Measure every number of documents on both engines, with features in memory and in shards."""
    sizes = plan.growth_documents
    with tempfile.TemporaryDirectory() as folder:
        shards = written(Path(folder), sizes[-1] // sizes[0], sizes[0])
        rows = tuple(
            (where, engine, f"{documents:,}", *compared(shards[: 1 + documents // sizes[0]], engine, where))
            for where, engine, documents in product(FEATURES_ARE, ENGINES, sizes)
        )
    heads = ("features", "engine", "documents", "peak memory", "making the data set", "a round")
    return Section("Growth with the data", METHOD, heads, rows)


def written(folder: Path, n: int, documents: int) -> tuple[str, ...]:
    """A small shard that loads kernels, and the given number of shards of about the given number of documents."""
    queries = [400] + [documents // LENGTH] * n
    files = tuple(str(folder / f"{shard:04}.parquet") for shard in range(1 + n))
    for shard, file in enumerate(files):
        X, q = web_search_log(queries[shard], LENGTH, FEATURES, seed=shard)
        columns = {f"f{i}": column for i, column in enumerate(X.T)}
        columns[LABEL] = q.relevance.astype(np.float32)
        columns[QUERY] = (queries[-1] * shard + q.query_of_row).astype(np.int32)
        pq.write_table(pa.table(columns), file)
    return files


def compared(shards: tuple[str, ...], engine: str, where: str) -> list[str]:
    """A training by LambdaRank() against one by the engine's own objective."""
    here, native = (trained(shards, engine, where, own) for own in (False, True))
    units = {"peak": (" MB", 1e-6), "build": (" s", 1.0), "round": (" s", 1.0)}
    return [
        f"{here[name].text('', scale)} / {native[name].text(unit, scale)}, {(here[name] / native[name]).ratio()}"
        for name, (unit, scale) in units.items()
    ]


def trained(shards: tuple[str, ...], engine: str, where: str, own: bool) -> dict[str, Timed]:
    """The peak in bytes, and processor seconds of the data set and of a round."""
    given = (engine, own, FEATURES_ARE[where], shards, ROUNDS)
    found = measured(f"from benchmarks.whole_training import measure; measure(*{given!r})")
    return {name: Timed((value,)) for name, value in found.items()}
