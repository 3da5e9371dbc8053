"""``lambdaboost tune``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from lambdaboost._words import counted
from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR, InterruptedAfterWrite, note
from lambdaboost.cli.evaluation import check_labels
from lambdaboost.cli.outputs import check_outputs, check_suffix, engine_of_suffix
from lambdaboost.cli.train import describe_data, read_parts
from lambdaboost.evaluation import NDCG
from lambdaboost.objectives.parsing import read_objective
from lambdaboost.saving import sidecar_path
from lambdaboost.tuning import Stopped, Tuned
from lambdaboost.tuning import tune as search

Split = StrEnum("Split", ["folds", "given"])
OUT = "Model file to write, with MODEL.json, which describes it."
SPLIT = "Cross-validate all queries, or measure on --valid; default: folds without --valid or below 10,000 queries."
KEEP = "With two measures: the tolerated loss of the first, such as 0.005, while the second is raised."
OBJECTIVE = Option(
    metavar="OBJECTIVE",
    parser=opt.parsed_by(read_objective),
    help=f"A candidate, {opt.OBJECTIVE} May be repeated; default: the engines' own and lambdaboost's.",
)
ENGINE = "The engine; default: that of MODEL's suffix, .txt or .ubj and .json, else all that are installed."


def tune(
    train: Annotated[Path, opt.argument("TRAIN", "File to train on.")],
    out: Annotated[Path, Option(metavar="MODEL", help=OUT)],
    valid: Annotated[
        Path | None, opt.existing("Validation file; its queries join those of TRAIN in the folds.")
    ] = None,
    split: Annotated[Split | None, Option(help=SPLIT)] = None,
    measure: opt.Measures = None,
    keep: Annotated[float | None, Option(metavar="LOSS", help=KEEP)] = None,
    objective: Annotated[list[Any] | None, OBJECTIVE] = None,
    engine: Annotated[opt.Engine | None, Option(help=ENGINE)] = None,
    settings: Annotated[int | None, Option(min=1, help="Number of settings to try; default 17.")] = None,
    minutes: Annotated[float | None, Option(help="Time for the search, instead of --settings.")] = None,
    folds: Annotated[int, Option(min=2, help="Number of folds.")] = 5,
    rounds: Annotated[
        int,
        Option(min=1, help="Maximum number of rounds in a fold; the model has more, as it has more queries."),
    ] = 500,
    early_stopping: Annotated[
        int, Option(metavar="N", min=1, help="Stop after N rounds without improvement.")
    ] = 30,
    param: opt.Params = None,
    study: Annotated[
        Path | None, Option(help="File that keeps the search; the same command resumes it.")
    ] = None,
    workers: Annotated[int | None, Option(min=1, help="Number of processes; only 1 is reproducible.")] = None,
    query: opt.Query = "qid",
    label: opt.Label = "label",
    source: opt.Sources = None,
    position: opt.Position = None,
    weight: opt.Weight = None,
    document: opt.Document = None,
    categorical: opt.Categorical = None,
    drop: opt.Drop = None,
    unseen: opt.UnseenOption = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
    overwrite: opt.Overwrite = False,
) -> None:
    """Search tree parameters and an objective for your data.

    The trees are searched first, then objectives on the same trees; the verdict reports what each contributes. Needs
    Optuna. Ctrl-C writes the best model so far; with --study the same command resumes the search, with --overwrite to
    replace that model. Files and options of columns are those of train.

    Example: lambdaboost tune train.txt --valid vali.txt --out model.txt

    Example: lambdaboost tune train.csv --query query_id --measure ndcg@3 --minutes 30 --out model.txt
    """
    check_outputs(overwrite, [train, valid, study], out=[out, sidecar_path(out)])
    if study is not None:
        check_outputs(True, [train, valid], study=[study])  # which may exist, to be resumed
    named: Any = engine or engine_of_suffix(out)
    how_split: Any = split
    check_suffix(out, named or opt.ENGINE)
    columns = opt.columns_of(query, label, source, position, weight, document, categorical, drop)
    files = opt.given(train=train, valid=valid)
    with ERR.status("reading …"):
        parts, encoder = read_parts(files, columns, unseen)
    measures = tuple(dict.fromkeys(measure or [NDCG(10)]))
    for name, part in parts.items():
        check_labels([*measures, *(objective or ())], part.queries, files[name], part.rows)

    def write(tuned: Tuned) -> None:
        tuned.save(out, about={**encoder.to_dict(), "data": describe_data(files, parts), "seed": seed})
        print(sidecar_path(out).read_text(encoding="utf-8") if as_json else tuned.verdict)
        note(f"{out} is {tuned.objective!r}, {counted(tuned.rounds, 'round')}")

    try:
        tuned = search(
            parts["train"], valid=parts.get("valid"), measure=measures, keep=keep, objectives=objective or None,
            engine=named, params=dict(param or ()), settings=settings, minutes=minutes, split=how_split, folds=folds,
            rounds=rounds, early_stopping_rounds=early_stopping, study=study, workers=workers, seed=seed,
        )  # fmt: skip
    except Stopped as stopped:
        note(f"lambdaboost: {stopped}; {out} becomes the best so far")
        write(stopped.finish())
        raise InterruptedAfterWrite from None
    write(tuned)
