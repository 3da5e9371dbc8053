"""The commands with their options and help; each is implemented by `run` of the module of its name."""

from __future__ import annotations

import inspect
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from lambdaboost import __version__
from lambdaboost._installed import ENGINES, first_installed
from lambdaboost.cli.command import EVERY, implemented
from lambdaboost.cli.files import MODEL, PLAIN, TABLE, Named, Writes

app = typer.Typer(
    name="lambdaboost",
    help="Ranking objectives for stock LightGBM and XGBoost: train, score and measure from the command line.",
    epilog="Begin with: lambdaboost demo. Every command shows an example with --help. Files are CSV or Parquet by "
    "their suffix (.csv, .csv.gz, .csv.xz, .csv.bz2, .parquet), otherwise LETOR text: lines "
    "'grade qid:Q 1:v 2:v …', plain or compressed by gzip, xz or bzip2; LightGBM's variant without qid needs its "
    ".query file next to it. Exit codes: 0 success, 1 invalid input, 2 invalid arguments, 70 a bug in lambdaboost, 130 "
    "stopped.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

TRAIN, MEASURE = "Train and predict", "Measure and compare"
PAGE = Path("lambdaboost-report.html")  # written by demo and report in the current folder
Engine = StrEnum("Engine", list(ENGINES))  # type: ignore[misc]
ENGINE = Engine(first_installed())
Split = StrEnum("Split", ["folds", "given"])

# Options of several commands.
TrainFile = Annotated[Path, Argument(metavar="TRAIN", help="File to train on."), TABLE]
ModelFile = Argument(metavar="MODEL", help="Model of train, or a plain one of LightGBM or XGBoost.")
PageOption = Annotated[Path, Option(metavar="PAGE", help="HTML file to write."), Writes()]
EngineOption = Annotated[Engine, Option(help="The engine; the default is the first that is installed.")]
Param = Annotated[
    list[str] | None,
    Option(metavar="KEY=VALUE", help="Parameter of the engine, as num_leaves=63; may be repeated."),
]
Measures = Annotated[
    list[str] | None,
    Option(
        help="A measure such as ndcg@10, map, mrr@10 or 'NDCG(k=3, empty=1)'; may be repeated. Default: NDCG at 10, 5, "
        "3 and 1, and CNDCG of each further label source."
    ),
]
Seed = Annotated[
    int, Option(min=0, help="Seed for the order of tied documents, and of the rows of a query in training.")
]
Json = Annotated[bool, Option("--json", help="Print JSON in place of tables.")]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"lambdaboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool, Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, Option("--debug", help="Print the traceback of an error; allowed anywhere.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    epilog="Example: lambdaboost demo --engine xgboost --queries 1500",
    short_help="Compare lambdaboost with the engine's own objective on synthetic search data.",
    rich_help_panel=TRAIN,
)
def demo(
    queries: Annotated[int, Option(min=12, help="Number of queries, for all three parts.")] = 2400,
    rounds: Annotated[int, Option(min=1, help="Boosting rounds per system.")] = 100,
    seed: Annotated[int, Option(min=0, help="Seed of the data and the engine.")] = 0,
    engine: EngineOption = ENGINE,
    report: PageOption = PAGE,
) -> None:
    """Train four systems on a synthetic web search log and compare them on held-out queries.

    The systems are the engine's own ranking objective, Constrained, which keeps the NDCG of the grades and raises that
    of the clicks, and LambdaRank with normalised gradient steps and with the engine's Newton steps. All have the same
    number of rounds, size of trees and grid of learning rates; NDCG@3 on the validation part selects the rate of each.
    """


