"""`compare`: systems against a baseline on the same queries, each `Difference` tested query by query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import listed, shown
from lambdaboost.evaluation.comparison.significance import (
    LEGEND,
    LEVEL,
    ROUNDING,
    Significance,
    WeightedMean,
    significances,
    two_sided_p,
    weighted_mean,
)
from lambdaboost.evaluation.comparison.system import Figures, System, check_same_queries
from lambdaboost.evaluation.comparison.table import Table, percent
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.naming import measures_in

BATCH = 1_000_000  # values in memory at a time in the randomisation test


def compare(
    baseline: System | Figures, *others: System | Figures, measures: Measure | str | Iterable[Measure | str]
) -> Comparison:
    """Compare systems with a baseline, query by query: a table, whose entries are each a `Difference`.

    A measure is compared over the queries with non-zero weight where it is defined (not NaN) for every system, so all
    means of a column are over the same queries. Query weights count as in ``measure(scores, queries)``.

    Parameters
    ----------
    baseline, *others : System or Figures
        Systems that rank the same queries; the others are compared with the first.
    measures : Measure, str or iterable of them
        The measures to compare, or their names, such as ``"ndcg@10"``.

    Raises
    ------
    ValueError, TypeError
        If the systems rank different queries or share a name, there is nothing to compare, or one is no system.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> from lambdaboost.evaluation import MRR, NDCG
    >>> q = Queries([1, 0, 1, 0, 1, 0], sizes=[2, 2, 2])
    >>> before = System("LightGBM", [1, 0, 0, 1, 0, 1], q)
    >>> after = System("lambdaboost", [1, 0, 1, 0, 0, 1], q)
    >>> comparison = compare(before, after, measures=(NDCG(1), MRR()))
    >>> print(comparison.markdown())  # doctest: +NORMALIZE_WHITESPACE
    | System | NDCG(k=1) | MRR() |
    |:---|---:|---:|
    | LightGBM | 33.33 | 66.67 |
    | lambdaboost | 66.67 | 83.33 |
    <BLANKLINE>
    Means over 3 queries, times 100. ▲ better, ▼ worse than LightGBM (paired t-test, p < 0.05 after Holm's correction
    for 2 comparisons).
    >>> comparison["lambdaboost", MRR()]
    Difference('lambdaboost' to 'LightGBM', MRR(): +0.1667, p=1)

    """
    systems = (baseline, *others)
    for system in systems:
        if not isinstance(system, System | Figures):
            kind = type(system).__name__
            raise TypeError(f"cannot compare a {kind}: give System(name, scores, queries) or Figures(…)")
    if not others:
        raise ValueError(f"only {shown(baseline.name)} is given: give at least one system to compare with it")
    names = [system.name for system in systems]
    if len(set(names)) < len(names):
        raise ValueError(f"systems are named {listed(names)}: give each a different name")
    chosen, weight = measures_in(measures), check_same_queries(*systems)
    columns = [_column(systems, measure, weight) for measure in chosen]
    return Comparison(
        baseline.name,
        baseline.n_queries,
        tuple(d for of_system in zip(*columns, strict=True) for d in of_system),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Systems compared with a baseline; prints as a table like those of Svore, Volkovs and Burges (2011).

    Attributes
    ----------
    baseline : str
        The name of the baseline.
    n_queries : int
        Number of ranked queries.
    differences : tuple of Difference
        One for each system and measure, system by system.

    """

    baseline: str
    n_queries: int
    differences: tuple[Difference, ...]

    def __repr__(self) -> str:
        return f"Comparison({listed(self.systems)} with {shown(self.baseline)} on {self.n_queries} queries)"

    def __getitem__(self, key: tuple[str, Measure]) -> Difference:
        for d in self.differences:
            if (d.system, d.measure) == key:
                return d
        known = listed(f"{d.system}, {d.measure!r}" for d in self.differences)
        raise KeyError(f"{key!r} was not compared: choose among {known}")

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems other than the baseline."""
        return tuple(dict.fromkeys(d.system for d in self.differences))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The compared measures."""
        return tuple(dict.fromkeys(d.measure for d in self.differences))

    @cached_property
    def significance(self) -> Mapping[tuple[str, Measure], Significance]:
        """The significance of each difference by (system, measure), Holm-adjusted for all of them."""
        found = significances((d.mean, d.p_value) for d in self.differences)
        return MappingProxyType(
            {(d.system, d.measure): s for d, s in zip(self.differences, found, strict=True)}
        )

    @property
    def criterion(self) -> str:
        """The criterion of significance, in words."""
        n = len(self.differences)
        correction = f" after Holm's correction for {n} comparisons" if n > 1 else ""
        return f"paired t-test, p < {LEVEL:g}{correction}"

    @property
    def means_over(self) -> str:
        """The queries that means are over, such as "Means over 58 of 60 queries, times 100."."""
        sizes = {measure: self[self.systems[0], measure].queries.size for measure in self.measures}
        weighted = any(np.ptp(d.weight) > 0 for d in self.differences)
        return means_over(sizes, self.n_queries, weighted)

    def table(self) -> Table:
        """The means, times 100; ▲ and bold if a system is significantly better, ▼ if it is worse."""
        first = [self[self.systems[0], measure] for measure in self.measures]
        baseline = (self.baseline, *(percent(d.mean_before) for d in first))
        rows = (
            (system, *(self._mean(system, measure) for measure in self.measures)) for system in self.systems
        )
        caption = f"{self.means_over} {LEGEND} than {self.baseline} ({self.criterion})."
        return Table(("System", *map(repr, self.measures)), (baseline, *rows), caption)

    def details(self, resamples: int = 2000) -> Table:
        """Every difference with its interval and p-values, including the slower randomisation test."""
        ps = "p", "p (adjusted)", "p (randomised)"
        header = ("System", "Measure", "Difference", "95% interval", *ps, "Wins", "Ties", "Losses")
        caption = (
            f"Differences of means to {self.baseline}. {self.means_over} {LEGEND} ({self.criterion}). "
            "Intervals and p-values are unadjusted; the randomisation test "
            f"({resamples} resamples), also unadjusted, is for comparison."
        )
        return Table(header, tuple(self._detail(d, resamples) for d in self.differences), caption)

    def markdown(self) -> str:
        """The table as Markdown."""
        return self.table().markdown()

    def html(self) -> str:
        """The table as HTML."""
        return self.table().html()

    def _mean(self, system: str, measure: Measure) -> str:
        return self.significance[system, measure].marked(percent(self[system, measure].mean_after))

    def _detail(self, d: Difference, resamples: int) -> tuple[str, ...]:
        low, high = d.interval()
        found = self.significance[d.system, d.measure]
        ps = found.p, found.adjusted, d.randomisation(resamples)
        return (
            d.system,
            repr(d.measure),
            found.marked(f"{100 * d.mean:+.2f}"),
            f"{100 * low:+.2f} to {100 * high:+.2f}" if np.isfinite(low) else "–",
            *(f"{p:.3g}" for p in ps),
            *map(str, (d.wins, d.ties, d.losses)),
        )

    def __rich__(self) -> Any:
        return self.table()

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.html()


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """The difference of a system from the baseline on one measure, over the compared queries.

    Means, p-values and intervals are weighted by `weight`; wins, ties and losses are counts.

    Attributes
    ----------
    baseline, system : str
        Their names.
    measure : Measure
        The measure.
    queries : int64 (n,)
        The compared queries.
    before, after : float64 (n,)
        The values of the baseline and of the system on each of them.
    weight : float64 (n,)
        The weight of each of them, > 0.

    """

    baseline: str
    system: str
    measure: Measure
    queries: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    weight: NDArray[np.float64]

    def __repr__(self) -> str:
        change = f"{self.mean:+.4f}, p={self.p_value:.3g}"
        return f"Difference({shown(self.system)} to {shown(self.baseline)}, {self.measure!r}: {change})"

    @property
    def per_query(self) -> NDArray[np.float64]:
        """`after` − `before`, float64 (n,)."""
        return self.after - self.before

    @property
    def mean(self) -> float:
        """The mean difference."""
        return self._weighted.mean

    @property
    def mean_before(self) -> float:
        """The mean of the baseline."""
        return float(np.average(self.before, weights=self.weight))

    @property
    def mean_after(self) -> float:
        """The mean of the system."""
        return float(np.average(self.after, weights=self.weight))

    @property
    def wins(self) -> int:
        """Number of queries on which the system is better."""
        return int((self.per_query > ROUNDING).sum())

    @property
    def losses(self) -> int:
        """Number of queries on which the baseline is better."""
        return int((self.per_query < -ROUNDING).sum())

    @property
    def ties(self) -> int:
        """Number of queries on which both are equal."""
        return self.queries.size - self.wins - self.losses

    @cached_property
    def p_value(self) -> float:
        """The p-value of the paired t-test, for this comparison alone (Svore, Volkovs and Burges 2011, §6).

        Weights count as in the means, with the variance and the degrees of freedom of Bell and McCaffrey (2002); equal
        weights give the ordinary paired t-test. The result is at least 2 / 2^m for m queries that differ, the lowest
        p-value of a sign-flip test: two equal improvements give p = 0.5, and fewer than six queries are never
        significant at 0.05.
        """
        return two_sided_p(self.per_query, self.weight)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the mean difference: all means that the test behind `p_value` does not reject.

        It contains 0 if and only if ``p_value >= 1 - level``, and is infinite for too few queries to be significant
        (fewer than six at 95%).
        """
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}: give a confidence level between 0 and 1, such as 0.95")
        alpha = 1 - level
        if 2 * 0.5**self.queries.size >= alpha:
            return -np.inf, np.inf
        mean, error, df = self._weighted
        reach = float(stdtrit(df, 1 - alpha / 2)) * error
        if self.p_value < alpha:
            return mean - reach, mean + reach
        return min(mean - reach, 0.0), max(mean + reach, 0.0)

    def interval_text(self, unit: float = 1.0, digits: int = 4) -> str:
        """The 95% interval in words, times `unit`; that there is none for too few queries."""
        low, high = (f"{unit * end:+.{digits}f}" for end in self.interval())
        return f"95% interval {low} to {high}" if "inf" not in low else "too few queries for a 95% interval"

    def randomisation(self, resamples: int = 2000) -> float:
        """The p-value of the randomisation test: how often random sign flips give as large a mean difference.

        Exact if 2^n ≤ `resamples`.
        """
        from scipy.stats import permutation_test

        if self.queries.size < 2:
            return 1.0
        test = permutation_test(
            (self.per_query * self.weight / self.weight.mean(),),
            np.mean,
            permutation_type="samples",
            n_resamples=resamples,
            batch=max(1, BATCH // self.queries.size),
            vectorized=True,
            random_state=np.random.default_rng(0),
        )
        return float(test.pvalue)

    @cached_property
    def _weighted(self) -> WeightedMean:
        return weighted_mean(self.per_query, self.weight)


def _column(
    systems: tuple[System | Figures, ...], measure: Measure, weight: NDArray[np.float64]
) -> list[Difference]:
    """The difference of every system from the first one, over the queries where all are defined."""
    values = np.array([system.per_query(measure) for system in systems])
    compared = np.flatnonzero(~np.isnan(values).any(axis=0) & (weight > 0))
    if compared.size == 0:
        raise ValueError(f"{measure!r} is undefined on every query: there is nothing to compare")
    before, *after = values[:, compared]
    return [
        Difference(systems[0].name, system.name, measure, compared, before, of_system, weight[compared])
        for system, of_system in zip(systems[1:], after, strict=True)
    ]


def means_over(sizes: Mapping[Measure, int], n_queries: int, weighted: bool) -> str:
    """The queries that a table's means are over, from the number of queries per measure."""
    kind = "Weighted means" if weighted else "Means"
    if len(set(sizes.values())) == 1:
        n = next(iter(sizes.values()))
        over = f"{n}" if n == n_queries else f"{n} of {n_queries}"
        return f"{kind} over {over} queries, times 100."
    over = ", ".join(f"{n} for {measure!r}" for measure, n in sizes.items())
    return f"{kind} over the queries where a measure is defined ({over}; of {n_queries}), times 100."
