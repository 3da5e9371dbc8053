"""The paper's Figures 2 to 7 as PNG files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.diagnostics import cost_derivatives, schedule_weights
from lambdaboost.diagnostics.recorder import agreement_column
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives import Exponential, LambdaRank, Linear, SigmoidLocal
from lambdaboost.reproduce.diagnosis import NDCG_AT_3, Diagnosis, both_click_lambdas
from lambdaboost.reproduce.protocol import GROWING, SHARES, Results
from lambdaboost.reproduce.store import written

Draw = Callable[[Any], None]


def draw_figures(results: Results, diagnosis: Diagnosis, out: Path) -> list[tuple[Path, str]]:
    """Draw all figures; their files with what they show, in the paper's order."""
    recorded = (
        f"Recorded while {results.data.folds[0].name} trains the Newton baseline, "
        f"on {diagnosis.train.queries.n_queries} of its training queries."
    )
    figures: list[tuple[str, str, tuple[Draw, ...]]] = []
    if results.data.clicks:
        text = (
            "Figure 2: share of documents on which λ of clicks agrees with λL, with all click pairs and with pairs of "
            f"equal grade that were both clicked. {recorded}"
        )
        figures.append(
            ("figure_2", text, tuple(_agreement(diagnosis, clicks.name) for clicks in results.data.clicks))
        )
    text = (
        f"Figure 3: (a) share of λ of documents of {diagnosis.highly_relevant} that partners of each grade contribute; "
        f"(b) grades in the top 3. {recorded}"
    )
    shares = _shares(diagnosis, "share", "share of λ"), _shares(diagnosis, "top", "in the top 3")
    figures.append(("figure_3", text, shares))
    text = f"Figure 4: documents that change rank in a round, and NDCG@3. {recorded}"
    figures.append(("figure_4", text, (_changes(diagnosis),)))
    figures.append(("figure_5", "Figure 5: derivatives of the two costs.", (_costs,)))
    weights = _weights(results, "exponential"), _weights(results, "linear")
    figures.append(("figure_6", "Figure 6: weights of λS at each round.", weights))
    text = (
        "Figure 7: mean NDCG of all test queries after training on shares of the training queries; bars are one "
        "standard error."
    )
    figures.append(("figure_7", text, tuple(_growth(results, k) for k in (1, 3, 10))))
    return [(_drawn(out / f"{name}.png", draws), text) for name, text, draws in figures]


def _drawn(path: Path, draws: tuple[Draw, ...]) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * len(draws), 3.6), layout="constrained")
    for axes, draw in zip(np.atleast_1d(figure.subplots(1, len(draws))), draws, strict=True):
        draw(axes)
        axes.legend(fontsize="small")
        axes.grid(alpha=0.3)
    written(path, lambda file: figure.savefig(file, format="png", dpi=150))
    return path


def _agreement(diagnosis: Diagnosis, clicks: str) -> Draw:
    def draw(axes: Any) -> None:
        for other, label in zip(
            both_click_lambdas(clicks), ("all pairs", "equal grade, both clicked"), strict=True
        ):
            axes.plot(diagnosis.frame[agreement_column(LambdaRank(), other)] * 100, label=label)
        axes.set(title=f"clicks: {clicks}", xlabel="round", ylabel="% λ agreement")

    return draw


def _shares(diagnosis: Diagnosis, kind: str, ylabel: str) -> Draw:
    def draw(axes: Any) -> None:
        columns = [name for name in diagnosis.frame if name.startswith(f"{kind}_")]
        for name in columns:
            axes.plot(diagnosis.frame[name] * 100, label=f"grade {name.split('_')[1]}")
        axes.set(xlabel="round", ylabel=f"% {ylabel}")

    return draw


def _changes(diagnosis: Diagnosis) -> Draw:
    def draw(axes: Any) -> None:
        frame = diagnosis.frame
        axes.plot(frame["changed_full"] * 100, label="% change full")
        axes.plot(frame["changed_top"] * 100, label="% change top 3")
        axes.plot(frame[NDCG_AT_3] * 100, label="training NDCG@3 × 100")
        axes.plot(diagnosis.valid.frame()[NDCG_AT_3] * 100, label="validation NDCG@3 × 100")
        axes.set(xlabel="round")

    return draw


def _costs(axes: Any) -> None:
    o = np.linspace(-10, 10, 201)
    axes.plot(o, cost_derivatives(o, SigmoidLocal()), label="sigmoid (eq. 14)")
    axes.plot(o, cost_derivatives(o, LambdaRank()), label="RankNet (eq. 3)")
    axes.set(xlabel="score difference", ylabel="derivative")


def _weights(results: Results, kind: str) -> Draw:
    def draw(axes: Any) -> None:
        grid = results.grid
        rates = grid.exponential_rates if kind == "exponential" else grid.linear_rates
        for rate in rates:
            schedule = (Exponential if kind == "exponential" else Linear)(grid.starts[0], rate)
            axes.plot(schedule_weights(schedule, results.setting.rounds), label=f"η = {rate:g}")
        axes.set(title=kind, xlabel="round", ylabel="w")

    return draw


def _growth(results: Results, k: int) -> Draw:
    def draw(axes: Any) -> None:
        for system in GROWING:
            values = results.shares_of(system, NDCG(k)) * 100
            error = values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            axes.errorbar([*SHARES, 1.0], values.mean(axis=1), error, capsize=2, label=system)
        axes.set(xlabel="share of the training queries", ylabel=f"NDCG@{k}")

    return draw
