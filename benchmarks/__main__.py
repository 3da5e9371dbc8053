"""The command ``bench``: its options and their help."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class SectionName(StrEnum):
    """The parts of the benchmark."""

    speed = "speed"
    objectives = "objectives"
    peers = "peers"
    scaling = "scaling"
    start = "start"
    memory = "memory"


def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Tiny sizes: to see that it runs, not to quote.")
    ] = False,
    only: Annotated[
        list[SectionName] | None, typer.Option("--only", help="One part in place of all; may be repeated.")
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="Threads of everything that is measured; 2 without it."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for bench.md, bench.json and scaling.png.")
    ] = Path("lambdaboost-bench"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of the tables.")] = False,
) -> None:
    """Measure this package on your own machine, beside the engines' own objectives in the same run.

    speed: λ, μ and whole trainings against the engines' own objectives.
    objectives: each objective beside LambdaRank().
    peers: whole trainings, CatBoost and a NumPy objective included.
    scaling: one list of up to 512,000 documents.
    start: importing and compiling.
    memory: what a gradient needs beyond its inputs.

    Leave the machine alone meanwhile: all parts take the better part of an hour.
    """
    from lambdaboost.bench.run import Request, run_bench

    run_bench(Request(quick, tuple(name.value for name in only or ()), threads, out, as_json))
