"""``lambdaboost demo``: lambdaboost against the engine's own LambdaRank, on held-out queries."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lambdaboost._installed import engine_named
from lambdaboost.cli.console import ERR, print_table, tell
from lambdaboost.datasets import Collection, web_search_log
from lambdaboost.evaluation import CNDCG, NDCG, Comparison, compare
from lambdaboost.evaluation import report as write_report
from lambdaboost.evaluation.significance import LEGEND
from lambdaboost.native import NativeObjective
from lambdaboost.objectives import Constrained, GradientStep, LambdaRank

DOCUMENTS = 50  # of a query, on average
LEARNING_RATES = (0.025, 0.05, 0.1, 0.2)  # of which the validation part selects, for each system
CHOSEN_BY = NDCG(3)
MEASURES = (*(NDCG(k) for k in range(1, 11)), NDCG(), CNDCG(3), CNDCG(10))


@dataclass
class Contender:
    """A system, and what becomes of it."""

    name: str
    objective: Any
    curves: dict[float, list[Any]] = field(default_factory=dict)  # by learning rate, on the validation part
    rate: float = 0.0
    seconds: float = 0.0
    booster: Any = None


def run(engine: str, queries: int, rounds: int, seed: int, report: Path) -> None:
    """Train, compare, print, and write the page."""
    stock = engine_named(engine)
    log = web_search_log(queries, DOCUMENTS, seed=seed).shuffled(seed)
    train, valid, test = map(log.take, np.split(np.arange(queries), [queries // 4, queries // 2]))
    contenders = (
        Contender(f"{engine} {stock.NATIVE}", NativeObjective(stock.NATIVE)),
        Contender("Constrained", Constrained(LambdaRank(), LambdaRank(CNDCG(10)), reference=(0.0,))),
        Contender("LambdaRank, gradient steps", GradientStep(LambdaRank())),
        Contender("LambdaRank, Newton steps", LambdaRank()),
    )
    data = stock.dataset(train)
    measured = stock.dataset(valid, reference=data)
    for contender in contenders:
        with ERR.status(f"training {contender.name} …"):
            _train(stock, contender, data, measured, rounds, seed)
    scores = {c.name: stock.scores(c.booster, test.features) for c in contenders}
    comparison = compare(scores, test.queries, MEASURES)
    command = f"lambdaboost demo --engine {engine} --queries {queries} --rounds {rounds} --seed {seed}"
    with ERR.status(f"writing {report} …"):
        _write_page(report, command, stock, contenders, scores, test)
    print_table(*_table(contenders, comparison))
    sizes = " / ".join(str(part.queries.n_queries) for part in (train, valid, test))
    tell(
        f"Means times 100 on the test queries of a synthetic search log (seed {seed}; train / valid / test {sizes} "
        f"queries, about {DOCUMENTS} documents each).\n"
        f"{LEGEND} than {contenders[0].name} ({comparison.criterion}).\n"
        f"{rounds} rounds each, {engine}'s default parameters; learning rate of "
        f"{', '.join(f'{rate:g}' for rate in LEARNING_RATES)} selected by {CHOSEN_BY!r} on the validation part. "
        f"Constrained trains twice: by LambdaRank() alone, whose {NDCG()!r} on the training part it keeps within .5 "
        f"points, and to raise the clicks' {CNDCG(10)!r}.\n"
        f"Report with pictures, query by query: {report}"
    )


def _train(stock: Any, contender: Contender, data: Any, measured: Any, rounds: int, seed: int) -> None:
    """Choose the learning rate on the validation part, then train without it."""

    def booster(rate: float, valid: Any, on_round: Any) -> Any:
        params = {"learning_rate": rate, "seed": seed}
        rule = contender.objective
        if isinstance(rule, Constrained):  # keeps what its primary objective reaches alone, after each round
            alone: list[Any] = []
            stock.boost(rule.primary, params, rounds, data, data, rule.kept, on_round=alone.append)
            rule = replace(rule, reference=tuple(alone))
        return stock.boost(rule, params, rounds, data, valid, CHOSEN_BY, on_round=on_round)

    for rate in LEARNING_RATES:
        booster(rate, measured, contender.curves.setdefault(rate, []).append)
    contender.rate = max(LEARNING_RATES, key=lambda rate: contender.curves[rate][-1])
    start = time.perf_counter()
    contender.booster = booster(contender.rate, None, None)
    contender.seconds = time.perf_counter() - start


def _table(contenders: tuple[Contender, ...], comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Rows of measures, columns of systems; the last rows are the learning rate and the training time."""
    header, by_system = comparison.cells()
    rows = [list(row) for row in zip(header, *by_system, strict=True)]
    rows.append(["learning rate", *(f"{c.rate:g}" for c in contenders)])
    rows.append(["seconds", *(f"{c.seconds:.2f}" for c in contenders)])
    return ["measure", *rows[0][1:]], rows[1:]


def _write_page(
    path: Path,
    command: str,
    stock: Any,
    contenders: tuple[Contender, ...],
    scores: dict[str, Any],
    test: Collection,
) -> None:
    """Write the page: the systems on the test part, with curves on the validation part."""
    settings = {
        c.name: {
            "objective": repr(c.objective),
            "learning rate": c.rate,
            f"validation {CHOSEN_BY!r}": ", ".join(
                f"{y[-1]:.4f} at {rate:g}" for rate, y in c.curves.items()
            ),
        }
        for c in contenders
    }
    write_report(
        path,
        scores,
        test.queries,
        histories={c.name: {"valid": {repr(CHOSEN_BY): c.curves[c.rate]}} for c in contenders},
        run={"Command": command, "Data": "a synthetic search log: its test part"} | settings,
        title=f"lambdaboost demo, {stock.NAME}",
    )
