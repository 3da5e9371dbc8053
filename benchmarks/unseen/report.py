"""The report: every row against `tune`, on both cutoffs, and what `tune` chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import benchmarks.unseen as protocol
from benchmarks.unseen.flaml import FLAML
from benchmarks.unseen.rows import Rows
from benchmarks.unseen.sets import LOG
from benchmarks.unseen.study import CUTOFFS, ROWS, SETTINGS, Run
from experiments.common import report
from experiments.common.report import table
from experiments.common.workers import Outcome
from lambdaboost import NDCG

TUNE = f"tune, {SETTINGS[-1]} settings"
Found = Mapping[Run, Outcome]


def write_report(found: Found, flaml: Found, out: Path, command: str) -> None:
    """Write report.md; `command` repeats it, and `flaml` has FLAML's outcomes of some of the runs."""
    text = (protocol.__doc__ or "").split("\n\n", 1)[1].strip()
    head = f"`{command}`. {report.versions('lightgbm', 'xgboost', 'optuna')}.\n\n{text}"
    real, logs = (
        {run: o for run, o in found.items() if (run.data == LOG) is which} for which in (False, True)
    )
    sections = [of_sets("Sets that the portfolio has not seen", real)]
    sections += [of_sets("New synthetic logs, whose kind the portfolio has seen", logs)] if logs else []
    if flaml:
        sections.append(of_flaml({run: found[run] | named(outcome) for run, outcome in flaml.items()}))
    report.write(out, "tune on unseen data", head, sections)


def of_sets(title: str, found: Found) -> str:
    """The tables of some sets."""
    return "\n\n".join([f"## {title}", *(of_rows(found, k) for k in reversed(CUTOFFS)), of_data(found)])


def rows(found: Found, k: int, names: Sequence[str]) -> Rows:
    """NDCG@k of every row: for each query of a set the mean over the seeds that test it."""
    sets = list(dict.fromkeys(run.data for run in found))
    return Rows({row: {data: _by_query(found, row, data, k) for data in sets} for row in names}, NDCG(k))


def _by_query(found: Found, row: str, data: str, k: int) -> NDArray[np.float64]:
    runs = [outcome for run, outcome in found.items() if run.data == data]
    queries = np.concatenate([outcome["queries"] for outcome in runs])
    values = np.concatenate([outcome[f"{row} NDCG@{k}"] for outcome in runs])
    at = np.unique(queries, return_inverse=True)[1]
    means: NDArray[np.float64] = np.bincount(at, values) / np.bincount(at)
    return means


def of_rows(found: Found, k: int) -> str:
    """Every row against `tune`."""
    caption = (
        f"Test NDCG@{k} times 100; every set counts alike. Difference: of all queries pooled; ▲ better, "
        f"▼ worse than {TUNE} ({{criterion}}; p-values of single comparisons)."
    )
    return rows(found, k, ROWS).table(TUNE, caption)


def named(outcome: Outcome) -> Outcome:
    """FLAML's outcome as that of a row."""
    return {f"{FLAML} {name}": value for name, value in outcome.items()}


def of_flaml(found: Found) -> str:
    """FLAML against `tune` on the runs that it has."""
    seconds = ", ".join(
        f"{data} {np.mean([o[f'{FLAML} seconds'] for run, o in found.items() if run.data == data]):.0f}"
        for data in dict.fromkeys(run.data for run in found)
    )
    caption = (
        f'Test NDCG@10 times 100 of {max(run.seed for run in found) + 1} seeds. FLAML\'s AutoML(task="rank", 5 folds, '
        f"refitted) used these processor seconds, mean over the seeds: {seconds}."
    )
    return "## FLAML\n\n" + rows(found, 10, (*ROWS[: len(SETTINGS)], FLAML)).table(TUNE, caption)


def of_data(found: Found) -> str:
    """What was run on each set, and what `tune` chose."""
    cells = []
    for data in dict.fromkeys(run.data for run in found):
        runs = {run.seed: outcome for run, outcome in found.items() if run.data == data}
        tested = np.concatenate([outcome["queries"] for outcome in runs.values()])
        seconds = np.mean([outcome["seconds"] for outcome in runs.values()])
        chosen = "; ".join(
            str(outcome[f"{TUNE} model"]).split(",")[0].removeprefix("Tuned(") for outcome in runs.values()
        )
        cells.append([data, str(len(runs)), f"{np.unique(tested).size:,}", f"{seconds:.0f}", chosen])
    caption = "Processor seconds of all rows of a seed, on one thread."
    return table(
        ["", "seeds", "test queries", "seconds", f"chosen of {SETTINGS[-1]}, by seed"], cells, caption
    )
