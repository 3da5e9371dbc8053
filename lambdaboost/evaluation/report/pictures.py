"""The pictures of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation.comparison.compare import Comparison
from lambdaboost.evaluation.comparison.difference import Difference
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.comparison.without_loss import best_without_loss, loss_of
from lambdaboost.evaluation.front import non_dominated
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.ndcg import ndcg_curve
from lambdaboost.evaluation.report.lines import COLOURS, line, plain
from lambdaboost.evaluation.report.page import Picture
from lambdaboost.evaluation.report.svg import label

CUTOFFS = range(1, 11)
BARS = 250  # with more queries, evenly spaced ones are drawn
MARKED = 25  # up to this number of rounds each point of a curve has a marker

# Values by round: a sequence from round 1, or a mapping from rounds to values.
Curve = Sequence[float] | Mapping[int, float]
History = Mapping[str, Mapping[str, Curve]]


def ndcg_by_cutoff(systems: Sequence[System]) -> Picture:
    """Mean NDCG of each system at the cutoffs 1 to 10."""
    weight = systems[0].query_weight
    means = {
        s.name: 100 * np.average(ndcg_curve(s.scores, s.queries, CUTOFFS), axis=0, weights=weight)
        for s in systems
    }

    def draw(axes: Any) -> None:
        for at, (name, values) in enumerate(means.items()):
            axes.plot(CUTOFFS, values, label=label(name), **line(at))
        axes.set_xticks(CUTOFFS)
        plain(axes, "Cutoff k", "Mean NDCG@k × 100")

    summary = "; ".join(
        f"{name} {v[0]:.2f} at 1, {v[2]:.2f} at 3, {v[9]:.2f} at 10" for name, v in means.items()
    )
    caption = "NDCG by cutoff: mean over the queries, times 100."
    return Picture(draw, caption, f"Line chart of mean NDCG times 100 at cutoffs 1 to 10. {summary}.")


def front(comparison: Comparison, across: Measure, up: Measure) -> Picture:
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
        plain(axes, f"Mean {across!r} × 100", f"Mean {up!r} × 100")

    summary = "; ".join(f"{name} {x:.2f} and {y:.2f}" for name, ((x, y), _) in points.items())
    caption = (
        f"Two label sources: {across!r} against {up!r}; up and right is better. The line joins the Pareto "
        f"front, systems that no other beats on both. Bars are 95% confidence intervals of the difference from "
        f"{comparison.baseline}. The ring is around {chosen}: the highest {up!r} without a significant loss of "
        f"{across!r}. {loss_of(comparison, chosen, across)}".rstrip()
    )
    alt = (
        f"Scatter chart of mean {across!r} and mean {up!r}, times 100: {summary}. On the front: {', '.join(names)}. "
        f"Ringed: {chosen}."
    )
    return Picture(draw, caption, alt)


def learning_curves(histories: Mapping[str, History]) -> list[Picture]:
    """One picture per measure: its value after each round, for each system and data set."""
    curves: dict[str, dict[str, tuple[NDArray[Any], NDArray[np.float64]]]] = {}
    names: dict[str, str] = {}
    for system, history in histories.items():
        for part, of_part in history.items():
            for measure, values in of_part.items():
                # XGBoost has the same name in lower case, some with the prefix "pre-".
                key = measure.lower().removeprefix("pre-").replace(" ", "")
                names.setdefault(key, measure)
                curves.setdefault(key, {})[f"{system}, {part}"] = _by_round(values)
    return [_curves(names[key], of_measure) for key, of_measure in curves.items()]


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
        plain(axes, f"Queries by their difference ({d.ties} equal)", f"Difference in {d.measure!r}")

    summary = f"{d.wins} better, {d.ties} equal, {d.losses} worse; mean {d.mean:+.4f}."
    caption = f"{d.measure!r} of each query, {d.system} less {d.baseline}, sorted: {summary}"
    return Picture(draw, caption, f"Bars of {values.size} queries. {caption}")


def _points(
    comparison: Comparison, across: Measure, up: Measure
) -> dict[str, tuple[tuple[float, float], NDArray[np.float64] | None]]:
    """Both means of each system, times 100, and the error bars (2, 2, 1): left and right, down and up."""
    first = comparison.systems[0]
    before = tuple(100 * comparison[first, m].mean_before for m in (across, up))
    points: dict[str, Any] = {comparison.baseline: (before, None)}
    for system in comparison.systems:
        middle, reach = [], []
        for measure in (across, up):
            d = comparison[system, measure]
            low, high = d.interval()
            middle.append(100 * d.mean_after)
            reach.append([[100 * (d.mean - low)], [100 * (high - d.mean)]])
        points[system] = tuple(middle), np.array(reach) if np.isfinite(reach).all() else None
    return points


def _by_round(values: Curve) -> tuple[NDArray[Any], NDArray[np.float64]]:
    if isinstance(values, Mapping):
        return np.array(list(values)), np.array(list(values.values()), dtype=np.float64)
    return np.arange(1, len(values) + 1), np.array(values, dtype=np.float64)


def _curves(measure: str, curves: Mapping[str, tuple[NDArray[Any], NDArray[np.float64]]]) -> Picture:
    def draw(axes: Any) -> None:
        for at, (name, (rounds, values)) in enumerate(curves.items()):
            style = line(at) | ({} if rounds.size <= MARKED else {"marker": None})
            axes.plot(rounds, values, label=label(name), **style)
        plain(axes, "Boosting round", label(measure))

    summary = "; ".join(
        f"{name}: {values[-1]:.4f} after round {rounds[-1]}" for name, (rounds, values) in curves.items()
    )
    return Picture(
        draw, f"{measure} by boosting round.", f"Line chart of {measure} by boosting round. {summary}."
    )
