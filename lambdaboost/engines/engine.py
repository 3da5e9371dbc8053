"""`Engine`: what lambdaboost needs of a stock engine, one value for each, found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective

ENGINES = ("lightgbm", "xgboost")

# Called after every round with the measure on the validation part, if there is one.
OnRound = Callable[[float | None], None]


@dataclass(frozen=True)
class Training:
    """What is asked of an engine: how to train, and on what to measure each round."""

    objective: Objective
    leaves: Leaves
    rounds: int
    params: Mapping[str, Any]
    measure: Measure | None = None
    early_stopping: int | None = None


class Engine(ABC):
    """A stock engine.

    Attributes
    ----------
    name, title : str
        That of its package, and as it is written.
    native : str
        Its own ranking objective.
    aliases : mapping of str to tuple of str
        All names of a parameter, by what it is: ``"objective"``, ``"metric"``, ``"rounds"``, ``"early stopping"``,
        ``"seed"``, ``"rate"`` and ``"least leaf"``.
    only_native : mapping of str to str
        The parameters that only `native` reads, with what does the same for objectives of lambdaboost.
    metrics : str
        The argument of `train` that takes measures.
    predicts_margins : bool
        Whether a booster trained on lambdaboost's own logistic loss predicts margins in place of probabilities.

    """

    name: ClassVar[str]
    title: ClassVar[str]
    native: ClassVar[str]
    aliases: ClassVar[Mapping[str, tuple[str, ...]]]
    only_native: ClassVar[Mapping[str, str]]
    metrics: ClassVar[str]
    predicts_margins: ClassVar[bool]

    @property
    def reserved(self) -> frozenset[str]:
        """Parameters that the command line has options of its own for."""
        concepts = ("objective", "metric", "rounds", "early stopping", "seed")
        return frozenset(name for concept in concepts for name in self.aliases[concept])

    @abstractmethod
    def parameters(self) -> frozenset[str]:
        """Every name of a parameter that the engine reads; empty where it tells none."""

    def unknown(self, key: str) -> str | None:
        """What to do where the engine knows no parameter `key` and would pass over it in silence, else None."""
        return None

    @abstractmethod
    def data(self, collection: Collection, reference: Any = None) -> Any:
        """A collection as the engine's data set, with its label sources; `reference` is the training data."""

    @abstractmethod
    def train(self, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
        """A booster, cut at its best round where it stopped early."""

    @abstractmethod
    def train_native(self, params: Mapping[str, Any], data: Any, rounds: int, on_round: OnRound) -> Any:
        """A booster of the engine's own ranking objective."""

    @abstractmethod
    def scores(self, booster: Any, features: Any) -> NDArray[np.floating]:
        """The booster's scores, shape (n_documents,)."""

    @abstractmethod
    def predict(self, booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
        """What the `LambdaRanker` of these parameters predicts before grades become scores, the same bits."""

    @abstractmethod
    def write(self, booster: Any, suffix: str) -> bytes:
        """The bytes of a file of the booster whose name ends in `suffix`."""

    @abstractmethod
    def read(self, content: bytes) -> Any:
        """A booster from the bytes of its file."""

    @abstractmethod
    def n_features(self, booster: Any) -> int:
        """How many features the booster takes."""

    @abstractmethod
    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """Their names, where they are more than numbers."""

    @abstractmethod
    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The gain of all splits on each feature, shape (n_features,)."""

    @abstractmethod
    def n_rounds(self, booster: Any) -> int:
        """Rounds that the booster keeps."""


def engine_named(name: str) -> Engine:
    """The engine; its package is imported only now."""
    engine: Engine = import_module(f"lambdaboost.{name}._engine").ENGINE
    return engine


def sources_of(collection: Collection) -> dict[str, NDArray[np.float32]]:
    """The label sources other than relevance."""
    return {name: labels for name, labels in collection.queries.labels.items() if name != RELEVANCE}
