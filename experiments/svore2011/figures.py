"""The 2011 paper's Figures 2 to 7; Figures 2 to 4 are recorded in another training of the Newton baseline."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.common.report import Draw, draw, legend
from experiments.svore2011 import plots
from experiments.svore2011.protocol import Results
from experiments.svore2011.recorder import agreement_column, record, sampled
from experiments.svore2011.settings import GROWING, NEWTON, SELECTED_BY, SHARES
from experiments.svore2011.training import train, training_data
from lambdaboost import CNDCG, NDCG, ClickTier, Exponential, LambdaRank, Linear
from lambdaboost.evaluation.charts import COLOURS
from lambdaboost.objectives import Objective

POINTS = 60  # number of recorded rounds
SAMPLE = 500  # queries


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Recorded rounds of the Newton baseline, with its selected parameters, on the first fold."""

    train: pd.DataFrame
    valid: pd.DataFrame
    n_queries: int  # of training
    grades: tuple[int, ...]  # of highly relevant documents

    @property
    def highly_relevant(self) -> str:
        """The grades of highly relevant documents in words."""
        return "grade " + " or ".join(map(str, self.grades))

    def agreement(self, clicks: str) -> tuple[float, float]:
        """Mean agreement with λL of λ of all click pairs, and of those of equal grade; without the first round."""
        every, tied = self.train[list(map(agreement_column, click_lambdas(clicks)))].iloc[1:].mean()
        return float(every), float(tied)

    def low_grade_share(self) -> float:
        """Share of grades 0 and 1 in the λ of highly relevant documents, mean over rounds."""
        return float(self.train[["share_0", "share_1"]].sum(axis=1).mean())


def click_lambdas(clicks: str) -> tuple[Objective, Objective]:
    """λ of all pairs by clicks, and of pairs of equal grade that were both clicked (2011 paper, §4.2)."""
    return LambdaRank(CNDCG(source=clicks)), ClickTier(source=clicks, zeros="missing")


def diagnose(results: Results) -> Diagnosis:
    """Train the Newton baseline again, and record its rounds."""
    data, setting = results.data, results.setting
    fold = data.folds[0]
    trial, _ = results.selected(NEWTON, fold)
    part = data.training(fold, seed=setting.seed)
    highest = int(np.nanmax(part.queries.relevance))
    grades = tuple(g for g in (3, 4) if g <= highest) or (highest,)
    others = [other for clicks in data.clicks for other in click_lambdas(clicks.name)]
    every = max(1, setting.rounds // POINTS)
    booster = train(trial, setting, training_data(part), part)
    on_train, on_valid = (sampled(X, q, SAMPLE, setting.seed) for X, q in (part, data.joined(fold.valid)))
    return Diagnosis(
        record(booster, *on_train, others, grades, every),
        record(booster, *on_valid, every=every),
        on_train[1].n_queries,
        grades,
    )


def draw_figures(results: Results, diagnosis: Diagnosis, out: Path) -> str:
    """Draw all figures to a folder; return their section of the report."""

    def recorded(prefix: str) -> Draw:
        return lambda axes: plots.plot_recorded(axes, prefix, diagnosis.train)

    where = (
        f"Recorded as {results.data.folds[0].name} trains the Newton baseline, on {diagnosis.n_queries} of its "
        "training queries."
    )
    figures: dict[int, tuple[list[Draw], str]] = {
        2: (
            [_agreement(diagnosis, clicks.name) for clicks in results.data.clicks],
            "documents on which λ of clicks agrees with λL, with all click pairs and with pairs of equal grade that "
            f"were both clicked. {where}",
        ),
        3: (
            [recorded("share_"), recorded("top_")],
            f"(a) share of λ of documents of {diagnosis.highly_relevant} that partners of each grade contribute; "
            f"(b) grades in the top 3. {where}",
        ),
        4: (
            [recorded("changed_"), lambda axes: _ndcg(diagnosis, axes)],
            f"documents that change rank in a round, full and top 3, and mean NDCG@3. {where}",
        ),
        5: ([plots.plot_cost_derivatives], "derivatives of the two costs, eqs. 3 and 14."),
        6: (_weights(results), "weight of λS at each round, for each swept η and the least swept w0."),
        7: (_growth(results), "NDCG of all test queries after training on shares of the training queries."),
    }
    shown = []
    for number, (panels, text) in figures.items():
        if panels:
            draw(out / f"figure_{number}.png", *panels)
            shown.append(f"![Figure {number}](figure_{number}.png)\n\nFigure {number}: {text}")
    return "\n\n".join(shown)


def _agreement(diagnosis: Diagnosis, clicks: str) -> Draw:
    """Curves with the paper's names instead of those of the objectives."""
    names = [f"agreement of all pairs by {clicks}", "agreement of clicked pairs of equal grade"]
    frame = diagnosis.train[list(map(agreement_column, click_lambdas(clicks)))].set_axis(names, axis=1)
    return lambda axes: plots.plot_recorded(axes, "agreement of ", frame)


def _ndcg(diagnosis: Diagnosis, axes: Any) -> None:
    for name, frame in (("training", diagnosis.train), ("validation", diagnosis.valid)):
        axes.plot(frame[repr(SELECTED_BY)], label=name)
    axes.set(xlabel=plots.ROUND, ylabel="Mean NDCG@3")
    legend(axes)


def _weights(results: Results) -> list[Draw]:
    grid, rounds, start = results.grid, results.setting.rounds, min(results.grid.starts)
    exponential = {f"exponential, η = {rate:g}": Exponential(start, rate) for rate in grid.exponential_rates}
    linear = {f"linear, η = {rate:g}": Linear(start, rate) for rate in grid.linear_rates}
    return [
        lambda axes: plots.plot_schedules(axes, exponential, rounds),
        lambda axes: plots.plot_schedules(axes, linear, rounds),
    ]


def _growth(results: Results) -> list[Draw]:
    shares = np.array([*SHARES, 1.0])

    def panel(k: int, axes: Any) -> None:
        for system, colour in zip(GROWING, COLOURS, strict=False):
            values = results.grown(system, NDCG(k))
            error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            curve = 100 * shares, values.mean(axis=1), error
            axes.errorbar(*curve, label=system, marker="o", capsize=3, color=colour)
        axes.set(xlabel="Training queries used (%)", ylabel=f"Mean NDCG@{k} on test queries")
        legend(axes)

    return [partial(panel, k) for k in (1, 3, 10)]
