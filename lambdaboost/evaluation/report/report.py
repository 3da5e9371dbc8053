"""`report`: how systems compare, why, and what was run, on one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.datasets._files import check_place, replacing
from lambdaboost.evaluation.cndcg import CNDCG
from lambdaboost.evaluation.comparison.compare import Comparison, compare
from lambdaboost.evaluation.comparison.system import System, check_same_queries
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.ndcg import NDCG
from lambdaboost.evaluation.report import pictures, words
from lambdaboost.evaluation.report.page import Page, Picture
from lambdaboost.evaluation.report.pictures import History
from lambdaboost.evaluation.report.svg import Draw


def report(
    path: str | Path,
    baseline: System,
    *others: System,
    measures: Measure | Iterable[Measure] | None = None,
    histories: Mapping[str, History] | None = None,
    diagnostics: Mapping[str, Draw] | None = None,
    run: Mapping[str, Any] | None = None,
    title: str = "Ranking report",
) -> Path:
    """Write one HTML page on systems that rank the same queries; it needs no other file, script or network.

    Tables with significance, NDCG by cutoff, the Pareto picture of two label sources, learning curves, diagnostics,
    gains and losses by query, the data and its hash, what was run. Pictures need matplotlib (``lambdaboost[plots]``)
    and are left out without it. The file appears whole or not at all; what stood there before stays until then.

    Parameters
    ----------
    path : str or Path
        The file to write.
    baseline : System
        What the others are compared with; without others the page shows it alone.
    *others : System
        Systems that rank the same queries.
    measures : Measure or iterable of Measure, optional
        What to compare by; the first of each label source also by query. Without it NDCG at 10, 5, 3 and 1, and CNDCG
        at 10 and 3 of every further source with labels in [0, 1].
    histories : mapping of str to evals_result, optional
        Learning curves by name, as `lightgbm.record_evaluation` and the ``evals_result`` of `xgboost.train` keep them:
        ``{"valid": {"NDCG(k=3)": [0.41, 0.43, …]}}``. A curve with gaps may be a mapping of rounds to values.
    diagnostics : mapping of str to callable, optional
        Further pictures: what stands below it, and a function that draws into matplotlib's Axes. Those of the 2011
        paper come from `lambdaboost.diagnostics.pictures`.
    run : mapping, optional
        What was run, such as ``{"graded": {"objective": graded(), "params": {…}}}``; a mapping gets a heading.
    title : str
        What stands above all.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    TypeError, ValueError
        Before anything is written: where the systems rank different queries, a measure lacks its source, the place
        cannot be written to, or another argument is off.
    OSError
        Where the disk refuses; an older page then still stands.

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
    page = Page(title, _lead(systems, q))
    comparison = compare(*systems, measures=chosen) if others else None
    if comparison is None:
        page.section("Measures")
        page.table(words.means(baseline, chosen))
    else:
        _compared(page, comparison)
    fronts = _fronts(comparison)
    page.section("NDCG by cutoff, label sources together" if fronts else "NDCG by cutoff")
    page.pictures([pictures.ndcg_by_cutoff(systems), *fronts])
    if curves := pictures.learning_curves(histories):
        page.section("Learning curves")
        page.pictures(curves)
    if diagnostics:
        page.section("Diagnostics")
        page.pictures(Picture(draw, text, f"Chart. {text}") for text, draw in diagnostics.items())
    if comparison is not None:
        _by_query(page, comparison, q)
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


def _chosen(measures: Measure | Iterable[Measure] | None, q: Queries) -> tuple[Measure, ...]:
    if measures is None:
        further = [name for name in list(q.labels)[1:] if not (q.labels[name] > 1).any()]
        by_clicks = (CNDCG(k, source) for source in further for k in (10, 3))
        return (*(NDCG(k) for k in (10, 5, 3, 1)), *by_clicks)
    chosen = (measures,) if isinstance(measures, Measure) else tuple(dict.fromkeys(measures))
    if not chosen or not all(isinstance(measure, Measure) for measure in chosen):
        raise TypeError(f"measures is {measures!r}: give one measure or more, such as (NDCG(1), NDCG(3))")
    for measure in chosen:
        q.source(measure.source)
    return chosen


def _histories(histories: Mapping[str, History]) -> Mapping[str, History]:
    """The histories less what is empty; raises where one has another form."""
    remedy = (
        "give what the engine recorded by name, such as {'graded': {'valid': {'NDCG(k=3)': [0.41, 0.43]}}}"
    )
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
            raise TypeError(f"histories[{name!r}] has values that are no figures, one a round: {remedy}")
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
    """Relevance against every further label source that is measured."""
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
    page.heading("Software of this page")
    page.facts(words.software())
