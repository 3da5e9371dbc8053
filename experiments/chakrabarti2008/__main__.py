"""The subcommand ``reproduce chakrabarti2008``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def chakrabarti2008(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="'synthetic', or a folder of LETOR text: S1 … S5 for five folds, or train…, vali… and test… files.",
        ),
    ] = "synthetic",
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", help="The lowest grade that counts as good; 1 without it, 2 on synthetic data."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two values of C: to see that it runs.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder to write; chakrabarti2008-NAME without it."),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option("--queries", min=5, help="Queries of synthetic data, for all parts; 400 without it."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws synthetic data and lists, shuffles rows.")
    ] = 0,
) -> None:
    r"""Train linear rankers by every rule of the paper, and McRank, test them, and write report.md into DIR.

    Needs clarabel: pip install 'lambdaboost\[linear]'. Parsed copies of the texts are kept beside them as
    *.lambdaboost.npz.
    """
    try:
        import clarabel  # type: ignore[import-untyped]  # noqa: F401
    except ModuleNotFoundError:
        raise ValueError("linear rankers need clarabel: pip install 'lambdaboost[linear]'") from None

    from lambdaboost.reproduce.chakrabarti2008.experiment import Request, reproduce_chakrabarti2008

    synthetic = data == "synthetic"
    if not synthetic and not Path(data).is_dir():
        raise ValueError(f"DATA is {data!r}: give a folder of LETOR text, or the word synthetic")
    if not synthetic and queries is not None:
        raise ValueError(f"--queries {queries} is for synthetic data: {data} has its own queries")
    name = data if synthetic else Path(data).resolve().name
    reproduce_chakrabarti2008(
        Request(
            folder=None if synthetic else Path(data),
            threshold=threshold if threshold is not None else 2.0 if synthetic else 1.0,
            queries=queries or 400,
            quick=quick,
            seed=seed,
            out=out or Path(f"chakrabarti2008-{name}"),
        )
    )
