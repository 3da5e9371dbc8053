"""The README's tables of speed and results, and its picture of two labels, from the reports of `benchmarks`.

``python -m benchmarks.readme`` writes the tables into README.md and draws docs/two_labels.png; a test fails where
either shows anything else than the reports say.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from scipy import stats

from experiments.common.report import legend
from lambdaboost.evaluation.charts import COLOURS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SPEED, GAIN = ROOT / "benchmarks/results/benchmarks.md", ROOT / "benchmarks/gain/results/one_label.md"
TWO_LABELS, PICTURE = ROOT / "benchmarks/gain/results/two_labels.md", ROOT / "docs/two_labels.png"
SHAPES = ("40,000 × 5", "4,000 × 30", "1,000 × 120, truncation 30", "100 × 1,200, truncation 30")
BASELINES = {
    "LightGBM": ("lambdarank", "rank_xendcg", "LambdaRank()"),
    "XGBoost": ("rank:ndcg", "rank:pairwise"),
}
OBJECTIVE = "YetiLoss()"
# The systems of two labels that the picture shows: what a reader of the README calls them, colour and marker.
SHOWN = {
    "combined gain": ("lambdarank, on one label made of both", "#555555", "^"),
    "stock pair": ("lambdarank, one model for each label, merged", COLOURS[4], "s"),
    "pair": ("YetiLoss, one model for each label, merged", COLOURS[0], "o"),
    "four, two stops": ("YetiLoss, two models for each label, merged", COLOURS[1], "D"),
}

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


def points(report: str) -> dict[str, list[str]]:
    """Both measures of each system of the picture, a cell for each weight."""
    found = {system: cells for system, *cells in rows(report, "Both measures at every weight")}
    return {system: found[system] for system in SHOWN}


def mark(shown: dict[str, list[str]]) -> str:
    """What the picture's file says of the points that it shows."""
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def mark_of(picture: Path) -> str:
    """The `mark` in a picture's file."""
    with Image.open(picture) as image:
        return str(image.info["Source"])


def draw(report: str, picture: Path) -> None:
    """Draw the line of each system over the weights, with a `mark` of its points in the file."""
    shown, n_sets = points(report), re.search(r"^Means over (\d+) sets\.$", report, re.M)[1]
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes: Any = figure.subplots()
    for system, cells in shown.items():
        (name, colour, marker), (first, second) = (
            SHOWN[system],
            np.array([c.split(", ") for c in cells], float).T,
        )
        axes.plot(first, second, color=colour, marker=marker, markersize=4, label=name)
    # The weights of the second label, beside the last line.
    for weight, at, above in ((0, 0, -13), (1, -1, 6)):
        place = {"xy": (first[at], second[at]), "xytext": (0, above), "textcoords": "offset points"}
        axes.annotate(f"weight {weight}", ha="center", fontsize=8, **place)
    axes.set_title(f"Held-out queries, means of {n_sets} data sets", fontsize=9, loc="left")
    axes.set(xlabel="NDCG@10 of the first label × 100", ylabel="CNDCG@10 of the second label × 100")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    legend(axes, loc="lower left")
    figure.savefig(picture, dpi=80, metadata={"Software": None, "Source": mark(shown)})


if __name__ == "__main__":
    draw(TWO_LABELS.read_text(encoding="utf-8"), PICTURE)
    README.write_text(filled(README.read_text(encoding="utf-8")), encoding="utf-8")
