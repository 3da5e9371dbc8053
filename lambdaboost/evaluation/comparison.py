"""`compare`: systems against a baseline on the same queries, each difference tested query by query."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import error_context
from lambdaboost._words import listed, plain, quote
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.measure import Measure, check_scores
from lambdaboost.evaluation.naming import parse_all
from lambdaboost.evaluation.significance import (
    LEGEND,
    LEVEL,
    holm,
    interval,
    mark,
    two_sided_p,
    weighted_mean,
)

HOLM = "p after Holm"
COLUMNS = ("system", "measure", "mean", "difference", "low", "high", "p", HOLM)
LONGEST, LONGEST_CAPTION = 120, 4_000  # characters of a cell and of a caption
# An escape, a cell's border, emphasis, code, a link, a tag.
MARKDOWN_SPECIAL = re.compile(r"[\\|*`\[\]]|<(?=\S)")


class Difference(NamedTuple):
    """The mean of a system on one measure, and its difference from the baseline.

    Attributes
    ----------
    system, measure : str
        Their names; that of the measure is its `repr`.
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

    def interval_text(self) -> str:
        """The 95% interval in words, times 100."""
        if not np.isfinite(self.high - self.low):
            return "too few queries for an interval"
        return f"{100 * self.low:+.2f} to {100 * self.high:+.2f}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Systems compared with a baseline; shows the means as a table that marks what is significant.

    Attributes
    ----------
    frame : pandas.DataFrame
        A row for each system and measure, the baseline first: ``system``, ``measure`` (its `repr`), ``mean``,
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
    def baseline(self) -> str:
        """The name of the baseline."""
        return self.systems[0]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(dict.fromkeys(self.frame["measure"]))

    @property
    def criterion(self) -> str:
        """The criterion of significance, in words."""
        n = int(self.frame["p"].notna().sum())
        correction = f" after Holm's correction for {n} comparisons" if n > 1 else ""
        return f"paired t-test, p < {LEVEL:g}{correction}"

    @property
    def caption(self) -> str:
        """What the table shows."""
        return f"{self.means_over} {LEGEND} than {plain(self.baseline)} ({self.criterion})."

    def __getitem__(self, key: tuple[str, Measure | str]) -> Difference:
        """The row of a system and a measure."""
        system, measure = key[0], key[1] if isinstance(key[1], str) else repr(key[1])
        found = self.frame[(self.frame["system"] == system) & (self.frame["measure"] == measure)]
        if found.empty:
            raise KeyError(
                f"{key!r} was not compared: choose among {listed(self.systems)} and {listed(self.measures)}"
            )
        return Difference(*found.to_numpy().tolist()[0])

    def cells(self) -> tuple[Sequence[str], list[list[str]]]:
        """A header and the means times 100 with their marks, a row for each system."""
        rows = [
            [system, *(_marked(self[system, measure]) for measure in self.measures)]
            for system in self.systems
        ]
        return ["System", *self.measures], rows

    def differences(self) -> tuple[Sequence[str], list[list[str]]]:
        """A header and the differences times 100 with intervals and p-values, a row for each system and measure."""
        rows = []
        for d in itertools.starmap(Difference, self.frame.itertuples(index=False, name=None)):
            if d.system != self.baseline:
                difference = f"{d.mark} {100 * d.difference:+.2f}".lstrip()
                rows.append(
                    [d.system, d.measure, difference, d.interval_text(), f"{d.p:.3g}", f"{d.p_holm:.3g}"]
                )
        return ["System", "Measure", "Difference", "95% interval", "p", HOLM], rows

    def __repr__(self) -> str:
        return f"Comparison({listed(self.systems[1:])} with {quote(self.baseline)})"

    def __str__(self) -> str:
        """The means as Markdown, in aligned columns."""
        return f"{_markdown(*self.cells())}\n\n{_literal(self.caption)}"

    def _repr_html_(self) -> str:
        """The means, and the differences to be folded out."""
        summary = f"Differences from {self.baseline}, times 100, with 95% intervals; p is unadjusted"
        return (
            f"{html_table(*self.cells())}\n<p>{html.escape(plain(self.caption, LONGEST_CAPTION))}</p>\n<details>"
            f"<summary>{html.escape(plain(summary, LONGEST))}</summary>\n{html_table(*self.differences())}\n</details>"
        )


