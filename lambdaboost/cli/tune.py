"""``lambdaboost tune``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from lambdaboost._starting import STOPPED
from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR, note
from lambdaboost.cli.evaluate import check_labels
from lambdaboost.cli.train import describe_data, read_parts
from lambdaboost.engines import ENGINES
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.saving import check_suffix, engine_of_suffix, sidecar_path
from lambdaboost.tuning import tune as search
from lambdaboost.tuning.portfolio import PORTFOLIO, TRIED

OUT = "Model file to write, with MODEL.json, which describes it."
VALID = "File to measure on, such as of a later time, instead of cross-validation; never trained on."
MEASURE = f"{opt.MEASURE} The first decides. Default: ndcg@10."
TOLERANCE = "With two measures: the tolerated loss of the first, such as 0.005, for more of the second."
ENGINE = "The engine; default: that of MODEL's suffix, .txt or .ubj and .json, else all that are installed."
SETTINGS = "Number of tree settings to try."
ROUNDS = "Maximum number of rounds in a fold; without --valid the model has more, as it has more queries."


def tune(
    train: Annotated[Path, opt.argument("TRAIN", "File to train on.")],
    out: Annotated[Path, Option(metavar="MODEL", help=OUT)],
    valid: Annotated[Path | None, opt.existing(VALID)] = None,
    measure: Annotated[list[Measure] | None, opt.measures(MEASURE)] = None,
    tolerance: Annotated[float | None, Option(metavar="LOSS", help=TOLERANCE)] = None,
    engine: Annotated[opt.Engine | None, Option(help=ENGINE)] = None,
    settings: Annotated[int, Option(min=1, max=len(PORTFOLIO), help=SETTINGS)] = TRIED,
    minutes: Annotated[float | None, Option(help="Start no training after this time.")] = None,
    folds: Annotated[int, Option(min=2, help="Number of folds.")] = 5,
    rounds: Annotated[int, Option(min=1, help=ROUNDS)] = 500,
    workers: Annotated[int | None, Option(min=1, help="Number of processes; the result is the same.")] = None,
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
    """Find tree parameters and an objective for your data.

    The trees are tried first, then objectives on the best trees; the table compares what each contributes. Ctrl-C
    writes the best model so far. Files and options of columns are those of train.

    Example: lambdaboost tune train.txt --out model.txt

    Example: lambdaboost tune train.csv --query query_id --measure ndcg@3 --minutes 30 --out model.txt
    """
    opt.check_outputs(overwrite, [train, valid], out, sidecar_path(out))
    named: Any = engine or engine_of_suffix(out)
    check_suffix("out", out, ENGINES[named or opt.ENGINE])
    columns = opt.columns_of(query, label, source, position, weight, document, categorical, drop)
    files = opt.given(train=train, valid=valid)
    with ERR.status("reading …"):
        parts, encoder = read_parts(files, columns, unseen)
    measures = tuple(dict.fromkeys(measure or [NDCG(10)]))
    for name, part in parts.items():
        check_labels(measures, part.queries, files[name], part.rows)
    tuned = search(
        parts["train"], valid=parts.get("valid"), measure=measures, tolerance=tolerance, engine=named,
        settings=settings, minutes=minutes, folds=folds, rounds=rounds, workers=workers, seed=seed,
    )  # fmt: skip
    tuned.save(out, encoder=encoder, about={"data": describe_data(files, parts), "seed": seed})
    if as_json:
        print(sidecar_path(out).read_text(encoding="utf-8"), end="")
    else:
        print(tuned)
    note(f"{out} and {sidecar_path(out)} are written")
    if tuned.is_stopped:
        sys.exit(STOPPED)
