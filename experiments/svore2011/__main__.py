"""The subcommand ``reproduce``."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lambdaboost.reproduce.burges2006.command import burges2006
from lambdaboost.reproduce.chakrabarti2008.command import chakrabarti2008
from lambdaboost.reproduce.yue2007.command import yue2007

app = typer.Typer(help="Repeat a paper's experiments on any data set.", rich_markup_mode="rich")


class EngineName(StrEnum):
    """The engines."""

    lightgbm = "lightgbm"
    xgboost = "xgboost"


@app.callback(invoke_without_command=True)
def _group(context: typer.Context) -> None:
    """Repeat a paper's experiments on any data set."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command(
    epilog="Example: lambdaboost reproduce burges2006 --out burges2006",
    short_help="Figures 1 and 2 of Burges, Ragno and Le (2006): the factored gradient, and nets.",
)(burges2006)
app.command(
    epilog="Example: lambdaboost reproduce yue2007 --out yue2007",
    short_help="Figures 1 and 2 and Table 1 of Yue and Burges (2007): SPSA, and LambdaRank's optimum.",
)(yue2007)
app.command(
    epilog="Example: lambdaboost reproduce chakrabarti2008 MQ2008 --out mq2008",
    short_help="Figures 4-10 of Chakrabarti, Khanna, Sawant and Bhattacharyya (2008): structured hinges.",
)(chakrabarti2008)


@app.command(
    epilog="Example: lambdaboost reproduce svore2011 MSLR-WEB10K/Fold1 --clicks url=135 --clicks query_url=134 "
    "--drop 136 --out mslr",
    short_help="Tables 1 and 2 and Figures 2-7 of Svore, Volkovs and Burges (2011).",
)
def svore2011(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="'synthetic', or a folder of LETOR text: S1 … S5 for five folds, or train…, vali… and test… files.",
        ),
    ],
    engine: Annotated[
        EngineName, typer.Option("--engine", help="Which stock engine grows the trees.")
    ] = EngineName.lightgbm,
    quick: Annotated[bool, typer.Option("--quick", help="A coarse grid and 100 rounds.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder to write; svore2011-NAME-ENGINE without it."),
    ] = None,
    clicks: Annotated[
        list[str] | None,
        typer.Option(
            "--clicks",
            metavar="NAME=COLUMN[:SCALE]",
            help="A column, counted from 1, as click labels; it leaves the features. May be repeated: each is a "
            "click setting of Table 1. SCALE: 'rate' for counts (log1p over the query's largest), which is the "
            "default, 'max' (over the query's largest), 'percent' (over 100), 'unit' (in 0 to 1 as it is).",
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop", metavar="COLUMNS", help="Columns to leave out, counted from 1, such as 135,136."
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=1, help="Boosting rounds; 300 without it, 100 with --quick.")
    ] = None,
    num_leaves: Annotated[
        int | None,
        typer.Option(
            "--num-leaves", min=2, help="Leaves of a tree; 30, or 10 under 20,000 training documents."
        ),
    ] = None,
    queries: Annotated[int, typer.Option("--queries", min=5, help="Queries of synthetic data.")] = 4000,
    documents: Annotated[
        int, typer.Option("--documents", min=2, help="Mean documents of a query of synthetic data.")
    ] = 50,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Runs at a time, a thread each; all cores without it."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Shuffles rows, draws synthetic data, seeds the engine.")
    ] = 0,
) -> None:
    """Sweep, select on validation data and test the systems of the paper, and write report.md into DIR.

    Finished runs are kept in DIR/runs: after Ctrl-C the same command goes on from there. Without --clicks, data from
    files give Table 2 only. Parsed copies of the texts are kept beside them as *.lambdaboost.npz.
    """
    from lambdaboost.reproduce.clicks import Clicks
    from lambdaboost.reproduce.experiment import Request, reproduce_svore2011, writable
    from lambdaboost.reproduce.folders import read_folder
    from lambdaboost.reproduce.synthetic import synthetic
    from lambdaboost.reproduce.systems import QUICK, Grid

    settings = [Clicks.parse(text) for text in clicks or ()]
    dropped = _columns(drop or ())
    is_synthetic = data == "synthetic"
    if is_synthetic and (settings or dropped):
        raise ValueError("--clicks and --drop name columns of files: synthetic data brings its own clicks")
    name = data if is_synthetic else Path(data).resolve().name
    out = out or Path(f"svore2011-{name}-{engine.value}")
    if not is_synthetic and not Path(data).is_dir():
        raise ValueError(f"DATA is {data!r}: give a folder of LETOR text, or the word synthetic")
    writable(out)
    loaded = (
        synthetic(queries, documents, seed)
        if is_synthetic
        else read_folder(Path(data), settings, dropped, seed)
    )
    request = Request(
        engine=engine.value,
        grid=QUICK if quick else Grid(),
        rounds=rounds or (100 if quick else 300),
        every=10,
        num_leaves=num_leaves,
        workers=workers or os.cpu_count() or 1,
        seed=seed,
        out=out,
    )
    reproduce_svore2011(loaded, request)


def _columns(texts: list[str] | tuple[str, ...]) -> list[int]:
    words = [word.strip() for text in texts for word in text.split(",")]
    for word in words:
        if not word.isdecimal():
            raise ValueError(
                f"--drop {word!r}: expected column numbers counted from 1, such as 135 or 135,136"
            )
    return sorted(set(map(int, words)))
