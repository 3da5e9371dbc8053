"""The report: findings, promises, hypervolumes, seconds, and the tables and pictures of each data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import experiments.several_goals as protocol
from experiments.common import report
from experiments.common.report import table
from experiments.common.verdicts import cell
from experiments.several_goals import methods, mo_lightgbm
from experiments.several_goals.methods import (
    COMBINERS,
    CONSTRAINED,
    FIRST,
    MIN_NORM,
    ONE_MODEL,
    SECOND_ALONE,
    SUM,
)
from experiments.several_goals.pictures import draw, ringed, short
from experiments.several_goals.promises import by_fold, by_seed, p_of_keeping
from experiments.several_goals.results import OfSet, Results, Values
from lambdaboost.evaluation import Difference

MO = "MO-LightGBM "
CONSTRAINTS = [methods.named(CONSTRAINED, keep) for keep in methods.TOLERANCES]


def write_report(results: Results, out: Path) -> None:
    """Write report.md and a picture for each data set."""
    sets = {name: results.of(name) for name in results.sets}
    volumes = {name: Volumes(found) for name, found in sets.items()}
    sections = [findings(sets, volumes), _promises(sets), _hypervolumes(volumes), _seconds(sets)]
    for name, found in sets.items():
        file = "".join(letter if letter.isalnum() else "_" for letter in name) + ".svg"
        draw(found, out / file)
        sections.append(_of_set(name, found, file))
    head = "\n\n".join(protocol.__doc__.strip().split("\n\n")[1:])
    about = f"Made by `python -m experiments.several_goals`; {report.versions('lightgbm')}."
    title = "Several goals: keep one measure, raise another"
    report.write(out, title, f"{about}\n\n{head}", sections)


class Volumes:
    """The hypervolumes of a data set: of all seeds, and of the one that MO-LightGBM has."""

    def __init__(self, found: OfSet) -> None:
        ours = _fronts(found)
        theirs = {f"{MO}{method}": _mo_front(found, method) for method in mo_lightgbm.METHODS}
        theirs = {name: members for name, members in theirs.items() if members}
        self.values = found.volumes(ours, found.seeds(FIRST))
        self.common: dict[str, Values] = {}
        if theirs:
            self.common = found.volumes(ours | theirs, found.seeds(next(iter(theirs.values()))[0]))

    def best_of_mo_lightgbm(self) -> str:
        """Its method with the largest volume."""
        theirs = [name for name in self.common if name.startswith(MO)]
        return max(theirs, key=lambda name: self.common[name][0])


def _fronts(found: OfSet) -> dict[str, list[str]]:
    fronts = {
        method: [methods.named(method, w) for w in methods.WEIGHTS] for method in (SUM, *COMBINERS, ONE_MODEL)
    }
    return fronts | {MIN_NORM: [MIN_NORM], CONSTRAINED: CONSTRAINTS}


def _mo_front(found: OfSet, method: str) -> list[str]:
    members = [mo_lightgbm.named(method, at) for at in range(mo_lightgbm.TRADE_OFFS)]
    return members if set(members) <= set(found.systems) else []


def findings(sets: dict[str, OfSet], volumes: dict[str, Volumes]) -> str:
    """The section on what was asked, a line for each question and data set."""
    lines = []
    for name, found in sets.items():
        lines.append(f"\n{name}:\n")
        lines += list(_on_promise(found))
        lines += list(_on_volumes(volumes[name]))
    return "## Findings\n" + "\n".join(lines)


def _on_promise(found: OfSet) -> Iterator[str]:
    first, second = found.goals.measures
    comparison = found.compared(CONSTRAINTS)
    for keep, name in zip(methods.TOLERANCES, CONSTRAINTS, strict=True):
        loss, rise = comparison[name, first], comparison[name, second]
        kept = all(loss_of(found, name, part) <= keep for part in ("valid", "test"))
        risen = rise.p < 0.05 and rise.difference > 0
        said = f"{'kept' if kept else 'broken'}, {'raised' if risen else 'not raised significantly'}"
        yield (
            f"- {name}: **{said}** (first {change(loss)}; on validation queries "
            f"{-100 * loss_of(found, name, 'valid'):+.2f}; second {change(rise)})"
        )


def loss_of(found: OfSet, system: str, part: str) -> float:
    """How far the mean first measure is below that of the first goal alone."""
    return float(found.per_query(FIRST, part)[0].mean() - found.per_query(system, part)[0].mean())


def _on_volumes(volumes: Volumes) -> Iterator[str]:
    for name in (*COMBINERS, ONE_MODEL):
        yield f"- Hypervolume of {name} against {SUM}: **{_against(volumes.values, name, SUM)}**"
    if volumes.common:
        best = volumes.best_of_mo_lightgbm()
        for name in (SUM, *COMBINERS, ONE_MODEL):
            yield f"- Hypervolume of {name} against {best}, its best here: **{_against(volumes.common, name, best)}**"


def _against(values: dict[str, Values], name: str, other: str) -> str:
    difference = values[name] - values[other]
    low, high = np.percentile(difference[1:], [2.5, 97.5])
    said = "larger" if low > 0 else "smaller" if high < 0 else "no significant difference"
    return f"{said}, {difference[0]:+.2f} ({low:+.2f} to {high:+.2f})"


def change(difference: Difference) -> str:
    """A difference in points, with its p-value."""
    return f"{100 * difference.difference:+.2f}, {p_text(difference.p)}"


def p_text(p: float) -> str:
    """A p-value in words.

    >>> p_text(0.0123), p_text(1e-200)
    ('p = 0.012', 'p < 1e-99')
    """
    return "p < 1e-99" if p < 1e-99 else f"p = {p:.2g}"


def _promises(sets: dict[str, OfSet]) -> str:
    header = [
        "",
        "first, points",
        "loss below tolerance",
        "second, points",
        "validation, folds",
        "test, folds",
    ]
    header += ["validation, seeds", "test, seeds"]
    rows = []
    for name, found in sets.items():
        first, second = found.goals.measures
        comparison = found.compared(CONSTRAINTS)
        for keep, system in zip(methods.TOLERANCES, CONSTRAINTS, strict=True):
            held = [
                str(of(found, system, part, keep)) for of in (by_fold, by_seed) for part in ("valid", "test")
            ]
            p = p_text(p_of_keeping(found, system, keep))
            changes = [change(comparison[system, measure]) for measure in (first, second)]
            rows.append([f"{name}, {system}", changes[0], p, changes[1], *held])
    caption = (
        "Changes from the first goal alone on test queries, in points (100 × the measure), with p of the paired "
        "t-test, not corrected. Loss below tolerance: p of the one-sided test that the loss is not below the "
        "tolerance. Folds and seeds: how often the mean over the queries of a fold, or of all folds of a seed, kept "
        "within the tolerance; "
        "Wilson's 95 % intervals, which take folds as independent."
    )
    return "## How often the promise held\n\n" + table(header, rows, caption)


def _hypervolumes(volumes: dict[str, Volumes]) -> str:
    return "## Hypervolume\n\n" + "\n\n".join(
        [
            _volume_table({name: v.values for name, v in volumes.items()}, "All seeds."),
            _volume_table(
                {name: v.common for name, v in volumes.items() if v.common}, "The seed of MO-LightGBM."
            ),
        ]
    )


def _volume_table(volumes: dict[str, dict[str, Values]], which: str) -> str:
    if not volumes:
        return ""
    rows = [
        [method, *(_volume(values, method) for values in volumes.values())]
        for method in next(iter(volumes.values()))
    ]
    caption = (
        f"{which} Squared points above the worse of both goals alone in each measure, and the difference from the "
        f"weighted sum with its 95 % interval over resampled queries. {MIN_NORM} has one point, {CONSTRAINED} two, all "
        "others five."
    )
    return table(["", *volumes], rows, caption)


def _volume(values: dict[str, Values], method: str) -> str:
    if method == SUM:
        return f"{values[SUM][0]:.2f}"
    difference = values[method] - values[SUM]
    low, high = np.percentile(difference[1:], [2.5, 97.5])
    text = f"{values[method][0]:.2f} ({difference[0]:+.2f}: {low:+.2f} to {high:+.2f})"
    return f"**{text}**" if low > 0 else text


def _seconds(sets: dict[str, OfSet]) -> str:
    rows = []
    for method in (SUM, *COMBINERS, CONSTRAINED):
        settings = methods.TOLERANCES if method == CONSTRAINED else methods.WEIGHTS
        cells = []
        for found in sets.values():
            seconds = np.mean([found.seconds(methods.named(method, setting)) for setting in settings], axis=0)
            alone = found.seconds(FIRST)[:, 0] + found.seconds(SECOND_ALONE)[:, 0]
            # Medians, since the first training of a process compiles its kernels.
            shares = np.median(seconds[:, 1] / seconds[:, 2]), np.median(seconds[:, 0] / alone)
            cells.append("{:.2f}, {:.2f}".format(*shares))
        rows.append([method, *cells])
    caption = (
        "A gradient's processor seconds as a share of the sum of those of both goals alone, at the scores of the last "
        "round; and those of a whole training as a share of both trainings alone: medians over folds and seeds, on a "
        "machine with other load. The training of Constrained includes that of its reference."
    )
    return "## Seconds\n\n" + table(["", *sets], rows, caption)


def _of_set(name: str, found: OfSet, file: str) -> str:
    shown = [SECOND_ALONE, *(methods.named(SUM, w) for w in methods.WEIGHTS), MIN_NORM, *CONSTRAINTS]
    shown += [methods.named(ONE_MODEL, w) for w in methods.READ_OFF]
    comparison = found.compared(shown)
    rows = [[FIRST, *(f"{100 * x:.2f}" for x in found.point(FIRST))]]
    for system in shown:
        cells = [cell(comparison[system, m]) for m in found.goals.measures]
        rows.append([system, *cells])
    queries = found.per_query(FIRST).shape[1]
    caption = (
        f"Means times 100 over {queries:,} test queries; ▲ better, ▼ worse than the first goal alone "
        f"({comparison.criterion})."
    )
    header = ["", *map(short, found.goals.measures)]
    about = f"Second goal: {found.goals.what}. Ringed in the picture: {ringed(found)}."
    return f"## {name}\n\n{about}\n\n![]({file})\n\n{table(header, rows, caption)}"
