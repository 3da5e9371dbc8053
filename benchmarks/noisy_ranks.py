"""Noisy ranks with gradient steps, without and with a refit: `python -m benchmarks.noisy_ranks --help`.

Protocol, settled before any figure was seen
--------------------------------------------
Hypothesis, from three earlier fields: ``GradientStep(GumbelRanks(LambdaRank()))`` is at the top without a refit and
near the bottom with one. Here it meets LightGBM's lambdarank and ``LambdaRank()`` in the field's own protocol
(`benchmarks.field`) with one training of each, by the default trees, once for every seed, which draws the folds (but
LETOR's own), the order of rows and the synthetic log.

Without and with the refit: NDCG@3 of each test query, averaged over the seeds, real sets pooled, the log apart, whose
queries differ from seed to seed; the noisy ranks less each of the others, paired t-tests over the queries, Holm's
correction for all in the table. "By the refit" is what the refit gains the noisy ranks less what it gains the other.
The hypothesis holds if the noisy ranks are significantly above both others without a refit, below both with it, or lose
significantly by the refit; otherwise it is chance.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import benchmarks.field.__main__ as field
from benchmarks.field.candidates import DEFAULT, LAMBDARANK, candidates, of_lightgbm
from benchmarks.field.data import SYNTHETIC, graded_only, read_all
from benchmarks.field.results import Results
from experiments.common.data import Data
from experiments.common.report import table, versions, write
from experiments.common.script import add_out, at_least, note, run
from lambdaboost import GradientStep, GumbelRanks, LambdaRank
from lambdaboost.cli.columns import Columns
from lambdaboost.evaluation.comparison.significance import LEGEND, significances, two_sided_p
from lambdaboost.tuning.folds import query_contents

NOISY = of_lightgbm(GradientStep(GumbelRanks(LambdaRank())))
OTHERS = (LAMBDARANK, DEFAULT)
ROWS = (NOISY.name, *(other.name for other in OTHERS))
DRAWS = 1

Floats = NDArray[np.float64]
Gains = dict[str, Floats]  # by "without", "with" and "by the refit": the noisy ranks less another row


def of_seed(names: Sequence[str], seed: int, out: Path) -> tuple[dict[str, Data], Results]:
    """The field of one seed."""
    left_out = [c.name for c in candidates(field.MEASURE) if c.name not in ROWS]
    without = [word for name in left_out for word in ("--without", name)]
    options = ["--draws", str(DRAWS), "--seed", str(seed), "--workers", "1", "--out", str(out / str(seed))]
    return read_all(names, Columns(), seed), field.main([*names, *options, *without])[1]


def identities(data: Data) -> NDArray[np.uint64]:
    """A number for each test query, in the order of the figures, the same for every seed."""
    return np.concatenate([query_contents(graded_only(data.joined(fold.test))) for fold in data.folds])


def averaged(values: Sequence[Floats], names: Sequence[NDArray[np.uint64]]) -> Floats:
    """The mean over seeds of each query's values."""
    _, query = np.unique(np.concatenate(names), return_inverse=True)
    return np.bincount(query, np.concatenate(values)) / np.bincount(query)


def difference(results: Results, name: str, other: str) -> Gains:
    """NDCG@3 of the noisy ranks less that of another row."""
    without, refitted = (
        results.per_query(NOISY.name, 3, [name], refit) - results.per_query(other, 3, [name], refit)
        for refit in (False, True)
    )
    return {"without": without, "with": refitted, "by the refit": refitted - without}


def compared(found: Sequence[tuple[dict[str, Data], Results]]) -> str:
    """The table of all differences."""
    names = list(found[0][0])
    real = [name for name in names if name != SYNTHETIC]
    groups = {", ".join(group): group for group in (real, [SYNTHETIC]) if set(group) <= set(names) and group}
    known = {name: [identities(data[name]) for data, _ in found] for name in names}
    cells = {}
    for other in OTHERS:
        gains = {name: [difference(results, name, other.name) for _, results in found] for name in names}
        for label, of in groups.items():
            for what in ("without", "with", "by the refit"):
                cells[other.name, label, what] = np.concatenate(
                    [averaged([g[what] for g in gains[name]], known[name]) for name in of]
                )
    tested = significances((float(d.mean()), two_sided_p(d, np.ones(d.size))) for d in cells.values())
    shown = {
        cell: f"{s.marked(f'{100 * s.difference:+.2f}')} (p={s.adjusted:.2g})"
        for cell, s in zip(cells, tested, strict=True)
    }
    rows = [
        [
            f"against {other.name}, {label}",
            *(shown[other.name, label, w] for w in ("without", "with", "by the refit")),
        ]
        for other in OTHERS
        for label in groups
    ]
    caption = (
        f"Points of NDCG@3 of {NOISY.name}, {len(found)} seeds. {LEGEND}; p after Holm for {len(cells)}."
    )
    return table(["", "without a refit", "with", "by the refit"], rows, caption)


def means(found: Sequence[tuple[dict[str, Data], Results]]) -> str:
    """NDCG@3 of each row, mean over the seeds, without and with the refit."""
    names = list(found[0][0])
    rows = [
        [
            f"{row}{', refitted' if refit else ''}",
            *(f"{100 * np.mean([r.mean(row, 3, [name], refit) for _, r in found]):.2f}" for name in names),
        ]
        for refit in (False, True)
        for row in ROWS
    ]
    return table(["NDCG@3", *names], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the field of every seed, and write report.md."""
    options = _parser().parse_args(arguments)
    found = [of_seed(options.data, seed, options.out) for seed in range(options.seeds)]
    command = f"`python -m benchmarks.noisy_ranks {' '.join(options.data)} --seeds {options.seeds}`"
    head = f"{command}. {versions('lightgbm')}.\n\n{(__doc__ or '').strip()}"
    write(options.out, "Noisy ranks, without and with a refit", head, [compared(found), means(found)])
    note(f"written: {options.out / 'report.md'}")


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks.noisy_ranks",
        description="GradientStep(GumbelRanks(LambdaRank())), without and with a refit.",
    )
    made.add_argument("data", nargs="+", metavar="DATA", help="as for benchmarks.field")
    made.add_argument("--seeds", type=at_least(1), default=5, help="(default: 5)")
    add_out(made, "lambdaboost-noisy-ranks", "report.md and the finished runs, which are not repeated")
    return made


if __name__ == "__main__":
    run(main)
