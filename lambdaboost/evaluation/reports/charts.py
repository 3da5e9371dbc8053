"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost._words import shown
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.comparison.paired import Comparison, Difference
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.comparison.trade_off import best_without_loss, loss_of, non_dominated
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.reports.page import COLOURS, Picture, draw_curves, label, label_axes, line

CUTOFFS = range(1, 11)
BARS = 250  # with more queries, evenly spaced ones are drawn
POINTS = np.linspace(0, 1, 101)  # quantiles at which a distribution is drawn
GRADES = 6  # with more grades, those above 0 are drawn as one

# Values by round: a sequence from round 1, or a mapping from rounds to values.
Curve = Sequence[float] | Mapping[int, float]
History = Mapping[str, Mapping[str, Curve]]
Curves = dict[str, tuple[Any, Any]]  # abscissae and ordinates by name


def by_cutoff(systems: Sequence[System], measure: Measure) -> Picture:
    """The mean of each system at the cutoffs 1 to 10 of a measure, whose own is left out."""
    at = [replace(measure, k=k) for k in CUTOFFS]  # type: ignore[call-arg]
    means = {s.name: [100 * one(s.scores, s.queries) for one in at] for s in systems}
    values = "; ".join(
        f"{name} {v[0]:.2f} at 1, {v[2]:.2f} at 3, {v[9]:.2f} at 10" for name, v in means.items()
    )
    curves: Curves = {name: (CUTOFFS, v) for name, v in means.items()}
    whole = repr(replace(measure, k=None))  # type: ignore[call-arg]
    caption = f"{whole} by cutoff k: mean over the queries, times 100."
    return _line_chart(curves, "Cutoff k", f"Mean {whole} at k × 100", caption, values)


def score_distribution(system: System) -> Picture:
    """One curve per grade: the share of its documents with lower scores; good systems separate the curves."""
    q = system.queries
    scores, grades = np.asarray(system.scores), q.labels[RELEVANCE]
    known = np.isfinite(scores) & ~np.isnan(grades) & (system.query_weight > 0)[q.query_of_row]
    scores, grades = scores[known], grades[known]
    there = np.unique(grades)
    parts = {f"grade {grade:g}": scores[grades == grade] for grade in there}
    if there.size > GRADES:
        below = "grade 0" if there[0] == 0 else "label at most 0"
        parts = {below: scores[grades <= 0], below.split()[0] + " above 0": scores[grades > 0]}
    parts = {name: of for name, of in parts.items() if of.size}
    medians = "; ".join(f"{name} {np.median(of):.3g}" for name, of in parts.items())
    curves: Curves = {name: (np.quantile(of, POINTS).tolist(), 100 * POINTS) for name, of in parts.items()}
    x = f"Score, {label(system.name)}"
    caption = (
        f"Scores of {system.name} by grade: the share of documents with lower scores. Medians: {medians}."
    )
    return _line_chart(curves, x, "% of documents scored lower", caption)


def curves_of(histories: Mapping[str, History]) -> dict[str, Curves]:
    """The curves of each measure by system and data set, without empty ones; raises if a history has another form."""
    found: dict[str, Curves] = {}
    names: dict[str, str] = {}
    for system, history in histories.items():
        try:
            for part, of_part in history.items():
                for measure, values in of_part.items():
                    by_round = values if isinstance(values, Mapping) else dict(enumerate(values, start=1))
                    y = np.array([float(value) for value in by_round.values()])
                    # XGBoost has the same name in lower case, some with the prefix "pre-".
                    key = measure.lower().removeprefix("pre-").replace(" ", "")
                    if y.size:
                        curves = found.setdefault(names.setdefault(key, measure), {})
                        curves[f"{system}, {part}"] = list(by_round), y
        except (AttributeError, TypeError, ValueError):
            remedy = "give the engine's results by system, such as {'graded': {'valid': {'NDCG(k=3)': [0.41, 0.43]}}}"
            raise TypeError(f"histories[{shown(system)}] is {str(history)[:80]}: {remedy}") from None
    return found


def learning_curves(curves: dict[str, Curves]) -> list[Picture]:
    """One picture per measure: its value after each round, for each system and data set."""
    return [
        _line_chart(
            of_measure,
            "Boosting round",
            label(measure),
            f"{measure} by boosting round.",
            "; ".join(f"{name}: {y[-1]:.4f} after round {x[-1]}" for name, (x, y) in of_measure.items()),
        )
        for measure, of_measure in curves.items()
    ]


