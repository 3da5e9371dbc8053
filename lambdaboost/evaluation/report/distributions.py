"""How a system's scores are spread, for each grade."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.report.lines import line, plain
from lambdaboost.evaluation.report.page import Picture
from lambdaboost.evaluation.report.svg import label

BINS = 40
GRADES = 6  # of more grades, those above 0 are drawn as one


def score_distribution(system: System) -> Picture:
    """A curve for each grade: the share of its documents by score."""
    scores, grades = np.asarray(system.scores), system.queries.relevance
    known = np.isfinite(scores) & ~np.isnan(grades)
    scores, grades = scores[known], grades[known]
    low, high = np.quantile(scores, [0.005, 0.995]) if scores.size else (0.0, 0.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    there = np.unique(grades)
    parts = {f"grade {grade:g}": grades == grade for grade in there}
    if there.size > GRADES:
        parts = {"grade 0": grades == 0, "grade above 0": grades > 0}
    shares = {
        name: 100 * np.histogram(np.clip(scores[of], edges[0], edges[-1]), edges)[0] / of.sum()
        for name, of in parts.items()
        if of.any()
    }

    def draw(axes: Any) -> None:
        for at, (name, share) in enumerate(shares.items()):
            style = line(at)
            axes.stairs(share, edges, label=name, color=style["color"], linestyle=style["linestyle"])
        plain(axes, f"Score, {label(system.name)}", "Documents of a grade, %")

    middles = "; ".join(f"{name} {np.median(scores[of]):.3g}" for name, of in parts.items() if of.any())
    caption = f"Scores of {system.name} by grade. Medians: {middles}."
    return Picture(draw, caption, f"Step chart. {caption}")