@app.command(
    epilog="Example: lambdaboost train train.txt --valid vali.txt --out model.txt\n\n"
    "Example: lambdaboost train train.csv --query query_id --label grade --drop title,url --out model.txt",
    short_help="Train a model on files and evaluate it.",
    rich_help_panel=TRAIN,
)
def train(
    train: TrainFile,
    out: Annotated[
        Path,
        Option(metavar="MODEL", help="Model file to write, with MODEL.json next to it."),
        Writes((".json",)),
    ],
    valid: Annotated[Path | None, Option(help="Validation file, evaluated after every round."), TABLE] = None,
    test: Annotated[Path | None, Option(help="Test file, evaluated at the end."), TABLE] = None,
    objective: Annotated[
        str,
        Option(
            help="An objective, such as 'LambdaRank(NDCG(k=3))', graded or iteration_dependent; or the engine's own: "
            "lambdarank, rank_xendcg; rank:ndcg, rank:pairwise, rank:map."
        ),
    ] = "LambdaRank()",
    engine: EngineOption = ENGINE,
    rounds: Annotated[int, Option(min=1, help="Boosting rounds.")] = 100,
    early_stopping: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            help="Stop if the first --measure on --valid has not improved for N rounds; keep the best round.",
        ),
    ] = None,
    param: Param = None,
    measure: Measures = None,
    columns: Any = EVERY,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a model, print its measures, and write it as a plain model file of the engine.

    Files are LETOR text, CSV or Parquet. MODEL.json, written next to MODEL, records the training and the model's
    columns for predict, evaluate and report, and is what --json prints.
    """


@app.command(
    epilog="Example: lambdaboost tune train.txt --valid vali.txt --out model.txt\n\n"
    "Example: lambdaboost tune train.csv --query query_id --measure ndcg@3 --minutes 30 --study study --out model.txt",
    short_help="Find the objective and the parameters that suit your data.",
    rich_help_panel=TRAIN,
)
def tune(
    train: TrainFile,
    out: Annotated[
        Path,
        Option(
            metavar="MODEL",
            help="Model file to write, with MODEL.json, and MODEL.py, which trains it again.",
        ),
        Writes((".json", ".py")),
    ],
    valid: Annotated[
        Path | None, Option(help="Validation file; below 10,000 queries it joins TRAIN in the folds."), TABLE
    ] = None,
    split: Annotated[
        Split | None,
        Option(
            help="Cross-validate all queries, or measure on --valid as given, such as a later time. Default: folds "
            "without --valid or below 10,000 queries."
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        Option(help="What to optimise, such as ndcg@3; default ndcg@10. The first of several decides."),
    ] = None,
    keep: Annotated[
        float | None,
        Option(
            metavar="LOSS",
            help="Of two measures, raise the second as far as the first is proven to lose less, such as 0.005.",
        ),
    ] = None,
    objective: Annotated[
        list[str] | None,
        Option(
            help="A candidate, such as lambdarank or 'LambdaRank(NDCG(k=3))'; may be repeated. "
            "Default: the engines' own and lambdaboost's."
        ),
    ] = None,
    engine: Annotated[
        Engine | None,
        Option(
            help="The engine; default: that of MODEL's suffix, .txt or .ubj and .json, else all that are installed."
        ),
    ] = None,
    settings: Annotated[int | None, Option(min=1, help="Number of settings to try; default 17.")] = None,
    minutes: Annotated[float | None, Option(help="Time for the search, in place of --settings.")] = None,
    folds: Annotated[int, Option(min=2, help="Number of folds.")] = 5,
    rounds: Annotated[int, Option(min=1, help="Maximum number of boosting rounds.")] = 500,
    early_stopping: Annotated[
        int, Option(metavar="N", min=1, help="Stop a training after N rounds without improvement.")
    ] = 30,
    param: Param = None,
    study: Annotated[
        Path | None,
        Option(metavar="FILE", help="Keep the search; the same command resumes it."),
        Writes((".lock",), resumes=True),
    ] = None,
    workers: Annotated[
        int | None, Option(min=1, help="Processes of one thread each; only 1 repeats a search exactly.")
    ] = None,
    columns: Any = EVERY,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Search the trees, then objectives on the same trees, and say what each of them gave.

    Needs Optuna. Ctrl-C writes the best model so far; with --study the same command goes on later, with --overwrite to
    replace that model. Files and options of columns are those of train.
    """


@app.command(
    epilog="Example: lambdaboost predict model.txt test.txt --out scores.txt\n\n"
    "Example: lambdaboost predict model.txt test.csv --ids --document prop_id --out submission.csv",
    short_help="Score the documents of a file.",
    rich_help_panel=TRAIN,
)
def predict(
    model: Annotated[Path, ModelFile, MODEL],
    file: Annotated[Path, Argument(metavar="FILE", help="File to score; needs no labels."), TABLE],
    out: Annotated[
        Path | None,
        Option(
            metavar="SCORES",
            help="File to write; - or without it standard output.",
            callback=lambda path: None if path == Path("-") else path,
        ),
        Writes(),
    ] = None,
    ids: Annotated[
        bool, Option("--ids", help="Write CSV with the query, the name and the score of each document.")
    ] = False,
    columns: Any = ("query", "label", "document", "drop", "unseen"),
) -> None:
    """Print one score per line, in the order of the file; higher scores rank first.

    With --ids each line has the query and the document too, under the names of their columns: a submission. Documents
    without a name are numbered from 1.

    A plain model of LightGBM or XGBoost takes the columns of a table by name if it has feature names, or if the table
    has the engine's own (Column_0, … or f0, …), else in order, without those of --query, --label and --drop.
    """


