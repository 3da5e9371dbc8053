"""The report: the portfolio, its check, and what its first setting gives against the defaults."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import benchmarks.portfolio as protocol
from benchmarks.portfolio.matrix import SIZE, Matrix
from benchmarks.portfolio.rivals import TUNE, Rivals
from benchmarks.portfolio.settings import name_of
from experiments.common import report
from experiments.common.report import table
from experiments.common.verdicts import marked
from lambdaboost import NDCG
from lambdaboost.tuning.portfolio import Setting

SIZES = (1, 2, 4, 8, SIZE)
DEFAULT = Setting("LambdaRank()")  # what `LambdaRanker` trains where nothing is given


def write_report(matrix: Matrix, out: Path, command: str, *more: str) -> None:
    """Write report.md; `command` repeats it, and `more` are further sections."""
    text = (protocol.__doc__ or "").split("\n\n", 1)[1].strip()
    head = f"`{command}`. {report.versions('lightgbm', 'xgboost')}.\n\n{text}"
    sections = [of_portfolio(matrix), of_check(matrix), of_settings(matrix), *more, of_data(matrix)]
    report.write(out, "The portfolio of tune", head, sections)


def of_portfolio(matrix: Matrix) -> str:
    """The settings in order, with the regret that is left after each."""
    means = matrix.shrunken_without()
    chosen = matrix.portfolio()
    rows = []
    for n, at in enumerate(chosen, 1):
        left = (means.max(axis=1) - means[:, chosen[:n]].max(axis=1)).mean()
        rows.append([name_of(matrix.settings[at]), f"{100 * means[:, at].mean():.2f}", f"{100 * left:.2f}"])
    caption = "Shrunken NDCG@10, mean over the sets, times 100; regret of the best of the settings so far."
    return "## The portfolio\n\n" + table(["", "alone", "regret left"], rows, caption)


def of_check(matrix: Matrix) -> str:
    """Regrets of portfolios of the other sets, by size and set."""
    rows = []
    for size in SIZES:
        lost = {
            name: matrix.regret(name, matrix.reached(name, matrix.portfolio(name, size)))
            for name in matrix.folds
        }
        rows.append([f"portfolio of {size}", *_cells(lost)])
    fixed = {name: matrix.regret(name, matrix.tested(name)[matrix.best_fixed(name)]) for name in matrix.folds}
    rows.append(["best fixed setting", *_cells(fixed)])
    for setting in (DEFAULT, Setting("lambdarank"), Setting("rank:ndcg", own=True)):
        at = matrix.settings.index(setting)
        found = {name: matrix.regret(name, matrix.tested(name)[at]) for name in matrix.folds}
        rows.append([name_of(setting), *_cells(found)])
    caption = "Regret, points of NDCG@10, of settings chosen on the other sets; the lower rows are the same everywhere."
    return "## Check on sets left out\n\n" + table(["", *matrix.folds, "mean"], rows, caption)


def _cells(lost: dict[str, float]) -> list[str]:
    values = [*lost.values(), float(np.mean(list(lost.values())))]
    return [f"{100 * value:.2f}" for value in values]


def of_settings(matrix: Matrix) -> str:
    """All settings against the defaults of `LambdaRanker`."""
    base = matrix.settings.index(DEFAULT)
    order = np.argsort(-matrix.shrunken_without().mean(axis=0), kind="stable")
    others = [int(at) for at in order if at != base]
    found = matrix.compared(base, others)
    rows = []
    for at in map(int, order):
        name = name_of(matrix.settings[at])
        means = [matrix.tested(data)[at].mean() for data in matrix.folds]
        mean = f"{100 * np.mean(means):.2f}"
        test = None if at == base else found.significance[name, NDCG(10)]
        cells = (
            [mean, "", ""]
            if test is None
            else [marked(mean, test), f"{100 * test.difference:+.2f}", f"{test.p:.2g}"]
        )
        rows.append([name, *cells, *(f"{100 * value:.2f}" for value in means)])
    caption = (
        f"NDCG@10 times 100, by shrunken mean. ▲ better, ▼ worse than {name_of(DEFAULT)}, LambdaRanker's defaults with "
        f"early stopping; every set counts alike ({found.criterion}; p-values of single comparisons)."
    )
    return "## All settings\n\n" + table(["", "mean", "difference", "p", *matrix.folds], rows, caption)


def of_data(matrix: Matrix) -> str:
    """What each set has."""
    rows = [
        [name, str(len(folds)), f"{matrix.tested(name).shape[1]:,}", f"{_seconds(matrix, name):.2f}"]
        for name, folds in matrix.folds.items()
    ]
    caption = "Processor seconds of a run, mean over settings and folds, on one thread."
    return "## Data\n\n" + table(["", "folds", "test queries", "seconds"], rows, caption)


def _seconds(matrix: Matrix, name: str) -> float:
    return float(np.mean([float(o["seconds"]) for run, o in matrix.found.items() if run.data == name]))


def of_rivals(rivals: Rivals) -> str:
    """Every row on the test queries, against `tune`."""
    folds = ", ".join(f"{name} {sum(f[0] == name for f in rivals.folds)}" for name in rivals.sets)
    caption = (
        "Test NDCG@10 times 100, every model trained again on all that is seen; regret and mean: every set counts "
        f"alike. Difference: of all queries pooled; ▲ better, ▼ worse than {TUNE} ({{criterion}}; p-values of "
        f"single comparisons). Folds, each with its own seeds: {folds}."
    )
    return "## Sets left out: tune against fixed objectives\n\n" + rivals.rows.table(TUNE, caption)
