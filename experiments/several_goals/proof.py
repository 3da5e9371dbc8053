"""The report of the promise with proof: choices, their true losses, and `Constrained` beside the front."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import experiments.several_goals as protocol
from experiments.common import report
from experiments.common.report import table
from experiments.several_goals.keeping import KEEP, chosen, kept
from experiments.several_goals.promises import Promise
from experiments.several_goals.results import RESAMPLES, OfSet, Values
from lambdaboost.evaluation import non_dominated
from lambdaboost.tuning.keep import WEIGHTS

FIXED, CONSTRAINED = "0.3", "Constrained"
TRADE_OFFS = tuple(f"{w:g}" for w in WEIGHTS)


@dataclass(frozen=True, eq=False)
class Splits:
    """The splits of a data set."""

    found: OfSet

    @cached_property
    def choices(self) -> list[str]:
        """The trade-off that the sequence chose on each split."""
        return [f"{chosen(self.found.goals, outcome):g}" for outcome in self.found.outcomes.values()]

    @property
    def needed(self) -> float:
        """The median of the queries that a proof of the first step takes."""
        of = [kept(self.found.goals, o["held out"]).queries_needed for o in self.found.outcomes.values()]
        return float(np.median(of))

    def changes(self, system: str) -> Values:
        """The change of both measures from the first goal alone on the test part of each split, (splits, 2)."""
        return np.array([_mean(o, system) - _mean(o, TRADE_OFFS[0]) for o in self.found.outcomes.values()])

    @cached_property
    def of_choices(self) -> Values:
        """The change of both measures by the choice of each split, (splits, 2)."""
        every = {system: self.changes(system) for system in TRADE_OFFS}
        return np.array([every[system][at] for at, system in enumerate(self.choices)])

    def true_loss(self, system: str) -> float:
        """The mean loss of the first measure over the splits' test parts."""
        return -float(self.changes(system)[:, 0].mean())

    def above_front(self, seed: int = 0) -> Values:
        """The second measure of `Constrained` above the front, (1 + resamples,): first that of all queries."""
        values = np.array([self.found.per_query(system) for system in (*TRADE_OFFS, CONSTRAINED)])
        rng, n = np.random.default_rng(seed), values.shape[2]
        heights = [above(values.mean(axis=2))]
        for _ in range(RESAMPLES):
            heights.append(above(values @ rng.multinomial(n, np.full(n, 1 / n)) / n))
        return np.array(heights)


def above(points: Values) -> float:
    """The height of the last of points (n, 2) above the front of the others at its first coordinate.

    >>> above(np.array([[1, 0], [0, 1], [0, 0], [0.5, 0.75]]))
    0.25
    """
    *front, (x, y) = points
    on = np.array(front)[non_dominated(front)]
    on = on[np.argsort(on[:, 0], kind="stable")]
    return float(y - np.interp(x, on[:, 0], on[:, 1]))


def _mean(outcome: Mapping[str, Values], system: str) -> Values:
    values = outcome[f"{system} test"]
    mean: Values = values[:, ~np.isnan(values).any(axis=0)].mean(axis=1)
    return mean


def write_proof(sets: Mapping[str, OfSet], out: Path) -> None:
    """Write report.md on the sequence."""
    splits = {name: Splits(found) for name, found in sets.items()}
    about = (
        f"Made by `python -m experiments.several_goals DATA --parts sequence`; {report.versions('lightgbm')}."
    )
    head = "\n\n".join(protocol.__doc__.strip().split("\n\n")[-2:])
    out.mkdir(parents=True, exist_ok=True)
    sections = [
        _choices(splits),
        _promises(splits),
        _stays(splits),
        *map(_trade_offs, splits, splits.values()),
    ]
    report.write(out, "Several goals: one measure kept with proof", f"{about}\n\n{head}", sections)


def _choices(sets: Mapping[str, Splits]) -> str:
    rows = []
    for name, splits in sets.items():
        counts = Counter(splits.choices)
        said = ", ".join(f"{weight} ({counts[weight]})" for weight in TRADE_OFFS if counts[weight])
        raised = Promise(len(splits.choices) - counts[TRADE_OFFS[0]], len(splits.choices))
        rows.append([name, said, str(raised), f"{splits.needed:,.0f}"])
    caption = (
        "The weights of the second goal that the sequence chose (splits); how often it is above 0, with Wilson's 95 % "
        "interval; and the queries that a proof of the first step takes with a power of 80 % if nothing is lost, "
        "median over the splits."
    )
    header = ["", "chosen weights", "something is raised", "queries for a proof"]
    return "## Choices\n\n" + table(header, rows, caption)


def _promises(sets: Mapping[str, Splits]) -> str:
    rows = []
    beyond = total = 0
    for name, splits in sets.items():
        n = len(splits.choices)
        wrong = sum(splits.true_loss(system) > KEEP for system in splits.choices)
        beyond, total = beyond + wrong, total + n
        rows.append([f"{name}, sequence", *_figures(splits.of_choices), f"{wrong} of {n}"])
        for system, said in ((FIXED, "weighted sum, 0.3"), (CONSTRAINED, CONSTRAINED)):
            wrong = n * (splits.true_loss(system) > KEEP)
            rows.append([f"{name}, {said}", *_figures(splits.changes(system)), f"{wrong} of {n}"])
    caption = (
        "Changes from the first goal alone in points (100 × the measure), means over the splits' test parts; how many "
        f"single test parts lose more than {100 * KEEP:g} points, chance included; and how many choices have a true "
        f"loss beyond it. Of all choices of the sequence **{Promise(beyond, total)}** are beyond the tolerance."
    )
    header = ["", "first", "second", "test parts beyond", "choices beyond"]
    return "## True losses\n\n" + table(header, rows, caption)


def _figures(changes: Values) -> list[str]:
    first, second = 100 * changes.mean(axis=0)
    parts = sum(bool(lost) for lost in changes[:, 0] < -KEEP)
    return [f"{first:+.2f}", f"{second:+.2f}", f"{parts} of {len(changes)}"]


def _stays(sets: Mapping[str, Splits]) -> str:
    rows, higher = [], []
    for name, splits in sets.items():
        found = 100 * splits.above_front()
        low, high = np.percentile(found[1:], [2.5, 97.5])
        higher += [name] if low > 0 else []
        rows.append([name, f"{found[0]:+.2f}", f"{low:+.2f} to {high:+.2f}"])
    said = "stays" if len(higher) >= 2 else "goes"
    caption = (
        "The second measure of `Constrained` above the front of the ten trade-offs at the same first measure, in "
        f"points, with the 95 % interval over resampled test queries. Significantly above on {len(higher)} data sets: "
        f"by the rule of the protocol it **{said}**."
    )
    return "## Constrained above the front\n\n" + table(["", "above", "95 % interval"], rows, caption)


def _trade_offs(name: str, splits: Splits) -> str:
    rows = []
    for system in (*TRADE_OFFS[1:], CONSTRAINED):
        first, second = 100 * splits.changes(system).mean(axis=0)
        rows.append([system, f"{first:+.2f}", f"{second:+.2f}", str(splits.choices.count(system))])
    caption = f"Changes from the first goal alone in points, means over {len(splits.choices)} test parts."
    header = ["weight of the second goal", "first", "second", "chosen"]
    return f"## {name}\n\nSecond goal: {splits.found.goals.what}.\n\n{table(header, rows, caption)}"
