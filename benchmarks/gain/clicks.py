"""Clicks with position bias: what each remedy gives in true NDCG@10: `python -m benchmarks.gain.clicks`.

Protocol, settled before the first run
--------------------------------------
Each seed draws a synthetic log of `QUERIES` queries (`web_search_log`), and users who look at rank r with probability
1 / r^η, click by the grade, and see ten documents by one of two weak rankers, by default 8 sessions of each query. The
curve of positions is estimated from these clicks (`intervention_harvesting`); nothing reads the grades. Tested by the
grades of `TESTED` other queries.

Training: LightGBM's defaults, one thread, `ROUNDS` rounds for every system, without early stopping. Lists are sessions,
with clicks as labels (where a query has at most `MOST`), or queries, with rates as labels: clicks by times shown, raw
or divided by the curve. Rates of `lambdarank` are 31 grades of equal steps with linear gains.

Figures: means over the seeds, in points. Differences are from `lambdarank` on raw clicks, the first row, with 95 %
intervals of the t-test over the seeds, each of which has its own log, users and test queries. ``--sessions 200``, for
rates of many sessions, was added after the first run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import lightgbm as lgb
import numpy as np
import typer
from scipy.stats import ttest_1samp

from benchmarks.provenance import provenance
from experiments.common.report import table
from experiments.common.script import note, run, whole
from lambdaboost import NDCG, InversePropensity, LambdaRank, YetiLoss, attach
from lambdaboost.clicks import PositionBased, intervention_harvesting, simulate
from lambdaboost.datasets import web_search_log

QUERIES, MOST, TESTED, ROUNDS, STEPS = 60, 20, 200, 30, 30
ETAS = (0.5, 1.5)
PARAMS: dict[str, Any] = {"verbose": -1, "num_threads": 1, "seed": 1, "metric": "None"}


def one_seed(eta: float, sessions: int, seed: int) -> dict[str, float]:
    """True NDCG@10 of every system, in points."""
    made, rng = web_search_log(QUERIES, 20, seed=2 * seed + 1), np.random.default_rng(seed)
    test = web_search_log(TESTED, 20, seed=2 * seed + 2)
    X, q = made.features, made.queries
    rankers = [X[:, 0], X[:, 1] + rng.normal(0, 1, q.n_documents)]
    log = simulate(rankers, q, PositionBased(eta=eta), sessions, rng)
    curve = intervention_harvesting(log).extended(10)
    found: dict[str, float] = {}

    def train(name: str, objective: Any, data: lgb.Dataset, **params: Any) -> None:
        booster = lgb.train({**PARAMS, **params, "objective": objective}, data, ROUNDS)
        found[name] = 100 * NDCG(10)(booster.predict(test.features), test.queries)

    # A list for each session; the document of a simulated log is its row.
    if sessions <= MOST:
        lists = log.sessions()
        clicked, row = lists.queries, lists.document
        of_lists = {"label": clicked.relevance, "group": clicked.sizes}
        train("lambdarank, sessions", "lambdarank", lgb.Dataset(X[row], **of_lists))
        own = lgb.Dataset(X[row], **of_lists, position=clicked.position)
        train("lambdarank with LightGBM's position=, sessions", "lambdarank", own)
        for objective in (LambdaRank(), YetiLoss()):
            train(f"{objective!r}, sessions", objective, lgb.Dataset(X[row], **of_lists))
            weighted = attach(lgb.Dataset(X[row], **of_lists), position=clicked.position)
            debiased = InversePropensity(objective, curve, clip=20)
            train(f"InversePropensity({objective!r}), sessions", debiased, weighted)

    # A list for each query.
    for kind, propensities in (("raw", None), ("debiased", curve)):
        keys = q.query_of_row, np.arange(q.n_documents)
        rates = log.labels(*keys, smoothing=(1, 9), propensities=propensities)
        shown = ~np.isnan(rates)
        sizes = np.unique(q.query_of_row[shown], return_counts=True)[1]
        grades = np.rint(STEPS * np.minimum(1, rates[shown]))
        gains = np.linspace(0, 1, STEPS + 1).tolist()
        levels = lgb.Dataset(X[shown], grades, group=sizes)
        train(f"lambdarank, {kind} rates", "lambdarank", levels, label_gain=gains)
        data = attach(lgb.Dataset(X[shown], group=sizes), relevance=rates[shown])
        train(f"YetiLoss(), {kind} rates", YetiLoss(), data)
    train("YetiLoss() of the grades, for comparison", YetiLoss(), lgb.Dataset(X, q.relevance, group=q.sizes))
    return found


def main(
    seeds: Annotated[int, whole("number of seeds", least=2)] = 5,
    sessions: Annotated[int, whole("sessions of each query")] = 8,
    out: Annotated[Path, typer.Option(help="the page")] = Path("clicks.md"),
) -> None:
    """Train every system on every seed and write the table."""
    command = f"python -m benchmarks.gain.clicks --sessions {sessions} --seeds {seeds}"
    by = provenance(command, "objectives", "evaluation", "clicks")
    found: dict[float, list[dict[str, float]]] = {eta: [] for eta in ETAS}
    for seed in range(seeds):
        for eta, of_eta in found.items():
            of_eta.append(one_seed(eta, sessions, seed))
            note(f"seed {seed}, η {eta}")
    rows = []
    base, *_ = systems = list(found[ETAS[0]][0])
    for system in systems:
        cells = [system]
        for of_eta in found.values():
            values, before = (np.array([of_seed[name] for of_seed in of_eta]) for name in (system, base))
            cells.append(f"{values.mean():.1f}")
            if system != base:
                mean = (values - before).mean()
                low, high = ttest_1samp(values - before, 0).confidence_interval()
                cells[-1] += f": {mean:+.1f} ({low:+.1f} to {high:+.1f})"
        rows.append(cells)
    title = f"# Position bias, {sessions} sessions of each query"
    page = "\n\n".join([title, by, table(["NDCG@10", *(f"η = {eta}" for eta in ETAS)], rows)])
    out.write_text(page + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(main)
