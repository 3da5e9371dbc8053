"""`report`: an HTML page that compares systems."""

from __future__ import annotations

import html
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._files import check_place, replacing
from lambdaboost._installed import install_command
from lambdaboost._words import counted, plain, quote
from lambdaboost.datasets import Queries
from lambdaboost.datasets.digest import digest_of_queries
from lambdaboost.evaluation import charts
from lambdaboost.evaluation.charts import Draw
from lambdaboost.evaluation.comparison import Comparison, compare_values, html_table, measure_systems
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.naming import default_measures, parse_all
from lambdaboost.evaluation.significance import LEVEL, ROUNDING, weighted_mean

# Values by round: a sequence from round 1, or a mapping from rounds to values.
Curve = Sequence[float] | Mapping[int, float]
History = Mapping[str, Mapping[str, Curve]]
PerQueryValues = Mapping[str, Mapping[Measure, NDArray[np.float64]]]  # by system

LONGEST = 4_000  # characters of a paragraph
LIBRARIES = ("lambdaboost", "numpy", "numba", "scipy", "lightgbm", "xgboost")


def report(
    path: str | Path,
    scores: Mapping[str, ArrayLike],
    queries: Queries,
    measures: Measure | str | Iterable[Measure | str] | None = None,
    *,
    histories: Mapping[str, History] | None = None,
    diagnostics: Mapping[str, Draw] | None = None,
    run: Mapping[str, Any] | None = None,
    title: str = "Ranking report",
) -> Path:
    """Write a self-contained HTML page that compares systems on the same queries, and return its path.

    It shows means and differences with intervals and significance as `compare` finds them, the trade-off between the
    first measures of two label sources, learning curves, the gains and losses of each query, and what was run on which
    data. It needs no other file, script or network. Charts need matplotlib and are left out without it. An existing
    file is replaced only when the page is complete. The environment variable ``SOURCE_DATE_EPOCH`` sets the date, for
    reproducible pages.

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
    chosen = None if measures is None else parse_all(measures)
    if chosen is None and isinstance(queries, Queries):
        chosen = default_measures(queries)
    values = measure_systems(scores, queries, chosen or ())
    curves = _collect_curves(histories or {})
    comparison = compare_values(values, queries.query_weight) if len(values) > 1 else None
    firsts = list({m.source: m for m in reversed(chosen or ())}.values())[::-1]  # of each label source
    sections = {
        "Measures": _measures(values, queries, comparison),
        "Trade-off": _trade_off(comparison, *firsts) if comparison else "",
        "Learning curves": _learning_curves(curves),
        "Diagnostics": "\n".join(_chart(draw, text) for text, draw in (diagnostics or {}).items()),
        "Gains and losses by query": _gains(values, firsts, queries) if comparison else "",
        "What was run": _facts(run or {}, queries, chosen or ()),
    }
    parts = list(enumerate((heading for heading, content in sections.items() if content), 1))
    needs = f"<p>Without charts: they need matplotlib, {html.escape(install_command('matplotlib'))}.</p>\n"
    page = Template(files("lambdaboost.evaluation").joinpath("report.html").read_text("utf-8")).substitute(
        title=_escape(title),
        lead=_escape(_lead(tuple(values), queries)),
        note="" if charts.has_matplotlib() else needs,
        links="\n".join(f'<li><a href="#section-{at}">{heading}</a></li>' for at, heading in parts),
        body="\n".join(f'<h2 id="section-{at}">{heading}</h2>\n{sections[heading]}' for at, heading in parts),
    )
    with replacing(path) as file:
        file.write(page.encode(errors="replace"))
    return path


# Pieces of HTML


def _escape(text: str) -> str:
    return html.escape(plain(text, LONGEST)) if text else ""


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A table with its caption below; it scrolls if it is too wide."""
    text, table = _escape(caption), html_table(header, rows)
    scrolled = f'<div class="scroll" tabindex="0" role="region" aria-label="{text}">'
    return f"<figure>\n{scrolled}\n{table}\n</div>\n<figcaption>{text}</figcaption>\n</figure>"


