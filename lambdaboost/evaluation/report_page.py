"""`report`: an HTML page that compares systems."""

from __future__ import annotations

import html
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._files import check_place, replacing
from lambdaboost._installed import ENGINES, engine_version, install_command
from lambdaboost._words import counted, plain, shown
from lambdaboost.datasets import Queries
from lambdaboost.datasets.digest import digest_of_queries
from lambdaboost.evaluation import charts
from lambdaboost.evaluation.charts import Draw
from lambdaboost.evaluation.comparison import Comparison, compare_values, html_table, values_of
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.naming import default_measures, measures_in
from lambdaboost.evaluation.significance import LEVEL, ROUNDING, weighted_mean

# Values by round: a sequence from round 1, or a mapping from rounds to values.
Curve = Sequence[float] | Mapping[int, float]
History = Mapping[str, Mapping[str, Curve]]
Values = Mapping[str, Mapping[Measure, NDArray[np.float64]]]  # of each query, by system

# Whatever the page holds, the browser loads nothing; without the empty icon it would ask a server for one.
ONLY_ITSELF = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST = 4_000  # characters of a paragraph
GROUPS = 12  # of queries; with more distinct values, numbers are grouped by quartile and texts by frequency
LIBRARIES = ("lambdaboost", "numpy", "numba", "scipy")


def report(
    path: str | Path,
    scores: Mapping[str, ArrayLike],
    queries: Queries,
    measures: Measure | str | Iterable[Measure | str] | None = None,
    *,
    histories: Mapping[str, History] | None = None,
    segments: Mapping[str, ArrayLike] | None = None,
    diagnostics: Mapping[str, Draw] | None = None,
    run: Mapping[str, Any] | None = None,
    title: str = "Ranking report",
) -> Path:
    """Write a self-contained HTML page that compares systems on the same queries, and return its path.

    It shows means and differences with intervals and significance as `compare` finds them, the trade-off between the
    first measures of two label sources, segments of queries, learning curves, the gains and losses of each query, and
    what was run on which data. It needs no other file, script or network. Charts need matplotlib and are left out
    without it. An existing file is replaced only when the page is complete. The environment variable
    ``SOURCE_DATE_EPOCH`` sets the date, for reproducible pages.

    Parameters
    ----------
    path : str or Path
        The file to write.
    scores : mapping of str to array of shape (n_documents,)
        The scores of each system by its name, the baseline first; a lone system is shown by its means.
    queries : Queries
        The queries that all of them rank.
    measures : Measure, str or iterable of them, optional
        The measures to compare, or their names such as ``"ndcg@10"``; the first of each label source is also shown by
        query. By default NDCG at 10, 5, 3 and 1, and CNDCG at 10 and 3 for every further label source in [0, 1];
        `Spearman` for labels below 0.
    histories : mapping of str to evals_result, optional
        Learning curves by system, as in `lightgbm.record_evaluation` and the ``evals_result`` of `xgboost.train`:
        ``{"valid": {"ndcg@3": [0.41, 0.43, …]}}``. A curve with gaps may be a mapping from rounds to values.
    segments : mapping of str to array of shape (n_queries,), optional
        Values by which queries are grouped: ``{"market": markets}``. More than 12 distinct numbers are grouped by
        quartile; of more than 12 texts the most frequent are shown.
    diagnostics : mapping of str to callable, optional
        Further charts: captions, and functions that draw on matplotlib Axes.
    run : mapping, optional
        Facts about the run, such as ``{"graded": {"objective": graded(), "params": {…}}}``; each nested mapping gets
        a heading.
    title : str
        Its title.

    Raises
    ------
    TypeError, ValueError
        Before anything is written: if scores do not match the queries, a measure lacks its label source, `path` is
        not writable, or another argument is invalid.
    OSError
        If writing fails, such as on a full disk; an existing page is then kept.

    Examples
    --------
    >>> import os, tempfile
    >>> q = Queries([1, 0, 1, 0], sizes=[2, 2])
    >>> file = os.path.join(tempfile.mkdtemp(), "report.html")
    >>> page = report(file, {"before": [1, 0, 0, 1], "after": [1, 0, 1, 0]}, q)
    >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True

    """
    path = Path(path)
    check_place("path", path)
    chosen = None if measures is None else measures_in(measures)
    if chosen is None and isinstance(queries, Queries):
        chosen = default_measures(queries)
    values = values_of(scores, queries, chosen or ())
    assert chosen is not None
    curves = _curves_of(histories or {})
    groups = {name: _groups(name, given, queries) for name, given in (segments or {}).items()}
    page = Page()
    comparison = compare_values(values, queries.query_weight) if len(values) > 1 else None
    _add_measures(page, values, queries, comparison)
    if comparison is not None:
        _add_trade_off(page, comparison, _first_of_sources(chosen))
    if groups:
        page.section("Segments")
        for name, of_query in groups.items():
            page.table(*_segment_table(name, of_query, values, chosen[0], queries.query_weight))
    if curves:
        page.section("Learning curves")
        for measure, lines in curves.items():
            last = "; ".join(f"{name}: {y[-1]:.4f} after round {x[-1]}" for name, (x, y) in lines.items())
            curve = partial(charts.draw_curves, curves=lines, x="Boosting round", y=charts.label(measure))
            page.chart(curve, f"{measure} by boosting round.", last)
    if diagnostics:
        page.section("Diagnostics")
        for caption, draw in diagnostics.items():
            page.chart(draw, caption)
    if comparison is not None:
        _add_gains(page, values, _first_of_sources(chosen), queries)
    _add_facts(page, values, queries, run or {})
    page.write(path, title, _lead(tuple(values), queries))
    return path


