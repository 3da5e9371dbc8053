"""Clicks with position bias: `python -m experiments.clicks --help`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from functools import partial
from itertools import product

from experiments.clicks.logs import USERS
from experiments.clicks.report import Results, write_report
from experiments.clicks.study import FOLDS, QUICK, Effort, rank_test_queries
from experiments.common.data import Data, one_fold
from experiments.common.script import add_number, add_workers, note, out_folder, parser, read_data, run
from experiments.common.workers import run_tasks
from lambdaboost.datasets import web_search_log

QUICK_USERS = ("position, η = 0", "position, η = 1")


def main(arguments: Sequence[str] | None = None) -> Results:
    """Simulate users, train on their clicks, test on the grades, and write report.md."""
    options = _parser().parse_args(arguments)
    data = [read_data(Namespace(**vars(options) | {"data": at}), log) for at in (options.data, *options.more)]
    users, folds, effort = (QUICK_USERS, 1, QUICK) if options.quick else (tuple(USERS), FOLDS, Effort())
    out = out_folder(options)
    tasks = list(product(users, range(folds)))
    outcomes = {}
    for one in data:
        note(f"{one.name}: {len(tasks)} runs")
        work = partial(rank_test_queries, one, effort, options.seed)
        for task, outcome in zip(tasks, run_tasks(work, tasks, options.workers), strict=True):
            outcomes[one.name, *task] = outcome
    results = Results(outcomes)
    write_report(results, effort, [f"### {one.name}\n\n{one.markdown()}" for one in data], out)
    return results


def log(options: Namespace) -> Data:
    """A synthetic search log."""
    queries = options.queries
    origin = f"lambdaboost.datasets.web_search_log({queries}, 30, seed={options.seed})"
    return one_fold(web_search_log(queries, 30, seed=options.seed), (0.4, 0.2, 0.4), options.seed, origin)


def _parser() -> ArgumentParser:
    made = parser("clicks", "Rankers trained on simulated clicks, tested on hidden grades.", "a search log")
    made.add_argument("more", nargs="*", metavar="DATA", help="further data sets, pooled with the first")
    add_number(made, "queries", "queries of synthetic data", 1000, least=20)
    add_workers(made)
    return made


if __name__ == "__main__":
    run(main)
