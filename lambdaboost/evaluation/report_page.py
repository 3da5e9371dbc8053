"""`report`: an HTML page that compares systems."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._files import check_place, replacing
from lambdaboost._installed import install_command
from lambdaboost._words import counted, listed, plain, quote
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import charts
from lambdaboost.evaluation.charts import html_table, text_frame, value_text
from lambdaboost.evaluation.comparison import Comparison, compare_values, measure_systems
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.naming import default_measures, parse_all
from lambdaboost.evaluation.significance import ROUNDING, interval, paired_differences

# Values of a measure after each round, by data set and measure.
History = Mapping[str, Mapping[str, Sequence[float]]]
PerQueryValues = Mapping[str, Mapping[Measure, NDArray[np.float64]]]  # by system

MAX_PARAGRAPH = 4_000  # characters of a paragraph
SHOWN = 12  # contributions of features
LONGEST_NAME = 28  # characters of a measure in tables and charts


def report(
    path: str | Path,
    scores: Mapping[str, ArrayLike],
    queries: Queries,
    measures: Measure | str | Iterable[Measure | str] | None = None,
    *,
    histories: Mapping[str, History] | None = None,
    explanations: Mapping[str, Any] | None = None,
    run: Mapping[str, Any] | None = None,
    title: str = "Ranking report",
) -> Path:
    """Write a self-contained HTML page that compares systems on the same queries, and return its path.

    It shows means and differences with intervals and significance as `compare` finds them, the trade-off between the
    first measures of two label sources, learning curves, the gains and losses of each query, and what was run on which
    data. It needs no other file, script or network. Charts need matplotlib and are left out without it. An existing
    file is replaced only when the page is complete.

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
        query. By default NDCG at 10, 5, 3 and 1, and for every further label source CNDCG at 10 and 3 of labels in
        [0, 1], NDCG at 10 and 3 of grades, or `Spearman` of other labels, such as prices and labels below 0.
    histories : mapping of str to evals_result, optional
        Learning curves by system, as in `lightgbm.record_evaluation` and the ``evals_result`` of `xgboost.train`:
        ``{"valid": {"ndcg@3": [0.41, 0.43, …]}}``.
    explanations : mapping of str to Explanation, optional
        What `explain` returns, by a sentence that says which documents these are. The command line explains two
        neighbours of the worst query of each model.
    run : mapping, optional
        Facts about the run, such as ``{"graded": {"objective": graded(), "params": {…}}}``.
    title : str
        The title of the page.

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
    for argument, given in (("histories", histories), ("explanations", explanations), ("run", run)):
        if not isinstance(given, Mapping | None):
            raise TypeError(f"{argument} is of type {type(given).__name__}, expected a dict")
    chosen: tuple[Measure, ...] = ()
    if measures is not None:
        chosen = parse_all(measures)
    elif isinstance(queries, Queries):
        chosen = default_measures(queries)
    values, ties = measure_systems(scores, queries, chosen)
    comparison = compare_values(values, queries.query_weight)
    # What tables and charts call a measure; in place of a long name, its class and its place.
    names = {measure: measure.name for measure in chosen}
    for at, measure in enumerate(chosen, 1):
        if len(measure.name) > LONGEST_NAME:
            names[measure] = f"{type(measure).__name__} ({at})"
    firsts = list({m.source: m for m in reversed(chosen)}.values())[::-1]  # of each label source
    facts = _facts(run or {}, queries, names)
    facts += [(f"Ties of {name}", said) for name, said in ties.items()]
    sections = {
        "Measures": _measures_section(values, queries, comparison, names),
        "Trade-off": _trade_off_section(comparison, names, *firsts),
        "Learning curves": _curves_section(histories or {}),
        "Gains and losses by query": _gains_section(values, firsts, queries, names),
        "Why one document stands above another": _explanations_section(explanations or {}),
        "What was run": html_table(text_frame(["", ""], facts), header=False, classes="facts"),
    }
    parts = list(enumerate((heading for heading, content in sections.items() if content), 1))
    note = ""
    if not charts.has_matplotlib():
        needs = html.escape(install_command("matplotlib"))
        note = f"<p>Without charts: they need matplotlib, {needs}.</p>\n"
    page = Template(files("lambdaboost.evaluation").joinpath("report.html").read_text("utf-8")).substitute(
        title=_escape(title),
        lead=_escape(
            f"{counted(len(values), 'system')} on {counted(queries.n_queries, 'query', 'queries')}."
        ),
        note=note,
        links="\n".join(f'<li><a href="#section-{at}">{heading}</a></li>' for at, heading in parts),
        body="\n".join(f'<h2 id="section-{at}">{heading}</h2>\n{sections[heading]}' for at, heading in parts),
    )
    with replacing(path) as file:
        file.write(page.encode(errors="replace"))
    return path


