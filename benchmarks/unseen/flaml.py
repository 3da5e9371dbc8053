"""`Flaml`: FLAML's `AutoML(task="rank")` on a fold, by an interpreter of its own, which needs no lambdaboost."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from experiments.common.data import dense
from experiments.common.workers import Outcome
from lambdaboost import NDCG

FLAML = "FLAML"
CUTOFFS = (3, 10)
CHILD = Path(__file__).with_name("flaml_child.py")


@dataclass(frozen=True)
class Flaml:
    """A search on a fold for some seconds."""

    data: str
    fold: int
    seconds: float

    @property
    def key(self) -> str:
        """The name of the file that keeps its outcome."""
        return f"flaml-{self.data.replace(' ', '_')}-{self.fold}"


@dataclass(frozen=True)
class Searches:
    """Runs FLAML by the interpreter `python`; `split` gives what a fold has seen, and its test part."""

    python: Path
    split: Callable[[str, int], Any]

    def __call__(self, run: Flaml) -> Outcome:
        """NDCG of every test query at each cutoff; the seconds that were taken, and what was chosen."""
        split = self.split(run.data, run.fold)
        seen = split.seen.take(np.flatnonzero(split.seen.queries.sizes > 1)).shuffled(
            run.fold
        )  # its metric needs two
        with TemporaryDirectory() as folder:
            file = Path(folder) / "data.npz"
            np.savez(
                file,
                X=dense(seen.features),
                y=seen.queries.relevance,
                sizes=seen.queries.sizes,
                test=dense(split.test.features),
                seconds=run.seconds,
                seed=run.fold,
            )
            subprocess.run(
                [self.python, "-I", CHILD, file], check=True, capture_output=True
            )  # without this folder
            with np.load(f"{file}.out.npz") as found:
                outcome = dict(found)
        scores = np.asarray(outcome.pop("scores"), dtype=np.float64)
        return outcome | {f"NDCG@{k}": NDCG(k).per_query(scores, split.test.queries) for k in CUTOFFS}
