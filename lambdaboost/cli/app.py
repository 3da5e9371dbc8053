"""The command line: its commands, each in the module of its name."""

from __future__ import annotations

from typing import Annotated

import typer
from typer import Option

from lambdaboost import __version__
from lambdaboost.cli.demo import demo
from lambdaboost.cli.evaluate import evaluate
from lambdaboost.cli.predict import predict
from lambdaboost.cli.report import report
from lambdaboost.cli.train import train
from lambdaboost.cli.tune import tune

app = typer.Typer(
    name="lambdaboost",
    help="Ranking objectives for stock LightGBM and XGBoost: train, score and measure from the command line.",
    epilog="Begin with: lambdaboost demo. Every command shows an example with --help. Files are CSV or Parquet by "
    "their suffix (.csv, .csv.gz, .csv.xz, .csv.bz2, .parquet), otherwise LETOR text: lines "
    "'grade qid:Q 1:v 2:v …', plain or compressed by gzip, xz or bzip2. Exit codes: 0 success, 1 invalid input, 2 "
    "invalid arguments, 70 a bug in lambdaboost, 130 stopped.",
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _command in (demo, train, tune, predict):
    app.command(rich_help_panel="Train and predict")(_command)
for _measuring in (evaluate, report):
    app.command(rich_help_panel="Measure and compare")(_measuring)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lambdaboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, Option("--debug", help="Print the traceback of an error.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
