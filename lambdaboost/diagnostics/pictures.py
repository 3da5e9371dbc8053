"""`pictures`: the records of a `Recorder` as pictures of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from lambdaboost.clicks import Propensities
from lambdaboost.diagnostics import plots
from lambdaboost.diagnostics._parts import pair_parts
from lambdaboost.diagnostics.recorder import Recorder
from lambdaboost.objectives import Objective

if TYPE_CHECKING:
    import pandas as pd

# Prefix of the columns, plot function, caption.
RECORDED: tuple[tuple[str, Callable[..., Any], str], ...] = (
    (
        "agreement of ",
        plots.plot_agreement,
        "Share of documents whose λ agree, by round (2011 paper, fig. 2).",
    ),
    (
        "share_",
        plots.plot_lambda_shares,
        "Share of the λ of highly relevant documents by grade of the partner (fig. 3a).",
    ),
    ("top_", plots.plot_top_grades, "Grades of the documents in the top ranks, by round (fig. 3b)."),
    (
        "changed_",
        plots.plot_rank_changes,
        "Ranks that hold a different document after a round, at the top and in all (fig. 4).",
    ),
)


def pictures(
    recorded: Recorder | pd.DataFrame | None = None,
    objectives: Mapping[str, Objective] | None = None,
    of: str = "",
    propensities: Mapping[str, Propensities] | None = None,
) -> dict[str, Callable[[Any], Any]]:
    """Diagnostics for `lambdaboost.evaluation.report`: ``diagnostics=pictures(recorder)``.

    Those of the 2011 paper, and curves of position bias.

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

    Returns
    -------
    dict of str to callable
        Captions, and functions that draw on matplotlib Axes.

    Examples
    --------
    >>> from lambdaboost import LambdaRank, SigmoidLocal
    >>> list(pictures(objectives={"λL": LambdaRank(), "λS": SigmoidLocal()}))
    ['Derivatives of the pair costs by score difference (2011 paper, fig. 5).']

    """
    found: dict[str, Callable[[Any], Any]] = {}
    if recorded is not None:
        frame = recorded.frame() if isinstance(recorded, Recorder) else recorded
        for prefix, plot, caption in RECORDED:
            if any(str(name).startswith(prefix) for name in frame.columns):
                found[f"{of}: {caption}" if of else caption] = partial(_drawn, plot, frame)
    pairwise = {name: o for name, o in (objectives or {}).items() if is_of_pairs(o)}
    if pairwise:
        caption = "Derivatives of the pair costs by score difference (2011 paper, fig. 5)."
        found[caption] = partial(_drawn, plots.plot_cost_derivatives, pairwise)
    if propensities:
        found[_bias_caption(propensities)] = partial(_drawn, plots.plot_propensities, propensities)
    return found


def _bias_caption(propensities: Mapping[str, Propensities]) -> str:
    intervals = any(curve.low is not None for curve in propensities.values())
    return "Propensities by position, relative to the best position" + (
        ", with 95 % intervals." if intervals else "."
    )


def is_of_pairs(objective: Objective) -> bool:
    """Whether an objective is a plain sum over pairs."""
    try:
        pair_parts(objective)
    except (TypeError, ValueError):
        return False
    return True


def _drawn(plot: Callable[..., Any], what: Any, axes: Any) -> Any:
    return plot(what, ax=axes)
