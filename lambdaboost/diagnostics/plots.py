"""Plots of the diagnostics, after figures 2 to 6 of the 2011 paper, and of position bias; needs matplotlib.

Each function draws on `ax`, or on a new figure, and returns the Axes. Records are a `Recorder` or its `frame()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost.clicks import Propensities
from lambdaboost.diagnostics.lambdas import cost_derivatives, is_of_pairs
from lambdaboost.diagnostics.recorder import Recorder
from lambdaboost.evaluation.reports.page import draw_curves, label_axes, line
from lambdaboost.evaluation.reports.page import label as escaped
from lambdaboost.objectives import Objective
from lambdaboost.objectives.schedules import Schedule, weight_at

if TYPE_CHECKING:
    import pandas as pd

ROUND = "Boosting round"
Curves = Mapping[str, tuple[ArrayLike, ArrayLike]]
Records: TypeAlias = "Recorder | pd.DataFrame"


def plot_agreement(recorded: Records, ax: Any = None) -> Any:
    """The share of documents whose λ agree under two objectives, by round (fig. 2)."""
    return _recorded(recorded, "agreement of ", "Documents whose λ agree (%)", ax)


def plot_lambda_shares(recorded: Records, ax: Any = None) -> Any:
    """The shares of partners of each grade in the λ of highly relevant documents, by round (fig. 3a)."""
    return _recorded(recorded, "share_", "λ of highly relevant documents (%)", ax)


def plot_top_grades(recorded: Records, ax: Any = None) -> Any:
    """The distribution of grades at the top of the rankings, by round (fig. 3b)."""
    return _recorded(recorded, "top_", "Documents in the top ranks (%)", ax)


def plot_rank_changes(recorded: Records, ax: Any = None) -> Any:
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


def plot_propensities(curves: Mapping[str, Propensities], ax: Any = None) -> Any:
    """Propensities by position with their intervals, for one or more curves by name."""
    ax = _axes(ax)
    label_axes(ax, "", "")
    for at, (name, curve) in enumerate(curves.items()):
        curve.plot(ax, label=escaped(name), **line(at))
    ax.legend(frameon=False)
    return ax


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


def pictures(
    recorded: Records | None = None,
    objectives: Mapping[str, Objective] | None = None,
    of: str = "",
    propensities: Mapping[str, Propensities] | None = None,
) -> dict[str, Callable[[Any], Any]]:
    """Diagnostics for `lambdaboost.evaluation.report`, as ``diagnostics=pictures(recorder)``: captions and functions.

    Parameters
    ----------
    recorded : Recorder or its frame, optional
        The records; one picture per kind of column.
    objectives : mapping of str to Objective, optional
        Objectives by name, whose cost derivatives are drawn (fig. 5) if they are sums over pairs.
    of : str
        Name of the recorded system, put before each caption.
    propensities : mapping of str to Propensities, optional
        Curves of position bias by name, drawn together with their intervals.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, SigmoidLocal
    >>> list(pictures(objectives={"λL": LambdaRank(), "λS": SigmoidLocal()}))
    ['Derivatives of the pair costs by score difference (2011 paper, fig. 5).']

    """
    drawn: dict[str, Callable[[Any], Any]] = {}
    if recorded is not None:
        frame = _frame(recorded)
        for prefix, (plot, _, caption) in RECORDED.items():
            if any(name.startswith(prefix) for name in frame.columns):
                drawn[f"{of}: {caption}" if of else caption] = partial(plot, frame)
    pairwise = {name: o for name, o in (objectives or {}).items() if is_of_pairs(o)}
    if pairwise:
        caption = "Derivatives of the pair costs by score difference (2011 paper, fig. 5)."
        drawn[caption] = partial(plot_cost_derivatives, pairwise)
    if propensities:
        caption = "Propensities by position, relative to the best position"
        caption += ", with 95 % intervals." if any(c.low is not None for c in propensities.values()) else "."
        drawn[caption] = partial(plot_propensities, propensities)
    return drawn


def _frame(recorded: Records) -> pd.DataFrame:
    frame = recorded.frame() if isinstance(recorded, Recorder) else recorded
    if not hasattr(frame, "columns"):
        raise TypeError(f"recorded is {type(frame).__name__}: give a Recorder or its frame()")
    return frame


def _recorded(recorded: Records, prefix: str, ylabel: str, ax: Any) -> Any:
    """The recorded columns that start with `prefix` over the rounds, in percent."""
    frame = _frame(recorded)
    columns = [name for name in frame.columns if name.startswith(prefix)]
    if not columns or not len(frame):
        raise ValueError(
            f"recorded has nothing under {prefix.strip()!r}: train with a Recorder as a callback, made with compare= "
            "for agreements and grades= for shares"
        )
    # Grades that no document has, such as 2 to 4 among 0, 1 and 5, would fill the legend.
    seen = [name for name in columns if frame[name].fillna(0).any()] or columns
    rounds = frame.index.to_numpy()
    labels = {
        name: RECORDED[prefix][1].format(name.removeprefix(prefix).replace("full", "all")) for name in seen
    }
    curves = {label: (rounds, 100 * frame[name].to_numpy()) for name, label in labels.items()}
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