# Pieces of HTML


def _escape(text: str) -> str:
    if not text:
        return ""
    return html.escape(plain(text, MAX_PARAGRAPH))


def _table(frame: Any, caption: str, classes: str = "") -> str:
    """A table with its caption below; it scrolls if it is too wide."""
    text = _escape(caption)
    scrolled = f'<div class="scroll" tabindex="0" role="region" aria-label="{text}">'
    table = html_table(frame, classes=classes)
    return f"<figure>\n{scrolled}\n{table}\n</div>\n<figcaption>{text}</figcaption>\n</figure>"


def _chart(draw: Callable[[Any], None], caption: str) -> str:
    """A chart; nothing if matplotlib is missing."""
    if not charts.has_matplotlib():
        return ""
    image, text = b64encode(charts.render_svg(draw)).decode(), _escape(caption)
    image = f'<img src="data:image/svg+xml;base64,{image}" alt="Chart: {text}">'
    return f'<figure class="chart">\n{image}\n<figcaption>{text}</figcaption>\n</figure>'


# Sections


def _measures_section(
    values: PerQueryValues, q: Queries, comparison: Comparison, names: Mapping[Measure, str]
) -> str:
    """The means with their intervals, and the differences from the baseline with theirs."""
    baseline, *others = comparison.systems
    measures = list(values[baseline])
    means = {system: np.empty((len(measures), 3)) for system in values}
    for at, measure in enumerate(measures):
        known = ~np.isnan([of[measure] for of in values.values()]).any(axis=0) & (q.query_weight > 0)
        for system, of in values.items():
            ends = interval(of[measure][known], q.query_weight[known])
            means[system][at] = 100 * np.array([comparison[system, measure].mean, *ends])
    rows = [names[measure] for measure in measures]
    draw = partial(charts.draw_intervals, points=means, rows=rows, x="Mean × 100")
    tables = _table(comparison.means_table.set_axis(["System", *rows], axis=1), comparison.caption)
    pictures = _chart(draw, "Means with 95% intervals.")
    if others:
        by_system = {name: [100 * np.array(comparison[name, m][3:6]) for m in measures] for name in others}
        draw = partial(charts.draw_intervals, points=by_system, rows=rows, x="Difference × 100", zero=True)
        # A table for each system, so that p-values fit on a phone.
        frame = comparison.differences_table.drop(columns="System")
        for at, name in enumerate(others):
            of_system = frame.iloc[at * len(rows) : (at + 1) * len(rows)].assign(Measure=rows)
            caption = f"{name} less {baseline}, times 100. Intervals and p are unadjusted."
            tables += f"\n<h3>{_escape(name)}</h3>\n{_table(of_system, caption, 'differences')}"
        pictures += _chart(draw, f"Differences from {baseline} with paired 95% intervals, unadjusted.")
    return f"{tables}\n{pictures}"


def _trade_off_section(
    comparison: Comparison, names: Mapping[Measure, str], across: Measure, *further: Measure
) -> str:
    """A chart of the first measure against that of each further label source; nothing for a lone system."""
    if len(comparison.systems) == 1:
        return ""
    pieces = []
    for up in further:
        points = {
            system: [100 * np.array(comparison[system, m][2:6]) for m in (across, up)]
            for system in comparison.systems
        }
        means = np.array([[of_measure[0] for of_measure in of] for of in points.values()])
        best = np.array([*points], dtype=object)[charts.on_front(means)]
        caption = (
            f"{names[across]} against {names[up]}; up and right is better. On the Pareto front, as no other "
            f"is better in both: {listed(best)}. Bars are 95% intervals of the differences from "
            f"{comparison.systems[0]}."
        )
        x, y = (f"Mean {charts.escape_label(names[m])} × 100" for m in (across, up))
        draw = partial(charts.draw_front, points=points, x=x, y=y)
        pieces.append(_chart(draw, caption))
    return "\n".join(pieces)


def _curves_section(histories: Mapping[str, History]) -> str:
    """A chart of each measure; raises if a history has another form."""
    found: dict[str, dict[str, Any]] = {}  # by measure, and by system and data set
    for system, history in histories.items():
        try:
            for data, of_data in history.items():
                for measure, values in of_data.items():
                    curve = np.array(list(values), dtype=np.float64)  # None is a round without a figure
                    if curve.size:  # XGBoost has some names with the prefix "pre-"
                        curves = found.setdefault(measure.removeprefix("pre-"), {})
                        curves[f"{system}, {data}"] = np.arange(1, curve.size + 1), curve
        except (AttributeError, TypeError, ValueError):
            raise TypeError(
                f"histories[{quote(system)}] is {plain(history)}: give the engine's results by system, such as "
                "{'graded': {'valid': {'ndcg@3': [0.41, 0.43]}}}"
            ) from None
    pieces = []
    for measure, curves in found.items():
        label = charts.escape_label(measure)
        draw = partial(charts.draw_curves, curves=curves, x="Boosting round", y=label)
        pieces.append(_chart(draw, f"{measure} by boosting round."))
    return "\n".join(pieces)


