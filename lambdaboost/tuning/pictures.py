"""The pictures of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation.report.lines import COLOURS, line, plain
from lambdaboost.evaluation.report.page import Picture
from lambdaboost.evaluation.report.svg import label
from lambdaboost.tuning.choice import Choice
from lambdaboost.tuning.front import Front
from lambdaboost.tuning.trial import Trial

LONG = 34  # characters of a name beside an axis
CURVES = 6  # finalists with a curve


def tried(trials: Sequence[Trial], choice: Choice) -> Picture:
    """Every trial by candidate: complete ones by their mean, pruned ones by what they reached."""
    order = [trial.candidate for trial in reversed(choice.finalists)]
    rows = {candidate: at for at, candidate in enumerate(order)}
    complete = [trial for trial in trials if trial.is_complete]
    pruned = [trial for trial in trials if not trial.is_complete and trial.candidate in rows]

    def draw(axes: Any) -> None:
        means = [100 * trial.means(choice.weight)[0] for trial in complete]
        axes.plot(
            means, [rows[t.candidate] for t in complete], "o", color=COLOURS[0], label="complete", alpha=0.7
        )
        reached = [100 * trial.reached for trial in pruned]
        if pruned:
            axes.plot(
                reached, [rows[t.candidate] for t in pruned], "x", color=COLOURS[1], label="stopped early"
            )
        axes.set_yticks(
            range(len(order)), [label(_short(choice.candidates[at].name)) for at in order], fontsize=7
        )
        plain(axes, f"{choice.measure!r} × 100", "")

    counts = "; ".join(
        f"{choice.name(t)}: {sum(o.candidate == t.candidate for o in trials)} trials, best "
        f"{100 * t.means(choice.weight)[0]:.2f}"
        for t in choice.finalists
    )
    caption = "Every trial on the validation queries, by candidate; those stopped early by what they reached."
    return Picture(draw, caption, f"Points by candidate. {counts}.")


def curves(choice: Choice) -> Picture:
    """The measure by round of the first finalists, in the first fold."""
    shown = choice.finalists[:CURVES]

    def draw(axes: Any) -> None:
        for at, trial in enumerate(shown):
            curve = 100 * np.array(trial.outcome.curves[0])
            axes.plot(np.arange(1, curve.size + 1), curve, label=label(choice.name(trial)), **_thin(at))
        plain(axes, "Boosting round", f"{choice.measure!r} × 100")

    ends = "; ".join(f"{choice.name(t)} {t.reached:.4f} at best" for t in shown)
    caption = f"{choice.measure!r} on the validation part by round, of the best trials of up to {CURVES} candidates."
    return Picture(draw, caption, f"Line chart. {ends}.")


def importance(shares: Mapping[str, float]) -> Picture:
    """How much each choice mattered."""
    names = list(shares)[::-1]

    def draw(axes: Any) -> None:
        axes.barh(range(len(names)), [100 * shares[name] for name in names], color=COLOURS[0])
        axes.set_yticks(range(len(names)), [label(name.replace("_", " ")) for name in names])
        plain(axes, "Share of the variance explained, %", "")

    said = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
    caption = "Importance of the choices: the share of the differences between complete trials that each one explains."
    return Picture(draw, caption, f"Bars. {said}.")


def front(found: Front, singles: Mapping[str, NDArray[np.float64]]) -> Picture:
    """All complete trials by the first two measures, the front and the trial without a significant loss."""
    points = 100 * found.points[:, :2]
    on = np.array([100 * trial.means(found.weight)[:2] for trial in found.on])
    marked = 100 * found.balanced.means(found.weight)[:2]

    def draw(axes: Any) -> None:
        axes.plot(points[:, 0], points[:, 1], ".", color="#999999", label="trials")
        axes.plot(on[:, 0], on[:, 1], "-o", color=COLOURS[0], label="front")
        axes.plot(
            *marked, "o", color=COLOURS[1], markersize=12, fillstyle="none", label="no significant loss"
        )
        for at, (name, point) in enumerate(singles.items(), start=2):
            axes.plot(
                *(100 * point[:2]), label=label(name), **(line(at) | {"linestyle": "none", "markersize": 8})
            )
        plain(axes, f"{found.measures[0]!r} × 100", f"{found.measures[1]!r} × 100")

    caption = (
        f"{found.measures[0]!r} against {found.measures[1]!r}; up and right is better. The ring is around the trial "
        "that is highest on the second without a significant loss of the first."
    )
    said = "; ".join(f"{x:.2f} and {y:.2f}" for x, y in on)
    return Picture(draw, caption, f"Scatter chart of {len(points)} trials. On the front: {said}.")


def _thin(at: int) -> dict[str, Any]:
    return line(at) | {"marker": None}


def _short(name: str) -> str:
    return name if len(name) <= LONG else f"{name[: LONG - 1]}…"
