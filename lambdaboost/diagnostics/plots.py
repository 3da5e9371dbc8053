"""Plots of the diagnostics, after figures 2–7 of the 2011 paper and 2 and 3 of the 2007 paper; needs matplotlib.

Each function draws on `ax`, or on a new figure, and returns the Axes. Records are a `Recorder` or its `frame()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost.clicks import Propensities
from lambdaboost.diagnostics.cost_derivatives import cost_derivatives
from lambdaboost.diagnostics.lambda_jacobian import LambdaJacobian
from lambdaboost.diagnostics.local_optimum import LocalOptimum
from lambdaboost.diagnostics.recorder import Recorder
from lambdaboost.diagnostics.schedule_weights import schedule_weights
from lambdaboost.diagnostics.training_share import TrainingShare, mean_and_error
from lambdaboost.diagnostics.weight_sweep import WeightSweep
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.evaluation.report.lines import COLOURS, DASHES, line
from lambdaboost.evaluation.report.svg import label as escaped
from lambdaboost.objectives import Objective
from lambdaboost.objectives.schedules import Schedule

if TYPE_CHECKING:
    import pandas as pd

ROUND = "Boosting round"


def plot_agreement(recorded: Recorder | pd.DataFrame, ax: Any = None) -> Any:
    """The share of documents whose λ agree under two objectives, by round (fig. 2)."""
    frame = _frame(recorded, "agreement of ", "compare=[(first, second)]")
    return _curves(ax, frame, {name: name for name in frame}, "Documents whose λ agree (%)", 100)


def plot_lambda_shares(recorded: Recorder | pd.DataFrame, ax: Any = None) -> Any:
    """The shares of partners of each grade in the λ of highly relevant documents, by round (fig. 3a)."""
    frame = _frame(recorded, "share_", "grades=(3, 4)")
    return _curves(ax, frame, _grades(frame, "partners of grade "), "λ of highly relevant documents (%)", 100)


def plot_top_grades(recorded: Recorder | pd.DataFrame, ax: Any = None) -> Any:
    """The distribution of grades at the top of the rankings, by round (fig. 3b)."""
    frame = _frame(recorded, "top_")
    return _curves(ax, frame, _grades(frame, "grade "), "Documents in the top ranks (%)", 100)


def plot_rank_changes(recorded: Recorder | pd.DataFrame, ax: Any = None) -> Any:
    """The share of ranks that each round changes, at the top and in all (fig. 4)."""
    frame = _frame(recorded, "changed_")
    labels = {"changed_top": "top ranks", "changed_full": "all ranks"}
    return _curves(ax, frame, labels, "Ranks changed in a round (%)", 100)


def plot_cost_derivatives(
    objectives: Mapping[str, Objective], differences: ArrayLike | None = None, ax: Any = None
) -> Any:
    """Derivatives of the pair costs by score difference (fig. 5), by default from −6 to 6."""
    o = np.linspace(-6, 6, 241) if differences is None else np.asarray(differences, dtype=np.float64)
    curves = {name: cost_derivatives(o, objective) for name, objective in _named(objectives).items()}
    ax = _axes(
        ax,
        "Score difference o = sᵢ − sⱼ of a pair with i better than j",
        "|∂O/∂o|, without pair weight",
    )
    return _lines(ax, {name: (o, values) for name, values in curves.items()})


def plot_schedules(schedules: Mapping[str, float | Schedule], rounds: int, ax: Any = None) -> Any:
    """The weights of schedules over the rounds (fig. 6)."""
    curves = {name: schedule_weights(schedule, rounds) for name, schedule in _named(schedules).items()}
    ax = _axes(ax, ROUND, "Weight w of the second objective")
    return _lines(ax, {name: (np.arange(rounds), values) for name, values in curves.items()})


def plot_training_share(
    systems: Mapping[str, TrainingShare], measure: Measure = NDCG(3), ax: Any = None
) -> Any:
    """A measure of each system by the share of training queries (fig. 7); bars are ±1 standard error."""
    for name, found in _named(systems).items():
        if measure not in found.values:
            raise ValueError(f"measure {measure!r} is not in {name!r}: choose one of {list(found.values)}")
    ax = _axes(ax, "Training queries used (%)", f"Mean {measure!r} on test queries")
    for (name, found), style in zip(systems.items(), _styles(), strict=False):
        order = np.argsort(found.shares)
        mean, error = mean_and_error(found.values[measure])
        ax.errorbar(
            100 * found.shares[order], mean[order], error[order], label=name, marker="o", capsize=3, **style
        )
    ax.legend(frameon=False)
    return ax


def plot_weight_sweep(sweep: WeightSweep, queries: int | None = None, ax: Any = None) -> Any:
    """A measure against single shifted weights (2007 paper, figs. 2 and 3), over `queries` queries or all."""
    sizes = sweep.sizes.tolist()
    if queries is not None and queries not in sizes:
        raise ValueError(f"queries is {queries!r}: choose one of {sizes}, the sizes of the sweep")
    at = -1 if queries is None else sizes.index(queries)
    ax = _axes(ax, "Shift of the weight (%)", f"Mean {sweep.measure!r} of {sizes[at]:,} queries")
    ax.axvline(0, color="0.6", linewidth=0.8)
    for name, values, style in zip(sweep.weights, sweep.values[at], _styles(), strict=False):
        ax.plot(100 * sweep.shifts, values, label=name, linewidth=1.2, **style)
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.legend(frameon=False)
    return ax


def plot_local_optimum(tests: Mapping[str, LocalOptimum], ax: Any = None) -> Any:
    """The change of the measure by a step along each random direction; right of 0 it rises."""
    first = next(iter(_named(tests).values()))
    if any(found.measure != first.measure for found in tests.values()):
        raise ValueError(
            f"tests are of {[found.measure for found in tests.values()]}: give tests of one measure"
        )
    ax = _axes(ax, f"Change of mean {first.measure!r}", "Directions with at most this change (%)")
    ax.axvline(0, color="0.6", linewidth=0.8)
    for (name, found), style in zip(tests.items(), _styles(), strict=False):
        changes = np.sort(found.changes)
        ax.step(
            changes, np.arange(1, changes.size + 1) / changes.size * 100, where="post", label=name, **style
        )
    ax.legend(frameon=False)
    return ax


def plot_lambda_jacobian(found: LambdaJacobian, ax: Any = None) -> Any:
    """∂λᵢ/∂sⱼ as a heat map, which is symmetric for a rule with a cost."""
    ax = _axes(ax, "Score sⱼ that changes", "λᵢ that responds")
    largest = float(np.abs(found.matrix).max()) or 1.0
    image = ax.imshow(found.matrix, cmap="PuOr", vmin=-largest, vmax=largest)
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, label="∂λᵢ/∂sⱼ", shrink=0.8)
    return ax


def _frame(recorded: Recorder | pd.DataFrame, prefix: str, remedy: str = "") -> pd.DataFrame:
    """The recorded columns that start with `prefix`."""
    frame = recorded.frame() if isinstance(recorded, Recorder) else recorded
    if not hasattr(frame, "columns"):
        raise TypeError(f"recorded is {type(frame).__name__}: give a Recorder or its frame()")
    columns = [name for name in frame.columns if str(name).startswith(prefix)]
    if not columns or not len(frame):
        hint = f" made with {remedy}" if remedy else ""
        raise ValueError(
            f"nothing recorded under {prefix.strip()!r}: train with a Recorder{hint} as a callback"
        )
    return frame[columns]


def _named(given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"expected a dict with at least one label and curve, got {given!r}")
    return given


def _grades(frame: pd.DataFrame, text: str) -> dict[str, str]:
    return {name: text + name.rpartition("_")[2] for name in frame}


def _curves(ax: Any, frame: pd.DataFrame, labels: dict[str, str], ylabel: str, scale: float) -> Any:
    ax = _axes(ax, ROUND, ylabel)
    rounds = frame.index.to_numpy()
    return _lines(ax, {label: (rounds, scale * frame[name].to_numpy()) for name, label in labels.items()})


def _lines(ax: Any, curves: dict[str, tuple[Any, Any]]) -> Any:
    for (label, (x, y)), style in zip(curves.items(), _styles(), strict=False):
        # A curve of few rounds would be invisible without markers.
        ax.plot(x, y, label=label, marker="o" if len(x) < 25 else None, markersize=4, **style)
    # After the curves are drawn: an earlier limit would also fix the other one.
    ax.set_ylim(bottom=0)
    # Many labels would cover the curves.
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(curves) > 3 else {}
    ax.legend(frameon=False, **beside)
    return ax


def _styles() -> list[dict[str, Any]]:
    """Combinations of colours and dashes."""
    return [
        {"color": c, "linestyle": DASHES[(at + turn) % 7]}
        for turn in range(7)
        for at, c in enumerate(COLOURS)
    ]


def plot_propensities(curves: Mapping[str, Propensities], ax: Any = None) -> Any:
    """Propensities by position with their intervals, for one or more curves by name."""
    ax = _axes(ax, "", "")
    for at, (name, curve) in enumerate(curves.items()):
        curve.plot(ax, label=escaped(name), **line(at))
    ax.legend(frameon=False)
    return ax


def _axes(ax: Any, xlabel: str, ylabel: str) -> Any:
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")[1]
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    return ax