def _gains_section(
    values: PerQueryValues, measures: Sequence[Measure], q: Queries, names: Mapping[Measure, str]
) -> str:
    """The differences of each query, and the queries with the largest ones."""
    baseline, *others = values
    ids, named_by = q.ids, "id"
    if ids is None:
        ids, named_by = np.arange(q.n_queries), "position, from 0"
    pieces = []
    for system in others:
        pieces.append(f"<h3>{_escape(system)}</h3>")
        for measure in measures:
            x, _ = paired_differences(values[system][measure], values[baseline][measure], q.query_weight)
            better, worse = int((x > ROUNDING).sum()), int((x < -ROUNDING).sum())
            caption = (
                f"{names[measure]} of each query, {system} less {baseline}, sorted: {better} better, "
                f"{x.size - better - worse} equal, {worse} worse."
            )
            y = f"Difference in {charts.escape_label(names[measure])} × 100"
            pieces.append(_chart(partial(charts.draw_gains, differences=100 * x, y=y), caption))
        before, after = (values[name][measures[0]] for name in (baseline, system))
        size = np.nan_to_num(np.abs(after - before)) * (q.query_weight > 0)
        rows = []
        for query in np.argsort(-size, kind="stable")[:10]:
            if size[query] > ROUNDING:
                change = f"{100 * (after - before)[query]:+.2f}"
                figures = f"{100 * before[query]:.2f}", f"{100 * after[query]:.2f}", change
                rows.append([str(ids[query]), str(q.sizes[query]), *figures])
        caption = (
            f"The queries that changed most in {names[measures[0]]}, times 100; queries are named by "
            f"{named_by}."
        )
        frame = text_frame(["Query", "Documents", baseline, system, "Difference"], rows)
        pieces.append(_table(frame, caption))
    return "\n".join(pieces)


def _explanations_section(explanations: Mapping[str, Any]) -> str:
    """The contributions of the features to each difference of scores, in a chart and a table."""
    pieces = []
    for which, why in explanations.items():
        if not hasattr(why, "frame"):
            raise TypeError(f"explanations[{quote(which)}] is {plain(why)}: give what explain returns")
        pieces.append(_chart(why.plot, f"{which} What each feature adds to the difference of their scores."))
        rows = []
        for name, above, below, contribution in why.frame.head(SHOWN).itertuples(index=False):
            rows.append([str(name), value_text(above), value_text(below), f"{contribution:+.4g}"])
        frame = text_frame(["Feature", "Above", "Below", "Contribution"], rows)
        pieces.append(_table(frame, f"The largest of {counted(len(why.frame), 'contribution')}."))
    return "\n".join(pieces)


def _facts(run: Mapping[str, Any], q: Queries, names: Mapping[Measure, str]) -> list[tuple[str, str]]:
    """Names and values: the caller's, a nested one with all names on its path, those of the data and of measures."""
    facts: list[tuple[str, str]] = []
    pending = [*reversed([*run.items()])]
    while pending:
        name, value = pending.pop()
        if isinstance(value, Mapping) and value:
            pending += [(f"{name} · {inner}", of) for inner, of in reversed([*value.items()])]
        else:
            facts.append((str(name), str(value)))

    # The queries and their labels.
    sizes, weight = q.sizes, q.query_weight
    facts += [("Queries", f"{q.n_queries:,}"), ("Documents", f"{q.n_documents:,}")]
    facts.append(("Documents of a query", f"{sizes.min()} to {sizes.max()}, median {np.median(sizes):g}"))
    if np.ptp(weight) > 0:
        span = f"{weight.min():.3g} to {weight.max():.3g}"
        facts.append(("Query weights", f"{span}; {int((weight == 0).sum()):,} of weight 0, not counted"))
    for name, labels in q.labels.items():
        known = labels[~np.isnan(labels)]
        text = f"{known.size:,} of {q.n_documents:,} documents"
        if known.size:
            text += f", {known.min():g} to {known.max():g}"
        facts.append((f"Labels {name}", text))

    # Measures, and how queries count on which one is undefined.
    for measure, short in names.items():
        text = repr(measure)
        if n := int((measure.undefined_on(q) & (weight > 0)).sum()):
            how = "left out" if np.isnan(measure.empty) else f"counted as {measure.empty:g}"
            text += f", undefined on {counted(n, 'query', 'queries')}, {how}"
        facts.append((short, text))
    return facts
