"""`compare`: systems against a baseline on the same queries, each difference tested query by query."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import error_context, shorten_repr
from lambdaboost._warn import warn
from lambdaboost._words import counted, listed, plain, quote
from lambdaboost.datasets import Queries
from lambdaboost.datasets.arrays import check_order
from lambdaboost.evaluation.charts import as_html, ends_of, text_frame
from lambdaboost.evaluation.measure import Measure, mean_of
from lambdaboost.evaluation.naming import parse, parse_all
from lambdaboost.evaluation.significance import (
    LEGEND,
    LEVEL,
    holm,
    interval,
    mark,
    two_sided_p,
)
from lambdaboost.evaluation.ties import describe_sorted_ties

HOLM = "p after Holm"


class Difference(NamedTuple):
    """The mean of a system on one measure, and its difference from the baseline.

    Attributes
    ----------
    system, measure : str
        Their names; that of the measure is its text, such as ``"NDCG(k=3)"``.
    mean, difference : float
        The mean, and that less the mean of the baseline.
    low, high : float
        The ends of the 95% interval of the difference, unadjusted; infinite for fewer than six queries.
    p, p_holm : float
        The p-value of the paired t-test for this difference alone, and after Holm's correction for all that were
        compared, which decides significance.

    """

    system: str
    measure: str
    mean: float
    difference: float
    low: float
    high: float
    p: float
    p_holm: float

    @property
    def mark(self) -> str:
        """▲ if significantly better than the baseline, ▼ if worse, else empty."""
        return mark(self.difference, self.p_holm)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Systems compared with a baseline; shows the means as a table that marks what is significant.

    Attributes
    ----------
    frame : pandas.DataFrame
        A row for each system and measure, the baseline first: ``system``, ``measure`` (its text), ``mean``,
        ``difference`` from the baseline with its 95% interval from ``low`` to ``high``, ``p`` of the paired t-test and
        ``p after Holm``, corrected for all rows. Rows of the baseline have NaN from ``difference`` on.
    means_over : str
        The queries that means are over, such as "Means over 58 of 60 queries, times 100."

    """

    frame: Any
    means_over: str

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, the baseline first."""
        return tuple(dict.fromkeys(self.frame["system"]))

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(dict.fromkeys(self.frame["measure"]))

    @property
    def criterion(self) -> str:
        """The criterion of significance, in words."""
        n = int(self.frame["p"].notna().sum())
        if n < 2:
            return f"paired t-test, p < {LEVEL:g}"
        return f"paired t-test, p < {LEVEL:g} after Holm's correction for {n} comparisons"

    @property
    def caption(self) -> str:
        """What `means_table` shows."""
        base = plain(self.systems[0])
        if len(self.systems) == 1:
            return self.means_over
        if not (self.frame[HOLM] < LEVEL).any():
            return f"{self.means_over} No difference from {base} is significant ({self.criterion})."
        return f"{self.means_over} {LEGEND} than {base} ({self.criterion})."

    def __getitem__(self, key: tuple[str, Measure | str]) -> Difference:
        """The row of a system and a measure."""
        if not isinstance(key, tuple) or len(key) != 2:
            such_as = f"comparison[{self.systems[-1]!r}, {self.measures[0]!r}]"
            raise TypeError(f"the key is {shorten_repr(key)}: give a system and a measure, such as {such_as}")
        system, measure = map(str, key)
        if measure not in self.measures:
            with suppress(ValueError):  # a name in results, such as ndcg@10
                measure = str(parse(measure))
        found = self.frame[(self.frame["system"] == system) & (self.frame["measure"] == measure)]
        if found.empty:
            raise KeyError(
                f"{key!r} was not compared: choose among {listed(self.systems)} and {listed(self.measures)}"
            )
        return Difference(*found.to_numpy().tolist()[0])

    @property
    def means_table(self) -> Any:
        """The means times 100 with their marks: a pandas frame of texts, a row for each system."""
        rows = []
        for system in self.systems:
            of_measures = [self[system, measure] for measure in self.measures]
            rows.append([system, *(f"{d.mark} {100 * d.mean:z.2f}".lstrip() for d in of_measures)])
        return text_frame(["System", *self.measures], rows)

    @property
    def differences_table(self) -> Any:
        """The differences times 100 with intervals and p-values: a pandas frame of texts."""
        rows = []
        for d in (self[system, measure] for system in self.systems[1:] for measure in self.measures):
            difference = f"{d.mark} {100 * d.difference:+z.2f}".lstrip()
            figures = ("<1e-4" if p < 1e-4 else f"{p:.2g}" for p in (d.p, d.p_holm))
            rows.append([d.system, d.measure, difference, ends_of(d.low, d.high), *figures])
        return text_frame(["System", "Measure", "Difference", "95% interval", "p", HOLM], rows)

    def __repr__(self) -> str:
        return f"{self.means_table.to_string(index=False)}\n\n{self.caption}"

    def _repr_html_(self) -> str:
        """The means, with a collapsible table of differences."""
        summary = f"Differences from {plain(self.systems[0])}, times 100, with 95% intervals; p is unadjusted"
        differences = f"<summary>{html.escape(summary)}</summary>\n{as_html(self.differences_table)}"
        return f"{as_html(self.means_table, self.caption)}\n<details>{differences}\n</details>"


def compare(
    scores: Mapping[str, ArrayLike], queries: Queries, measures: Measure | str | Iterable[Measure | str]
) -> Comparison:
    """Compare systems with the first of them, query by query.

    A measure is compared over the queries with non-zero weight where it is defined (not NaN) for every system, so all
    means of a measure are over the same queries. Query weights count as in ``measure(scores, queries)``. Tests are
    paired t-tests (Svore, Volkovs and Burges 2011, §6), with query weights, the test of Bell and McCaffrey (2002): see
    `lambdaboost.evaluation.significance`.

    Parameters
    ----------
    scores : mapping of str to array of shape (n_documents,)
        The scores of each system by its name, the baseline first; −inf for a document that was not retrieved. A lone
        system has means only.
    queries : Queries
        The queries that all of them rank.
    measures : Measure, str or iterable of them
        The measures to compare, or their names, such as ``"ndcg@10"``.

    Raises
    ------
    ValueError, TypeError
        If there is nothing to compare, scores do not match the queries, or a measure lacks its label source.

    Examples
    --------
    >>> from lambdaboost.evaluation import MRR, NDCG
    >>> q = Queries([1, 0, 1, 0, 1, 0], sizes=[2, 2, 2])
    >>> scores = {"LightGBM": [1, 0, 0, 1, 0, 1], "lambdaboost": [1, 0, 1, 0, 0, 1]}
    >>> comparison = compare(scores, q, measures=(NDCG(1), MRR()))
    >>> print(comparison)  # doctest: +NORMALIZE_WHITESPACE
         System NDCG(k=1) MRR()
       LightGBM     33.33 66.67
    lambdaboost     66.67 83.33
    <BLANKLINE>
    Means over 3 queries, times 100. No difference from LightGBM is significant (paired t-test, p < 0.05 after Holm's
    correction for 2 comparisons).
    >>> comparison["lambdaboost", MRR()].p
    1.0

    """
    chosen = parse_all(measures)
    values, _ = measure_systems(scores, queries, chosen)
    return compare_values(values, queries.query_weight)


def compare_values(
    values: Mapping[str, Mapping[Any, ArrayLike]], weight: ArrayLike | None = None
) -> Comparison:
    """Compare systems of which only the values per query are known, such as those of several folds together.

    Parameters
    ----------
    values : mapping of str to mapping of Measure or str to array of shape (n_queries,)
        The values of each system by its name, the baseline first; NaN where a measure is undefined. A measure that
        lambdaboost does not compute is named by any text. Values belong together by place; a pandas Series whose index
        names other queries than the baseline's, or the same in another order, is refused.
    weight : array of shape (n_queries,), optional
        The weight of each query, finite and ≥ 0.

    Raises
    ------
    ValueError, TypeError
        As `compare`, and if values or weights do not match.

    Examples
    --------
    >>> from lambdaboost.evaluation import NDCG
    >>> found = compare_values({"published": {NDCG(3): [0.5, 0.25]}, "retrained": {NDCG(3): [0.5, 0.75]}})
    >>> found["retrained", NDCG(3)].difference
    0.25

    """
    import pandas as pd

    _check_systems("values", values)
    for name, of in values.items():
        if not isinstance(of, Mapping):
            raise TypeError(
                f"values of {quote(name)} is of type {type(of).__name__}: give a dict of the values of each measure, "
                "such as {NDCG(3): [0.5, 0.25]}"
            )
    base, first = next(iter(values.items()))
    if not first:
        raise ValueError(f"values of {quote(base)} is empty: give values of at least one measure")
    for name, of in values.items():
        if of.keys() != first.keys():
            raise ValueError(
                f"values of {quote(name)} has the measures {listed(of)}, those of {quote(base)} {listed(first)}: give "
                "every system the same"
            )
    n = np.size(next(iter(first.values())))
    w = np.ones(n)
    if weight is not None:
        with error_context("weight"):
            w = np.asarray(weight, dtype=np.float64)
    if w.shape != (n,) or not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError(f"weight is {quote(w)}: give one weight per query, ({n},), finite and ≥ 0")
    if n and not w.any():
        raise ValueError("weight is 0 for every query: give some queries a weight above 0")

    # Tables and `Comparison` know measures by their text, in which a long curve of propensities is abridged.
    texts = [str(measure) for measure in first]
    if twice := [text for text in texts if texts.count(text) > 1]:
        raise ValueError(f"values has two measures shown as {twice[0]}: compare them one after the other")

    # The values of each measure, (n_systems, n_queries), and the weights, of queries on which every system has one.
    compared = {}
    for measure in first:
        arrays = []
        for name, of in values.items():
            given, of_base = of[measure], first[measure]
            # Series of pandas may be of the same queries in another order, or of others.
            if isinstance(given, pd.Series) and isinstance(of_base, pd.Series):
                own, theirs = (f"values[{quote(one)}][{measure!r}]" for one in (name, base))
                check_order(own, given, theirs, of_base)
                # Whole numbers may count the rows of two tables.
                numbered = any(s.index.dtype.kind in "iu" for s in (given, of_base))
                if not numbered and set(given.index) != set(of_base.index):
                    raise ValueError(
                        f"{own} is of other queries than {theirs}, by their index: give those of the same queries, or "
                        f"{own}.to_numpy() if they are"
                    )
            whose = f"{plain(measure)} of {quote(name)}"
            with error_context(whose):
                array = np.asarray(given, dtype=np.float64)
            arrays.append(array)
            if array.shape != (n,) or n == 0 or np.isinf(array).any():
                raise ValueError(
                    f"{whose} has shape {array.shape}: give one finite value, or NaN, for each of the same queries as "
                    f"{quote(base)}, which has {n}"
                )
        of_systems = np.array(arrays)
        known = ~np.isnan(of_systems).any(axis=0) & (w > 0)
        if not known.any():
            raise ValueError(f"{plain(measure)} is undefined on every query: there is nothing to compare")
        compared[measure] = of_systems[:, known], w[known]

    rows = []
    for place, name in enumerate(values):
        for measure, (of_systems, h) in compared.items():
            row = [name, str(measure), mean_of(of_systems[place], h), *[np.nan] * 5]
            if place > 0:
                gain = of_systems[place] - of_systems[0]
                row[3:7] = mean_of(gain, h), *interval(gain, h), two_sided_p(gain, h)
            rows.append(row)
    frame = pd.DataFrame(rows, columns=[*Difference._fields[:-1], HOLM])
    tested = frame["p"].notna()
    frame.loc[tested, HOLM] = holm(frame.loc[tested, "p"])

    # How many queries the means are over.
    sizes = sorted({h.size for _, h in compared.values()})
    over = counted(n, "query", "queries")
    if sizes != [n]:
        span = " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))
        over = f"{span} of {over}"
    kind = "Weighted means" if np.ptp(w) > 0 else "Means"
    return Comparison(frame, f"{kind} over {over}, times 100.")


def measure_systems(
    scores: Mapping[str, ArrayLike], queries: Queries, measures: Sequence[Measure]
) -> tuple[dict[str, dict[Measure, NDArray[np.float64]]], dict[str, str]]:
    """The value of each query, float64 (n_queries,), by system and measure; and where the order of rows decides.

    The latter is a sentence for each such system, of which there is also a warning.
    """
    if not isinstance(queries, Queries):
        raise TypeError(f"queries is of type {type(queries).__name__}: give Queries(relevance, sizes=…)")
    _check_systems("scores", scores)
    values, ties = {}, {}
    for name, given in scores.items():
        with error_context(f"scores of {quote(name)}"):
            s = queries.scores(given, allow_minus_infinity=True)
        values[name] = {measure: measure.per_query(s, queries) for measure in measures}
        if said := describe_sorted_ties(measures, s, queries):
            warn(f"{quote(name)}: {said}")
            ties[name] = said
    return values, ties


def _check_systems(what: str, systems: Any) -> None:
    if not isinstance(systems, Mapping) or not systems:
        raise TypeError(
            f"{what} is of type {type(systems).__name__}, expected a dict of at least one system by its name"
        )
    if wrong := [name for name in systems if not isinstance(name, str) or not name]:
        raise TypeError(f"{what} has the name {wrong[0]!r}: give a text, such as 'LightGBM'")
