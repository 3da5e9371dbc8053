"""Plots of shifted weights, random directions and Jacobians."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from experiments.common.report import legend, new_axes
from experiments.yue2007.optimality.jacobian import LambdaJacobian
from experiments.yue2007.optimality.local_optimum import LocalOptimum
from experiments.yue2007.optimality.sweep import WeightSweep
from lambdaboost.evaluation.charts import COLOURS


def plot_weight_sweep(sweep: WeightSweep, queries: int | None = None, ax: Any = None) -> Any:
    """A measure against single shifted weights (2007 paper, figs. 2 and 3), over `queries` queries or all."""
    at = -1 if queries is None else sweep.sizes.tolist().index(queries)
    ax = _axes(ax, "Shift of the weight (%)", f"Mean {sweep.measure!r} of {sweep.sizes[at]:,} queries")
    for name, values, colour in zip(sweep.weights, sweep.values[at], COLOURS, strict=False):
        ax.plot(100 * sweep.shifts, values, label=name, linewidth=1.2, color=colour)
    ax.ticklabel_format(axis="y", useOffset=False)
    legend(ax)
    return ax


def plot_local_optimum(tests: Mapping[str, LocalOptimum], ax: Any = None) -> Any:
    """The change of the measure by a step along each random direction; right of 0 it rises."""
    (measure,) = {found.measure for found in tests.values()}
    ax = _axes(ax, f"Change of mean {measure!r}", "Directions with at most this change (%)")
    for (name, found), colour in zip(tests.items(), COLOURS, strict=False):
        shares = 100 * np.arange(1, found.changes.size + 1) / found.changes.size
        ax.step(np.sort(found.changes), shares, where="post", label=name, color=colour)
    legend(ax)
    return ax


def plot_lambda_jacobian(found: LambdaJacobian, ax: Any = None) -> Any:
    """∂λᵢ/∂sⱼ as a heat map, which is symmetric for a rule with a cost."""
    ax = _axes(ax, "Score sⱼ that changes", "λᵢ that responds", zero=False)
    largest = float(np.abs(found.matrix).max()) or 1.0
    image = ax.imshow(found.matrix, cmap="PuOr", vmin=-largest, vmax=largest)
    ax.figure.colorbar(image, ax=ax, label="∂λᵢ/∂sⱼ", shrink=0.8)
    return ax


def _axes(ax: Any, xlabel: str, ylabel: str, zero: bool = True) -> Any:
    ax = ax or new_axes()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    if zero:
        ax.grid(alpha=0.25)
        ax.axvline(0, color="0.6", linewidth=0.8)
    return ax
