"""Model files: those of `lambdaboost train` with a description, or plain ones of an engine."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import ENGINES
from lambdaboost.cli.columns import Columns, Source
from lambdaboost.cli.console import note
from lambdaboost.cli.data_file import DataFile, LetorFile
from lambdaboost.engines import saving
from lambdaboost.engines.engine import Engine, engine_named

# The names that an engine gives features without names.
DEFAULT_NAMES = {"lightgbm": "Column_{}", "xgboost": "f{}"}


@dataclass(frozen=True)
class LoadedModel:
    """A model with its columns and the contents of its description, `about`."""

    path: Path
    engine: Engine
    booster: Any
    columns: Columns
    about: Mapping[str, Any]

    def scores(self, file: DataFile) -> NDArray[np.floating]:
        """Scores of the documents of a file, shape (n_documents,)."""
        return self.scores_of(self.matrix(file))

    def scores_of(self, features: Any) -> NDArray[np.floating]:
        """Scores, shape (n_documents,)."""
        scores = self.engine.scores(self.booster, features)
        if scores.ndim != 1:
            raise ValueError(
                f"{self.path} gives {scores.shape[1]} scores per document: it is a classifier; give a ranker"
            )
        return scores

    def matrix(self, file: DataFile) -> Any:
        """The features of the model."""
        columns = self.columns_in(file)
        n, found = self.engine.n_features(self.booster), len(columns.feature_names(file))
        if found != n:
            used = (
                ""
                if self.columns == Columns()
                else ", without those of --drop, --source, --position, --query and --label,"
            )
            raise ValueError(
                f"{file.path}{used} has {found} features, {self.path} needs {n}: give a file of the same data, "
                "or exclude other columns with --drop"
            )
        return columns.matrix(file)

    def columns_in(self, file: DataFile) -> Columns:
        """The columns in a file: for a plain model by name if both have names, else in order."""
        if "columns" in self.about:
            return self.columns
        if not isinstance(file, LetorFile):
            names = self.engine.feature_names(self.booster)
            if names is None and set(default := default_names(self.engine, self.booster)) <= set(file.names):
                names = default
            if names is not None:
                names = self.engine.named_columns(names, file.names)
            return replace(self.columns, features=names)
        # The last features may not occur in LETOR text.
        lacking = self.engine.n_features(self.booster) - len(self.columns.feature_names(file))
        if lacking > 0 and isinstance(file, LetorFile):
            return replace(self.columns, n_features=len(file.names) + lacking)
        return self.columns


def default_names(engine: Engine, booster: Any) -> tuple[str, ...]:
    """The engine's names of features that were given none, which the columns of a table may have too."""
    return tuple(map(DEFAULT_NAMES[engine.name].format, range(engine.n_features(booster))))


def described(columns: Columns) -> dict[str, Any]:
    """The entries of the description about columns."""
    return {"columns": asdict(columns)}


def load(path: Path, options: Columns) -> LoadedModel:
    """Load a model; `options` are the columns given on the command line.

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
    if options.sources or options.dropped or options.position:
        raise ValueError(
            f"--source, --position and --drop do not apply to {path}: {saving.beside(path).name} records its columns; "
            "omit them"
        )
    engine = engine_named(saved.about["engine"])
    columns = saved.about.get("columns")
    if columns is None:  # written by lambdaboost.save
        return LoadedModel(path, engine, saved.booster, options, saved.about)
    lists = {name: tuple(columns[name]) for name in ("dropped", "features") if columns[name] is not None}
    sources = tuple(Source(**source) for source in columns["sources"])
    read = Columns(**{**columns, **lists, "sources": sources})
    read = replace(read, query=options.query or read.query, label=options.label or read.label)
    return LoadedModel(path, engine, saved.booster, read, saved.about)


def _plain(path: Path, options: Columns) -> LoadedModel:
    content = path.read_bytes()
    name = "lightgbm" if content.lstrip().startswith(b"tree") else "xgboost"
    engine = engine_named(name)
    try:
        booster = engine.read(content)
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ENGINES:
            raise
        raise ValueError(
            f"{path} is not a model: neither LightGBM's text nor XGBoost's JSON or UBJSON; give what the engine's "
            "save_model wrote"
        ) from None
    first = default_names(engine, booster)[0]
    how = f"by name from a table{'' if engine.feature_names(booster) else f' with {first}, …'}, else in order"
    note(
        f"{path} is a plain {name} model, without {saving.beside(path).name}: its {engine.n_features(booster)} "
        f"features are taken {how}; in order, --drop excludes columns"
    )
    about = {"engine": name, "model_sha256": hashlib.sha256(content).hexdigest()}
    return LoadedModel(path, engine, booster, options, about)
