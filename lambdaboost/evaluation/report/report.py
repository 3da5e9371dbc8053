"""`report`: an HTML page that compares systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets._files import check_place, replacing
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation._parse import measures_in
from lambdaboost.evaluation.comparison.compare import Comparison, compare
from lambdaboost.evaluation.comparison.system import System, check_same_queries
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.report import importance as importances
from lambdaboost.evaluation.report import pictures, words, worst
from lambdaboost.evaluation.report import segments as segmented
from lambdaboost.evaluation.report.default_measures import default_measures
from lambdaboost.evaluation.report.distributions import score_distribution
from lambdaboost.evaluation.report.importance import Importance
from lambdaboost.evaluation.report.page import Page, Picture
from lambdaboost.evaluation.report.pictures import History
from lambdaboost.evaluation.report.svg import Draw


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

    It shows tables with significance, the trade-off between label sources, NDCG by cutoff, scores by grade, learning
    curves, feature importance, diagnostics, segments of queries, gains and losses by query, the worst queries with
    their documents, the data and its hash, and the parameters, versions and date of the run. It needs no other file,
    script or network. Pictures need matplotlib (``lambdaboost[plots]``) and are omitted without it. An existing file is
    replaced only when the page is complete. The environment variable ``SOURCE_DATE_EPOCH`` sets the date, for
    reproducible pages.

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
        Further pictures: captions, and functions that draw on matplotlib Axes. `lambdaboost.diagnostics.pictures` makes
        those of the 2011 paper.
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

    Returns
    -------
    Path
        The file.

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
    histories = _histories(histories or {})
    shares = importances.checked(importance, tuple(system.name for system in systems))
    grouped = segmented.checked(segments, q)
    names = worst.document_names(documents, q)
    page = Page(title, _lead(systems, q))
    comparison = compare(*systems, measures=chosen) if others else None
    if comparison is None:
        page.section("Measures")
        page.table(words.means(baseline, chosen))
    else:
        _compared(page, comparison)
    if fronts := _fronts(comparison):
        page.section("Trade-off")
        page.pictures(fronts)
    if not (q.labels[RELEVANCE] < 0).any():
        page.section("NDCG by cutoff")
        page.pictures([pictures.ndcg_by_cutoff(systems)])
    page.section("Scores by grade")
    page.pictures(map(score_distribution, systems))
    if grouped:
        page.section("Segments")
        for name, groups in grouped.items():
            page.table(segmented.segment_table(name, groups, systems, chosen[0]))
    if curves := pictures.learning_curves(histories):
        page.section("Learning curves")
        page.pictures(curves)
    if shares:
        page.section("Feature importance")
        page.table(importances.importance_table(shares))
    if diagnostics:
        page.section("Diagnostics")
        page.pictures(Picture(draw, text, f"Chart. {text}") for text, draw in diagnostics.items())
    if comparison is not None:
        _by_query(page, comparison, q)
    _worst_queries(page, systems, chosen[0], names)
    _what_was_run(page, q, run or {})
    content = page.html().encode(errors="replace")
    with replacing(path) as file:
        file.write(content)
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
    if not chosen or not all(isinstance(measure, Measure) for measure in chosen):
        raise TypeError(f"measures is {measures!r}: give at least one measure, such as (NDCG(1), NDCG(3))")
    for measure in chosen:
        for source in measure.sources:
            q.source(source, allow_negative=measure.allows_negative)
    return chosen


def _histories(histories: Mapping[str, History]) -> Mapping[str, History]:
    """The histories without empty ones; raises if one has another form."""
    remedy = "give the engine's results by system, such as {'graded': {'valid': {'NDCG(k=3)': [0.41, 0.43]}}}"
    kept: dict[str, dict[str, dict[str, Any]]] = {}
    for name, history in histories.items():
        try:
            parts = {part: dict(of_part.items()) for part, of_part in history.items()}
            values = [v for of_part in parts.values() for v in of_part.values()]
            arrays = [
                np.array(list(v.values() if isinstance(v, Mapping) else v), dtype=np.float64) for v in values
            ]
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"histories[{name!r}] is {str(history)[:80]}: {remedy}") from None
        if any(array.ndim != 1 for array in arrays):
            raise TypeError(f"histories[{name!r}] has values that are not numbers, one per round: {remedy}")
        kept[name] = {part: {m: v for m, v in of.items() if len(v)} for part, of in parts.items()}
    return kept


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
    page.points(words.findings(comparison))
    page.table(comparison.table())
    page.table(comparison.details())


def _fronts(comparison: Comparison | None) -> list[Picture]:
    """Relevance against every other measured label source."""
    if comparison is None:
        return []
    across, *further = _first_of_sources(comparison.measures)
    return [pictures.front(comparison, across, up) for up in further]


def _first_of_sources(measures: tuple[Measure, ...]) -> list[Measure]:
    firsts: dict[str, Measure] = {}
    for measure in measures:
        firsts.setdefault(measure.source, measure)
    return list(firsts.values())


def _by_query(page: Page, comparison: Comparison, q: Queries) -> None:
    page.section("Gains and losses by query")
    shown = _first_of_sources(comparison.measures)
    for system in comparison.systems:
        page.heading(system)
        differences = [comparison[system, measure] for measure in shown]
        page.pictures(map(pictures.gains, differences))
        page.table(words.changed_most(differences[0], q))


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
        queries = map(int, worst.worst_queries(system, measure))
        page.tables(worst.documents_table(query, system, measure, names, others) for query in queries)


def _what_was_run(page: Page, q: Queries, run: Mapping[str, Any]) -> None:
    page.section("What was run")
    if loose := {name: value for name, value in run.items() if not isinstance(value, Mapping)}:
        page.facts(dict(words.flat(loose)))
    for name, facts in run.items():
        if isinstance(facts, Mapping):
            page.heading(name)
            page.facts(dict(words.flat(facts)))
    page.heading("Data")
    page.facts(words.data_facts(q))
    page.heading("Software")
    page.facts({"Written": words.today()} | words.software())
