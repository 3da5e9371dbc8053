"""The report: every row against `tune`, on both cutoffs, what `tune` chose, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import benchmarks.unseen as protocol
from benchmarks.provenance import provenance
from benchmarks.unseen.study import CUTOFFS, TUNE, Outcome, Run
from experiments.common import report
from experiments.common.report import table
from experiments.common.verdicts import marked
from lambdaboost import NDCG
from lambdaboost.evaluation import compare_values

Found = Mapping[Run, Outcome]
SOURCES = ("objectives", "evaluation", "tuning")  # of the package, on which the figures depend


def write_report(found: Found, out: Path) -> None:
    """Write report.md."""
    text = (protocol.__doc__ or "").split("\n\n", 1)[1].strip()
    made_by = provenance("python -m benchmarks.unseen FOLDER", *SOURCES)
    head = f"{made_by}\n\n{text}"
    report.write(
        out, "tune on unseen data", head, [*(of_rows(found, k) for k in CUTOFFS[::-1]), of_sets(found)]
    )


def by_query(found: Found, row: str, data: str, k: int) -> NDArray[np.float64]:
    """NDCG@k of each query of a set that is tested, the mean over the seeds that test it."""
    runs = [outcome for run, outcome in found.items() if run.data == data]
    queries = np.concatenate([outcome["queries"] for outcome in runs])
    values = np.concatenate([outcome[f"{row} NDCG@{k}"] for outcome in runs])
    at = np.unique(queries, return_inverse=True)[1]
    means: NDArray[np.float64] = np.bincount(at, values) / np.bincount(at)
    return means


def of_rows(found: Found, k: int) -> str:
    """Every row against `tune`."""
    sets, end = list(dict.fromkeys(run.data for run in found)), f" NDCG@{k}"
    names = [name.removesuffix(end) for name in next(iter(found.values())) if name.endswith(end)]
    values = {row: {data: by_query(found, row, data, k) for data in sets} for row in names}
    means = {row: np.array([of.mean() for of in by_set.values()]) for row, by_set in values.items()}
    best, measure = np.max(list(means.values()), axis=0), NDCG(k)
    compared = compare_values({row: {measure: np.concatenate([*of.values()])} for row, of in values.items()})
    rows = []
    for row, of in means.items():
        mean = f"{100 * of.mean():.2f}"
        cells = [mean, "", ""]
        if row != TUNE:
            test = compared[row, measure]
            cells = [marked(mean, test), f"{100 * test.difference:+.2f}", f"{test.p:.2g}"]
        rows.append([row, f"{100 * (best - of).mean():.2f}", *cells, *(f"{100 * value:.2f}" for value in of)])
    caption = (
        f"Test NDCG@{k} times 100; every set counts alike. Difference: of all queries pooled; ▲ better, ▼ worse than "
        f"{TUNE} ({compared.criterion}; p-values of single comparisons)."
    )
    return table(["", "regret", "mean", "difference", "p", *sets], rows, caption)


def of_sets(found: Found) -> str:
    """How much was tested on each set, what `tune` chose, and its seconds."""
    cells = []
    for data in dict.fromkeys(run.data for run in found):
        runs = {run.seed: outcome for run, outcome in found.items() if run.data == data}
        tested = np.unique(np.concatenate([outcome["queries"] for outcome in runs.values()])).size
        seconds = f"{np.mean([outcome['seconds'] for outcome in runs.values()]):.0f}"
        chosen = "; ".join(str(outcome["chosen"]) for outcome in runs.values())
        cells.append([data, ", ".join(map(str, runs)), f"{tested:,}", seconds, chosen])
    total = f"{np.mean([outcome['seconds'] for outcome in found.values()]):.0f}"
    cells.append(["all", "", "", total, ""])
    caption = "Processor seconds of `tune`, mean over the seeds, on one thread."
    return table(["", "seeds", "test queries", "seconds", "chosen, by seed"], cells, caption)
