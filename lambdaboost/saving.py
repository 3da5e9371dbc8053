"""Saved models: the engine's own file, with a small ``.json`` file next to it that describes the training."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._files import check_file, check_place, replacing_all
from lambdaboost._installed import package
from lambdaboost._value import text_of
from lambdaboost._words import counted, quote
from lambdaboost.datasets import Columns, Encoder
from lambdaboost.datasets.letor import letor_features
from lambdaboost.datasets.table import Table, open_table
from lambdaboost.engines import ENGINES, engine_of, refusal
from lambdaboost.engines.base import Engine
from lambdaboost.objectives import Objective
from lambdaboost.objectives.parsing import read_objective


@dataclass(frozen=True, eq=False, repr=False)
class SavedModel:
    """A loaded model, which scores tables, files and arrays.

    Attributes
    ----------
    booster : lightgbm.Booster or xgboost.Booster
    about : mapping
        The contents of its description.
    encoder : Encoder
        The features of its training, and the values of the categorical ones; without features for a stock booster,
        which knows them itself.
    name : str
        What messages call it: the path of its file.

    """

    booster: Any
    about: Mapping[str, Any]
    encoder: Encoder
    name: str = "the model"

    def __repr__(self) -> str:
        engine = self.engine
        rounds, features = engine.n_rounds(self.booster), len(engine.feature_names(self.booster))
        trained = f"{engine.TITLE}, {self.about.get('objective', 'objective unknown')}"
        return (
            f"SavedModel({self.name}: {trained}; {counted(rounds, 'round')}, {counted(features, 'feature')})"
        )

    @property
    def engine(self) -> Engine:
        """The engine that trained it."""
        return ENGINES[self.about["engine"]]

    @property
    def objective(self) -> Any:
        """The objective that it was trained with.

        A ValueError where its text cannot be read, as of a class or a function of your own, and of what `merge`
        returns, which no one objective trained; ``about["objective"]`` has the text.
        """
        text = self.about["objective"]
        try:
            return read_objective(text)
        except ValueError:
            raise ValueError(
                f"{self.name} was trained with {quote(text)}, which is no objective of lambdaboost's own: "
                'about["objective"] has the text'
            ) from None

    @property
    def categories(self) -> dict[str, list[Any]]:
        """The values of the categorical features by the booster's own names; engines store them incompletely."""
        known, names = self.encoder.categories, self.engine.feature_names(self.booster)
        if not known:
            return self.engine.categories(self.booster)
        columns = zip(names, self.encoder.features or names, strict=True)
        return {name: list(known[column]) for name, column in columns if column in known}

    @property
    def missing(self) -> float:
        """The number that stood for a missing value in training."""
        return float(self.about.get("params", {}).get("missing", math.nan))

    def predict(self, X: Any, *, unseen: str | None = None) -> NDArray[np.floating]:
        """Scores of documents, bit-identical to those of the saved ranker, without the columns of labels.

        Parameters
        ----------
        X : table, path or array
            As for `open_table`; the order of the columns of a table is free.
        unseen : "error" or "missing", optional
            That of `LambdaRanker`, by default that of the saved one.

        Returns
        -------
        float64 (n_documents,) of LightGBM, float32 of XGBoost

        Raises
        ------
        TypeError, ValueError
            If features lack, are too many or of a wrong type.

        """
        table, model = open_table(X, "X", self.encoder.text), self
        if unseen is not None:
            model = replace(self, encoder=replace(self.encoder, unseen=unseen))
        found = self.engine.scores(self.booster, model.features(table)[0], missing=self.missing)
        if found.ndim != 1:
            raise ValueError(f"{self.name} is a classifier of {found.shape[1]} classes: give a ranker")
        return found

    def features(self, table: Table) -> tuple[Any, Encoder]:
        """The features of a table as the booster takes them, shape (n_rows, n_features), and their encoder."""
        # A stock booster has its features by name, or by their place in the table.
        engine, encoder = self.engine, self.encoder
        names = engine.feature_names(self.booster)
        n, is_named = len(names), has_feature_names(self.booster, engine)
        if not encoder.features and table.format == "letor" and not is_named:
            there, unused = encoder.columns.features_of(table), engine.first_is_unused(self.booster)
            encoder = replace(encoder, features=letor_features(there, n, unused, table.name, self.name))
            # The engine read text itself, and what it takes absent features for.
            if encoder.features[0] == "0":
                table = open_table(table.name, absent=engine.ABSENT_IN_TEXT)
        elif not encoder.features and table.is_named:
            if table.format == "letor" and not all(name.isdecimal() for name in names):
                raise ValueError(
                    f"{self.name} knows its features by name, such as {quote(names[0])}, and {table.name} is LETOR "
                    "text, which numbers them: give a table with these columns"
                )
            encoder = with_booster_features(encoder, self.booster, table.names)

        features = encoder.transform(table)
        if features.shape[1] != n:
            raise ValueError(
                f"{table.name} has {features.shape[1]} features, {self.name} needs {n}: drop other columns"
            )
        return features, encoder


