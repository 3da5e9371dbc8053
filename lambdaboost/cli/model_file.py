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
from lambdaboost.cli.columns import options_of
from lambdaboost.cli.console import note
from lambdaboost.datasets import Columns
from lambdaboost.datasets.columns import LABEL
from lambdaboost.datasets.letor import LetorTable
from lambdaboost.datasets.tables import Table


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

    def scored(self, file: Table) -> NDArray[np.floating]:
        """The scores of a file in the order of its rows, shape (n_documents,)."""
        columns = self.columns_in(file)
        n, found = self.engine.n_features(self.booster), len(columns.feature_names(file))
        if found != n:
            raise ValueError(
                f"{file.where} has {found} features, {self.path} needs {n}: give a file of the same data, or exclude "
                "other columns with --drop, --source, --position, --query and --label"
            )
        return self.scores(columns.features_in(file))

    def columns_in(self, file: Table) -> Columns:
        """The columns in a file: for a plain model by name if both have names, else in order."""
        columns = self.columns
        if columns.features is not None:
            return columns
        if not isinstance(file, LetorTable):
            return saving.with_booster_features(columns, self.engine, self.booster, file.names)
        lacking = self.engine.n_features(self.booster) - len(columns.feature_names(file))
        # The last features may not occur.
        return replace(columns, n_features=file.n_features + lacking) if lacking > 0 else columns


def load(path: Path, options: Columns) -> LoadedModel:
    """Load a model; `options` are the columns given on the command line, whose labels are no matter of the model.

    Raises
    ------
    ValueError
        If the file is not a model, its description is damaged or of another model, or `options` contradict it.

    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a model file")
    if not saving.sidecar_path(path).exists():
        return _plain(path, options)
    saved = saving.load(path)
    if options.drop:
        raise ValueError(
            f"--drop does not apply to {path}: {saving.sidecar_path(path).name} records its columns; omit --drop"
        )
    read = Columns.of_record(saved.about)
    if "columns" not in saved.about:  # of a stock booster
        read = replace(options, categories=read.categories)
    given = _given(options, ("query", "label", "document", "unseen"))
    return LoadedModel(path, saved.booster, replace(read, **given), saved.about)


def _given(options: Columns, names: Sequence[str]) -> dict[str, Any]:
    """Those of the options that differ from their defaults."""
    default = Columns(label=LABEL)
    return {
        name: value
        for name in names
        if (value := getattr(options, name)) not in (getattr(default, name), None)
    }


def label_columns(options: Columns, models: Sequence[LoadedModel], file: Path) -> tuple[Columns, Table]:
    """The columns of labels in a file, and the file: those of the options, else those of the models' training."""
    found: dict[str, tuple[str, LoadedModel]] = {}
    for model in models:
        own = replace(model.columns, **_given(options, ("query", "label")))
        n_features = max(options.n_features or 0, own.n_features or 0) or None
        options = replace(options, query=own.query, label=own.label or LABEL, n_features=n_features)
        for text in options_of(own) if not options.sources else ():
            name = text.partition("=")[0]
            other, of = found.setdefault(name, (text, model))
            if other != text:
                raise ValueError(
                    f"--model {model.path} was trained with {text}, --model {of.path} with {other}: "
                    f"choose one for the evaluation, such as --source {text}"
                )
    names = {name: of.columns.sources[name] for name, (_, of) in found.items()}
    if not options.sources:  # a model's source may be the label of an evaluation
        kept = {name: column for name, column in names.items() if column != options.label}
        rates = [name for name in kept if name in found[name][1].columns.rates]
        options = replace(options, sources=kept, rates=rates)
    data = options.open(file, text=[text for model in models for text in model.columns.text])
    assert data is not None
    for name in ("position", "weight", "document"):  # which other data may not have
        recorded_as = [getattr(model.columns, name) for model in models]
        there = next((column for column in recorded_as if column in data.names), None)
        options = replace(options, **{name: getattr(options, name) or there})  # type: ignore[arg-type]
    return options, data


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
    names = saving.names_of(engine, booster)
    how = f"by name from a table{'' if engine.feature_names(booster) else f' with {names[0]}, …'}, else in order"
    note(
        f"{path} is a plain {engine.NAME} model, without {saving.sidecar_path(path).name}: its {len(names)} "
        f"features are taken {how}; in order, --drop excludes columns"
    )
    about = {"engine": engine.NAME, "model_sha256": hashlib.sha256(content).hexdigest()}
    return LoadedModel(path, booster, replace(options, categories=engine.categories(booster)), about)
