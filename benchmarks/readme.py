"""The README's tables of speed and results, from the reports of `benchmarks` and `benchmarks.gain.one_label`.

``python -m benchmarks.readme`` writes them into README.md; a test fails where the README says anything else.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy import stats

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SPEED, GAIN = ROOT / "benchmarks/results/benchmarks.md", ROOT / "benchmarks/gain/results/one_label.md"
SHAPES = ("40,000 × 5", "4,000 × 30", "1,000 × 120, truncation 30", "100 × 1,200, truncation 30")
BASELINES = {
    "LightGBM": ("lambdarank", "rank_xendcg", "LambdaRank()"),
    "XGBoost": ("rank:ndcg", "rank:pairwise"),
}
OBJECTIVE = "YetiLoss()"

Rows = list[list[str]]


def rows(report: str, heading: str) -> Rows:
    """The cells of the first table below a heading of a report, without its header."""
    section = report.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    table = re.search(r"(?:^\|.*\n)+", section, re.M)
    if table is None:
        raise ValueError(f"there is no table below {heading!r}: run the benchmark that writes it")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]]


def speed(report: str) -> str:
    """Ratios of λ and μ and of whole trainings, in two digits, for each engine."""
    measured = {
        (shape, engine, name): cells
        for shape, engine, name, *cells in rows(report, "λ and μ inside a training")
    }
    heads = [f"{what}, {engine}" for what in ("λ and μ", "whole training") for engine in BASELINES]
    lines = [f"| queries × documents | {' | '.join(heads)} |", "|---" * 5 + "|"]
    for shape in SHAPES:
        cells = [measured[shape, engine, f"`{OBJECTIVE}`"] for engine in BASELINES]
        ratios = (
            float(of_engine[column].partition("×")[0].replace(",", ""))
            for column in (0, 1)
            for of_engine in cells
        )
        lines.append(
            f"| {shape.partition(', truncation')[0]} | {' | '.join(f'{x:,.{digits_after(x)}f} ×' for x in ratios)} |"
        )
    return "\n".join(lines)


def digits_after(x: float) -> int:
    """Decimals of a ratio with two digits, or with all of its whole ones.

    >>> [f"{x:.{digits_after(x)}f}" for x in (1.23, 12.3, 123.0)]
    ['1.2', '12', '123']
    """
    return 1 if abs(x) < 10 else 0


def gain(report: str) -> str:
    """The mean gain over each baseline, its t over queries and over sets, and on how many sets it is a gain."""
    lines = [
        "| engine | in place of | gain | t of queries | t of sets | sets above 0 |",
        "|---|---|---|---|---|---|",
    ]
    for engine, baselines in BASELINES.items():
        header, _, *by_set = re.search(rf"On {engine}:\n\n((?:^\|.*\n)+)", report, re.M)[1].splitlines()
        columns = zip(*(line.split("|") for line in by_set), strict=True)
        means = dict(zip(header.split("|"), columns, strict=True))
        measured = {name: cells for name, *cells in rows(report, f"NDCG@10 on {engine}: `{OBJECTIVE}` minus")}
        for name in baselines:
            mean, t, above, _ = measured[f"`{name}`"]
            ours, theirs = (np.array(means[f" `{one}` "], float) for one in (OBJECTIVE, name))
            of_sets = stats.ttest_rel(ours, theirs).statistic
            lines.append(f"| {engine} | `{name}` | {mean.split()[0]} | {t} | {of_sets:.1f} | {above} |")
    return "\n".join(lines)


def filled(readme: str) -> str:
    """The README with both tables of the reports."""
    tables = {
        "Speed": speed(SPEED.read_text(encoding="utf-8")),
        "Results": gain(GAIN.read_text(encoding="utf-8")),
    }
    for heading, table in tables.items():
        before, mark, after = readme.partition(f"\n## {heading}\n")
        readme = (
            before
            + mark
            + re.sub(r"(?:^\|.*\n)+", lambda _, table=table: table + "\n", after, count=1, flags=re.M)
        )
    return readme


if __name__ == "__main__":
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
