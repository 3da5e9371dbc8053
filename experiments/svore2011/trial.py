"""`Trial`: one training run, and `Setting`: what all runs share."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from lambdaboost import __version__
from lambdaboost.engines.leaves import Leaves
from lambdaboost.objectives import Objective
from lambdaboost.reproduce.data import Fold

# Raise it where a change of this package changes what a run gives.
PROTOCOL = 1


@dataclass(frozen=True)
class Setting:
    """What all runs of a reproduction share."""

    engine: str
    rounds: int
    every: int
    num_leaves: int
    seed: int
    data: str


@dataclass(frozen=True)
class Trial:
    """One training run: an objective, None for the engine's own, with one choice of every parameter.

    `documents` is the least number of documents in a leaf, None where the engine cannot tell.
    """

    fold: Fold
    objective: Objective | None
    leaves: Leaves
    rate: float
    documents: int | None
    share: float = 1.0

    def described(self, setting: Setting) -> dict[str, Any]:
        """Everything that the result hangs on, as plain values."""
        return {
            "protocol": PROTOCOL,
            "lambdaboost": __version__,
            "engine": setting.engine,
            "engine_version": version(setting.engine),
            "data": setting.data,
            "train": self.fold.train,
            "valid": self.fold.valid,
            "test": self.fold.test,
            "share": self.share,
            "objective": "native" if self.objective is None else repr(self.objective),
            "leaves": self.leaves,
            "learning_rate": self.rate,
            "documents_per_leaf": self.documents,
            "num_leaves": setting.num_leaves,
            "rounds": setting.rounds,
            "every": setting.every,
            "seed": setting.seed,
        }

    def key(self, setting: Setting) -> str:
        """The name that the run is stored under."""
        text = json.dumps(self.described(setting), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]
