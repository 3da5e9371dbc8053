"""``lambdaboost evaluate``, and what other commands need of it: scores of models and files, tables of measures."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import error_context, naming_rows
from lambdaboost._warn import warn
from lambdaboost._words import counted
from lambdaboost.cli import options as opt
from lambdaboost.cli.console import ERR, note, print_table, tell
from lambdaboost.datasets import Columns, Queries
from lambdaboost.datasets.table import Table, open_table
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import Measure
from lambdaboost.evaluation.naming import default_measures
from lambdaboost.evaluation.ties import describe_sorted_ties
from lambdaboost.saving import SavedModel, has_feature_names, load, load_plain, sidecar_path

DEFAULT = Columns(label="label")
LABELS = ("query", "label", "position", "weight", "document")
Means = dict[str, float | None]  # by measure; JSON has no NaN


class Scored(NamedTuple):
    """A file with the scores of systems by name."""

    queries: Queries
    measures: tuple[Measure, ...]
    scores: dict[str, NDArray[np.floating]]
    models: dict[str, SavedModel]
    table: Table
    rows: NDArray[np.int64]  # of the table, of each document of the queries


def evaluate(
    file: Annotated[Path, opt.argument("FILE", "File with the grades.")],
    scores: Annotated[Path | None, opt.existing("Scores, one per line in the order of FILE.")] = None,
    model: Annotated[Path | None, opt.existing(opt.MODEL)] = None,
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
    seed: opt.TieSeed = None,
    as_json: opt.Json = False,
) -> None:
    """Evaluate scores or a model on a file.

    A model of train knows its columns; options replace those of its labels. Scores that tie rank in the order of rows,
    as in Python; where that decides, a warning says so.

    Example: lambdaboost evaluate test.txt --model model.txt --measure MAP
    """
    if (scores is None) == (model is None):
        raise ValueError("give either --scores or --model")
    columns = opt.columns_of(query, label, source, position, weight, document, categorical, drop)
    with ERR.status("measuring …"):
        models, files = opt.given(found=model), opt.given(found=scores)
        q, measures, found, *_ = score_file(file, columns, models, files, measure, unseen, seed)
        means = mean_measures(measures, found["found"], q)
    if as_json:
        about = {"file": file.name, "queries": q.n_queries, "documents": q.n_documents, "measures": means}
        print(json.dumps(about, indent=2, allow_nan=False))
    else:
        print_measures({file.name: means}, {file.name: q}, measures)


def read_model(path: Path, options: Columns, unseen: str | None = None) -> SavedModel:
    """A saved model, or a plain one of an engine; `unseen` is by default the model's own.

    A plain model takes the columns of a table by name if it has feature names, or if the table has the engine's own
    (Column_0, … or f0, …), else in order, without those that `options` name.
    """
    if sidecar_path(path).exists():
        model = load(path)
        if "columns" not in model.about:  # a stock booster
            model = replace(model, encoder=replace(model.encoder, columns=options))
    else:
        model = load_plain(path, options)
        found = "features are found by name"
        if not has_feature_names(model.booster, model.engine):
            first = model.engine.UNNAMED.format(0)
            found = (
                f"without names of features, columns are taken in their order, or by {first}, … if called so"
            )
        note(f"{path} has no {sidecar_path(path).name}: {found}")
    if unseen is not None:
        model = replace(model, encoder=replace(model.encoder, unseen=str(unseen)))
    return model


def open_labelled(file: Path, options: Columns, models: Sequence[SavedModel]) -> tuple[Table, Columns]:
    """A file and its columns of labels: those that it has of the models' training, the first model's before others'.

    Those of the options replace them.
    """
    text = [*options.text, *(column for model in models for column in model.encoder.text)]
    table = open_table(file, text=text)
    given = {name: column for name in LABELS if (column := getattr(options, name)) != getattr(DEFAULT, name)}
    sources, rates = dict(options.sources), set(options.rates)
    for own in (model.encoder.columns for model in models):
        for name in LABELS:
            column = getattr(own, name) or getattr(DEFAULT, name)
            if name in ("query", "label") or column in table.names:
                given.setdefault(name, column)
        for name, column in own.sources.items():
            is_new = not options.sources and name not in sources
            if is_new and column in table.names and column not in given.values():
                sources[name] = column
                rates |= {name}.intersection(own.rates)
    return table, replace(options, sources=sources, rates=tuple(rates), **given)


def score_file(
    file: Path,
    columns: Columns,
    models: Mapping[str, Path],
    scores: Mapping[str, Path],
    measures: Any,
    unseen: str | None,
    seed: int | None,
) -> Scored:
    """Score a file with models and read its scores; the measures are by default those of its labels.

    With a `seed` the rows of each query are shuffled, so that scores which tie rank in random order.
    """
    loaded = {name: read_model(path, columns, unseen) for name, path in models.items()}
    table, columns = open_labelled(file, columns, list(loaded.values()))
    q, _, rows = columns.read_labels(table)
    chosen = tuple(dict.fromkeys(measures or default_measures(q)))
    check_labels(chosen, q, file, rows)
    found = {name: model.predict(table) for name, model in loaded.items()}
    for name, path in scores.items():
        found[name] = read_scores(path, len(table))
    if rows is None:
        rows = np.arange(len(table))
    if seed is not None:
        shuffled = q.shuffled_rows(seed)
        q, rows = q.reordered(shuffled), rows[shuffled]
    found = {name: of_rows[rows] for name, of_rows in found.items()}
    return Scored(q, chosen, found, loaded, table, rows)


def read_scores(path: Path, n: int) -> NDArray[np.float64]:
    """Read one finite score per line, one for each of the `n` documents."""
    try:
        scores = np.array(path.read_text(encoding="utf-8-sig").split(), dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}; give one score a line, as predict writes them without --ids"
        ) from None
    if scores.size != n or not np.isfinite(scores).all():
        raise ValueError(f"{path} has {scores.size} scores: give a finite one for each of {n} documents")
    return scores


def check_labels(
    readers: Iterable[Any], q: Queries, file: Path, rows: NDArray[np.int64] | None = None
) -> None:
    """Raise ValueError if an objective or a measure cannot read the labels or positions of a file.

    `rows` are the rows of the file, whose order the documents of `q` may not have.
    """
    in_file = np.arange(q.n_documents) if rows is None else rows
    zeros = np.zeros(q.n_documents)
    for reader in readers:
        if lacks := [source for source in reader.sources if source not in q.labels]:
            raise ValueError(
                f"{reader!r} needs the label source {lacks[0]!r}: give its column as --source {lacks[0]}=COLUMN"
            )
        if reader.reads_positions and q.position is None:
            raise ValueError(f"{reader!r} needs positions: give their column as --position COLUMN")
        with naming_rows(lambda row: f"row {1 + in_file[row]} of {file}"), error_context(repr(reader)):
            if isinstance(reader, Measure):
                reader.per_query(zeros, q)
            elif not isinstance(reader, NativeObjective):
                reader.gradient(zeros, q)


def mean_measures(measures: Sequence[Measure], scores: NDArray[np.floating], q: Queries) -> Means:
    """The mean of each measure, None where it is undefined; warns where the order of rows decides of ties."""
    if ties := describe_sorted_ties(measures, scores, q):
        warn(ties)
    means: Means = {}
    for measure in measures:
        value = measure.mean(scores, q)
        means[repr(measure)] = None if math.isnan(value) else value
    return means


def print_measures(
    means: Mapping[str, Means], queries: Mapping[str, Queries], measures: Sequence[Measure]
) -> None:
    """Print a table of measures by parts, and the number of queries of each part."""
    rows = []
    for name in map(repr, measures):
        values = [of_part[name] for of_part in means.values()]
        rows.append([name, *("undefined" if value is None else f"{value:.4f}" for value in values)])
    print_table(["measure", *means], rows)
    for part in means:
        tell(describe_undefined(part, queries[part], measures))


def describe_undefined(part: str, q: Queries, measures: Iterable[Measure]) -> str:
    """The number of queries, and how those count on which a measure is undefined."""
    undefined: dict[str, list[str]] = {}
    for measure in measures:
        if n := int((measure.undefined_on(q) & (q.query_weight > 0)).sum()):
            how = "left out" if math.isnan(measure.empty) else f"counted as {measure.empty:g}"
            undefined.setdefault(f"undefined on {n} of them, {how}", []).append(repr(measure))
    text = f"{part}: {counted(q.n_queries, 'query', 'queries')}"
    return text + "".join(f"; {', '.join(names)} {said}" for said, names in undefined.items())
