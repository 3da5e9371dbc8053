"""A model file of the command line: one of `lambdaboost.engines.saving`, whose description also names the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.cli.columns import Columns, Source
from lambdaboost.cli.engine import Engine
from lambdaboost.cli.engines import ENGINES
from lambdaboost.engines import saving


@dataclass(frozen=True)
class LoadedModel:
    """A model with the columns that it was trained on and what else its file says."""

    engine: Engine
    booster: Any
    columns: Columns
    about: Mapping[str, Any]

    def scores(self, features: Any) -> NDArray[np.floating]:
        """Scores, shape (n_documents,)."""
        return self.engine.scores(self.booster, features)


def described(columns: Columns) -> dict[str, Any]:
    """What the description says of the columns."""
    return {"columns": asdict(columns)}


def load(path: Path) -> LoadedModel:
    """Read both files back; a ValueError where the description is missing, damaged, or of another model."""
    saved = saving.load(path)
    columns = saved.about.get("columns")
    if columns is None:
        raise ValueError(
            f"{saving.beside(path)} does not say which columns the model takes: "
            "give a model that lambdaboost train wrote"
        )
    sources = tuple(Source(**source) for source in columns["sources"])
    read = Columns(sources, tuple(columns["dropped"]), columns["n_features"], columns["sparse"])
    return LoadedModel(ENGINES[saved.about["engine"]], saved.booster, read, saved.about)
