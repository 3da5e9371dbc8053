"""A model file as the engine writes it, and beside it ``MODEL.json``, which says how it came about."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli.columns import Columns, Source
from lambdaboost.cli.engine import Engine
from lambdaboost.cli.engines import ENGINES
from lambdaboost.datasets._files import replacing


@dataclass(frozen=True)
class SavedModel:
    """A model with the columns that it was trained on and what else its file says."""

    engine: Engine
    booster: Any
    columns: Columns
    about: Mapping[str, Any]

    def scores(self, features: Any) -> NDArray[np.floating]:
        """Scores, shape (n_documents,)."""
        return self.engine.scores(self.booster, features)


def beside(path: Path) -> Path:
    """``model.txt.json`` for ``model.txt``."""
    return path.with_name(f"{path.name}.json")


def check_place(path: Path) -> None:
    """Refuse a place that no file can be written to, before anything is computed for it."""
    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"--out {path}: there is no folder {folder}; make it first")
    if path.is_dir():
        raise ValueError(f"--out {path} is a folder: give the name of a file in it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"--out {path}: the folder {folder} cannot be written to; choose another")


def save(path: Path, model: SavedModel) -> None:
    """Write both files; a model that stands there before is replaced only by a whole one."""
    content = model.engine.dump(model.booster, path.suffix)
    about = {
        "engine": model.engine.name,
        "model_sha256": hashlib.sha256(content).hexdigest(),
        "columns": asdict(model.columns),
        **model.about,
    }
    text = json.dumps(about, indent=2, allow_nan=False).encode()
    with replacing(path) as file, replacing(beside(path)) as description:
        file.write(content)
        description.write(text + b"\n")


def load(path: Path) -> SavedModel:
    """Read both files back; a ValueError where the description is missing, damaged, or of another model."""
    content = path.read_bytes()
    about = _described(path)
    if about["model_sha256"] != hashlib.sha256(content).hexdigest():
        raise ValueError(f"{beside(path)} describes another model than {path}: keep the two files together")
    engine = ENGINES[about["engine"]]
    saved = about["columns"]
    sources = tuple(Source(**source) for source in saved["sources"])
    columns = Columns(sources, tuple(saved["dropped"]), saved["n_features"], saved["sparse"])
    return SavedModel(engine, engine.load(content), columns, about)


def _described(path: Path) -> dict[str, Any]:
    try:
        about = json.loads(beside(path).read_bytes())
        if about.keys() >= {"engine", "model_sha256", "columns"} and about["engine"] in ENGINES:
            return about
    except FileNotFoundError:
        raise ValueError(
            f"no {beside(path)} beside {path}: it says which columns the model takes; lambdaboost train writes it"
        ) from None
    except (ValueError, AttributeError):
        pass
    raise ValueError(f"{beside(path)} is no description of a model: train again, or bring back the original")
