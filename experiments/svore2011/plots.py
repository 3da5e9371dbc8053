"""Plots of the diagnostics on matplotlib Axes, after figures 2 to 6 of the 2011 paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.svore2011.lambdas import cost_derivatives
from lambdaboost import LambdaRank, SigmoidLocal
from lambdaboost.evaluation.charts import draw_curves
from lambdaboost.objectives.schedules import Schedule

ROUND = "Boosting round"
# By the prefix of the columns: a column in the legend, and the axis; figures 2, 3a, 3b and 4 of the 2011 paper.
RECORDED = {
    "agreement of ": ("agreement of {}", "Documents whose λ agree (%)"),
    "share_": ("partners of grade {}", "λ of highly relevant documents (%)"),
    "top_": ("grade {}", "Documents in the top ranks (%)"),
    "changed_": ("{} ranks", "Ranks changed in a round (%)"),
}


def plot_recorded(axes: Any, prefix: str, recorded: pd.DataFrame) -> None:
    """The columns of `record` that start with a prefix of `RECORDED` over the rounds, in percent."""
    label, ylabel = RECORDED[prefix]
    columns = [name for name in recorded.columns if name.startswith(prefix)]
    # Grades that no document has, such as 2 to 4 among 0, 1 and 5, would fill the legend.
    columns = [name for name in columns if recorded[name].fillna(0).any()] or columns
    curves = {
        label.format(name.removeprefix(prefix).replace("full", "all")): (recorded.index, 100 * recorded[name])
        for name in columns
    }
    _draw_lines(axes, curves, ROUND, ylabel)


def plot_cost_derivatives(axes: Any) -> None:
    """Derivatives of the pair costs by score difference, from −6 to 6 (fig. 5)."""
    o = np.linspace(-6, 6, 241)
    costs: dict[str, LambdaRank | SigmoidLocal] = {"sigmoid": SigmoidLocal(), "RankNet": LambdaRank()}
    curves = {name: (o, cost_derivatives(o, objective)) for name, objective in costs.items()}
    xlabel = "Score difference o = sᵢ − sⱼ of a pair with i better than j"
    _draw_lines(axes, curves, xlabel, "|∂O/∂o|, without pair weight")


def plot_schedules(axes: Any, schedules: Mapping[str, Schedule], rounds: int) -> None:
    """The weights of schedules over the rounds (fig. 6)."""
    curves = {name: (range(rounds), list(map(weight, range(rounds)))) for name, weight in schedules.items()}
    _draw_lines(axes, curves, ROUND, "Weight w of the second objective")


def _draw_lines(
    axes: Any, curves: Mapping[str, tuple[ArrayLike, ArrayLike]], xlabel: str, ylabel: str
) -> None:
    draw_curves(axes, curves, xlabel, ylabel)
    # After the curves are drawn: an earlier limit would also fix the other one.
    axes.set_ylim(bottom=0)
    # Many labels would cover the curves.
    outside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(curves) > 3 else {}
    axes.legend(frameon=False, **outside)
