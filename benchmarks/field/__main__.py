"""Command line of the field: `python -m benchmarks.field --help`."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec

from benchmarks.field.candidates import DEFAULT, LAMBDARANK, Candidate, candidates
from benchmarks.field.data import AT_HAND, read_all
from benchmarks.field.recipes import RECIPES
from benchmarks.field.report import write_report
from benchmarks.field.results import Fold, Results, Searched
from benchmarks.field.study import CUTOFFS, Final, Search, Study, Task
from benchmarks.field.tuned import CHOICES, Tune
from experiments.common.data import Data
from experiments.common.script import add_out, at_least, note, run
from experiments.common.workers import Outcome, Workers
from lambdaboost import NDCG
from lambdaboost.cli.columns import Columns

MEASURE = NDCG(k=3)


def main(arguments: Sequence[str] | None = None) -> tuple[Searched, Results]:
    """Search, test what was chosen, and write report.md."""
    options = _parser().parse_args(arguments)
    if options.tune and find_spec("optuna") is None:
        raise ValueError("--tune needs Optuna: pip install lambdaboost[tune]")
    columns = Columns.parse(options.source, options.drop, options.query, options.label)
    data = read_all(options.data, columns, options.seed)
    sources = dict.fromkeys(source.name for source in columns.sources)
    field = _without(candidates(MEASURE, sources), options.without)
    tried = tuple(RECIPES) if options.recipes else ()
    options.out.mkdir(parents=True, exist_ok=True)
    start = partial(Study, data, MEASURE, options.seed, options.out / "studies")
    with Workers(options.out / "runs", options.workers, start) as pool:
        run_all = partial(_run, pool, data=data, seed=options.seed)
        found = run_all(searches(data, field + tried, options.draws))
        searched = Searched(found, field, options.draws, tried)
        results = tested(searched, searched.rows(), run_all)
        results = results.joined(tested(searched, searched.rows_of_recipes(), run_all, refits=(False,)))
        defaults = tested(searched, searched.defaults(), run_all, refits=(False,))
        if options.tune:
            tasks = [Tune(*fold, options.draws) for fold in searched.folds]
            results = results.joined(of_tune(run_all(tasks)))
    write_report(searched, results, defaults, data, options.out, _command(options))
    note(f"written: {options.out / 'report.md'}")
    return searched, results


def _command(options: argparse.Namespace) -> str:
    """The command that gives the same report."""
    words = ["python", "-m", "benchmarks.field", *options.data, "--draws", str(options.draws)]
    for name in ("query", "label"):
        words += [f"--{name}", getattr(options, name)] if getattr(options, name) else []
    for name in ("source", "drop", "without"):
        words += [word for value in getattr(options, name) for word in (f"--{name}", value)]
    words += [f"--{name}" for name in ("recipes", "tune") if getattr(options, name)]
    return shlex.join(words + (["--seed", str(options.seed)] if options.seed else []))


def _without(field: tuple[Candidate, ...], names: Sequence[str]) -> tuple[Candidate, ...]:
    known = [candidate.name for candidate in field]
    for name in names:
        if name not in known:
            raise ValueError(f"--without {name}: not in the field, which is {', '.join(known)}")
        if name in (LAMBDARANK.name, DEFAULT.name):
            raise ValueError(f"--without {name}: others are compared with it; keep it")
    return tuple(candidate for candidate in field if candidate.name not in names)


def searches(data: Mapping[str, Data], field: Sequence, draws: int) -> list[Search]:
    """Every training of the search, draw by draw, so that fewer draws are complete first."""
    return [
        Search(name, fold, candidate, draw)
        for draw in range(draws)
        for name, one in data.items()
        for fold in range(len(one.folds))
        for candidate in field
    ]


def tested(
    searched: Searched,
    rows: Mapping[str, Mapping[Fold, Search]],
    run_all: Callable[[list[Final]], Mapping[Final, Outcome]],
    refits: tuple[bool, ...] = (False, True),
) -> Results:
    """Test what each row chose, each choice once."""
    tasks = {
        searched.finals(s)[refit]: None for row in rows.values() for s in row.values() for refit in refits
    }
    outcomes = run_all(list(tasks))
    figures = {
        (row, refit): {fold: outcomes[searched.finals(s)[refit]] for fold, s in chosen.items()}
        for row, chosen in rows.items()
        for refit in refits
    }
    chosen = {row: {fold: s.candidate.name for fold, s in found.items()} for row, found in rows.items()}
    return Results(figures, searched.seconds(), chosen)


def of_tune(found: Mapping[Tune, Outcome]) -> Results:
    """The rows of `tune`."""
    by_fold = {(task.data, task.fold): outcome for task, outcome in found.items()}
    names = [f"NDCG@{k}" for k in CUTOFFS]
    figures = {
        (row, refit): {f: {name: o[f"{row} {refit} {name}"] for name in names} for f, o in by_fold.items()}
        for row in CHOICES
        for refit in (False, True)
    }
    seconds = {fold: float(outcome["seconds"]) for fold, outcome in by_fold.items()}
    chosen = {row: {f: str(o[f"{row} False chosen"]) for f, o in by_fold.items()} for row in CHOICES}
    return Results(figures, dict.fromkeys(CHOICES, seconds), chosen)


def _run(pool: Workers, tasks: Sequence, data: Mapping[str, Data], seed: int) -> dict:
    keys = {key_of(task, data, seed): task for task in tasks}
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if done % max(1, len(keys) // 50) == 0:
            note(f"{done} of {len(keys)}")

    found = pool.run(keys, count)
    return {task: found[key] for key, task in keys.items()}


def key_of(task: Task, data: Mapping[str, Data], seed: int) -> str:
    """The name of the file that keeps the outcome of a task."""
    if isinstance(task, Tune):
        return f"{task.data}-{data[task.data].digest[:8]}-{seed}-{task.fold}-tune-{task.trainings}"
    s = task if isinstance(task, Search) else task.searched
    key = f"{s.data}-{data[s.data].digest[:8]}-{seed}-{s.fold}-{s.candidate.key}-{s.draw}"
    return key if isinstance(task, Search) else f"{key}-{task.rounds}{'-refit' if task.refit else ''}"


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "python -m benchmarks.field",
        description="The objectives of LightGBM, XGBoost, CatBoost and lambdaboost under equal tuning, on your data.",
    )
    made.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="a file of LETOR text, CSV or Parquet; a folder of LETOR text with S1 … S5 or train, vali, test; or one "
        f"of {', '.join(AT_HAND)}, all but the last in folders of LAMBDABOOST_DATA; several are pooled",
    )
    made.add_argument("--query", metavar="COLUMN", help="the column of queries in a table (default: qid)")
    made.add_argument("--label", metavar="COLUMN", help="the column of grades in a table (default: label)")
    made.add_argument(
        "--source",
        action="append",
        default=[],
        metavar="NAME=COLUMN[:rate]",
        help="a further label source in [0, 1], no feature: graded() joins the field; may be repeated",
    )
    made.add_argument(
        "--drop", action="append", default=[], metavar="COLUMNS", help="columns that are no features"
    )
    made.add_argument(
        "--draws", type=at_least(1), default=40, help="trainings of each objective in each fold (default: 40)"
    )
    made.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="NAME",
        help="leave an objective out, such as 'CatBoost YetiRank', the slowest; may be repeated",
    )
    made.add_argument("--recipes", action="store_true", help="try the recipes too")
    made.add_argument("--tune", action="store_true", help="add lambdaboost.tune with as many trainings")
    made.add_argument("--seed", type=at_least(0), default=0, help="of folds and settings (default: 0)")
    made.add_argument(
        "--workers",
        type=at_least(1),
        default=os.cpu_count() or 1,
        help="trainings at a time (default: all cores)",
    )
    add_out(made, "lambdaboost-field", "report.md and the finished runs, which are not repeated")
    return made


if __name__ == "__main__":
    run(main)
