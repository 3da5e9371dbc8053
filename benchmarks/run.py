"""`run_bench`: measure, print, write."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numba
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from lambdaboost.bench.machine import Machine, this_machine
from lambdaboost.bench.memory import memory
from lambdaboost.bench.objective_costs import objective_costs
from lambdaboost.bench.peers import peers
from lambdaboost.bench.plan import FULL, QUICK, Plan
from lambdaboost.bench.report import described, has_matplotlib, write
from lambdaboost.bench.scaling import scaling
from lambdaboost.bench.section import Section, Setting
from lambdaboost.bench.speed import speed
from lambdaboost.bench.start import start
from lambdaboost.cli.console import ERR, OUT, note, print_json, tell

SECTIONS: dict[str, Callable[[Plan, Setting], Section]] = {
    "speed": speed,
    "objectives": objective_costs,
    "peers": peers,
    "scaling": scaling,
    "start": start,
    "memory": memory,
}


@dataclass(frozen=True)
class Request:
    """The options as they were given."""

    quick: bool
    only: tuple[str, ...]
    threads: int | None  # None for 2, or 1 where there are no more
    out: Path
    as_json: bool


def run_bench(request: Request) -> None:
    """Measure the sections that are asked for, print them and write them into a folder."""
    threads = _checked_threads(request.threads)
    _check_place(request.out)
    numba.set_num_threads(threads)
    machine = this_machine(threads)
    note(machine.markdown())
    plan = QUICK if request.quick else FULL
    wanted = [name for name in SECTIONS if not request.only or name in request.only]
    sections = {name: _measured(name, plan, threads) for name in wanted}
    written = write(machine, sections, request.out)
    _print(machine, sections, request.as_json)
    if any(section.draw for section in sections.values()) and not has_matplotlib():
        note("no picture was drawn: pip install 'lambdaboost[plots]'")
    note("written: " + ", ".join(map(str, written)))


def _checked_threads(threads: int | None) -> int:
    most = numba.config.NUMBA_NUM_THREADS
    if threads is not None and threads > most:
        raise ValueError(f"--threads is {threads}: at most {most} here (cores, or NUMBA_NUM_THREADS)")
    return threads or min(2, most)


def _check_place(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(out))


def _measured(name: str, plan: Plan, threads: int) -> Section:
    """One section, with what is being timed on a line of the terminal, or a line for the section elsewhere."""
    if not ERR.is_terminal:
        note(f"measuring: {name}")
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    # Drawn between timings only: a thread that draws would take a core from what is timed.
    with Progress(
        *columns, console=ERR, disable=not ERR.is_terminal, transient=True, auto_refresh=False
    ) as progress:
        task = progress.add_task(name)

        def told(step: str) -> None:
            progress.update(task, description=f"{name}: {step}", refresh=True)

        setting = Setting(threads, told)
        return SECTIONS[name](plan, setting)


def _print(machine: Machine, sections: dict[str, Section], as_json: bool) -> None:
    if as_json:
        print_json(described(machine, sections))
        return
    for section in sections.values():
        table = Table(
            title=section.title, title_justify="left", caption=section.method, caption_justify="left"
        )
        for at, column in enumerate(section.grid.columns):
            table.add_column(column, justify="right" if at else "left", overflow="fold")
        for row in section.grid.rows:
            table.add_row(*row)
        OUT.print(table)
        for remark in section.remarks:
            tell(remark)