def trade_off(comparison: Comparison, across: Measure, up: Measure) -> Picture:
    """Each system by two measures, with the Pareto front and the highest system without a significant loss across."""
    points = _points(comparison, across, up)
    best = non_dominated([middle for middle, _ in points.values()])
    names = [name for name, on in zip(points, best, strict=True) if on]
    chosen = best_without_loss(comparison, across, up)

    def draw(axes: Any) -> None:
        order = sorted((points[name][0] for name in names), key=lambda point: point[0])
        axes.plot(*zip(*order, strict=True), color="#999999", linewidth=1, zorder=1)
        for at, (name, (middle, reach)) in enumerate(points.items()):
            style = line(at) | {"linestyle": "none", "markersize": 7}
            errors = {} if reach is None else {"xerr": reach[0], "yerr": reach[1], "elinewidth": 1}
            axes.errorbar(*([x] for x in middle), label=label(name), zorder=2, **errors, **style)
        axes.scatter(*points[chosen][0], s=180, facecolors="none", edgecolors="#1a1a1a", zorder=3)
        label_axes(axes, f"Mean {label(repr(across))} × 100", f"Mean {label(repr(up))} × 100")

    caption = (
        f"Two label sources: {across!r} against {up!r}; up and right is better. The line joins the Pareto "
        f"front, systems that no other beats on both. Bars are 95% confidence intervals of the difference from "
        f"{comparison.baseline}. The ring is around {chosen}: the highest {up!r} without a significant loss of "
        f"{across!r}. {loss_of(comparison, chosen, across)}".rstrip()
    )
    means = "; ".join(f"{name} {x:.2f} and {y:.2f}" for name, ((x, y), _) in points.items())
    return Picture(draw, caption, f"Scatter chart: {means}. On the front: {', '.join(names)}.")


def gains(d: Difference) -> Picture:
    """The difference of each query, sorted: gains on the left, losses on the right."""
    values = np.sort(d.per_query)[::-1]
    edges = np.unique(np.linspace(0, values.size, min(values.size, BARS) + 1).round().astype(int))
    heights = values[(edges[:-1] + edges[1:] - 1) // 2]

    def draw(axes: Any) -> None:
        sides = (heights > 0, f"{d.wins} better"), (heights < 0, f"{d.losses} worse")
        for (side, text), colour in zip(sides, COLOURS, strict=False):
            axes.stairs(np.where(side, heights, np.nan), edges, fill=True, color=colour, label=text)
        axes.axhline(0, color="#1a1a1a", linewidth=0.8)
        label_axes(
            axes, f"Queries by their difference ({d.ties} equal)", f"Difference in {label(repr(d.measure))}"
        )

    summary = f"{d.wins} better, {d.ties} equal, {d.losses} worse; mean {d.mean:+.4f}."
    caption = f"{d.measure!r} of each query, {d.system} less {d.baseline}, sorted: {summary}"
    return Picture(draw, caption, f"Bars of {values.size} queries.")


def _line_chart(curves: Curves, x: str, y: str, caption: str, values: str = "") -> Picture:
    def draw(axes: Any) -> None:
        draw_curves(axes, curves, x, y)
        if all(curve[0] is CUTOFFS for curve in curves.values()):
            axes.set_xticks(CUTOFFS)

    return Picture(draw, caption, f"Line chart. {values + '.' if values else ''}".strip())


def _points(
    comparison: Comparison, across: Measure, up: Measure
) -> dict[str, tuple[tuple[float, float], Any]]:
    """Both means of each system, times 100, and the error bars (2, 2, 1): left and right, down and up."""
    first = comparison.systems[0]
    before = tuple(100 * comparison[first, m].mean_before for m in (across, up))
    points: dict[str, Any] = {comparison.baseline: (before, None)}
    for system in comparison.systems:
        both = [comparison[system, measure] for measure in (across, up)]
        reach = 100 * np.array([[[d.mean - d.interval()[0]], [d.interval()[1] - d.mean]] for d in both])
        means = tuple(100 * d.mean_after for d in both)
        points[system] = means, reach if np.isfinite(reach).all() else None
    return points
