"""The paper's Figures 2 to 7 as PNG files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost.diagnostics import TrainingShare, plots
from lambdaboost.diagnostics.recorder import agreement_column
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives import Exponential, LambdaRank, Linear, SigmoidLocal
from lambdaboost.reproduce.diagnosis import Diagnosis, both_click_lambdas
from lambdaboost.reproduce.protocol import GROWING, SHARES, Results
from lambdaboost.reproduce.store import written

Draw = Callable[[Any], Any]
GROWTH = (1, 3, 10)


def draw_figures(results: Results, diagnosis: Diagnosis, out: Path) -> list[tuple[Path, str]]:
    """Draw all figures; their files with what they show, in the paper's order."""
    recorded = (
        f"Recorded while {results.data.folds[0].name} trains the Newton baseline, "
        f"on {diagnosis.train.queries.n_queries} of its training queries."
    )
    found = []
    if results.data.clicks:
        text = (
            "Figure 2: documents on which λ of clicks agrees with λL, with all click pairs and with pairs of "
            f"equal grade that were both clicked. {recorded}"
        )
        found.append((2, text, [_agreement(diagnosis, clicks.name) for clicks in results.data.clicks]))
    text = (
        f"Figure 3: (a) share of λ of documents of {diagnosis.highly_relevant} that partners of each grade "
        f"contribute; (b) grades in the top 3. {recorded}"
    )
    found.append(
        (3, text, [_of_frame(diagnosis, draw) for draw in (plots.plot_lambda_shares, plots.plot_top_grades)])
    )
    text = f"Figure 4: documents that change rank in a round, full and top 3, and mean NDCG@3. {recorded}"
    found.append((4, text, [_of_frame(diagnosis, plots.plot_rank_changes), _ndcg(diagnosis)]))
    found.append((5, "Figure 5: derivatives of the two costs, eqs. 3 and 14.", [_costs]))
    text = "Figure 6: weight of λS at each round, for each swept η and the least swept w0."
    found.append((6, text, [_weights(results, "exponential"), _weights(results, "linear")]))
    text = "Figure 7: NDCG of all test queries after training on shares of the training queries."
    found.append((7, text, _growth(results)))
    return [(_drawn(out / f"figure_{n}.png", draws), text) for n, text, draws in found]


def _drawn(path: Path, draws: list[Draw]) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5 * len(draws), 3.8), layout="constrained")
    for axes, draw in zip(np.atleast_1d(figure.subplots(1, len(draws))), draws, strict=True):
        draw(axes)
    written(path, lambda file: figure.savefig(file, format="png", dpi=120))
    return path


def _of_frame(diagnosis: Diagnosis, draw: Callable[..., Any]) -> Draw:
    return lambda axes: draw(diagnosis.frame, ax=axes)


def _agreement(diagnosis: Diagnosis, clicks: str) -> Draw:
    """Curves that bear the paper's names, not those of the objectives."""
    columns = [agreement_column(LambdaRank(), other) for other in both_click_lambdas(clicks)]
    names = (f"agreement of all pairs by {clicks}", "agreement of clicked pairs of equal grade")
    frame = diagnosis.frame[columns].set_axis(list(names), axis=1)
    return lambda axes: plots.plot_agreement(frame, ax=axes)


def _ndcg(diagnosis: Diagnosis) -> Draw:
    def draw(axes: Any) -> None:
        for name, recorder in (("training", diagnosis.train), ("validation", diagnosis.valid)):
            axes.plot(recorder.frame()[repr(NDCG(3))], label=name)
        axes.set(xlabel=plots.ROUND, ylabel="Mean NDCG@3")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False)

    return draw


def _costs(axes: Any) -> None:
    plots.plot_cost_derivatives({"sigmoid": SigmoidLocal(), "RankNet": LambdaRank()}, ax=axes)


def _weights(results: Results, kind: str) -> Draw:
    grid, rounds = results.grid, results.setting.rounds
    start = min(grid.starts)
    schedules: dict[str, Any] = (
        {f"exponential, η = {rate:g}": Exponential(start, rate) for rate in grid.exponential_rates}
        if kind == "exponential"
        else {f"linear, η = {rate:g}": Linear(start, rate) for rate in grid.linear_rates}
    )
    return lambda axes: plots.plot_schedules(schedules, rounds, ax=axes)


def _growth(results: Results) -> list[Draw]:
    queries = np.array(
        [results.data.training(results.data.folds[0], share).queries.n_queries for share in (*SHARES, 1)]
    )
    systems = {
        system: TrainingShare(
            np.array([*SHARES, 1.0]), queries, {NDCG(k): results.shares_of(system, NDCG(k)) for k in GROWTH}
        )
        for system in GROWING
    }

    def draw(k: int) -> Draw:
        return lambda axes: plots.plot_training_share(systems, NDCG(k), ax=axes)

    return [draw(k) for k in GROWTH]