def _chart(draw: Draw, caption: str, alt: str = "") -> str:
    """A chart, which `alt` describes besides the caption; nothing if matplotlib is missing."""
    if not charts.has_matplotlib():
        return ""
    svg = charts.render_svg(draw, plain(f"Chart: {caption} {alt}".strip(), LONGEST))
    return f'<figure class="chart">\n{svg}\n<figcaption>{_escape(caption)}</figcaption>\n</figure>'


def _lead(names: tuple[str, ...], q: Queries) -> str:
    text = f"on {q.n_queries:,} queries, {q.n_documents:,} documents, labelled by {' and '.join(q.labels)}."
    if len(names) == 1:
        return f"{names[0]} {text}"
    others = names[1] if len(names) == 2 else f"{len(names) - 1} systems"
    return f"{others} against {names[0]} {text}"


# Sections


def _measures(values: PerQueryValues, q: Queries, comparison: Comparison | None) -> str:
    """The means with their intervals, and the differences from the baseline with theirs."""
    means: dict[str, list[tuple[float, float, float]]] = {system: [] for system in values}
    for measure in next(iter(values.values())):
        of_systems = np.array([of[measure] for of in values.values()])
        known = ~np.isnan(of_systems).any(axis=0) & (q.query_weight > 0)
        for system, of_queries in zip(values, of_systems[:, known], strict=True):
            means[system].append(_mean_with_interval(of_queries, q.query_weight[known]))
    measures = [repr(measure) for measure in next(iter(values.values()))]
    draw = partial(charts.draw_intervals, points=means, rows=measures, x="Mean × 100")
    chart = _chart(draw, "Means with 95% intervals.")
    if comparison is None:
        rows = [[system, *(f"{mean:.2f}" for mean, _, _ in of)] for system, of in means.items()]
        caption = "Means over the queries where a measure is defined, times 100."
        return _table(["System", *measures], rows, caption) + chart
    found = {
        system: [100 * np.array(comparison[system, measure][3:6]) for measure in measures]
        for system in comparison.systems[1:]
    }

    def draw_differences(axes: Any) -> None:
        charts.draw_intervals(axes, found, measures, "Difference × 100", first=1)
        axes.axvline(0, color="black", linewidth=0.8)

    text = f"Differences of means from {comparison.baseline}, times 100. Intervals and p are unadjusted."
    tables = _table(*comparison.cells(), comparison.caption), _table(*comparison.differences(), text)
    paired = f"Differences from {comparison.baseline} with paired 95% intervals, unadjusted."
    return "\n".join([*tables, chart, _chart(draw_differences, paired)])


def _mean_with_interval(x: NDArray[np.float64], weight: NDArray[np.float64]) -> tuple[float, float, float]:
    """The mean and the ends of its 95% interval, times 100; infinite for a single value, NaN without any."""
    from scipy.special import stdtrit

    if not x.size:
        return np.nan, np.nan, np.nan
    mean, error, df = weighted_mean(x, weight)
    reach = float(stdtrit(df, 1 - LEVEL / 2)) * error
    return 100 * mean, 100 * (mean - reach), 100 * (mean + reach)


def _trade_off(comparison: Comparison, across: Measure, *further: Measure) -> str:
    """A chart of the first measure against that of each further label source."""
    pieces = []
    for up in further:
        means = (
            f"{system} {100 * comparison[system, across].mean:.2f} and {100 * comparison[system, up].mean:.2f}"
            for system in comparison.systems
        )
        caption = (
            f"{across!r} against {up!r}; up and right is better. The line joins the Pareto front, systems that no "
            f"other beats on both. Bars are 95% intervals of the differences from {comparison.baseline}."
        )
        draw = partial(charts.draw_front, comparison=comparison, across=repr(across), up=repr(up))
        pieces.append(_chart(draw, caption, f"{'; '.join(means)}."))
    return "\n".join(pieces)