def as_saved(model: Any) -> SavedModel:
    """A booster or a fitted ranker, with the rounds that it predicts with, as `load` would return it.

    >>> as_saved(1)
    Traceback (most recent call last):
    TypeError: model is of type int, expected a lightgbm.Booster, an xgboost.Booster or a fitted LambdaRanker; ...
    """
    if isinstance(model, SavedModel):
        return model
    booster = booster_of(model)
    engine = engine_of(booster)
    if engine is None:
        raise TypeError(
            f"model is of type {type(model).__name__}, expected a lightgbm.Booster, an xgboost.Booster or a fitted "
            "LambdaRanker; joblib saves other estimators"
        )
    # XGBoost's rankers keep the rounds after the best one, and cannot slice a linear model, which predicts with all.
    if hasattr(model, "get_booster") and model.booster != "gblinear":
        with suppress(AttributeError):  # it did not stop early
            booster = booster[: model.best_iteration + 1]
    about = {"engine": engine.NAME, "params": {"missing": getattr(model, "missing", math.nan)}}
    return SavedModel(booster, about, known_encoder(model) or Encoder(Columns()))


def save(
    model: Any,
    path: str | Path,
    *,
    objective: Objective | str | None = None,
    params: Mapping[str, Any] | None = None,
    encoder: Encoder | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a model file of its engine, and ``PATH.json``, which describes the training.

    Both are written atomically. The model file needs no lambdaboost: ``lightgbm.Booster(model_file=path)``,
    ``xgboost.Booster(model_file=path)``.

    Parameters
    ----------
    model : lightgbm.Booster, xgboost.Booster or a fitted ranker
        The rounds that it predicts with are written: up to the best one for a ranker or LightGBM booster that stopped
        early, all of them for an XGBoost booster.
    path : str or Path
        Text for LightGBM; for XGBoost UBJSON, or JSON where the name ends in ``.json``.
    objective, params
        What the booster was trained with; a `LambdaRanker` and what `merge` returns know these themselves.
    encoder : datasets.Encoder, optional
        What read the table that the booster was trained on, to read later ones: columns and categories. A
        `LambdaRanker` knows its own.
    about : mapping, optional
        Further entries for the description, as JSON accepts them. In all entries, numbers that JSON has not, such as
        infinity, become texts.

    Raises
    ------
    TypeError, ValueError
        Before anything is written: for a model of no known engine, a booster without `objective`, or a path that cannot
        be written to.

    Examples
    --------
    >>> import os, tempfile
    >>> import xgboost as xgb
    >>> from lambdaboost import LambdaRank
    >>> params = {"objective": "rank:ndcg", "base_score": 0, "min_child_weight": 0}
    >>> booster = xgb.train(params, xgb.DMatrix([[0.1], [0.9]], [0, 1], qid=[7, 7]), 1, obj=LambdaRank())
    >>> path = os.path.join(tempfile.mkdtemp(), "model.ubj")
    >>> save(booster, path, objective=LambdaRank(), params=params)
    >>> load(path).objective
    LambdaRank()

    """
    if isinstance(model, SavedModel):
        raise TypeError("model is what load returned: copy its two files, or save its booster and encoder")
    path, saved = Path(path), as_saved(model)
    booster, engine, encoder = saved.booster, saved.engine, encoder or known_encoder(model)
    if objective is None:  # known by a ranker, and by what `merge` returns
        objective = getattr(model, "objective_", None)
    if params is None and booster is not model:  # a ranker
        params = changed_params(model)
        params.pop("objective", None)
    if objective is None:
        raise ValueError("objective is None: a booster does not know its objective; give it here")
    check_place("path", path)
    check_place("path", sidecar_path(path))
    content = engine.write(booster, path.suffix)
    libraries = ("lambdaboost", "numpy", "numba", engine.NAME)
    description: dict[str, Any] = {
        "engine": engine.NAME,
        "model_sha256": hashlib.sha256(content).hexdigest(),
        "objective": text_of(read_objective(objective)),
        "params": dict(params or {}),
        "versions": {name: str(package(name).__version__) for name in libraries},
        "categories": engine.categories(booster),
    }
    for own in (*description, "columns", "sha256"):
        if own in (about or ()):
            raise ValueError(f"about has {own}, which save writes itself: give it another name")
    if encoder is not None:
        description |= encoder.to_dict()
    # What JSON has not: NaN and infinity, which Python writes all the same, and NumPy's numbers.
    entries = json.loads(json.dumps(description | dict(about or {}), default=_as_json), parse_constant=str)
    entries["sha256"] = _digest_of(entries)
    described = json.dumps(entries, indent=2, allow_nan=False).encode()
    with replacing_all(path, sidecar_path(path)) as (file, sidecar):
        file.write(content)
        sidecar.write(described + b"\n")


def check_suffix(name: str, path: Path, engine: Engine) -> None:
    """Raise where the suffix of a path is that of another engine's format, such as ``.txt`` for a model of XGBoost."""
    other = engine_of_suffix(path)
    if other not in (None, engine.NAME):
        raise ValueError(
            f"{name} {path} has the suffix of {ENGINES[other].TITLE}'s format, and the model is {engine.TITLE}'s: give "
            f"{' or '.join(engine.SUFFIXES)}, or no suffix"
        )


def engine_of_suffix(path: Path) -> str | None:
    """The engine in whose format the suffix of a model file says it is; None for any other suffix."""
    return next((name for name, one in ENGINES.items() if path.suffix.lower() in one.SUFFIXES), None)


def load(path: str | Path) -> SavedModel:
    """Load a model and its description.

    Raises
    ------
    FileNotFoundError
        If there is no model.
    ValueError
        If the path is a folder, or the description is missing, of another model, or was changed.

    """
    path = Path(path)
    check_file(path)
    content, sidecar = path.read_bytes(), sidecar_path(path)
    if not sidecar.exists():
        raise ValueError(f"{sidecar} is missing: it is written with the model and describes the training")
    try:
        about = json.loads(sidecar.read_bytes())
        is_own = about["sha256"] == _digest_of(about)
    except (KeyError, TypeError, ValueError, RecursionError):
        is_own = False
    if not is_own:
        raise ValueError(
            f"{sidecar} is not as save wrote it: restore it, or train again; save has about= for further entries"
        )
    if about["model_sha256"] != hashlib.sha256(content).hexdigest():
        raise ValueError(
            f"{path} is not the model that {sidecar} describes: keep both files together and unchanged "
            "(Git may change line ends)"
        )
    return SavedModel(ENGINES[about["engine"]].read(content), about, Encoder.from_dict(about), str(path))


def _digest_of(entries: Mapping[str, Any]) -> str:
    """The SHA-256 of a description without itself, by which a changed one is known, whatever was changed."""
    others = {name: value for name, value in entries.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def load_plain(path: Path, columns: Columns) -> SavedModel:
    """A model file of LightGBM or XGBoost without a description; `columns` say what a table has besides features."""
    check_file(path)
    content = path.read_bytes()
    engine = ENGINES["xgboost"]
    if content.lstrip().startswith(b"tree"):  # the first line of LightGBM's text
        engine = ENGINES["lightgbm"]
    try:
        booster = engine.read(content)
    except Exception as error:
        said = refusal(error)
        if said is None and not isinstance(error, ValueError):
            raise
        raise ValueError(f"{path} is not a model that LightGBM or XGBoost saved: {said or error}") from None
    encoder = Encoder(columns, categories=engine.categories(booster))
    return SavedModel(booster, {"engine": engine.NAME}, encoder, str(path))


def sidecar_path(path: Path) -> Path:
    """``model.txt.json`` for ``model.txt``."""
    return path.parent / f"{path.name}.json"


def booster_of(model: Any) -> Any:
    """The booster of a ranker, with the rounds of its whole training, or of a loaded model; any other unchanged."""
    if isinstance(model, SavedModel):
        return model.booster
    if hasattr(type(model), "__sklearn_is_fitted__"):  # of both engines' rankers
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
    if hasattr(type(model), "get_booster"):
        return model.get_booster()
    if hasattr(type(model), "booster_"):
        return model.booster_
    return model


def known_encoder(model: Any) -> Encoder | None:
    """The encoder of a fitted ranker or of a loaded model; a booster knows no more than its engine stores."""
    if isinstance(model, SavedModel):
        return model.encoder
    return getattr(model, "_encoder", None)


def booster_to_continue(model: Any, engine: Engine) -> Any:
    """The booster, of this engine, of a ranker, a loaded model, a booster or a model file."""
    if isinstance(model, str | os.PathLike):
        check_file(Path(model))
        return engine.read(Path(model).read_bytes())
    booster = booster_of(model)
    if engine_of(booster) is not engine:
        raise TypeError(
            f"the model to continue is of type {type(model).__name__}: give a ranker, a booster or a model file of "
            f"{engine.TITLE}"
        )
    return booster


def has_feature_names(booster: Any, engine: Engine) -> bool:
    """Whether a booster has names of features, and not only those that its engine gives by place."""
    names = engine.feature_names(booster)
    return names != tuple(map(engine.UNNAMED.format, range(len(names))))


def with_booster_features(encoder: Encoder, booster: Any, there: Iterable[Any]) -> Encoder:
    """The encoder with the features and categories of a booster, by name if it has names, or `there` are its own."""
    engine: Any = engine_of(booster)
    exact = {column: column for column in there}
    # LightGBM keeps an underscore for a blank.
    by_name = {str(column).replace(" ", "_"): column for column in exact}
    by_name |= {str(column): column for column in exact} | exact
    names: tuple[str, ...] = engine.feature_names(booster)
    if not has_feature_names(booster, engine) and not set(names) <= set(exact):
        names = ()
    known = encoder.categories or engine.categories(booster)
    categories = {by_name.get(name, name): values for name, values in known.items()}
    features = tuple(by_name.get(name, name) for name in names)
    return replace(encoder, features=features, categories=categories)


def changed_params(ranker: Any) -> dict[str, Any]:
    """The parameters of a ranker that differ from its defaults."""
    defaults, params = type(ranker)().get_params(), ranker.get_params()
    return {name: value for name, value in params.items() if repr(value) != repr(defaults.get(name))}


def _as_json(value: Any) -> Any:
    """What JSON has in place of a value that it has not: numbers and lists of NumPy's, the repr of anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    return value.tolist() if hasattr(value, "tolist") else repr(value)
