"""The subcommand ``reproduce burges2006``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class PartName(StrEnum):
    """The parts of the reproduction."""

    speed = "speed"
    accuracy = "accuracy"


def burges2006(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="'synthetic', the paper's cubic polynomial data, or a folder of LETOR text: S1 … S5 for five folds, "
            "or train…, vali… and test… files.",
        ),
    ] = "synthetic",
    only: Annotated[
        PartName | None,
        typer.Option("--only", help="Timing the gradient, or training nets, in place of both."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Tiny sizes: to see that it runs, not to quote.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder to write; burges2006-NAME without it.")
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(
            "--queries", min=10, help="Queries of synthetic data, for all three parts; 1000 without it."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=1, help="Epochs of a net; 20 without it.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", min=0, help="Draws synthetic data and weights, shuffles rows and queries."),
    ] = 0,
) -> None:
    """Time RankNet pair by pair and factored, train nets by RankNet and LambdaRank, and write report.md into DIR.

    Needs the extra torch of this package. Leave the machine alone while it times.
    """
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise ValueError("nets need PyTorch: pip install 'lambdaboost[torch]'") from None

    from lambdaboost.reproduce.burges2006.experiment import (
        EPOCHS,
        QUICK_EPOCHS,
        Request,
        reproduce_burges2006,
    )

    synthetic = data == "synthetic"
    if not synthetic and not Path(data).is_dir():
        raise ValueError(f"DATA is {data!r}: give a folder of LETOR text, or the word synthetic")
    if not synthetic and queries is not None:
        raise ValueError(f"--queries {queries} is for synthetic data: {data} has its own queries")
    name = data if synthetic else Path(data).resolve().name
    reproduce_burges2006(
        Request(
            folder=None if synthetic else Path(data),
            parts=tuple(PartName) if only is None else (only.value,),
            queries=queries or (30 if quick else 1000),
            epochs=epochs or (QUICK_EPOCHS if quick else EPOCHS),
            seed=seed,
            quick=quick,
            out=out or Path(f"burges2006-{name}"),
        )
    )
