"""Saved models: the engine's own file, with a small ``.json`` file next to it that describes the training."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lambdaboost._files import check_place, replacing
from lambdaboost._value import text_of
from lambdaboost.datasets import Encoder
from lambdaboost.datasets.table import open_table
from lambdaboost.engines import ENGINES, engine_of
from lambdaboost.objectives import Objective
from lambdaboost.objectives.parsing import read_objective


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A loaded model: the engine's booster and its description."""

    booster: Any
    about: Mapping[str, Any]

    @property
    def objective(self) -> Any:
        """The objective that it was trained with; a ValueError if its text cannot be parsed."""
        return read_objective(self.about["objective"])

    def predict(self, X: Any, *, unseen: str | None = None) -> Any:
        """Scores of documents, bit-identical to those of the saved ranker, without the columns of labels.

        `unseen` is that of `LambdaRanker`, by default that of the saved one.
        """
        encoder = Encoder.from_dict(self.about)
        table = open_table(X, "X", encoder.text)
        if table.is_named and not encoder.features:  # of a stock booster
            encoder = with_booster_features(encoder, self.booster, table.names)
        if unseen is not None:
            encoder = replace(encoder, unseen=unseen)
        params = self.about.get("params", {})
        more = {"missing": params["missing"]} if "missing" in params else {}
        return ENGINES[self.about["engine"]].scores(self.booster, encoder.transform(table), **more)


def save(
    model: Any,
    path: str | Path,
    *,
    objective: Objective | str | None = None,
    params: Mapping[str, Any] | None = None,
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
        What the booster was trained with; a `LambdaRanker` knows these itself.
    about : mapping, optional
        Further entries for the description, as JSON accepts them. The values of categorical features are in it anyway.

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
    path, booster = Path(path), booster_in_use(model)
    fitted = getattr(model, "_fitted", None)
    if booster is not model:  # a ranker
        objective = getattr(model, "objective_", None) if objective is None else objective
        own = {name: value for name, value in changed_params(model).items() if name != "objective"}
        params = own if params is None else params
    if objective is None:
        raise ValueError("objective is None: a booster does not know its objective; give it here")
    text = text_of(read_objective(objective))
    check_place("path", path)
    check_place("path", sidecar_path(path))
    engine = engine_of(booster)
    if engine is None:
        raise TypeError(
            f"model is a {type(booster).__name__}, expected a lightgbm.Booster, an xgboost.Booster or a fitted "
            "LambdaRanker; save other estimators with joblib"
        )
    content = engine.write(booster, path.suffix)
    versions = {name: version(name) for name in ("lambdaboost", "numpy", "numba")}
    description = {
        "engine": engine.NAME,
        "model_sha256": hashlib.sha256(content).hexdigest(),
        "objective": text,
        "params": dict(params or {}),
        "versions": versions | {engine.NAME: engine.version()},
        "categories": engine.categories(booster),
        **({} if fitted is None else fitted.to_dict()),
        **(about or {}),
    }
    described = json.dumps(description, indent=2, allow_nan=False, default=_plain).encode()
    with replacing(path) as file, replacing(sidecar_path(path)) as sidecar:
        file.write(content)
        sidecar.write(described + b"\n")
        file.flush()  # if the disk is full, this fails before the description is replaced


def load(path: str | Path) -> SavedModel:
    """Load a model and its description.

    Raises
    ------
    FileNotFoundError
        If there is no model.
    ValueError
        If the description is missing, damaged, or of another model.

    """
    path = Path(path)
    content, sidecar = path.read_bytes(), sidecar_path(path)
    if not sidecar.exists():
        raise ValueError(f"{sidecar} is missing: it is written with the model and describes the training")
    try:
        about = json.loads(sidecar.read_bytes())
        digest, known = about["model_sha256"], about["engine"] in ENGINES and "objective" in about
    except (ValueError, TypeError, KeyError):
        known = False
    if not known:
        raise ValueError(f"{sidecar} is not the description of a model: train again, or restore the original")
    if digest != hashlib.sha256(content).hexdigest():
        raise ValueError(f"{sidecar} describes another model than {path}: keep the two files together")
    return SavedModel(ENGINES[about["engine"]].read(content), about)


def sidecar_path(path: Path) -> Path:
    """``model.txt.json`` for ``model.txt``."""
    return path.with_name(f"{path.name}.json")


def booster_of(model: Any, kind: type[Any]) -> Any:
    """The booster, of this `kind`, of a ranker, of a booster, or of a model file."""
    booster = model.get_booster() if hasattr(model, "get_booster") else getattr(model, "booster_", model)
    return booster if isinstance(booster, kind) else kind(model_file=booster)


def booster_in_use(model: Any) -> Any:
    """The booster of a fitted ranker, with the rounds that the ranker predicts with; any other model unchanged."""
    if hasattr(model, "get_booster"):
        booster = model.get_booster()
        try:
            rounds = model.best_iteration + 1
        except AttributeError:
            return booster
        # XGBoost cannot slice a linear model, and predicts with all its rounds.
        return booster if model.booster == "gblinear" else booster[:rounds]
    return model.booster_ if hasattr(model, "booster_") else model


def with_booster_features(encoder: Encoder, booster: Any, there: Iterable[Any]) -> Encoder:
    """The encoder with the features and categories of a booster, by name if it has names, or `there` are its own."""
    engine: Any = engine_of(booster)
    exact = {column: column for column in there}
    # LightGBM keeps an underscore for a blank.
    by_name = {str(column).replace(" ", "_"): column for column in exact}
    by_name |= {str(column): column for column in exact} | exact
    names: tuple[str, ...] = engine.feature_names(booster)
    unnamed = names == tuple(map(engine.UNNAMED.format, range(len(names))))
    if unnamed and not set(names) <= set(exact):
        names = ()
    known = encoder.categories or engine.categories(booster)
    categories = {by_name.get(name, name): values for name, values in known.items()}
    features = tuple(by_name.get(name, name) for name in names)
    return replace(encoder, features=features, categories=categories)


def changed_params(ranker: Any) -> dict[str, Any]:
    """The parameters of a ranker that differ from its defaults."""
    defaults, params = type(ranker)().get_params(), ranker.get_params()
    return {name: value for name, value in params.items() if repr(value) != repr(defaults.get(name))}


def _plain(value: Any) -> Any:
    """NumPy numbers and arrays as JSON values, anything else as its repr."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)
