"""``lambdaboost train``."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from lambdaboost._words import counted, did_you_mean
from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR, note
from lambdaboost.cli.evaluate import check_labels, mean_measures, print_measures
from lambdaboost.datasets import Collection, Columns, Encoder
from lambdaboost.engines import ENGINES
from lambdaboost.engines.base import with_min_leaf_size
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import NDCG
from lambdaboost.evaluation.naming import default_measures
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.objectives.parsing import read_objective
from lambdaboost.saving import check_suffix, save, sidecar_path
from lambdaboost.training import make_dataset, trainable
from lambdaboost.tuning.cross_validate import shared_queries

OBJECTIVE = Option(
    metavar="OBJECTIVE", parser=opt.parsed_by(read_objective), help=f"An objective, {opt.OBJECTIVE}"
)
STOPPING = "Stop if the first --measure on --valid has not improved for N rounds; keep the best round."


def train(
    train: Annotated[Path, opt.argument("TRAIN", "File to train on.")],
    out: Annotated[Path, Option(metavar="MODEL", help="Model file to write, with MODEL.json next to it.")],
    valid: Annotated[Path | None, opt.existing("Validation file, evaluated after every round.")] = None,
    test: Annotated[Path | None, opt.existing("Test file, evaluated at the end.")] = None,
    objective: Annotated[Any, OBJECTIVE] = "YetiLoss()",
    engine: opt.EngineOption = opt.ENGINE,
    rounds: Annotated[int, Option(min=1, help="Boosting rounds.")] = 100,
    early_stopping: Annotated[int | None, Option(metavar="N", min=1, help=STOPPING)] = None,
    param: opt.Params = None,
    measure: opt.Measures = None,
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
    """Train a model on files and evaluate it.

    The model is written as a plain file of the engine. MODEL.json, next to it, records the training and the columns for
    predict, evaluate and report, and is what --json prints. Files are LETOR text, CSV or Parquet.

    Example: lambdaboost train train.txt --valid vali.txt --out model.txt

    Example: lambdaboost train train.csv --query query_id --label grade --drop title,url --out model.txt
    """
    opt.check_outputs(overwrite, [train, valid, test], out, sidecar_path(out))
    check_suffix("out", out, ENGINES[engine])
    if early_stopping is not None and valid is None:
        raise ValueError("--early-stopping watches a measure of the validation file: give --valid")
    stock = ENGINES[engine]
    params = {"seed": seed, **dict(param or ())}
    for key in dict(param or ()):
        if any(stock.given({key: True}, name) for name in stock.RESERVED):
            raise ValueError(f"--param {key} has its own option; see lambdaboost train --help")
        if key == "missing":
            raise ValueError("--param missing: leave fields without a value empty instead")
        if key not in stock.parameter_names():
            raise ValueError(
                f"--param {key} is unknown to {stock.TITLE}: {did_you_mean(key, stock.parameter_names())}"
            )
    trainable(objective, engine)
    columns = opt.columns_of(query, label, source, position, weight, document, categorical, drop)
    files = opt.given(train=train, valid=valid, test=test)
    with ERR.status("reading …"):
        parts, encoder = read_parts(files, columns, unseen)
    default = min((default_measures(part.queries) for part in parts.values()), key=len)
    measures = tuple(dict.fromkeys(measure or default))
    watched = (measure or [NDCG(10)])[0]
    readers = {"train": [objective], "valid": [*measures, watched], "test": measures}
    for name, part in parts.items():
        check_labels(readers[name], part.queries, files[name], part.rows)
    others = [name for name in parts if name != "train"]
    for name in others:
        if n := shared_queries(parts["train"], parts[name]).size:
            n_shared = counted(n, "query", "queries")
            note(
                f"{files[name]} shares {n_shared} with {train}, so that its measures are partly those of training data"
            )

    if isinstance(objective, NativeObjective):
        objective.check_queries(parts["train"].queries, stock.given(params, "device_type"))
    shuffled = parts["train"].shuffled(seed)
    needs = getattr(objective, "needs", None)  # an engine's own has none, and reads them
    if needs is not None and not needs.positions and any(m.reads_positions for m in measures):
        # It would be reported that the training ignores them.
        shuffled = replace(shuffled, queries=shuffled.queries.with_positions(None))
    warn_of_leaks(shuffled.features, shuffled.queries, shuffled.feature_names)
    data = make_dataset(engine, shuffled)
    watching = None
    if valid is not None:
        watching = make_dataset(engine, parts["valid"].shuffled(seed), data)
    curve: list[float | None] = []
    start = time.perf_counter()
    with ERR.status("training …") as status:

        def on_round(figure: float | None) -> None:
            progress = f"round {len(curve) + 1} of {rounds}"
            if figure is None or math.isnan(figure):
                curve.append(None)
            else:
                curve.append(round(figure, 6))
                progress += f", {figure:.4f}"
            status.update(progress)

        settings = with_min_leaf_size(params, stock, objective, shuffled.queries.n_documents)
        booster = stock.train(objective, settings, rounds, data, watching, watched, early_stopping, on_round)
    seconds, kept = time.perf_counter() - start, stock.n_rounds(booster)

    means = {
        name: mean_measures(measures, stock.scores(booster, parts[name].features), parts[name].queries)
        for name in others
    }
    about = {
        "rounds": rounds,
        "early_stopping": early_stopping,
        "seed": seed,
        "data": describe_data(files, parts),
        "measures": means,
        "history": {} if watching is None else {"valid": {repr(watched): curve}},
        "rounds_kept": kept,
    }
    save(booster, out, objective=objective, params=params, encoder=encoder, about=about)
    note(f"trained {objective!r} in {seconds:.1f} s; {out} has {counted(kept, 'round')}")
    if as_json:
        print(sidecar_path(out).read_text(encoding="utf-8"), end="")
    elif means:
        print_measures(means, {name: part.queries for name, part in parts.items()}, measures)


def read_parts(
    files: Mapping[str, Path], columns: Columns, unseen: str | None
) -> tuple[dict[str, Collection], Encoder]:
    """The data of each file, and the encoder of the training file."""
    train = columns.read(files["train"])
    encoder = Encoder(columns, train.feature_names or (), train.categories, str(unseen or "error"))
    parts = {"train": train}
    for name, path in files.items():
        if name != "train":
            parts[name] = encoder.read(path)
    return parts, encoder


def describe_data(files: Mapping[str, Path], parts: Mapping[str, Collection]) -> dict[str, Any]:
    """What the description of a model says of its files."""
    facts: dict[str, Any] = {}
    for name, part in parts.items():
        q = part.queries
        facts[name] = {"file": files[name].name, "queries": q.n_queries, "documents": q.n_documents}
    return facts
