"""`compare`: systems against a baseline on the same queries, in pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lambdaboost.evaluation.comparison.difference import Difference
from lambdaboost.evaluation.comparison.system import Figures, System, check_same_queries
from lambdaboost.evaluation.comparison.table import Cell, Style, Table
from lambdaboost.evaluation.measure import Measure


def compare(
    baseline: System | Figures, *others: System | Figures, measures: Measure | Iterable[Measure]
) -> Comparison:
    """Compare systems with a baseline, query by query: the paired t-test of the papers and what goes with it.

    Parameters
    ----------
    baseline : System or Figures
        What the others are compared with.
    *others : System or Figures
        Systems that rank the same queries.
    measures : Measure or iterable of Measure
        What to compare them by.

    Returns
    -------
    Comparison
        Prints as a table; ``comparison["name", NDCG(3)]`` is the `Difference` of one system on one measure.

    Raises
    ------
    ValueError
        Where the systems rank different queries, share a name, or there is nothing to compare.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> from lambdaboost.evaluation import MRR, NDCG
    >>> q = Queries([1, 0, 1, 0, 1, 0], sizes=[2, 2, 2])
    >>> before = System("LightGBM", [1, 0, 0, 1, 0, 1], q)
    >>> after = System("lambdaboost", [1, 0, 1, 0, 0, 1], q)
    >>> comparison = compare(before, after, measures=(NDCG(1), MRR()))
    >>> print(comparison.markdown())
    | System | NDCG(k=1) | MRR() |
    |:---|---:|---:|
    | LightGBM | 33.33 | 66.67 |
    | lambdaboost | 66.67 | 83.33 |
    <BLANKLINE>
    Means over 3 queries, times 100. Paired t-test to LightGBM: bold at the 95% level, italic at 90%.
    >>> comparison["lambdaboost", MRR()]
    Difference('lambdaboost' to 'LightGBM', MRR(): +0.1667, p=0.423)

    """
    systems = (baseline, *others)
    for system in systems:
        if not isinstance(system, System | Figures):
            kind = type(system).__name__
            raise TypeError(f"cannot compare a {kind}: give System(name, scores, queries) or Figures(…)")
    if not others:
        raise ValueError(f"only {baseline.name!r} is given: give at least one system to compare with it")
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        raise ValueError(f"systems are named {names}: give each its own name")
    chosen = (measures,) if isinstance(measures, Measure) else tuple(dict.fromkeys(measures))
    if not chosen or not all(isinstance(m, Measure) for m in chosen):
        raise ValueError(f"measures is {measures!r}: give one measure or more, such as (NDCG(1), NDCG(3))")
    for other in others:
        check_same_queries(baseline, other)
    return Comparison(
        baseline.name,
        baseline.n_queries,
        tuple(_difference(baseline, other, measure) for other in others for measure in chosen),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Systems compared with a baseline; prints as a table like those of Svore, Volkovs and Burges (2011).

    Attributes
    ----------
    baseline : str
        The name of the baseline.
    n_queries : int
        Number of queries that were ranked.
    differences : tuple of Difference
        One for each system and measure, system by system.

    """

    baseline: str
    n_queries: int
    differences: tuple[Difference, ...]

    def __repr__(self) -> str:
        systems = ", ".join(map(repr, self.systems))
        return f"Comparison({systems} with {self.baseline!r} on {self.n_queries} queries)"

    def __getitem__(self, key: tuple[str, Measure]) -> Difference:
        for d in self.differences:
            if (d.system, d.measure) == key:
                return d
        known = ", ".join(f"({d.system!r}, {d.measure!r})" for d in self.differences)
        raise KeyError(f"no {key!r} here, only {known}")

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems other than the baseline."""
        return tuple(dict.fromkeys(d.system for d in self.differences))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What they are compared by."""
        return tuple(dict.fromkeys(d.measure for d in self.differences))

    @cached_property
    def adjusted(self) -> tuple[float, ...]:
        """The p-value of each difference corrected for their number (Benjamini and Hochberg 1995)."""
        from scipy.stats import false_discovery_control

        return tuple(map(float, false_discovery_control([d.p_value for d in self.differences])))

    def table(self) -> Table:
        """The means, times 100: bold where a system differs at the 95 % level, italic at 90 %."""
        first = [self[self.systems[0], measure] for measure in self.measures]
        baseline = (Cell(self.baseline), *(_percent(d.before.mean()) for d in first))
        rows = (
            (
                Cell(system),
                *(_percent(d.after.mean(), _style(d)) for d in self.differences if d.system == system),
            )
            for system in self.systems
        )
        caption = (
            f"Means over {self.n_queries} queries, times 100. Paired t-test to {self.baseline}: "
            "bold at the 95% level, italic at 90%."
        )
        return Table(("System", *map(repr, self.measures)), (baseline, *rows), caption)

    def details(self, resamples: int = 2000, seed: int = 0) -> Table:
        """Every difference with all its tests; the bootstrap and the randomisation test take their time."""
        header = (
            *(
                "System",
                "Measure",
                "Difference",
                "95% interval",
                "p (t-test)",
                "p (randomised)",
                "p (adjusted)",
            ),
            *("Wins", "Ties", "Losses"),
        )
        caption = (
            f"Differences to {self.baseline}, times 100, over {self.n_queries} queries: "
            f"paired bootstrap interval, paired t-test, randomisation test ({resamples} resamples), "
            f"t-test adjusted for {len(self.differences)} comparisons (Benjamini and Hochberg)."
        )
        rows = zip(self.differences, self.adjusted, strict=True)
        return Table(header, tuple(_detail(d, p, resamples, seed) for d, p in rows), caption)

    def markdown(self) -> str:
        """The table as Markdown."""
        return self.table().markdown()

    def latex(self) -> str:
        """The table as a LaTeX float, for the package booktabs."""
        return self.table().latex()

    def html(self) -> str:
        """The table as HTML."""
        return self.table().html()

    def __rich__(self) -> Any:
        return self.table()

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.html()


def _difference(baseline: System | Figures, other: System | Figures, measure: Measure) -> Difference:
    before, after = baseline.per_query(measure), other.per_query(measure)
    defined = np.flatnonzero(~np.isnan(before) & ~np.isnan(after))
    if defined.size == 0:
        raise ValueError(f"{measure!r} is undefined on every query: there is nothing to compare")
    return Difference(baseline.name, other.name, measure, defined, before[defined], after[defined])


def _style(d: Difference) -> Style:
    return "bold" if d.p_value < 0.05 else "italic" if d.p_value < 0.10 else "plain"


def _percent(figure: float, style: Style = "plain") -> Cell:
    return Cell(f"{100 * figure:.2f}", style)


def _detail(d: Difference, adjusted: float, resamples: int, seed: int) -> tuple[Cell, ...]:
    low, high = d.interval(resamples=resamples, seed=seed)
    ps = d.p_value, d.randomisation(resamples, seed), adjusted
    return (
        Cell(d.system),
        Cell(repr(d.measure)),
        Cell(f"{100 * d.mean:+.2f}", _style(d)),
        Cell(f"{100 * low:+.2f} to {100 * high:+.2f}"),
        *(Cell(f"{p:.3g}") for p in ps),
        *(Cell(str(n)) for n in (d.wins, d.ties, d.losses)),
    )
