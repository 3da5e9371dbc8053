"""The commands, their options and their help; what they do stands in a file each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lambdaboost import __version__
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
    epilog="Begin with: lambdaboost demo. Every command shows an example with --help. Files are CSV or Parquet where "
    "their names end so (.csv, .csv.gz, .csv.xz, .csv.bz2, .csv.zst, .parquet), and LETOR text otherwise: lines "
    "'grade qid:Q 1:v 2:v …', plain or as gzip, xz or bzip2; LightGBM's form without qid needs its .query file "
    "beside. Exit codes: 0 done, 1 input that cannot be used, 2 invalid arguments, 70 a defect of lambdaboost, 130 "
    "stopped.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


PAGE = Path("lambdaboost-report.html")  # which the demo and report write here


class EngineName(StrEnum):
    """The engines."""

    lightgbm = "lightgbm"
    xgboost = "xgboost"


class LeavesName(StrEnum):
    """The kinds of leaves, as `lambdaboost.lightgbm.train` takes them."""

    engine = "engine"
    gradient = "gradient"
    newton = "newton"


EngineOption = Annotated[EngineName, typer.Option("--engine", help="Which stock engine grows the trees.")]
MeasureOption = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        autocompletion=complete_measure,
        help="A measure such as ndcg@10, map, mrr@10 or 'NDCG(k=3, empty=1)'; may be repeated. NDCG at 10, 5, 3 and 1 "
        "without it, and CNDCG of each further label source.",
    ),
]
QueryOption = Annotated[
    str | None,
    typer.Option(
        "--query", metavar="COLUMN", help="Column of a table with the query of each row; qid without it."
    ),
]
LabelOption = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="Column of a table with the grades; label without it."),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMNS",
        help="Columns to leave out, by name, in LETOR text by number from 1, and from one to another: title,134-136.",
    ),
]
PlainDropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMNS",
        help="Columns to leave out, as in train, for a model that has no MODEL.json beside.",
    ),
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="NAME[=COLUMN][:rate]",
        help="A column, in LETOR text by number from 1, becomes a label source and leaves the features; may be "
        "repeated. ':rate' turns click counts into log1p(count) / largest log1p(count) of the query, in 0 to 1.",
    ),
]
SeedOption = Annotated[
    int,
    typer.Option(
        "--seed", min=0, help="Orders documents of equal score, and the rows of a query in training."
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
        bool, typer.Option("--debug", help="Print the traceback of a failure; may stand anywhere.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    epilog="Example: lambdaboost demo --engine xgboost --queries 1500",
    short_help="Train against the engine's own objective on made-up search data; print the table.",
    rich_help_panel=TRAIN,
)
def demo(
    queries: Annotated[int, typer.Option(min=12, help="Queries to make, for all three parts.")] = 2400,
    rounds: Annotated[int, typer.Option(min=1, help="Boosting rounds of every system.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Makes the data and seeds the engine.")] = 0,
    engine: EngineOption = EngineName.lightgbm,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of the table.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="PAGE",
            help="HTML file to write; lambdaboost-report.html here without it, none with --json.",
        ),
    ] = None,
) -> None:
    """Make a web search log, train four systems on it, and compare them on held-out queries.

    The systems are the engine's own ranking objective, LambdaRank with the engine's Newton steps, LambdaRank with
    normalised gradient steps, and graded(), in which clicks break ties between grades. All get equal rounds, equal
    trees and the same grid of learning rates; NDCG@3 on the validation part chooses a rate for each.
    """
    from lambdaboost.cli.demo import run_demo

    page = PAGE if report is None and not as_json else report
    run_demo(engine.value, queries, rounds, seed, as_json, page)


@app.command(
    epilog="Example: lambdaboost train train.txt --valid vali.txt --out model.txt\n\n"
    "Example: lambdaboost train train.csv --query query_id --label grade --drop title,url --out model.txt",
    short_help="Train a model on files and measure it.",
    rich_help_panel=TRAIN,
)
def train(
    train_file: Annotated[Path, typer.Argument(metavar="TRAIN", help="File to train on.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="MODEL", help="Model file to write, with MODEL.json beside."),
    ],
    valid: Annotated[
        Path | None, typer.Option("--valid", help="File to measure on after every round.")
    ] = None,
    test: Annotated[Path | None, typer.Option("--test", help="File to measure on at the end.")] = None,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            autocompletion=complete_objective,
            help="An objective as Python prints it, such as 'LambdaRank(NDCG(k=3))', graded or iteration_dependent.",
        ),
    ] = "LambdaRank()",
    leaves: Annotated[
        LeavesName,
        typer.Option(
            "--leaves",
            help="Leaves by the engine's Newton steps, by gradient steps, or by Newton steps on least-squares splits.",
        ),
    ] = LeavesName.engine,
    engine: EngineOption = EngineName.lightgbm,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Boosting rounds.")] = 100,
    early_stopping: Annotated[
        int | None,
        typer.Option(
            "--early-stopping",
            metavar="N",
            min=1,
            help="Stop once the first --measure on --valid has not risen for N rounds; keep the best round.",
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
    drop: DropOption = None,
    features: Annotated[
        int | None,
        typer.Option(
            "--features", min=1, help="Columns of LETOR text, where TRAIN does not name the last ones."
        ),
    ] = None,
    seed: SeedOption = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print MODEL.json, measures included, in place of the table.")
    ] = False,
) -> None:
    """Train a model, print its measures, and write it as a plain model file of the engine.

    Files are LETOR text, CSV or Parquet. Beside MODEL stands MODEL.json, which says how it was trained and which
    columns it takes: predict, evaluate and report read it. Parsed copies of LETOR text are kept beside it as
    *.lambdaboost.npz.
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
            columns=Columns.parse(source or (), drop or (), query, label, features),
            seed=seed,
        ),
        as_json,
    )