class Page:
    """Builder of an HTML document; escapes every text."""

    def __init__(self) -> None:
        self._sections: list[str] = []
        self._body: list[str] = []
        self._charts = 0

    def section(self, heading: str) -> None:
        """Begin a section, linked from the top of the page."""
        self._sections.append(heading)
        self._body.append(f'<h2 id="section-{len(self._sections)}">{_escaped(heading)}</h2>')

    def heading(self, text: str) -> None:
        """A heading inside a section."""
        self._body.append(f"<h3>{_escaped(text)}</h3>")

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> None:
        """A table with its caption below; it scrolls if it is too wide."""
        said = _escaped(caption)
        scrolled = f'<div class="scroll" tabindex="0" role="region" aria-label="{said}">'
        self._body.append(
            f"<figure>\n{scrolled}\n{html_table(header, rows)}\n</div>\n<figcaption>{said}</figcaption>\n</figure>"
        )

    def facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """A table of names and values."""
        rows = (
            f'<tr><th scope="row">{_escaped(name)}</th><td>{_escaped(text)}</td></tr>' for name, text in facts
        )
        self._body.append('<table class="facts">\n' + "\n".join(rows) + "\n</table>")

    def chart(self, draw: Draw, caption: str, alt: str = "") -> None:
        """A chart, which `alt` describes besides the caption; left out if matplotlib is missing."""
        if charts.has_matplotlib():
            self._charts += 1
            svg = charts.svg_of(
                draw, f"chart-{self._charts}", plain(f"Chart: {caption} {alt}".strip(), LONGEST)
            )
            said = f"<figcaption>{_escaped(caption)}</figcaption>"
            self._body.append(f'<figure class="chart">\n{svg}\n{said}\n</figure>')

    def write(self, path: Path, title: str, lead: str) -> None:
        """Write the document; an existing file is replaced only when it is complete."""
        title, style = (
            _escaped(title),
            files("lambdaboost.evaluation").joinpath("report.css").read_text("utf-8"),
        )
        needs = (
            f"<p>Without charts: they need matplotlib, {html.escape(install_command('matplotlib'))}.</p>\n"
        )
        links = "\n".join(
            f'<li><a href="#section-{at}">{_escaped(heading)}</a></li>'
            for at, heading in enumerate(self._sections, 1)
        )
        content = (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{ONLY_ITSELF}">\n<link rel="icon" href="data:,">\n'
            f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
            f"<header>\n<h1>{title}</h1>\n<p>{_escaped(lead)}</p>\n{'' if charts.has_matplotlib() else needs}"
            f'<nav aria-label="Contents">\n<ul>\n{links}\n</ul>\n</nav>\n</header>\n'
            "<main>\n" + "\n".join(self._body) + "\n</main>\n</body>\n</html>\n"
        )
        with replacing(path) as file:
            file.write(content.encode(errors="replace"))


