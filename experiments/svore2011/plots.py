"""Plots of the diagnostics, after figures 2 to 6 of the 2011 paper; needs matplotlib.

Each function draws on `ax`, or on a new figure, and returns the Axes. Records are the `frame()` of a `Recorder`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from experiments.svore2011.lambdas import cost_derivatives
from lambdaboost.evaluation.charts import draw_curves
from lambdaboost.objectives import Objective
from lambdaboost.objectives.schedules import Schedule, weight_at

ROUND = "Boosting round"
Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]


def plot_agreement(recorded: pd.DataFrame, ax: Any = None) -> Any:
    """The share of documents whose λ agree under two objectives, by round (fig. 2)."""
    return _recorded(recorded, "agreement of ", "Documents whose λ agree (%)", ax)


def plot_lambda_shares(recorded: pd.DataFrame, ax: Any = None) -> Any:
    """The shares of partners of each grade in the λ of highly relevant documents, by round (fig. 3a)."""
    return _recorded(recorded, "share_", "λ of highly relevant documents (%)", ax)


def plot_top_grades(recorded: pd.DataFrame, ax: Any = None) -> Any:
    """The distribution of grades at the top of the rankings, by round (fig. 3b)."""
    return _recorded(recorded, "top_", "Documents in the top ranks (%)", ax)


def plot_rank_changes(recorded: pd.DataFrame, ax: Any = None) -> Any:
    """The share of ranks that each round changes, at the top and in all (fig. 4)."""
    return _recorded(recorded, "changed_", "Ranks changed in a round (%)", ax)


def plot_cost_derivatives(objectives: Mapping[str, Objective], ax: Any = None) -> Any:
    """Derivatives of the pair costs by score difference, from −6 to 6 (fig. 5)."""
    o = np.linspace(-6, 6, 241)
    curves = {name: (o, cost_derivatives(o, objective)) for name, objective in objectives.items()}
    xlabel = "Score difference o = sᵢ − sⱼ of a pair with i better than j"
    return _lines(curves, xlabel, "|∂O/∂o|, without pair weight", ax)


def plot_schedules(schedules: Mapping[str, float | Schedule], rounds: int, ax: Any = None) -> Any:
    """The weights of schedules over the rounds (fig. 6)."""
    m = range(rounds)
    curves = {name: (m, [weight_at(schedule, at) for at in m]) for name, schedule in schedules.items()}
    return _lines(curves, ROUND, "Weight w of the second objective", ax)


# By the prefix of the columns: the plot, a column in its legend, and its caption.
RECORDED: Mapping[str, tuple[Callable[..., Any], str, str]] = {
    "agreement of ": (
        plot_agreement,
        "agreement of {}",
        "Share of documents whose λ agree, by round (2011 paper, fig. 2).",
    ),
    "share_": (
        plot_lambda_shares,
        "partners of grade {}",
        "Share of the λ of highly relevant documents by grade of the partner (fig. 3a).",
    ),
    "top_": (plot_top_grades, "grade {}", "Grades of the documents in the top ranks, by round (fig. 3b)."),
    "changed_": (
        plot_rank_changes,
        "{} ranks",
        "Ranks that hold a different document after a round, at the top and in all (fig. 4).",
    ),
}


def pictures(recorded: pd.DataFrame, of: str) -> dict[str, Callable[[Any], Any]]:
    """For `lambdaboost.report`, as ``diagnostics=pictures(frame, name)``: captions and functions that draw."""
    return {
        f"{of}: {caption}": partial(plot, recorded)
        for prefix, (plot, _, caption) in RECORDED.items()
        if any(name.startswith(prefix) for name in recorded.columns)
    }


def _recorded(recorded: pd.DataFrame, prefix: str, ylabel: str, ax: Any) -> Any:
    """The recorded columns that start with `prefix` over the rounds, in percent."""
    columns = [name for name in recorded.columns if name.startswith(prefix)]
    # Grades that no document has, such as 2 to 4 among 0, 1 and 5, would fill the legend.
    seen = [name for name in columns if recorded[name].fillna(0).any()] or columns
    rounds = recorded.index.to_numpy()
    labels = {
        name: RECORDED[prefix][1].format(name.removeprefix(prefix).replace("full", "all")) for name in seen
    }
    curves = {label: (rounds, 100 * recorded[name].to_numpy()) for name, label in labels.items()}
    return _lines(curves, ROUND, ylabel, ax)


def _lines(curves: Curves, xlabel: str, ylabel: str, ax: Any) -> Any:
    ax = _axes(ax)
    draw_curves(ax, curves, xlabel, ylabel)
    # After the curves are drawn: an earlier limit would also fix the other one.
    ax.set_ylim(bottom=0)
    # Many labels would cover the curves.
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(curves) > 3 else {}
    ax.legend(frameon=False, **beside)
    return ax


def _axes(ax: Any) -> Any:
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
    return ax
