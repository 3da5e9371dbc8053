"""``lambdaboost demo``: lambdaboost against the engine's own objective, on held-out queries."""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
from typer import Option

from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR, print_table, tell
from lambdaboost.datasets import web_search_log
from lambdaboost.engines import ENGINES
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import CNDCG, NDCG, compare
from lambdaboost.evaluation import report as write_report
from lambdaboost.evaluation.significance import LEGEND
from lambdaboost.objectives import LambdaRank, YetiLoss, graded
from lambdaboost.training import make_dataset

DOCUMENTS = 50  # of a query, on average
LEARNING_RATES = (0.025, 0.05, 0.1, 0.2)  # of which the validation part selects, for each system
CHOSEN_BY = NDCG(10)
MEASURES = (*(NDCG(k) for k in range(1, 11)), NDCG(), CNDCG(3), CNDCG(10))


def demo(
    queries: Annotated[int, Option(min=12, help="Number of queries, for all three parts.")] = 2400,
    rounds: Annotated[int, Option(min=1, help="Boosting rounds per system.")] = 100,
    seed: Annotated[int, Option(min=0, help="Seed of the data and the engine.")] = 0,
    engine: opt.EngineOption = opt.ENGINE,
    report: opt.Page = opt.PAGE,
    overwrite: opt.Overwrite = False,
) -> None:
    """Compare lambdaboost with the engine's own objective on synthetic search data.

    The four systems are the engine's own ranking objective, YetiLoss, LambdaRank, and graded, which lets clicks break
    ties between grades. All have the same number of rounds, size of trees and grid of learning rates; NDCG@10 on the
    validation part selects the rate of each.

    Example: lambdaboost demo --engine xgboost --queries 1500
    """
    opt.check_outputs(overwrite, [], report, option="report")
    stock = ENGINES[engine]
    native = stock.NATIVE_OBJECTIVES[0]
    log = web_search_log(queries, DOCUMENTS, seed=seed).shuffled(seed)
    train, valid, test = map(log.take, np.split(np.arange(queries), [queries // 4, queries // 2]))
    systems: dict[str, Any] = {
        f"{engine} {native}": NativeObjective(native),
        "YetiLoss()": YetiLoss(),
        "LambdaRank()": LambdaRank(),
        "graded(0.1)": graded(0.1),
    }
    data = make_dataset(engine, train)
    measured = make_dataset(engine, valid, reference=data)
    settings: dict[str, dict[str, Any]] = {}
    curves, scores = {}, {}
    for name, objective in systems.items():
        by_rate: dict[float, list[Any]] = {rate: [] for rate in LEARNING_RATES}
        with ERR.status(f"training {name} …"):
            for rate, curve in by_rate.items():
                params = {"learning_rate": rate, "seed": seed}
                stock.train(objective, params, rounds, data, measured, CHOSEN_BY, on_round=curve.append)
            rate = max(by_rate, key=lambda rate: by_rate[rate][-1])
            start = time.perf_counter()
            booster = stock.train(objective, {"learning_rate": rate, "seed": seed}, rounds, data)
        seconds = f"{time.perf_counter() - start:.2f}"
        settings[name] = {"objective": repr(objective), "learning rate": f"{rate:g}", "seconds": seconds}
        curves[name], scores[name] = by_rate[rate], stock.scores(booster, test.features)
    comparison = compare(scores, test.queries, MEASURES)
    write_report(
        report,
        scores,
        test.queries,
        histories={name: {"valid": {repr(CHOSEN_BY): curve}} for name, curve in curves.items()},
        run={"Data": f"a synthetic search log (seed {seed}): its test part", "Rounds": rounds} | settings,
        title=f"lambdaboost demo, {engine}",
    )
    cells = [[measure, *of_systems] for measure, of_systems in comparison.means_table.items()]
    cells += [[what, *(one[what] for one in settings.values())] for what in ("learning rate", "seconds")]
    print_table(["measure", *cells[0][1:]], cells[1:])
    n_train, n_valid, n_test = (part.queries.n_queries for part in (train, valid, test))
    tell(
        f"Means times 100 over {n_test} test queries of a synthetic search log (seed {seed}), about {DOCUMENTS} "
        "documents each. NDCG is by the judges' grades, CNDCG by the clicks.\n"
        f"{LEGEND} than {next(iter(systems))} ({comparison.criterion}).\n"
        f"Each system was trained on {n_train} other queries for {rounds} rounds of {engine}'s default trees. "
        f"{n_valid} more queries chose its learning rate from {', '.join(f'{rate:g}' for rate in LEARNING_RATES)} by "
        f"{CHOSEN_BY!r}. Seconds are those of one training.\n"
        f"HTML report: {report}"
    )