@app.command(
    epilog="Example: lambdaboost predict model.txt test.txt --out scores.txt",
    short_help="Score the documents of a file with a model.",
    rich_help_panel=TRAIN,
)
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model of train, or a plain one of LightGBM or XGBoost.")
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to score; needs no labels.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="SCORES", help="File to write; standard output without it."),
    ] = None,
    query: QueryOption = None,
    label: LabelOption = None,
    drop: PlainDropOption = None,
) -> None:
    """Print the score of each document, one a line, in the order of the file; higher ranks first.

    A plain model of LightGBM or XGBoost takes the columns of a table by name if it knows names, and otherwise all
    columns in their order but those of --query, --label and --drop.
    """
    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.predict import run_predict

    run_predict(model, file, out, Columns.parse((), drop or (), query, label))


@app.command(
    epilog="Example: lambdaboost evaluate test.txt --model model.txt --measure MAP\n\n"
    "Example: lambdaboost evaluate --run bm25.run --qrels qrels.txt",
    short_help="Measure scores, a model, or a TREC run.",
    rich_help_panel=MEASURE,
)
def evaluate(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="File with the grades; none with --qrels."),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Scores, one a line in the order of FILE, as predict writes them."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", help="Model of train, or a plain one of LightGBM or XGBoost.")
    ] = None,
    trec_run: Annotated[
        Path | None,
        typer.Option(
            "--run", help="TREC run, lines 'query Q0 document rank score tag', measured by --qrels."
        ),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="TREC judgments, lines 'query 0 document grade'.")
    ] = None,
    measure: MeasureOption = None,
    query: QueryOption = None,
    label: LabelOption = None,
    source: SourceOption = None,
    drop: PlainDropOption = None,
    seed: SeedOption = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of the table.")] = False,
) -> None:
    """Print ranking measures of scores or of a model's on the documents of a file, or of a TREC run.

    A run is measured as trec_eval -c does it: over all judged queries, and documents of equal score by their id.
    """
    measures = tuple(measure or ())
    if trec_run is not None or qrels is not None:
        from lambdaboost.cli.evaluate_run import run_evaluate_run

        others: dict[str, object] = {"FILE": file, "--scores": scores, "--model": model, "--source": source}
        others |= {"--drop": drop, "--query": query, "--label": label}
        run_evaluate_run(
            trec_run, qrels, measures, [name for name, given in others.items() if given], as_json
        )
        return

    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.evaluate import run_evaluate

    columns = Columns.parse(source or (), drop or (), query, label)
    run_evaluate(file, scores, model, measures, columns, seed, as_json)


