"""The report: the hypervolume of each method, and the figures of each system on each data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

import experiments.several_goals as protocol
from experiments.common import report
from experiments.common.report import table
from experiments.common.verdicts import against, cell
from experiments.several_goals import methods
from experiments.several_goals.methods import COMBINERS, CONSTRAINED, FIRST, MIN_NORM, ONE_MODEL, SUM, WEIGHTS
from experiments.several_goals.results import OfSet, Values


def write_report(sets: Mapping[str, OfSet], out: Path) -> None:
    """Write report.md."""
    sections = [hypervolumes(sets), *(_of_set(name, found) for name, found in sets.items())]
    about = f"Made by `python -m experiments.several_goals`; {report.versions('lightgbm')}."
    head = "\n\n".join([about, *protocol.__doc__.strip().split("\n\n")[1:]])
    report.write(out, "Several goals: keep one measure, raise another", head, sections)


def hypervolumes(sets: Mapping[str, OfSet]) -> str:
    """The volume under the front of each method, beside that of the weighted sum."""
    fronts = {name: [methods.named(name, w) for w in WEIGHTS] for name in (SUM, *COMBINERS, ONE_MODEL)}
    fronts |= {MIN_NORM: [MIN_NORM], CONSTRAINED: [methods.named(CONSTRAINED, k) for k in methods.TOLERANCES]}
    volumes = {name: found.volumes(fronts) for name, found in sets.items()}
    rows = [[method, *(_volume(values, method) for values in volumes.values())] for method in fronts]
    caption = (
        "Squared points above the worse of both goals alone in each measure, and the difference from the "
        f"weighted sum with its 95 % interval over resampled queries. {MIN_NORM} has one point, {CONSTRAINED} two, all "
        "others five."
    )
    return "## Hypervolume\n\n" + table(["", *volumes], rows, caption)


def _volume(values: dict[str, Values], method: str) -> str:
    if method == SUM:
        return f"{values[SUM][0]:.2f}"
    difference = values[method] - values[SUM]
    low, high = np.percentile(difference[1:], [2.5, 97.5])
    text = f"{values[method][0]:.2f} ({difference[0]:+.2f}: {low:+.2f} to {high:+.2f})"
    return f"**{text}**" if low > 0 else text


def _of_set(name: str, found: OfSet) -> str:
    measures = found.goals.measures
    values = {system: dict(zip(measures, found.per_query(system), strict=True)) for system in found.systems}
    rows = [[FIRST, *(f"{100 * values[FIRST][m].mean():.2f}" for m in measures)]]
    for system, changes in against(FIRST, values, measures).items():
        rows.append([system, *map(cell, changes)])
    caption = (
        f"Means times 100 over {values[FIRST][measures[0]].size:,} test queries; ▲ better, ▼ worse than the first goal "
        "alone (paired t-test, p < 0.05 after Holm's correction for all systems and both measures)."
    )
    header = ["", "NDCG@10", "CNDCG@10"]
    return f"## {name}\n\nSecond goal: {found.goals.what}.\n\n{table(header, rows, caption)}"
