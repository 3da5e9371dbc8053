"""Model files: those of `lambdaboost train` with a description, or plain ones of an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost import saving
from lambdaboost.cli.console import note
from lambdaboost.datasets import Columns, Encoder
from lambdaboost.datasets.letor import letor_features
from lambdaboost.datasets.table import Table, open_table
from lambdaboost.engines import ENGINES

DEFAULT = Columns(label="label")
LABELS = ("query", "label", "position", "weight", "document")


@dataclass(frozen=True)
class Model:
    """A model, its features, and the contents of its description."""

    path: Path
    booster: Any
    encoder: Encoder
    about: Mapping[str, Any]

    def scores(self, table: Table) -> NDArray[np.floating]:
        """The scores of a file in the order of its rows, shape (n_rows,)."""
        engine, encoder = ENGINES[self.about["engine"]], self.encoder
        n = len(engine.feature_names(self.booster))
        if not encoder.features and table.kind == "letor":
            there = encoder.columns.features_of(table)
            unused = engine.first_is_unused(self.booster)
            features = letor_features(there, n, unused, table.name, str(self.path))
            encoder = replace(encoder, features=features)
            if features[0] == "0":
                table = open_table(table.name, absent=engine.ABSENT_IN_TEXT)
        elif not encoder.features:
            encoder = saving.with_booster_features(encoder, self.booster, table.names)
        if (found := len(encoder.features or encoder.columns.features_of(table))) != n:
            raise ValueError(
                f"{table.name} has {found} features, {self.path} needs {n}: leave out other columns with --drop"
            )
        scores: NDArray[np.floating] = engine.scores(self.booster, encoder.transform(table))
        if scores.ndim != 1:
            raise ValueError(f"{self.path} is a classifier of {scores.shape[1]} classes: give a ranker")
        return scores


def read_model(path: Path, options: Columns, unseen: str | None = None) -> Model:
    """Read a model; `options` say which columns a plain one has; `unseen` is by default the model's own.

    A plain model takes the columns of a table by name if it has feature names, or if the table has the engine's own
    (Column_0, … or f0, …), else in order, without those that `options` name.
    """
    if saving.sidecar_path(path).exists():
        saved = saving.load(path)
        encoder = Encoder.from_dict(saved.about)
        if "columns" not in saved.about:  # of a stock booster
            encoder = replace(encoder, columns=options)
        return Model(path, saved.booster, replace(encoder, unseen=str(unseen or encoder.unseen)), saved.about)
    content = path.read_bytes()
    engine = ENGINES["lightgbm" if content.lstrip().startswith(b"tree") else "xgboost"]
    try:
        booster = engine.read(content)
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ENGINES:
            raise
        raise ValueError(f"{path} is not a model that LightGBM or XGBoost saved: give one") from None
    names = engine.feature_names(booster)
    unnamed = names == tuple(map(engine.UNNAMED.format, range(len(names))))
    found = (
        f"without names of features, columns are taken in their order, or by {names[0]}, … if they are called so"
        if unnamed
        else "features are found by name"
    )
    note(f"{path} has no {saving.sidecar_path(path).name}: {found}")
    encoder = Encoder(options, (), engine.categories(booster), str(unseen or "error"))
    return Model(path, booster, encoder, {"engine": engine.NAME})


def open_labelled(file: Path, options: Columns, models: Sequence[Model]) -> tuple[Table, Columns]:
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
