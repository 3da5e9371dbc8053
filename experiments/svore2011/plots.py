"""Plots of the diagnostics, after figures 2 to 6 of the 2011 paper; needs matplotlib.

Each function draws on `ax`, or on a new figure, and returns the Axes. Records are the `frame()` of a `Recorder`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.common.report import new_axes
from experiments.svore2011.lambdas import cost_derivatives
from lambdaboost.evaluation.charts import draw_curves
from lambdaboost.objectives.schedules import Schedule, weight_at

ROUND = "Boosting round"
Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]
# By the prefix of the columns: a column in the legend, and the axis; figures 2, 3a, 3b and 4 of the 2011 paper.
RECORDED = {
    "agreement of ": ("agreement of {}", "Documents whose λ agree (%)"),
    "share_": ("partners of grade {}", "λ of highly relevant documents (%)"),
    "top_": ("grade {}", "Documents in the top ranks (%)"),
    "changed_": ("{} ranks", "Ranks changed in a round (%)"),
}


def plot_recorded(prefix: str, recorded: pd.DataFrame, ax: Any = None) -> Any:
    """The recorded columns that start with a prefix of `RECORDED` over the rounds, in percent."""
    label, ylabel = RECORDED[prefix]
    columns = [name for name in recorded.columns if name.startswith(prefix)]
    # Grades that no document has, such as 2 to 4 among 0, 1 and 5, would fill the legend.
    columns = [name for name in columns if recorded[name].fillna(0).any()] or columns
    curves = {
        label.format(name.removeprefix(prefix).replace("full", "all")): (recorded.index, 100 * recorded[name])
        for name in columns
    }
    return _draw_lines(curves, ROUND, ylabel, ax)


plot_agreement = partial(plot_recorded, "agreement of ")
plot_lambda_shares = partial(plot_recorded, "share_")
plot_top_grades = partial(plot_recorded, "top_")
plot_rank_changes = partial(plot_recorded, "changed_")


def plot_cost_derivatives(objectives: Mapping[str, Any], ax: Any = None) -> Any:
    """Derivatives of the pair costs by score difference, from −6 to 6 (fig. 5)."""
    o = np.linspace(-6, 6, 241)
    curves = {name: (o, cost_derivatives(o, objective)) for name, objective in objectives.items()}
    xlabel = "Score difference o = sᵢ − sⱼ of a pair with i better than j"
    return _draw_lines(curves, xlabel, "|∂O/∂o|, without pair weight", ax)


def plot_schedules(schedules: Mapping[str, float | Schedule], rounds: int, ax: Any = None) -> Any:
    """The weights of schedules over the rounds (fig. 6)."""
    m = range(rounds)
    curves = {
        name: (m, [weight_at(weight, at) if callable(weight) else weight for at in m])
        for name, weight in schedules.items()
    }
    return _draw_lines(curves, ROUND, "Weight w of the second objective", ax)


def _draw_lines(curves: Curves, xlabel: str, ylabel: str, ax: Any) -> Any:
    ax = ax or new_axes()
    draw_curves(ax, curves, xlabel, ylabel)
    # After the curves are drawn: an earlier limit would also fix the other one.
    ax.set_ylim(bottom=0)
    # Many labels would cover the curves.
    outside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(curves) > 3 else {}
    ax.legend(frameon=False, **outside)
    return ax
