"""The commands, their options and their help; each command is implemented in its own module."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lambdaboost import __version__
from lambdaboost._installed import first_installed
from lambdaboost.cli.contents import (
    DATA,
    MEASURE,
    TRAIN,
    Contents,
    complete_dataset,
    complete_measure,
    complete_objective,
    prose,
    with_home,
)

app = typer.Typer(
    name="lambdaboost",
    cls=Contents,
    help="Ranking objectives for stock LightGBM and XGBoost: train, score and measure from the command line.",
    epilog="Begin with: lambdaboost demo. Every command shows an example with --help. Files are CSV or Parquet by "
    "their suffix (.csv, .csv.gz, .csv.xz, .csv.bz2, .csv.zst, .parquet), otherwise LETOR text: lines "
    "'grade qid:Q 1:v 2:v …', plain or compressed by gzip, xz or bzip2; LightGBM's variant without qid needs its "
    ".query file beside it. Exit codes: 0 success, 1 invalid input, 2 invalid arguments, 70 a bug in lambdaboost, 130 "
    "stopped.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


PAGE = Path("lambdaboost-report.html")  # written by demo and report in the current folder


class EngineName(StrEnum):
    """The engines."""

    lightgbm = "lightgbm"
    xgboost = "xgboost"


class LeavesName(StrEnum):
    """The kinds of leaves of `lambdaboost.lightgbm.train`."""

    engine = "engine"
    gradient = "gradient"
    newton = "newton"


class ChooseName(StrEnum):
    """The finalist that becomes the model of tune."""

    best = "best"
    simplest = "simplest"
    balanced = "balanced"


EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine", help="The engine that grows the trees; xgboost is the default where only it is installed."
    ),
]
ENGINE = EngineName(first_installed())
MeasureOption = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        autocompletion=complete_measure,
        help="A measure such as ndcg@10, map, mrr@10 or 'NDCG(k=3, empty=1)'; may be repeated. Default: NDCG at 10, 5, "
        "3 and 1, and CNDCG of each further label source.",
    ),
]
QueryOption = Annotated[
    str | None,
    typer.Option(
        "--query", metavar="COLUMN", help="Column of a table with the query of each row; default qid."
    ),
]
LabelOption = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="Column of a table with the grades; default label."),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMNS",
        help="Columns to leave out, by name or, in LETOR text, by number from 1; ranges are allowed: title,134-136.",
    ),
]
PlainDropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMNS",
        help="Columns to leave out, as in train, for a model without MODEL.json.",
    ),
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME[=COLUMN][:rate]",
        help="Use a column, in LETOR text by number from 1, as a label source and not as a feature; may be "
        "repeated. ':rate' converts click counts to log1p(count) / largest log1p(count) of the query, in 0 to 1.",
    ),
]
PositionOption = Annotated[
    str | None,
    typer.Option(
        "--position",
        metavar="COLUMN",
        help="Column with the rank from 1 at which each row was shown, or any bias factor as text, for objectives and "
        "measures that correct for it; not a feature. Empty, in LETOR text 0, where a row was not shown.",
    ),
]
FeaturesOption = Annotated[
    int | None,
    typer.Option(
        "--features",
        min=1,
        help="Number of columns of LETOR text, if the last ones do not occur in TRAIN.",
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed", min=0, help="Seed for the order of tied documents, and of the rows of a query in training."
    ),
]


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"lambdaboost {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Print the traceback of an error; allowed anywhere.")
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
    queries: Annotated[int, typer.Option(min=12, help="Number of queries, for all three parts.")] = 2400,
    rounds: Annotated[int, typer.Option(min=1, help="Boosting rounds per system.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the data and the engine.")] = 0,
    engine: EngineOption = ENGINE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of the table.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="PAGE",
            help="HTML file to write; default lambdaboost-report.html, or none with --json.",
        ),
    ] = None,
) -> None:
    """Train four systems on a synthetic web search log and compare them on held-out queries.

    The systems are the engine's own ranking objective, Constrained, which keeps the NDCG of the grades and raises that
    of the clicks, and LambdaRank with normalised gradient steps and with the engine's Newton steps. All have the same
    number of rounds, size of trees and grid of learning rates; NDCG@3 on the validation part selects the rate of each.
    """
    from lambdaboost.cli.demo import run_demo

    page = PAGE if report is None and not as_json else report
    run_demo(engine.value, queries, rounds, seed, as_json, page)


@app.command(
    epilog="Example: lambdaboost train train.txt --valid vali.txt --out model.txt\n\n"
    "Example: lambdaboost train train.csv --query query_id --label grade --drop title,url --out model.txt",
    short_help="Train a model on files and evaluate it.",
    rich_help_panel=TRAIN,
)
def train(
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="File to train on.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="MODEL", help="Model file to write, and MODEL.json beside it."),
    ],
    valid: Annotated[
        Path | None, typer.Option("--valid", help="Validation file, evaluated after every round.")
    ] = None,
    test: Annotated[Path | None, typer.Option("--test", help="Test file, evaluated at the end.")] = None,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            autocompletion=complete_objective,
            help="An objective, such as 'LambdaRank(NDCG(k=3))', graded or iteration_dependent; or the engine's own: "
            "lambdarank, rank_xendcg; rank:ndcg, rank:pairwise, rank:map.",
        ),
    ] = "LambdaRank()",
    leaves: Annotated[
        LeavesName,
        typer.Option(
            "--leaves",
            help="Leaf values by the engine's Newton steps, gradient steps, or Newton steps on least-squares splits.",
        ),
    ] = LeavesName.engine,
    engine: EngineOption = ENGINE,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Boosting rounds.")] = 100,
    early_stopping: Annotated[
        int | None,
        typer.Option(
            "--early-stopping",
            metavar="N",
            min=1,
            help="Stop if the first --measure on --valid has not improved for N rounds; keep the best round.",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="KEY=VALUE",
            help="A parameter of the engine, such as num_leaves=63; may be repeated.",
        ),
    ] = None,
    measure: MeasureOption = None,
    query: QueryOption = None,
    label: LabelOption = None,
    source: SourceOption = None,
    position: PositionOption = None,
    drop: DropOption = None,
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print MODEL.json, measures included, in place of the table.")
    ] = False,
) -> None:
    """Train a model, print its measures, and write it as a plain model file of the engine.

    Files are LETOR text, CSV or Parquet. MODEL.json, written beside MODEL, records the training and the model's
    columns for predict, evaluate and report. Parsed copies of LETOR text are kept beside it as *.lambdaboost.npz.
    """
    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.train import Request, run_train

    run_train(
        Request(
            train=train_file,
            valid=valid,
            test=test,
            out=out,
            objective=objective,
            leaves=leaves.value,
            engine=engine.value,
            rounds=rounds,
            early_stopping=early_stopping,
            params=tuple(param or ()),
            measures=tuple(measure or ()),
            columns=Columns.parse(source or (), drop or (), query, label, features, position),
            seed=seed,
        ),
        as_json,
    )


@app.command(
    epilog="Example: lambdaboost tune train.txt --valid vali.txt --out model.txt --report tuning.html\n\n"
    "Example: lambdaboost tune train.csv --query query_id --measure ndcg@3 --minutes 30 --study study --out model.txt",
    short_help="Find the objective and the parameters that suit your data.",
    rich_help_panel=TRAIN,
)
def tune(
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="File to train on.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="MODEL",
            help="Model file to write; beside it MODEL.json, and MODEL.py, which trains it again.",
        ),
    ],
    valid: Annotated[
        Path | None,
        typer.Option("--valid", help="Validation file; without it, trials are cross-validated on TRAIN."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            autocompletion=complete_measure,
            help="What to optimise, such as ndcg@3; default ndcg@10. Several give a trade-off.",
        ),
    ] = None,
    objective: Annotated[
        list[str] | None,
        typer.Option(
            "--objective",
            autocompletion=complete_objective,
            help="A candidate, such as lambdarank or 'LambdaRank(NDCG(k=3))'; may be repeated, from simple to complex. "
            "Default: the engines' own and lambdaboost's.",
        ),
    ] = None,
    engine: Annotated[
        EngineName | None,
        typer.Option("--engine", help="The engine; default: all installed engines."),
    ] = None,
    trainings: Annotated[
        int | None,
        typer.Option(
            "--trainings", min=1, help="Number of trainings; default 40, or no limit with --minutes."
        ),
    ] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="Time for the search.")] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds without --valid.")] = 5,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Maximum number of boosting rounds.")] = 500,
    early_stopping: Annotated[
        int,
        typer.Option(
            "--early-stopping", metavar="N", min=1, help="Stop a training after N rounds without improvement."
        ),
    ] = 30,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="KEY=VALUE",
            help="A parameter of the engine that is fixed, such as num_leaves=63; may be repeated.",
        ),
    ] = None,
    choose: Annotated[
        ChooseName | None,
        typer.Option(
            "--choose",
            help="The finalist that becomes the model: the best mean, the simplest within one standard error of it, or "
            "of several measures the highest second one without a significant loss of the first.",
        ),
    ] = None,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit/--no-refit",
            help="Train the choice again on TRAIN and VALID, or keep the measured model.",
        ),
    ] = True,
    nested: Annotated[
        int,
        typer.Option(
            "--nested", metavar="K", min=0, help="Estimate the whole search on K held-out folds too."
        ),
    ] = 0,
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="FOLDER", help="Keep the search; the same command resumes it."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, help="Processes of one thread each; only 1 repeats a search exactly."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="PAGE", help="HTML file to write.")
    ] = None,
    query: QueryOption = None,
    label: LabelOption = None,
    source: SourceOption = None,
    position: PositionOption = None,
    drop: DropOption = None,
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print MODEL.json in place of the table.")] = False,
) -> None:
    """Search objectives, their parameters and those of the trees, and say how sure the choice is.

    Needs Optuna, which the extra "tune" of lambdaboost installs. Ctrl-C writes the best model so far; with --study the
    same command goes on later. Files and options of columns are those of train.
    """
    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.tune import Request, run_tune

    run_tune(
        Request(
            train=train_file,
            valid=valid,
            out=out,
            report=report,
            measures=tuple(measure or ()),
            objectives=tuple(objective or ()),
            params=tuple(param or ()),
            columns=Columns.parse(source or (), drop or (), query, label, features, position),
            search={
                "engine": None if engine is None else engine.value,
                "trainings": 40 if trainings is None and minutes is None else trainings,
                "minutes": minutes,
                "folds": folds,
                "rounds": rounds,
                "patience": early_stopping,
                "choose": None if choose is None else choose.value,
                "refit": refit,
                "nested": nested,
                "study": study,
                "workers": workers,
                "seed": seed,
            },
        ),
        as_json,
    )


@app.command(
    epilog="Example: lambdaboost predict model.txt test.txt --out scores.txt",
    short_help="Score the documents of a file.",
    rich_help_panel=TRAIN,
)
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model of train, or a plain one of LightGBM or XGBoost.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to score; needs no labels.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="SCORES", help="File to write; default standard output."),
    ] = None,
    query: QueryOption = None,
    label: LabelOption = None,
    drop: PlainDropOption = None,
) -> None:
    """Print one score per line, in the order of the file; higher scores rank first.

    A plain model of LightGBM or XGBoost takes the columns of a table by name if it has feature names, or if the table
    has the engine's own (Column_0, … or f0, …), else in order, without those of --query, --label and --drop.
    """
    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.predict import run_predict

    run_predict(model, file, out, Columns.parse((), drop or (), query, label))


@app.command(
    epilog="Example: lambdaboost evaluate test.txt --model model.txt --measure MAP\n\n"
    "Example: lambdaboost evaluate --run bm25.run --qrels qrels.txt",
    short_help="Evaluate scores, a model, or a TREC run.",
    rich_help_panel=MEASURE,
)
def evaluate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="File with the grades; omit it with --qrels."),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Scores, one per line in the order of FILE, as predict writes them."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="Model of train, or a plain one of LightGBM or XGBoost.")
    ] = None,
    trec_run: Annotated[
        Path | None,
        typer.Option("--run", help="TREC run, lines 'query Q0 document rank score tag'; needs --qrels."),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="TREC judgments, lines 'query 0 document grade'.")
    ] = None,
    measure: MeasureOption = None,
    query: QueryOption = None,
    label: LabelOption = None,
    source: SourceOption = None,
    position: PositionOption = None,
    drop: PlainDropOption = None,
    seed: SeedOption = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of the table.")] = False,
) -> None:
    """Print ranking measures of scores or a model on a file, or of a TREC run.

    A run is evaluated as by trec_eval -c: over all judged queries, with ties ordered by document id.
    """
    measures = tuple(measure or ())
    if trec_run is not None or qrels is not None:
        from lambdaboost.cli.evaluate_run import run_evaluate_run

        others: dict[str, object] = {"FILE": file, "--scores": scores, "--model": model, "--source": source}
        others |= {"--position": position, "--drop": drop, "--query": query, "--label": label}
        run_evaluate_run(
            trec_run, qrels, measures, [name for name, given in others.items() if given], as_json
        )
        return

    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.evaluate import run_evaluate

    columns = Columns.parse(source or (), drop or (), query, label, position=position)
    run_evaluate(file, scores, model, measures, columns, seed, as_json)


@app.command(
    epilog="Example: lambdaboost report test.txt --model plain=a.txt --model graded=b.txt --out report.html",
    short_help="Compare models or scores on a file, as an HTML page.",
    rich_help_panel=MEASURE,
)
def report(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File with the grades.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="[NAME=]MODEL",
            help="Model of train, or a plain one of LightGBM or XGBoost, and its name on the page; may be repeated.",
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores",
            metavar="[NAME=]SCORES",
            help="Scores, one per line in the order of FILE, and their name on the page; may be repeated.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="NAME",
            help="The system that the others are compared with; default the first model.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            autocompletion=complete_measure,
            help="A measure such as ndcg@10 or map; may be repeated. The first is also shown by query. Default: NDCG "
            "at 10, 5, 3 and 1, and CNDCG of each further label source.",
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="NAME[=COLUMN][:rate]",
            help="A column to use as a label source, as in train; may be repeated. Default: the label sources of the "
            "models' training.",
        ),
    ] = None,
    query: QueryOption = None,
    label: LabelOption = None,
    position: PositionOption = None,
    drop: PlainDropOption = None,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            "--segment",
            metavar="COLUMN",
            help="A column by whose values queries are grouped; may be repeated.",
        ),
    ] = None,
    propensities: Annotated[
        list[str] | None,
        typer.Option(
            "--propensities",
            metavar="[NAME=]FILE",
            help="A curve of position bias that Propensities.save wrote, to be drawn; may be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    out: Annotated[Path, typer.Option("--out", metavar="PAGE", help="HTML file to write.")] = PAGE,
) -> None:
    """Write an HTML page that compares models or scores, with significance tests, pictures and the worst queries.

    The page is one file without scripts, for desktop, phone, dark mode and print. For models it also shows feature
    importance, learning curves, and the 2011 paper's diagnostics, replayed from their trees. Pictures need matplotlib,
    the optional extra "plots".
    """
    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.report import run_report

    run_report(
        file,
        tuple(model or ()),
        tuple(scores or ()),
        baseline,
        tuple(measure or ()),
        Columns.parse(source or (), drop or (), query, label, position=position),
        tuple(segment or ()),
        tuple(propensities or ()),
        seed,
        out,
    )


@app.command(
    epilog="Example: lambdaboost fetch mslr-web10k\n\nExample: lambdaboost fetch mq2008 --from ~/Downloads",
    short_help="Fetch and verify a public data set, or list all.",
    rich_help_panel=DATA,
)
def fetch(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", autocompletion=complete_dataset, help="Data set; without it, all are listed."
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="Folder with the owner's archive or its files."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Accept the owner's terms without being asked.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of text.")] = False,
) -> None:
    r"""Fetch a public ranking data set from its owner or from your folder, and print the folder of its files.

    Terms and size are shown first. An interrupted download resumes. The archive is verified against its published
    SHA-256, if there is one, and every file against the SHA-256 recorded at the first fetch. Data sets are kept in your
    system's cache folder, or in the folder named by the environment variable LAMBDABOOST_CACHE. Needs pooch: pip
    install 'lambdaboost\[fetch]'.
    """
    from lambdaboost.cli.fetch import run_fetch

    run_fetch(name, folder, yes, as_json)


for _info in app.registered_commands:
    assert _info.callback is not None
    _info.help = prose(_info.callback.__doc__)
    _info.callback = with_home(_info.callback)
