"""``lambdaboost tune``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from lambdaboost._installed import first_installed
from lambdaboost.cli.columns import Columns
from lambdaboost.cli.console import ERR, OUT, StoppedButWrote, note, print_json, tell
from lambdaboost.cli.measuring import parse_measures
from lambdaboost.cli.model_file import described
from lambdaboost.cli.reading import reading_of
from lambdaboost.cli.train import parse_params
from lambdaboost.datasets import Collection
from lambdaboost.datasets._files import check_no_input, check_place, replacing, sha256
from lambdaboost.engines.engine import Engine, engine_named
from lambdaboost.engines.saving import beside
from lambdaboost.evaluation import NDCG
from lambdaboost.tuning import Tuned, tune
from lambdaboost.tuning.choice import OPTIMISM
from lambdaboost.tuning.tune import Stopped


@dataclass(frozen=True)
class Request:
    """The options of the command; those in `search` are arguments of `lambdaboost.tune`."""

    train: Path
    valid: Path | None
    out: Path
    report: Path | None
    measures: tuple[str, ...]
    objectives: tuple[str, ...]
    params: tuple[str, ...]
    columns: Columns
    search: Mapping[str, Any]


def run_tune(request: Request, as_json: bool) -> None:
    """Search, and write the model, its description and its script; at Ctrl-C those of the best so far."""
    check_place("--out", request.out)
    check_no_input("--out", request.out, (request.train, request.valid))
    check_place("--out", script_of(request.out))
    if request.report is not None:
        check_place("--report", request.report)
        check_no_input("--report", request.report, (request.train, request.valid))
    measures = parse_measures(request.measures) or (NDCG(10),)
    params = parse_params(request.params, _engine_of(request))
    with ERR.status("reading …"):
        train, valid, columns = _read(request)
    try:
        tuned = tune(
            train,
            valid,
            measure=measures,
            objectives=request.objectives or None,
            params=params,
            **request.search,
        )
    except Stopped as stopped:
        note(f"lambdaboost: {stopped}; {request.out} becomes the best so far")
        _write(request, stopped.finish(), columns, as_json)
        raise StoppedButWrote from None
    _write(request, tuned, columns, as_json)


def script_of(out: Path) -> Path:
    """``model.txt.py`` for ``model.txt``."""
    return out.with_name(f"{out.name}.py")


def _engine_of(request: Request) -> Engine:
    """The engine whose parameters are given; the first that is installed where none is named."""
    return engine_named(request.search["engine"] or first_installed())


def _read(request: Request) -> tuple[Collection, Collection | None, Columns]:
    file = request.columns.opened(request.train)
    train = request.columns.collection(file)
    columns = request.columns.fixed_by(file, train)
    valid = None if request.valid is None else columns.collection(columns.opened(request.valid))
    return train, valid, columns


def _write(request: Request, tuned: Tuned, columns: Columns, as_json: bool) -> None:
    paths = {"train": request.train, "valid": request.valid}
    data = {
        name: {"file": path.name, "sha256": sha256(path)} for name, path in paths.items() if path is not None
    }
    tuned.save(request.out, about={**described(columns), "data": data, "seed": request.search["seed"]})
    with replacing(script_of(request.out)) as file:
        file.write(_script(request, tuned, columns).encode())
    if request.report is not None:
        tuned.page(request.report)
    if as_json:
        print_json(json.loads(beside(request.out).read_text(encoding="utf-8")))
    else:
        OUT.print(_finalists(tuned))
        if tuned.trade_off is not None:
            OUT.print(_front(tuned))
            if tuned.trade_off.loss:
                tell(f"Bold: no significant loss of {tuned.measures[0]!r}; {tuned.trade_off.loss}")
        tell(tuned.verdict)
        tell(f"The simplest within one standard error: {tuned.choice.name(tuned.choice.simplest)}.")
        tell(OPTIMISM)
        if tuned.held_out is not None:
            tell(f"The whole search: {tuned.held_out}.")
    note(
        f"{request.out} is {tuned.objective!r}, {tuned.rounds} rounds; {script_of(request.out)} trains it again"
    )


def _script(request: Request, tuned: Tuned, columns: Columns) -> str:
    """The script, with the files read as the command read them."""
    files = {"train": request.train, "valid": request.valid}
    read = reading_of({name: path for name, path in files.items() if path is not None}, columns)
    return tuned.script(read, f"again-{request.out.name}")


def _finalists(tuned: Tuned) -> Table:
    table = Table("candidate", "objective", repr(tuned.measures[0]), "difference", "p", title="finalists")
    for at, column in enumerate(table.columns):
        column.justify, column.overflow = "right" if at > 1 else "left", "fold"
    shown: Callable[[float], str] = lambda p: "" if p != p else f"{p:.2g}"  # noqa: E731
    for row in tuned.finalists.to_dict("records"):
        mean = f"{100 * row[repr(tuned.measures[0])]:.2f}"
        cells = row["candidate"], row["objective"], mean, f"{100 * row['difference']:+.2f}", shown(row["p"])
        table.add_row(*cells)
    return table


def _front(tuned: Tuned) -> Table:
    """The trade-off of several measures; the trial without a significant loss of the first one is bold."""
    table = Table("candidate", *map(repr, tuned.measures), title="trade-off")
    for column in table.columns[1:]:
        column.justify = "right"
    for row in tuned.front.to_dict("records"):
        means = (f"{100 * row[repr(measure)]:.2f}" for measure in tuned.measures)
        table.add_row(row["candidate"], *means, style="bold" if row["no significant loss"] else "")
    return table
