"""Model files: those of `lambdaboost train` with a description, or plain ones of an engine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost import saving
from lambdaboost._installed import ENGINES, engine_named
from lambdaboost.cli.columns import Columns, Source
from lambdaboost.cli.console import note
from lambdaboost.datasets.document_file import DocumentFile


@dataclass(frozen=True)
class LoadedModel:
    """A model with its columns and the contents of its description, `about`."""

    path: Path
    booster: Any
    columns: Columns
    about: Mapping[str, Any]

    @property
    def engine(self) -> Any:
        """Its engine."""
        return engine_named(self.about["engine"])

    def scores(self, features: Any) -> NDArray[np.floating]:
        """Scores, shape (n_documents,)."""
        scores = self.engine.scores(self.booster, features)
        if scores.ndim != 1:
            raise ValueError(
                f"{self.path} gives {scores.shape[1]} scores per document: it is a classifier; give a ranker"
            )
        return scores

    def scored(self, file: DocumentFile) -> NDArray[np.floating]:
        """The scores of a file, shape (n_documents,)."""
        return self.scores(self.matrix(file))

    def matrix(self, file: DocumentFile) -> Any:
        """The features of the model."""
        columns = self.columns_in(file)
        n, found = self.engine.importance(self.booster).size, len(columns.feature_names(file))
        if found != n:
            options = "--drop, --source, --position, --query and --label"
            used = "" if self.columns == Columns() else f", without those of {options},"
            raise ValueError(
                f"{file.path}{used} has {found} features, {self.path} needs {n}: give a file of the same data, "
                "or exclude other columns with --drop"
            )
        return columns.matrix(file)

    def columns_in(self, file: DocumentFile) -> Columns:
        """The columns in a file: for a plain model by name if both have names, else in order."""
        if "columns" in self.about:
            return self.columns
        if file.letor:  # in which the last features may not occur
            lacking = self.engine.importance(self.booster).size - len(self.columns.feature_names(file))
            return (
                replace(self.columns, n_features=len(file.names) + lacking) if lacking > 0 else self.columns
            )
        names = self.engine.feature_names(self.booster) or self.about.get("features")
        default = default_names(self.engine, self.booster)
        if names is None and set(default) <= set(file.names):
            names = default
        if names is None:
            return self.columns
        values = self.columns.categories
        named = saving.columns_named(self.engine, values, file.names)
        categories = dict(zip(named, values.values(), strict=True))
        features = saving.columns_named(self.engine, names, file.names)
        return replace(self.columns, features=features, categories=categories)


def default_names(engine: Any, booster: Any) -> tuple[str, ...]:
    """The engine's names of features that were given none, which the columns of a table may have too."""
    return tuple(map(engine.UNNAMED.format, range(engine.importance(booster).size)))


def load(path: Path, options: Columns) -> LoadedModel:
    """Load a model; `options` are the columns given on the command line, whose labels are no matter of the model.

    Raises
    ------
    ValueError
        If the file is not a model, its description is damaged or of another model, or `options` contradict it.

    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a model file")
    if not saving.beside(path).exists():
        return _plain(path, options)
    saved = saving.load(path)
    if options.dropped:
        raise ValueError(
            f"--drop does not apply to {path}: {saving.beside(path).name} records its columns; omit --drop"
        )
    read = Columns.recorded(saved.about)
    if "columns" not in saved.about:  # written by lambdaboost.save
        read = replace(options, categories=read.categories)
    read = replace(
        read,
        query=options.query or read.query,
        label=options.label or read.label,
        unseen=options.unseen or read.unseen,
    )
    return LoadedModel(path, saved.booster, read, saved.about)


def label_columns(
    options: Columns, models: Sequence[LoadedModel], file: Path
) -> tuple[Columns, DocumentFile]:
    """The columns of labels in a file, and the file: those of the options, else those of the models' training."""
    found: dict[str, tuple[Source, LoadedModel]] = {}
    for model in models:
        own = model.columns
        options = replace(
            options,
            query=options.query or own.query,
            label=options.label or own.label,
            n_features=max(options.n_features or 0, own.n_features or 0) or None,
        )
        for source in own.sources if not options.sources else ():
            other, of = found.setdefault(source.name, (source, model))
            if other != source:
                raise ValueError(
                    f"--model {model.path} was trained with {source}, --model {of.path} with {other}: "
                    f"choose one for the evaluation, such as --source {source}"
                )
    recorded = tuple(source for source, _ in found.values() if source.column != options.label)
    columns = replace(options, sources=options.sources or recorded)
    text = [column for own in (columns, *(model.columns for model in models)) for column in own.text]
    data = columns.opened(file, text)
    for name in ("position", "weight", "document"):  # which other data may not have
        recorded_as = [getattr(model.columns, name) for model in models]
        there = next((column for column in recorded_as if column in data.names), None)
        columns = replace(columns, **{name: getattr(options, name) or there})  # type: ignore[arg-type]
    return columns, data


def _plain(path: Path, options: Columns) -> LoadedModel:
    content = path.read_bytes()
    engine = engine_named("lightgbm" if content.lstrip().startswith(b"tree") else "xgboost")
    try:
        booster = engine.read(content)
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ENGINES:
            raise
        raise ValueError(
            f"{path} is not a model: neither LightGBM's text nor XGBoost's JSON or UBJSON; give what the engine's "
            "save_model wrote"
        ) from None
    names = default_names(engine, booster)
    how = f"by name from a table{'' if engine.feature_names(booster) else f' with {names[0]}, …'}, else in order"
    note(
        f"{path} is a plain {engine.NAME} model, without {saving.beside(path).name}: its {len(names)} "
        f"features are taken {how}; in order, --drop excludes columns"
    )
    about = {"engine": engine.NAME, "model_sha256": hashlib.sha256(content).hexdigest()}
    return LoadedModel(path, booster, replace(options, categories=engine.categories(booster)), about)