@app.command(
    epilog="Example: lambdaboost report test.txt --model plain=a.txt --model graded=b.txt --out report.html",
    short_help="Compare models or scores on a file, on one HTML page with pictures.",
    rich_help_panel=MEASURE,
)
def report(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File with the grades.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="[NAME=]MODEL",
            help="Model of train, or a plain one of LightGBM or XGBoost, and what the page calls it; may be repeated.",
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            "--scores",
            metavar="[NAME=]SCORES",
            help="Scores, one a line in the order of FILE, and what the page calls them; may be repeated.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            metavar="NAME",
            help="What the others are compared with; the first model without it.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            autocompletion=complete_measure,
            help="A measure such as ndcg@10 or map; may be repeated. The first is shown query by query. NDCG at "
            "10, 5, 3 and 1 without it, and CNDCG of each further label source.",
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="NAME[=COLUMN][:rate]",
            help="A column to measure by as a label source, as in train; may be repeated. Those that the models were "
            "trained with, without it.",
        ),
    ] = None,
    query: QueryOption = None,
    label: LabelOption = None,
    drop: PlainDropOption = None,
    segment: Annotated[
        list[str] | None,
        typer.Option(
            "--segment",
            metavar="COLUMN",
            help="A column by whose values queries are grouped and measured apart; may be repeated.",
        ),
    ] = None,
    seed: SeedOption = 0,
    out: Annotated[Path, typer.Option("--out", metavar="PAGE", help="HTML file to write.")] = PAGE,
) -> None:
    """Write a page on models or scores: tables with significance, pictures, the worst queries, what was run.

    It is one file, without scripts, and reads on a phone, in the dark and on paper. Models bring their feature
    importance and their learning curves, and the 2011 paper's diagnostics are replayed from their trees. Pictures need
    matplotlib, the extra "plots".
    """
    from lambdaboost.cli.columns import Columns
    from lambdaboost.cli.report import run_report

    run_report(
        file,
        tuple(model or ()),
        tuple(scores or ()),
        baseline,
        tuple(measure or ()),
        Columns.parse(source or (), drop or (), query, label),
        tuple(segment or ()),
        seed,
        out,
    )


@app.command(
    epilog="Example: lambdaboost fetch mslr-web10k\n\nExample: lambdaboost fetch mq2008 --from ~/Downloads",
    short_help="Get a public data set, checked, into the cache; list them all.",
    rich_help_panel=DATA,
)
def fetch(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", autocompletion=complete_dataset, help="Data set; lists all without it."
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="Where you have the owner's archive, or its texts."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Accept the owner's terms without being asked.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON in place of text.")] = False,
) -> None:
    r"""Get a public ranking data set from its owner or from a folder of yours, and say where its texts are.

    Terms and size are shown before. A download that was cut goes on where it was. The archive is checked against its
    SHA-256 where one was published, and every text against what was recorded when it first came. All is kept in your
    system's cache folder, or where the variable LAMBDABOOST_CACHE says. Needs pooch: pip install
    'lambdaboost\[fetch]'.
    """
    from lambdaboost.cli.fetch import run_fetch

    run_fetch(name, folder, yes, as_json)


for _info in app.registered_commands:
    assert _info.callback is not None
    _info.help = prose(_info.callback.__doc__)
    _info.callback = with_home(_info.callback)