def _escaped(text: str) -> str:
    return html.escape(plain(text, LONGEST)) if text else ""


def _lead(names: tuple[str, ...], q: Queries) -> str:
    text = f"on {q.n_queries:,} queries, {q.n_documents:,} documents, labelled by {' and '.join(q.labels)}."
    if len(names) == 1:
        return f"{names[0]} {text}"
    others = names[1] if len(names) == 2 else f"{len(names) - 1} systems"
    return f"{others} against {names[0]} {text}"


def _add_measures(page: Page, values: Values, q: Queries, comparison: Comparison | None) -> None:
    """The means with their intervals, and the differences from the baseline with theirs."""
    means: dict[str, list[tuple[float, float, float]]] = {system: [] for system in values}
    for measure in next(iter(values.values())):
        of_systems = np.array([of[measure] for of in values.values()])
        known = ~np.isnan(of_systems).any(axis=0) & (q.query_weight > 0)
        for system, of_query in zip(values, of_systems[:, known], strict=True):
            means[system].append(_mean_with_interval(of_query, q.query_weight[known]))
    measures = [repr(measure) for measure in next(iter(values.values()))]
    page.section("Measures")
    if comparison is None:
        rows = [[system, *(f"{mean:.2f}" for mean, _, _ in of)] for system, of in means.items()]
        page.table(
            ["System", *measures], rows, "Means over the queries where a measure is defined, times 100."
        )
    else:
        page.table(*comparison.cells(), comparison.caption)
        page.table(
            *comparison.differences(),
            f"Differences of means from {comparison.baseline}, times 100. Intervals and p are unadjusted.",
        )
    draw = partial(charts.draw_intervals, points=means, rows=measures, x="Mean × 100")
    page.chart(draw, "Means with 95% intervals.")
    if comparison is not None:
        found = {
            system: [
                (100 * d.difference, 100 * d.low, 100 * d.high)
                for d in (comparison[system, measure] for measure in measures)
            ]
            for system in comparison.systems[1:]
        }

        def draw_differences(axes: Any) -> None:
            charts.draw_intervals(axes, found, measures, "Difference × 100", first=1)
            axes.axvline(0, color=charts.INK, linewidth=0.8)

        page.chart(
            draw_differences, f"Differences from {comparison.baseline} with paired 95% intervals, unadjusted."
        )


def _mean_with_interval(x: NDArray[np.float64], weight: NDArray[np.float64]) -> tuple[float, float, float]:
    """The mean and the ends of its 95% interval, times 100; infinite for a single value, NaN without any."""
    from scipy.special import stdtrit

    if not x.size:
        return np.nan, np.nan, np.nan
    mean, error, df = weighted_mean(x, weight)
    reach = float(stdtrit(df, 1 - LEVEL / 2)) * error
    return 100 * mean, 100 * (mean - reach), 100 * (mean + reach)


def _first_of_sources(measures: Iterable[Measure]) -> list[Measure]:
    firsts: dict[str, Measure] = {}
    for measure in measures:
        firsts.setdefault(measure.source, measure)
    return list(firsts.values())


