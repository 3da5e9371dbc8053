"""The distribution of a system's scores by grade."""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.comparison.system import System
from lambdaboost.evaluation.report.lines import line, plain
from lambdaboost.evaluation.report.page import Picture
from lambdaboost.evaluation.report.svg import label

POINTS = np.linspace(0, 1, 101)  # quantiles at which a curve is drawn
GRADES = 6  # with more grades, those above 0 are drawn as one


def score_distribution(system: System) -> Picture:
    """One curve per grade: the share of its documents with lower scores; good systems separate the curves."""
    scores, grades = np.asarray(system.scores), system.queries.labels[RELEVANCE]
    known = np.isfinite(scores) & ~np.isnan(grades)
    scores, grades = scores[known], grades[known]
    there = np.unique(grades)
    parts = {f"grade {grade:g}": scores[grades == grade] for grade in there}
    if there.size > GRADES:
        below = "grade 0" if there[0] == 0 else "label at most 0"
        parts = {below: scores[grades <= 0], below.split()[0] + " above 0": scores[grades > 0]}
    curves = {name: np.quantile(of, POINTS) for name, of in parts.items() if of.size}

    def draw(axes: Any) -> None:
        for at, (name, curve) in enumerate(curves.items()):
            axes.plot(curve, 100 * POINTS, label=name, **line(at) | {"marker": None})
        plain(axes, f"Score, {label(system.name)}", "% of documents scored lower")

    medians = "; ".join(f"{name} {np.median(of):.3g}" for name, of in parts.items() if of.size)
    caption = (
        f"Scores of {system.name} by grade: the share of documents with lower scores. Medians: {medians}."
    )
    return Picture(draw, caption, f"Line chart. {caption}")
