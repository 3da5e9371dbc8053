"""`Engine`: what lambdaboost needs from a stock engine; there is one object for each, found by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import Measure

# Called after every round with the measure on the validation part, if there is one.
OnRound = Callable[[float | None], None]


@dataclass(frozen=True)
class Training:
    """Settings of a training: objective, also a native one, parameters, rounds and measure."""

    objective: Any
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
        The name of its package, and its name in prose.
    native : str
        Its own ranking objective.
    aliases : mapping of str to tuple of str
        All names of a parameter, by what it is: ``"objective"``, ``"metric"``, ``"rounds"``, ``"early stopping"``,
        ``"seed"``, ``"rate"`` and ``"least leaf"``.
    only_native : mapping of str to str
        The parameters that only `native` reads, with the counterpart in lambdaboost.
    metrics : str
        The argument of `train` that takes measures.
    metric_names : frozenset of str
        The names of its own metrics, without cutoffs.
    metrics_by_commas : bool
        Whether one text may name several metrics.
    predicts_margins : bool
        Whether a booster trained on lambdaboost's own logistic loss predicts margins in place of probabilities.

    """

    name: ClassVar[str]
    title: ClassVar[str]
    native: ClassVar[str]
    aliases: ClassVar[Mapping[str, tuple[str, ...]]]
    only_native: ClassVar[Mapping[str, str]]
    metrics: ClassVar[str]
    metric_names: ClassVar[frozenset[str]]
    metrics_by_commas: ClassVar[bool]
    predicts_margins: ClassVar[bool]

    @property
    def reserved(self) -> frozenset[str]:
        """Parameters for which the command line has its own options."""
        concepts = ("objective", "metric", "rounds", "early stopping", "seed")
        return frozenset(name for concept in concepts for name in self.aliases[concept])

    @abstractmethod
    def parameters(self) -> frozenset[str]:
        """The names of all parameters that the engine reads; empty if unknown."""

    def unknown(self, key: str) -> str | None:
        """A remedy if the engine would silently ignore the unknown parameter `key`, else None."""
        return None

    @abstractmethod
    def scores(self, booster: Any, features: Any) -> NDArray[np.floating]:
        """The booster's scores, shape (n_documents,)."""

    @abstractmethod
    def predict(self, booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
        """The predictions of a `LambdaRanker` with these parameters, bit for bit, before grades become scores."""

    @abstractmethod
    def write(self, booster: Any, suffix: str) -> bytes:
        """The bytes of a file of the booster whose name ends in `suffix`."""

    @abstractmethod
    def read(self, content: bytes) -> Any:
        """Load a booster from the bytes of its file."""

    @abstractmethod
    def n_features(self, booster: Any) -> int:
        """Number of features of the booster."""

    @abstractmethod
    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """Names of the features, or None if the booster has none."""

    def stored_name(self, column: str) -> str:
        """The name under which a booster keeps a column."""
        return column

    def named_columns(self, names: Iterable[str], columns: Iterable[Any]) -> tuple[Any, ...]:
        """The columns under which the features `names` are in a table; a name itself if it is not there."""
        columns = list(columns)
        by_name = {self.stored_name(str(column)): column for column in columns} | {
            column: column for column in columns
        }
        return tuple(by_name.get(name, name) for name in names)

    @abstractmethod
    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The total gain of each feature, shape (n_features,)."""

    @abstractmethod
    def n_rounds(self, booster: Any) -> int:
        """Number of rounds of the booster."""


class Trainer(ABC):
    """How the command line trains on an engine: its data set and its `train`."""

    @abstractmethod
    def data(self, collection: Collection, reference: Any = None) -> Any:
        """Convert a collection to the engine's data set with label sources; `reference` is the training data."""

    @abstractmethod
    def train(self, training: Training, data: Any, valid: Any, on_round: OnRound) -> Any:
        """Train a booster, truncated at its best round after early stopping."""


def engine_named(name: str) -> Engine:
    """The engine; its package is imported only now."""
    engine: Engine = import_module(f"lambdaboost.{name}._engine").ENGINE
    return engine


def trainer_named(name: str) -> Trainer:
    """How the command line trains on the engine; its package is imported only now."""
    trainer: Trainer = import_module(f"lambdaboost.{name}._trainer").TRAINER
    return trainer


def sources_of(collection: Collection) -> dict[str, NDArray[np.float32]]:
    """The label sources other than relevance."""
    return {name: labels for name, labels in collection.queries.labels.items() if name != RELEVANCE}