def _add_trade_off(page: Page, comparison: Comparison, firsts: Sequence[Measure]) -> None:
    across, *further = firsts
    if further:
        page.section("Trade-off")
    for up in further:
        means = "; ".join(
            f"{system} {100 * comparison[system, across].mean:.2f} and {100 * comparison[system, up].mean:.2f}"
            for system in comparison.systems
        )
        caption = (
            f"{across!r} against {up!r}; up and right is better. The line joins the Pareto front, systems that no "
            f"other beats on both. Bars are 95% intervals of the differences from {comparison.baseline}."
        )
        page.chart(
            partial(charts.draw_front, comparison=comparison, across=across, up=up), caption, f"{means}."
        )


def _add_gains(page: Page, values: Values, measures: Sequence[Measure], q: Queries) -> None:
    """The differences of each query, and the queries with the largest ones."""
    page.section("Gains and losses by query")
    baseline, *others = values
    for system in others:
        page.heading(system)
        for measure in measures:
            x = values[system][measure] - values[baseline][measure]
            x = x[~np.isnan(x) & (q.query_weight > 0)]
            better, worse = int((x > ROUNDING).sum()), int((x < -ROUNDING).sum())
            page.chart(
                partial(charts.draw_gains, differences=x, measure=repr(measure)),
                f"{measure!r} of each query, {system} less {baseline}, sorted: {better} better, "
                f"{x.size - better - worse} equal, {worse} worse.",
            )
        before, after = (values[name][measures[0]] for name in (baseline, system))
        size = np.nan_to_num(np.abs(after - before)) * (q.query_weight > 0)
        most = [at for at in np.argsort(-size, kind="stable")[:10] if size[at] > ROUNDING]
        rows = [
            [
                str(at if q.ids is None else q.ids[at]),
                str(q.sizes[at]),
                *(f"{100 * x:.2f}" for x in (before[at], after[at])),
                f"{100 * (after[at] - before[at]):+.2f}",
            ]
            for at in most
        ]
        named = "position, from 0" if q.ids is None else "id"
        caption = (
            f"The queries that changed most in {measures[0]!r}, times 100; queries are named by {named}."
        )
        page.table(("Query", "Documents", baseline, system, "Difference"), rows, caption)


# Segments


def _groups(name: str, given: ArrayLike, q: Queries) -> NDArray[Any]:
    """The group of each query: the value itself, a quartile of many numbers, or "other" for rare texts."""
    import pandas as pd

    values = np.asarray(given)
    if values.shape != (q.n_queries,):
        raise ValueError(
            f"segments[{shown(name)}] has shape {values.shape}, expected ({q.n_queries},): one value per query"
        )
    known = pd.Series(values).dropna()
    if not np.issubdtype(values.dtype, np.number):
        named = known.map(str)
        if named.nunique() > GROUPS:
            named = named.where(named.isin(named.value_counts().index[: GROUPS - 1]), "other")
    elif known.nunique() > GROUPS:
        quartile = pd.qcut(known, 4, labels=False, duplicates="drop")
        named = known.groupby(quartile).transform(lambda part: f"{part.min():g} to {part.max():g}")
    else:
        named = known.map("{:g}".format)
    return named.reindex(range(values.size), fill_value="missing").to_numpy(dtype=object)


def _segment_table(
    name: str, groups: NDArray[Any], values: Values, measure: Measure, weight: NDArray[np.float64]
) -> tuple[Sequence[str], list[list[str]], str]:
    """Header, rows and caption: the number of queries in each group, and the mean of every system on them."""
    of_systems = np.array([of[measure] for of in values.values()])
    known = ~np.isnan(of_systems).any(axis=0) & (weight > 0)
    rows = []
    for group in sorted(set(groups[known]), key=_by_number):
        there = known & (groups == group)
        means = 100 * np.average(of_systems[:, there], axis=1, weights=weight[there])
        rows.append([f"{name}: {group}", f"{there.sum():,}", *(f"{mean:.2f}" for mean in means)])
    caption = f"Mean {measure!r} by {name}, times 100; without tests of significance."
    return ("Queries with", "Queries", *values), rows, caption


