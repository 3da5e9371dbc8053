"""`reproduce_chakrabarti2008`: everything from the data to the report, in one folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter

import numpy as np

from lambdaboost.cli.console import OUT, note
from lambdaboost.datasets import Collection
from lambdaboost.evaluation import Figures
from lambdaboost.reproduce.chakrabarti2008.preparation import load
from lambdaboost.reproduce.chakrabarti2008.scaling import SIZES, Growth, measure_growth
from lambdaboost.reproduce.chakrabarti2008.trainers import HINGES, MCRANK, MEASURES, Run, train, train_mcrank
from lambdaboost.reproduce.data import Data, Fold
from lambdaboost.reproduce.experiment import writable

GRID, QUICK_GRID = (1e-3, 0.01, 0.1, 1.0, 10.0, 100.0), (0.01, 0.1)
RANDOM = "random order"
Told = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What the command line asks for; no folder of data means synthetic ones."""

    folder: Path | None
    threshold: float
    queries: int
    quick: bool
    seed: int
    out: Path


@dataclass(frozen=True, eq=False)
class Results:
    """All runs by trainer and fold, and how long the search for ŷ takes."""

    data: Data
    request: Request
    runs: dict[tuple[str, str], tuple[Run, ...]]
    growth: dict[str, Growth]

    @property
    def trainers(self) -> tuple[str, ...]:
        """Names in the order of the table."""
        return tuple(dict.fromkeys(name for name, _ in self.runs))

    def selected(self, trainer: str, fold: Fold) -> Run:
        """The run of the highest mean of the three measures on validation queries, the lowest C of equals."""
        q = self.data.joined(fold.valid).queries
        return max(
            self.runs[trainer, fold.name], key=lambda run: np.mean([m(run.valid, q) for m in MEASURES])
        )

    @cached_property
    def figures(self) -> dict[str, Figures]:
        """Each trainer's figures for all test queries, fold after fold; and of documents in random order."""
        rng = np.random.default_rng(self.request.seed)
        parts: dict[str, list[Figures]] = {name: [] for name in (*self.trainers, RANDOM)}
        for fold in self.data.folds:
            q = self.data.joined(fold.test).queries
            for name in self.trainers:
                scores = self.selected(name, fold).test
                parts[name].append(Figures(name, {m: m.per_query(scores, q) for m in MEASURES}))
            drawn = [rng.random(q.n_documents) for _ in range(20)]
            means = {m: np.mean([m.per_query(s, q) for s in drawn], axis=0) for m in MEASURES}
            parts[RANDOM].append(Figures(RANDOM, means))
        return {name: Figures.concat(name, *some) for name, some in parts.items()}


def reproduce_chakrabarti2008(request: Request) -> Results:
    """Train every rule at every C on every fold, time the inference, print the table and write the report."""
    from lambdaboost.reproduce.chakrabarti2008.report import figure_9, write_report

    data = load(request.folder, request.queries, request.threshold, request.seed)
    writable(request.out)
    started = perf_counter()

    def told(text: str) -> None:
        note(f"{perf_counter() - started:5.0f} s  {text}")

    with _one_thread():
        runs = _trained(data, request, told)
        growth = measure_growth(SIZES[:3] if request.quick else SIZES, request.seed)
    told("search for ŷ timed on longer lists")
    results = Results(data, request, runs, growth)
    write_report(results, request.out)
    OUT.print(figure_9(results))
    note(f"written: {request.out / 'report.md'}")
    return results


def _trained(data: Data, request: Request, told: Told) -> dict[tuple[str, str], tuple[Run, ...]]:
    runs: dict[tuple[str, str], tuple[Run, ...]] = {}
    _compile(data)
    for name, hinge in HINGES.items():
        for fold in data.folds:
            parts = _parts(data, fold)
            grid = QUICK_GRID if request.quick else GRID
            runs[name, fold.name] = tuple(train(hinge, C, parts) for C in grid)
        told(f"{name}: {sum(len(runs[name, fold.name]) for fold in data.folds)} trainings")
    for fold in data.folds:
        runs[MCRANK, fold.name] = (train_mcrank(_parts(data, fold), request.seed),)
    told(f"{MCRANK}: {len(data.folds)} trainings")
    return runs


@contextmanager
def _one_thread() -> Iterator[None]:
    """Kernels on one thread, so that times compare; as many as before afterwards."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def _compile(data: Data) -> None:
    """Kernels are compiled, or read, before any of them is timed."""
    _, q = data.joined(data.folds[0].valid)
    for hinge in HINGES.values():
        hinge.violators(np.zeros(q.n_documents), q)


def _parts(data: Data, fold: Fold) -> tuple[Collection, Collection, Collection]:
    return data.joined(fold.train), data.joined(fold.valid), data.joined(fold.test)