@app.command(
    epilog="Example: lambdaboost evaluate test.txt --model model.txt --measure MAP\n\n"
    "Example: lambdaboost evaluate --run bm25.run --qrels qrels.txt",
    short_help="Evaluate scores, a model, or a TREC run.",
    rich_help_panel=MEASURE,
)
def evaluate(
    file: Annotated[
        Path | None, Argument(metavar="FILE", help="File with the grades; omit it with --qrels."), TABLE
    ] = None,
    scores: Annotated[
        Path | None, Option(help="Scores, one per line in the order of FILE, as predict writes them."), PLAIN
    ] = None,
    model: Annotated[
        Path | None, Option(help="Model of train, or a plain one of LightGBM or XGBoost."), MODEL
    ] = None,
    trec_run: Annotated[
        Path | None,
        Option("--run", help="TREC run, lines 'query Q0 document rank score tag'; needs --qrels."),
        PLAIN,
    ] = None,
    qrels: Annotated[
        Path | None, Option(help="TREC judgments, lines 'query 0 document grade'."), PLAIN
    ] = None,
    measure: Measures = None,
    columns: Any = EVERY,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Print ranking measures of scores or a model on a file, or of a TREC run.

    A run is evaluated as by trec_eval -c: over all judged queries, with ties ordered by document id.
    """


@app.command(
    epilog="Example: lambdaboost report test.txt --model plain=a.txt --model graded=b.txt --out report.html",
    short_help="Compare models or scores on a file, as an HTML page.",
    rich_help_panel=MEASURE,
)
def report(
    file: Annotated[Path, Argument(metavar="FILE", help="File with the grades."), TABLE],
    model: Annotated[
        list[Named] | None,
        Option(
            metavar="[NAME=]MODEL",
            parser=Named.parse,
            help="Model of train, or a plain one of LightGBM or XGBoost, and its name on the page; may be repeated.",
        ),
        MODEL,
    ] = None,
    scores: Annotated[
        list[Named] | None,
        Option(
            metavar="[NAME=]SCORES",
            parser=Named.parse,
            help="Scores, one per line in the order of FILE, and their name on the page; may be repeated.",
        ),
        PLAIN,
    ] = None,
    baseline: Annotated[
        str | None,
        Option(metavar="NAME", help="The system that the others are compared with; default the first model."),
    ] = None,
    measure: Measures = None,
    columns: Any = EVERY,
    propensities: Annotated[
        list[Named] | None,
        Option(
            metavar="[NAME=]FILE",
            parser=Named.parse,
            help="A curve of position bias that Propensities.save wrote, to be drawn; may be repeated.",
        ),
        PLAIN,
    ] = None,
    seed: Seed = 0,
    out: PageOption = PAGE,
) -> None:
    """Write an HTML page that compares models or scores, with significance tests and charts.

    The page is one file without scripts, for desktop, phone, dark mode and print. For models it also shows feature
    importance and learning curves. Pictures need matplotlib, the optional extra "plots". The first measure is also
    shown by query.
    """


@app.command(
    epilog="Example: lambdaboost warm-up\n\n"
    "In a Dockerfile, after ENV NUMBA_CACHE_DIR=/opt/kernels: RUN lambdaboost warm-up",
    short_help="Compile the kernels that most trainings call, for an image of a container.",
    rich_help_panel=TRAIN,
)
def warm_up() -> None:
    """Compile what most trainings call, so that the first gradient of every later process takes half a second.

    Compiled kernels are kept next to the package, or in the folder that the variable NUMBA_CACHE_DIR names. A platform
    wheel carries them already.
    """


for _info in app.registered_commands:
    assert _info.callback is not None
    # Each paragraph in one line, which a terminal wraps at its own width.
    _paragraphs = inspect.cleandoc(_info.callback.__doc__ or "").split("\n\n")
    _info.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in _paragraphs)
    _info.callback = implemented(_info.callback)
