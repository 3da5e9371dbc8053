"""`report`: an HTML page that compares systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._files import check_place
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.comparison.paired import Comparison, compare
from lambdaboost.evaluation.comparison.system import System, check_same_queries
from lambdaboost.evaluation.measure import AtCutoff, Measure
from lambdaboost.evaluation.naming import default_measures, measures_in
from lambdaboost.evaluation.reports import charts, tables
from lambdaboost.evaluation.reports.charts import History
from lambdaboost.evaluation.reports.page import Draw, Page, Picture
from lambdaboost.evaluation.reports.tables import Importance, data_facts, flat, run_facts


def report(
    path: str | Path,
    baseline: System,
    *others: System,
    measures: Measure | str | Iterable[Measure | str] | None = None,
    histories: Mapping[str, History] | None = None,
    diagnostics: Mapping[str, Draw] | None = None,
    importance: Mapping[str, Importance] | None = None,
    segments: Mapping[str, ArrayLike] | None = None,
    documents: ArrayLike | None = None,
    run: Mapping[str, Any] | None = None,
    title: str = "Ranking report",
) -> Path:
    """Write a self-contained HTML page that compares systems on the same queries.

    It shows tables with significance, the trade-off between label sources, the first measure with a cutoff at the
    cutoffs 1 to 10, scores by grade, learning
    curves, feature importance, diagnostics, segments of queries, gains and losses by query, the worst queries with
    their documents, the data and its hash, and the parameters, versions and date of the run. It needs no other file,
    script or network. Query weights count as in `compare`. Pictures need matplotlib and are omitted without it. An
    existing file is replaced only when the page is complete. The environment variable ``SOURCE_DATE_EPOCH`` sets the
    date, for reproducible pages. Returns the path.

    Parameters
    ----------
    path : str or Path
        The file to write.
    baseline : System
        The system that the others are compared with; without others the page shows it alone.
    *others : System
        Systems that rank the same queries.
    measures : Measure, str or iterable of them, optional
        The measures to compare, or their names such as ``"ndcg@10"``; the first of each label source is also shown by
        query. By default NDCG at 10, 5, 3 and 1, and CNDCG at 10 and 3 for every further label source in [0, 1];
        `Spearman` for labels below 0.
    histories : mapping of str to evals_result, optional
        Learning curves by system, as in `lightgbm.record_evaluation` and the ``evals_result`` of `xgboost.train`:
        ``{"valid": {"NDCG(k=3)": [0.41, 0.43, …]}}``. A curve with gaps may be a mapping from rounds to values.
    diagnostics : mapping of str to callable, optional
        Further pictures: captions, and functions that draw on matplotlib Axes.
    importance : mapping of str to mapping of str to float, optional
        The gain of each feature, by system: ``{"graded": dict(zip(names, booster.feature_importance("gain")))}``.
    segments : mapping of str to array of shape (n_queries,), optional
        Values by which queries are grouped: ``{"market": markets}``. More than 12 distinct numbers are grouped by
        quartile; of more than 12 strings the most frequent are shown.
    documents : array of str, shape (n_documents,), optional
        Names of the documents, shown for the worst queries; row numbers by default.
    run : mapping, optional
        Facts about the run, such as ``{"graded": {"objective": graded(), "params": {…}}}``; each nested mapping gets
        a heading.
    title : str
        The title of the page.

    Raises
    ------
    TypeError, ValueError
        Before anything is written: if the systems rank different queries, a measure lacks its label source, `path` is
        not writable, or another argument is invalid.
    OSError
        If writing fails, such as on a full disk; an existing page is then kept.

    Examples
    --------
    >>> import os, tempfile
    >>> from lambdaboost.datasets import Queries
    >>> from lambdaboost.evaluation import System
    >>> q = Queries([1, 0, 1, 0], sizes=[2, 2])
    >>> before, after = System("before", [1, 0, 0, 1], q), System("after", [1, 0, 1, 0], q)
    >>> page = report(os.path.join(tempfile.mkdtemp(), "report.html"), before, after)
    >>> page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True

    """
    path = Path(path)
    check_place("path", path)
    systems = _checked(baseline, *others)
    q = baseline.queries
    chosen = _chosen(measures, q)
    curves = charts.curves_of(histories or {})
    shares = tables.checked_importance(importance, tuple(system.name for system in systems))
    grouped = tables.checked_segments(segments, q)
    names = tables.document_names(documents, q)
    page = Page(title, _lead(systems, q))
    comparison = compare(*systems, measures=chosen) if others else None
    if comparison is None:
        page.section("Measures")
        page.table(tables.means(baseline, chosen))
    else:
        _compared(page, comparison)
    if cut := [measure for measure in chosen if isinstance(measure, AtCutoff)]:
        page.section("By cutoff")
        page.pictures([charts.by_cutoff(systems, cut[0])])
    page.section("Scores by grade")
    page.pictures(map(charts.score_distribution, systems))
    if grouped:
        page.section("Segments")
        for name, groups in grouped.items():
            page.table(tables.segment_table(name, groups, systems, chosen[0]))
    if curves:
        page.section("Learning curves")
        page.pictures(charts.learning_curves(curves))
    if shares:
        page.section("Feature importance")
        page.table(tables.importance_table(shares))
    if diagnostics:
        page.section("Diagnostics")
        page.pictures(Picture(draw, text) for text, draw in diagnostics.items())
    if comparison is not None:
        _by_query(page, comparison, q)
    _worst_queries(page, systems, chosen[0], names)
    _what_was_run(page, q, run or {})
    page.write(path)
    return path


def _checked(*systems: System) -> tuple[System, ...]:
    for system in systems:
        if not isinstance(system, System):
            raise TypeError(f"cannot report on a {type(system).__name__}: give System(name, scores, queries)")
    check_same_queries(*systems)
    return systems


def _chosen(measures: Measure | str | Iterable[Measure | str] | None, q: Queries) -> tuple[Measure, ...]:
    if measures is None:
        return default_measures(q)
    chosen = measures_in(measures)
    for measure in chosen:
        for source in measure.sources:
            q.source(source, allow_negative=measure.allows_negative)
    return chosen


def _lead(systems: tuple[System, ...], q: Queries) -> str:
    sources = " and ".join(q.labels)
    text = f"{q.n_queries:,} queries, {q.n_documents:,} documents, labelled by {sources}."
    if len(systems) == 1:
        return f"{systems[0].name} on {text}"
    others = systems[1].name if len(systems) == 2 else f"{len(systems) - 1} systems"
    return f"{others} against {systems[0].name} on {text}"


def _compared(page: Page, comparison: Comparison) -> None:
    page.section("Comparison")
    page.text(f"Significance: {comparison.criterion}.")
    page.points(tables.findings(comparison))
    page.table(comparison.table())
    page.table(comparison.details())
    across, *further = _first_of_sources(comparison.measures)
    if further:
        page.section("Trade-off")
        page.pictures(charts.trade_off(comparison, across, up) for up in further)


def _first_of_sources(measures: tuple[Measure, ...]) -> list[Measure]:
    firsts: dict[str, Measure] = {}
    for measure in measures:
        firsts.setdefault(measure.source, measure)
    return list(firsts.values())


def _by_query(page: Page, comparison: Comparison, q: Queries) -> None:
    page.section("Gains and losses by query")
    for system in comparison.systems:
        page.heading(system)
        differences = [comparison[system, measure] for measure in _first_of_sources(comparison.measures)]
        page.pictures(map(charts.gains, differences))
        page.table(tables.changed_most(differences[0], q))


def _worst_queries(
    page: Page, systems: tuple[System, ...], measure: Measure, names: NDArray[np.str_]
) -> None:
    page.section("Worst queries")
    page.text(
        f"The queries with the lowest {measure!r} of each system, among those with a label"
        + ("." if measure.allows_negative else f" above 0 in {measure.source}.")
    )
    for system in systems:
        page.heading(system.name)
        others = [other for other in systems[:1] if other is not system]
        queries = map(int, tables.worst_queries(system, measure))
        page.tables(tables.documents_table(query, system, measure, names, others) for query in queries)


def _what_was_run(page: Page, q: Queries, run: Mapping[str, Any]) -> None:
    page.section("What was run")
    if loose := {name: value for name, value in run.items() if not isinstance(value, Mapping)}:
        page.facts(dict(flat(loose)))
    for name, facts in run.items():
        if isinstance(facts, Mapping):
            page.heading(name)
            page.facts(dict(flat(facts)))
    page.heading("Data")
    page.facts(data_facts(q))
    page.heading("Software")
    page.facts(run_facts())