Curves = dict[str, dict[str, tuple[list[int], NDArray[np.float64]]]]  # of a measure: of systems and data sets


def _collect_curves(histories: Mapping[str, History]) -> Curves:
    """The curves of each measure by system and data set, without empty ones; raises if a history has another form."""
    found: Curves = {}
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
            raise TypeError(
                f"histories[{quote(system)}] is {str(history)[:80]}: give the engine's results by system, such as "
                "{'graded': {'valid': {'ndcg@3': [0.41, 0.43]}}}"
            ) from None
    return found


def _learning_curves(curves: Curves) -> str:
    pieces = []
    for measure, lines in curves.items():
        last = "; ".join(f"{name}: {y[-1]:.4f} after round {x[-1]}" for name, (x, y) in lines.items())
        y_label = charts.escape_label(measure)
        draw = partial(charts.draw_curves, curves=lines, x="Boosting round", y=y_label)
        pieces.append(_chart(draw, f"{measure} by boosting round.", last))
    return "\n".join(pieces)


def _gains(values: PerQueryValues, measures: Sequence[Measure], q: Queries) -> str:
    """The differences of each query, and the queries with the largest ones."""
    baseline, *others = values
    pieces = []
    for system in others:
        pieces.append(f"<h3>{_escape(system)}</h3>")
        for measure in measures:
            x = values[system][measure] - values[baseline][measure]
            x = x[~np.isnan(x) & (q.query_weight > 0)]
            better, worse = int((x > ROUNDING).sum()), int((x < -ROUNDING).sum())
            caption = (
                f"{measure!r} of each query, {system} less {baseline}, sorted: {better} better, "
                f"{x.size - better - worse} equal, {worse} worse."
            )
            y = f"Difference in {charts.escape_label(repr(measure))}"
            pieces.append(_chart(partial(charts.draw_gains, differences=x, y=y), caption))
        before, after = (values[name][measures[0]] for name in (baseline, system))
        size = np.nan_to_num(np.abs(after - before)) * (q.query_weight > 0)
        rows = [
            [
                str(at if q.ids is None else q.ids[at]),
                str(q.sizes[at]),
                *(f"{100 * x:.2f}" for x in (before[at], after[at])),
                f"{100 * (after[at] - before[at]):+.2f}",
            ]
            for at in np.argsort(-size, kind="stable")[:10]
            if size[at] > ROUNDING
        ]
        caption = (
            f"The queries that changed most in {measures[0]!r}, times 100; queries are named by "
            f"{'position, from 0' if q.ids is None else 'id'}."
        )
        pieces.append(_table(("Query", "Documents", baseline, system, "Difference"), rows, caption))
    return "\n".join(pieces)


def _facts(run: Mapping[str, Any], q: Queries, measures: Iterable[Measure]) -> str:
    """Tables of names and values: the caller's, those of the data, and the software."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")  # reproducible-builds.org
    at = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    software = {"Written": f"{at:%Y-%m-%d %H:%M} UTC", "Python": platform.python_version()}
    software |= {name: sys.modules[name].__version__ for name in LIBRARIES if sys.modules.get(name)}
    loose = {name: value for name, value in run.items() if not isinstance(value, Mapping)}
    nested = {name: value for name, value in run.items() if isinstance(value, Mapping)}
    pieces = []
    for heading, facts in {
        "": loose,
        **nested,
        "Data": dict(_data_facts(q, measures)),
        "Software": software,
    }.items():
        pieces += [f"<h3>{_escape(heading)}</h3>"] if heading else []
        rows = [
            f"<tr><th>{_escape(name)}</th><td>{_escape(text)}</td></tr>" for name, text in _flatten(facts)
        ]
        pieces += ['<table class="facts">', *rows, "</table>"] if rows else []
    return "\n".join(pieces)


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


def _flatten(facts: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Names and texts; a nested entry is prefixed with the name of its mapping."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{before}{name} · ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{before}{name}", ", ".join(map(str, value))
        else:
            yield f"{before}{name}", str(value)
