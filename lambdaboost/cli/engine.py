"""`Engine`: the interface of an engine for the command line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective

# Called after every round with the measure on the validation part, or None without one.
OnRound = Callable[[float | None], None]


@dataclass(frozen=True)
class Training:
    """Settings of a training: objective, parameters, rounds and measure."""

    objective: Objective
    leaves: Leaves
    rounds: int
    params: Mapping[str, Any]
    measure: Measure | None = None
    early_stopping: int | None = None


class Engine(ABC):
    """A stock engine.

    `native` is its own ranking objective; `reserved` are parameters that have their own command-line options.
    """

    name: ClassVar[str]
    native: ClassVar[str]
    reserved: ClassVar[frozenset[str]]

    def unknown(self, key: str) -> str | None:
        """A remedy if the engine would silently ignore the unknown parameter `key`, else None."""
        return None

    @abstractmethod
    def data(self, collection: Collection, reference: Any = None) -> Any:
        """Convert a collection to the engine's data set with label sources; `reference` is the training data."""

    @abstractmethod
    def train(self, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
        """Train a booster, truncated at its best round after early stopping."""

    @abstractmethod
    def train_native(self, params: Mapping[str, Any], data: Any, rounds: int, on_round: OnRound) -> Any:
        """Train a booster with the engine's own ranking objective."""

    @abstractmethod
    def scores(self, booster: Any, features: Any) -> NDArray[np.floating]:
        """The booster's scores, shape (n_documents,)."""

    @abstractmethod
    def read(self, content: bytes) -> Any:
        """Load a booster from the bytes of its file."""

    @abstractmethod
    def n_features(self, booster: Any) -> int:
        """Number of features of the booster."""

    @abstractmethod
    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """Names of the features, or None if the booster has none."""

    @abstractmethod
    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The total gain of each feature, shape (n_features,)."""

    @abstractmethod
    def n_rounds(self, booster: Any) -> int:
        """Number of rounds of the booster."""


def sources_of(collection: Collection) -> dict[str, NDArray[np.float32]]:
    """The label sources other than relevance."""
    return {name: labels for name, labels in collection.queries.labels.items() if name != RELEVANCE}