def compare(
    scores: Mapping[str, ArrayLike], queries: Queries, measures: Measure | str | Iterable[Measure | str]
) -> Comparison:
    """Compare systems with the first of them, query by query.

    A measure is compared over the queries with non-zero weight where it is defined (not NaN) for every system, so all
    means of a measure are over the same queries. Query weights count as in ``measure(scores, queries)``. Tests are
    paired t-tests (Svore, Volkovs and Burges 2011, §6), with weights those of Bell and McCaffrey (2002): see
    `lambdaboost.evaluation.significance`.

    Parameters
    ----------
    scores : mapping of str to array of shape (n_documents,)
        The scores of each system by its name, the baseline first; −inf for a document that was not retrieved.
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
    | System      | NDCG(k=1) | MRR() |
    |:------------|----------:|------:|
    | LightGBM    |     33.33 | 66.67 |
    | lambdaboost |     66.67 | 83.33 |
    <BLANKLINE>
    Means over 3 queries, times 100. ▲ better, ▼ worse than LightGBM (paired t-test, p < 0.05 after Holm's correction
    for 2 comparisons).
    >>> comparison["lambdaboost", MRR()].p
    1.0

    """
    chosen = parse_all(measures)
    return compare_values(measure_systems(scores, queries, chosen), queries.query_weight)


def compare_values(
    values: Mapping[str, Mapping[Any, ArrayLike]], weight: ArrayLike | None = None
) -> Comparison:
    """Compare systems of which only the values per query are known, such as those of several folds together.

    Parameters
    ----------
    values : mapping of str to mapping of Measure to array of shape (n_queries,)
        The values of each system by its name, the baseline first; NaN where a measure is undefined.
    weight : array of shape (n_queries,), optional
        The weight of each query, finite and ≥ 0.

    Raises
    ------
    ValueError, TypeError
        As `compare`, and if values or weights do not match.

    Examples
    --------
    >>> from lambdaboost.evaluation import NDCG
    >>> found = compare_values({"published": {NDCG(3): [0.5, 0.25]}, "ours": {NDCG(3): [0.5, 0.75]}})
    >>> found["ours", NDCG(3)].difference
    0.25

    """
    import pandas as pd

    _check_systems("values", values)
    columns = _checked_values(values)
    n = next(iter(columns.values())).shape[1]
    w = np.ones(n) if weight is None else np.asarray(weight, dtype=np.float64)
    if w.shape != (n,) or not (np.isfinite(w) & (w >= 0)).all():
        raise ValueError(f"weight is {quote(w)}: give one weight per query, ({n},), finite and ≥ 0")
    known = {m: ~np.isnan(of).any(axis=0) & (w > 0) for m, of in columns.items()}
    rows = [
        [name, repr(m), *_tested(columns[m][[0, at]][:, known[m]], w[known[m]], m, at)]
        for at, name in enumerate(values)
        for m in columns
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS[:-1])
    tested = frame["p"].notna()
    frame.loc[tested, HOLM] = holm(frame.loc[tested, "p"])
    return Comparison(
        frame, _means_over({m: int(of.sum()) for m, of in known.items()}, n, bool(np.ptp(w) > 0))
    )


def measure_systems(
    scores: Mapping[str, ArrayLike], queries: Queries, measures: Sequence[Measure]
) -> dict[str, dict[Measure, NDArray[np.float64]]]:
    """The value of each query, float64 (n_queries,), by system and measure."""
    if not isinstance(queries, Queries):
        raise TypeError(f"queries is a {type(queries).__name__}: give Queries(relevance, sizes=…)")
    _check_systems("scores", scores, least=1)
    values = {}
    for name, given in scores.items():
        with error_context(f"scores of {quote(name)}"):
            s = check_scores(given, queries)
        values[name] = {measure: measure.per_query(s, queries) for measure in measures}
    return values


def _check_systems(what: str, systems: Any, least: int = 2) -> None:
    if not isinstance(systems, Mapping):
        raise TypeError(f"{what} is a {type(systems).__name__}: give a dict by the names of systems")
    for name in systems:
        if not isinstance(name, str) or not name:
            raise TypeError(f"{what} has the name {name!r}: give a text, such as 'LightGBM'")
    if len(systems) < least:
        names = listed(systems) or "nothing"
        raise ValueError(
            f"{what} has {names} only: give a baseline and at least one system to compare with it"
        )


