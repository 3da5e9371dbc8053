"""``lambdaboost reproduce yue2007``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def yue2007(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="'synthetic', or a folder of LETOR text: S1 … S5, of which the first fold is used, or train…, vali… "
            "and test… files.",
        ),
    ] = "synthetic",
    quick: Annotated[bool, typer.Option("--quick", help="Few runs and iterations.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder to write; yue2007-NAME without it.")
    ] = None,
    queries: Annotated[int, typer.Option("--queries", min=20, help="Queries of synthetic data.")] = 600,
    documents: Annotated[
        int, typer.Option("--documents", min=2, help="Mean documents of a query of synthetic data.")
    ] = 30,
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, help="Shuffles rows, draws synthetic data, starts and perturbations."),
    ] = 0,
) -> None:
    """Descend by finite differences, SPSA and LambdaRank on linear rankers, and write report.md into DIR.

    Some two minutes on synthetic data. Parsed copies of texts are kept beside them as *.lambdaboost.npz.
    """
    from lambdaboost.reproduce.experiment import writable
    from lambdaboost.reproduce.yue2007.parts import folder_parts, synthetic_parts
    from lambdaboost.reproduce.yue2007.report import QUICK, Effort, reproduce_yue2007

    is_synthetic = data == "synthetic"
    if not is_synthetic and not Path(data).is_dir():
        raise ValueError(f"DATA is {data!r}: give a folder of LETOR text, or the word synthetic")
    out = out or Path(f"yue2007-{data if is_synthetic else Path(data).resolve().name}")
    writable(out)
    parts = synthetic_parts(queries, documents, seed) if is_synthetic else folder_parts(Path(data), seed)
    reproduce_yue2007(parts, QUICK if quick else Effort(), seed, out)
