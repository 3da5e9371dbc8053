"""The trade-off of a data set as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.report import legend
from experiments.several_goals import methods, mo_lightgbm
from experiments.several_goals.methods import (
    COMBINERS,
    CONSTRAINED,
    FIRST,
    MIN_NORM,
    ONE_MODEL,
    SECOND_ALONE,
    SUM,
)
from experiments.several_goals.results import OfSet
from lambdaboost.evaluation import Comparison, Measure, non_dominated
from lambdaboost.evaluation.charts import COLOURS
from lambdaboost.evaluation.significance import LEVEL

MARKS = "osDv^P"


def draw(found: OfSet, path: Path) -> None:
    """Draw every method's points as differences from the first goal alone, in points, to an SVG file."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "lambdaboost", "font.size": 9}):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        _draw(found, axes)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        legend(axes, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.savefig(path, format="svg", metadata={"Date": None})


def ringed(found: OfSet) -> str:
    """The system that is highest without a significant loss, chosen on the validation queries."""
    comparison = found.compared([name for name in of_lambdaboost(found) if name != FIRST], "valid")
    return best_without_loss(comparison, *found.goals.measures)


def best_without_loss(comparison: Comparison, primary: Measure, raised: Measure) -> str:
    """The system with the highest mean of `raised` among those without a significant loss of `primary`.

    The baseline is among them. The paired t-test is that of `primary` alone, unadjusted: the more tests a correction
    counts, the more losses would pass as none. The absence of a significant loss does not prove that there is none.

    >>> from lambdaboost.evaluation import MRR, NDCG, compare_values
    >>> kept = {"a": {MRR(): [0.5] * 9, NDCG(): [0.5] * 9}, "b": {MRR(): [0.5] * 9, NDCG(): [0.6] * 9}}
    >>> best_without_loss(compare_values(kept), MRR(), NDCG())
    'b'
    """

    def is_lost(system: str) -> bool:
        change = comparison[system, primary]
        return change.difference < 0 and change.p < LEVEL

    kept = (system for system in comparison.systems if not is_lost(system))
    return max(kept, key=lambda system: comparison[system, raised].mean)


def of_lambdaboost(found: OfSet) -> list[str]:
    """The systems other than MO-LightGBM's."""
    return [name for name in found.systems if not name.startswith("MO-LightGBM")]


def change(found: OfSet, system: str) -> Any:
    """Both mean differences from the first goal alone on the same queries, in points."""
    return 100 * (found.point(system) - found.point(FIRST, found.seeds(system)))


def _draw(found: OfSet, axes: Any) -> None:
    first, second = found.goals.measures
    names = of_lambdaboost(found)
    points = {name: change(found, name) for name in names}
    _mo_lightgbm(found, axes)
    lines = {SUM: methods.WEIGHTS, **dict.fromkeys(COMBINERS, methods.WEIGHTS), ONE_MODEL: methods.READ_OFF}
    for at, (method, settings) in enumerate(lines.items()):
        along = [points[methods.named(method, w)] for w in settings]
        if method == SUM:
            along = [points[FIRST], *along, points[SECOND_ALONE]]
        axes.plot(
            *np.transpose(along), color=COLOURS[at], marker=MARKS[at], markersize=4, linewidth=1, label=method
        )
    axes.plot(*points[MIN_NORM], color="black", marker="X", linestyle="none", label=MIN_NORM)
    for at, keep in enumerate(methods.TOLERANCES):
        name = methods.named(CONSTRAINED, keep)
        axes.errorbar(
            *([x] for x in points[name]),
            **_reach(found, name),
            color="black",
            marker="*",
            markersize=11 + 3 * at,
            markerfacecolor="white" if at else "black",
            elinewidth=1,
            linestyle="none",
            label=name,
        )
    on_front = sorted(
        tuple(p) for p, on in zip(points.values(), non_dominated(list(points.values())), strict=True) if on
    )
    axes.plot(
        *np.transpose(on_front),
        color="#999999",
        linewidth=4,
        alpha=0.4,
        zorder=0,
        label="lambdaboost's front",
    )
    axes.plot(
        *points[ringed(found)],
        "o",
        markersize=17,
        fillstyle="none",
        color="black",
        label="no significant loss",
    )
    axes.plot(0, 0, "o", color="black", label=FIRST)
    axes.plot(*points[SECOND_ALONE], "s", color="black", label=SECOND_ALONE)
    axes.set_xlabel(f"{short(first)}, points from the first goal alone")
    axes.set_ylabel(f"{short(second)}, points from the first goal alone")


def _mo_lightgbm(found: OfSet, axes: Any) -> None:
    for mark, method in zip("1234+x", mo_lightgbm.METHODS, strict=True):
        along = [mo_lightgbm.named(method, at) for at in range(mo_lightgbm.TRADE_OFFS)]
        if set(along) <= set(found.systems):
            points = [change(found, name) for name in along]
            axes.plot(
                *np.transpose(points),
                color="#aaaaaa",
                marker=mark,
                linewidth=0.6,
                label=f"MO-LightGBM {method}",
            )


def _reach(found: OfSet, name: str) -> dict[str, Any]:
    """Error bars: 95 % intervals of both differences."""
    comparison = found.compared([name])
    bars = {}
    for axis, measure in zip(("xerr", "yerr"), found.goals.measures, strict=True):
        d = comparison[name, measure]
        bars[axis] = [[100 * (d.difference - d.low)], [100 * (d.high - d.difference)]]
    return bars


def short(measure: Measure) -> str:
    """A measure as in a table's head: "NDCG@10"."""
    return f"{type(measure).__name__}@{measure.k}"  # type: ignore[attr-defined]