def _checked_values(values: Mapping[str, Mapping[Any, ArrayLike]]) -> dict[Measure, NDArray[np.float64]]:
    """The values of each measure of the first system, (n_systems, n_queries); others need the same."""
    base, first = next(iter(values.items()))
    if not first:
        raise ValueError(f"values of {quote(base)} is empty: give values of at least one measure")
    found, n = {}, np.size(next(iter(first.values())))
    for measure in first:
        found[measure] = [np.asarray(of.get(measure, ()), dtype=np.float64) for of in values.values()]
        for name, array in zip(values, found[measure], strict=True):
            if array.shape != (n,) or n == 0 or np.isinf(array).any():
                raise ValueError(
                    f"{measure!r} of {quote(name)} has shape {array.shape}: give one finite value, or NaN, for each of "
                    f"the same queries as {quote(base)}, which has {n}"
                )
    return {measure: np.array(of) for measure, of in found.items()}


def _tested(
    values: NDArray[np.float64], weight: NDArray[np.float64], measure: Measure, at: int
) -> tuple[float, ...]:
    """The row of system number `at` from the values of the baseline and its own, (2, n)."""
    if not weight.size:
        raise ValueError(f"{measure!r} is undefined on every query: there is nothing to compare")
    mean = float(np.average(values[1], weights=weight))
    if at == 0:
        return (mean, *[np.nan] * 4)
    x = values[1] - values[0]
    return mean, weighted_mean(x, weight).mean, *interval(x, weight), two_sided_p(x, weight)


def _means_over(sizes: Mapping[Measure, int], n_queries: int, is_weighted: bool) -> str:
    """The queries that means are over, from their number for each measure."""
    kind = "Weighted means" if is_weighted else "Means"
    if len(set(sizes.values())) == 1:
        n = next(iter(sizes.values()))
        return f"{kind} over {n if n == n_queries else f'{n} of {n_queries}'} queries, times 100."
    over = ", ".join(f"{n} for {measure!r}" for measure, n in sizes.items())
    return f"{kind} over the queries where a measure is defined ({over}; of {n_queries}), times 100."


def _marked(d: Difference) -> str:
    return f"{d.mark} {100 * d.mean:.2f}".lstrip()


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as HTML, every text short and escaped."""
    import pandas as pd

    cells = [[cell and plain(cell, LONGEST) for cell in row] for row in (header, *rows)]
    with pd.option_context("display.max_colwidth", None):
        table: str = pd.DataFrame(cells[1:], columns=cells[0]).to_html(index=False, border=0)
    return table


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as Markdown, its columns aligned: the first left, the others right."""
    cells = [[_literal(plain(cell, LONGEST)) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    first, *others = widths
    lines = [" | ".join([row[0].ljust(first), *map(str.rjust, row[1:], others)]) for row in cells]
    rule = "|".join([f":{'-' * (first + 1)}", *(f"{'-' * (width + 1)}:" for width in others)])
    head, *body = (f"| {line} |" for line in lines)
    return "\n".join([head, f"|{rule}|", *body])


def _literal(text: str) -> str:
    return MARKDOWN_SPECIAL.sub(r"\\\g<0>", text)


def non_dominated(points: ArrayLike) -> NDArray[np.bool_]:
    r"""Whether each point is on the Pareto front: no other is as good in all measures and better in one.

    .. math:: \nexists\, j:\ \forall k\ p_{jk} \ge p_{ik} \ \wedge\ \exists k\ p_{jk} > p_{ik}

    Equal points are on it together. `points`, (n, m), has one row per system and one column per measure, higher is
    better; the result is a bool array (n,).

    Raises
    ------
    ValueError
        If `points` is not a table of finite numbers with at least two columns.

    Examples
    --------
    >>> non_dominated([[1, 1], [2, 1], [0, 3]])
    array([False,  True,  True])

    """
    p = np.asarray(points, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] < 2:
        raise ValueError(
            f"points has shape {p.shape}: give a row for each system, a column for each of two measures"
        )
    if (bad := np.flatnonzero(~np.isfinite(p).all(axis=1))).size:
        raise ValueError(
            f"points[{bad[0]}] is {p[bad[0]].tolist()}: give finite numbers; leave out such systems"
        )
    beaten = [bool(((p >= one).all(axis=1) & (p > one).any(axis=1)).any()) for one in p]
    return ~np.array(beaten, dtype=np.bool_)