def _by_number(group: str) -> tuple[float, str]:
    try:
        return float(group.split(" to ")[0]), group
    except ValueError:
        return float("inf"), group


# Learning curves and facts


def _curves_of(
    histories: Mapping[str, History],
) -> dict[str, dict[str, tuple[list[int], NDArray[np.float64]]]]:
    """The curves of each measure by system and data set, without empty ones; raises if a history has another form."""
    found: dict[str, dict[str, tuple[list[int], NDArray[np.float64]]]] = {}
    for system, history in histories.items():
        try:
            for part, of_part in history.items():
                for measure, values in of_part.items():
                    by_round = values if isinstance(values, Mapping) else dict(enumerate(values, start=1))
                    y = np.array([float(value) for value in by_round.values()])
                    if y.size:  # XGBoost has some names with the prefix "pre-"
                        curves = found.setdefault(measure.removeprefix("pre-"), {})
                        curves[f"{system}, {part}"] = list(by_round), y
        except (AttributeError, TypeError, ValueError):
            remedy = (
                "give the engine's results by system, such as {'graded': {'valid': {'ndcg@3': [0.41, 0.43]}}}"
            )
            raise TypeError(f"histories[{shown(system)}] is {str(history)[:80]}: {remedy}") from None
    return found


def _add_facts(page: Page, values: Values, q: Queries, run: Mapping[str, Any]) -> None:
    page.section("What was run")
    if loose := {name: value for name, value in run.items() if not isinstance(value, Mapping)}:
        page.facts(_flat(loose))
    for name, facts in run.items():
        if isinstance(facts, Mapping):
            page.heading(name)
            page.facts(_flat(facts))
    page.heading("Data")
    page.facts(_data_facts(q, list(next(iter(values.values())))))
    page.heading("Software")
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")  # reproducible-builds.org
    at = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    page.facts(
        [("Written", f"{at:%Y-%m-%d %H:%M} UTC"), ("Python", platform.python_version())]
        + [(name, version(name)) for name in LIBRARIES]
        + [(name, engine_version(name)) for name in ENGINES if sys.modules.get(name)]
    )


def _data_facts(q: Queries, measures: Iterable[Measure]) -> Iterator[tuple[str, str]]:
    """The queries and labels, and how queries count on which a measure is undefined."""
    sizes, weight = q.sizes, q.query_weight
    yield "Queries", f"{q.n_queries:,}"
    yield "Documents", f"{q.n_documents:,}"
    yield "Documents of a query", f"{sizes.min()} to {sizes.max()}, median {np.median(sizes):g}"
    if np.ptp(weight) > 0:
        none = int((weight == 0).sum())
        yield "Query weights", f"{weight.min():.3g} to {weight.max():.3g}; {none:,} of weight 0, not counted"
    for name, labels in q.labels.items():
        known = labels[~np.isnan(labels)]
        span = f", {known.min():g} to {known.max():g}" if known.size else ""
        yield f"Labels {name}", f"{known.size:,} of {q.n_documents:,} documents{span}"
    for measure in measures:
        undefined = np.isnan(measure.strict.per_query(np.arange(q.n_documents), q))  # without ties
        if n := int(undefined.sum()):
            how = "left out" if np.isnan(measure.empty) else f"counted as {measure.empty:g}"
            yield repr(measure), f"undefined on {counted(n, 'query', 'queries')}, {how}"
    yield "SHA-256 of queries and labels", digest_of_queries(q)


def _flat(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts; a nested entry is prefixed with the name of its mapping."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name} · ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{before}{name}", ", ".join(map(str, value))
        else:
            yield f"{before}{name}", str(value)
