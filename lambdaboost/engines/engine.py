"""`Engine`: what lambdaboost needs from a stock engine; there is one object for each, found by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from lambdaboost._installed import ENGINES
from lambdaboost.calls.traps import Trap
from lambdaboost.datasets import Collection
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.shards import Shards
from lambdaboost.engines.leaves import Leaves
from lambdaboost.evaluation import Measure


@dataclass(frozen=True)
class Training:
    """Settings of a training: objective, also a native one, parameters, rounds and measure."""

    objective: Any
    leaves: Leaves
    rounds: int
    params: Mapping[str, Any]
    measure: Measure | None = None
    early_stopping: int | None = None


class Engine(Protocol):
    """A stock engine; what only its own folder knows is in its attributes."""

    name: ClassVar[str]  # of its package
    title: ClassVar[str]  # in prose
    native: ClassVar[str]  # its own ranking objective
    metrics: ClassVar[str]  # the argument of `train` that takes measures
    continued: ClassVar[str]  # the argument of `train` that takes a model to continue
    # All names of a parameter by what it is: "objective", "metric", "rounds", "early stopping", "seed", "rate" and
    # "least leaf".
    aliases: ClassVar[Mapping[str, tuple[str, ...]]]
    # What only its own objectives read, with the counterpart in lambdaboost.
    only_native: ClassVar[Mapping[str, str]]
    quiet: ClassVar[Mapping[str, Any]]  # with these parameters it evaluates nothing of its own
    silent: ClassVar[Mapping[str, Any]] = {}  # with these it prints nothing, unless others are given
    metric_names: ClassVar[frozenset[str]]  # of its own metrics, without cutoffs
    metrics_by_commas: ClassVar[bool] = False  # whether one text may name several
    # Its own metrics at a cutoff, such as "ndcg@5", if the engine itself cannot read these names.
    cutoffs: ClassVar[Mapping[str, Callable[..., Measure]]] = {}
    unnamed: ClassVar[str]  # its names of features that were given none
    blank: ClassVar[str] = " "  # what a booster keeps for a blank in the name of a feature
    # The values of parameters that it takes with a folder of shards.
    streamed: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    traps: ClassVar[tuple[Trap, ...]]  # the rows of docs/traps.md about this engine alone

    # Data.

    def data(
        self, collection: Collection | Shards, reference: Any = None, params: Mapping[str, Any] | None = None
    ) -> Any:
        """Convert to the engine's data set; validation data are aligned with the training data `reference`.

        The features of shards are read in batches, and never held; `params` are those of the training.
        """

    def check_data(self, name: str, data: Any) -> int:
        """The number of rows; a TypeError unless `data` is a data set of this engine."""

    def features(self, data: Any, names: Sequence[str]) -> tuple[Any, ...] | None:
        """The arguments of `leaks`: features by rows, queries, and names of the features; None without rows."""

    # Trainings.

    def run(self, job: Any) -> Any:
        """The booster that the engine's own `train` returns for a `Job`."""

    def run_cv(self, job: Any, folds: Any) -> Any:
        """What the engine's own `cv` returns for a `Job`, over folds of whole queries."""

    def own(self, early_stopping: int | None) -> dict[str, Any]:
        """The arguments that only this engine has, for a `Training`."""

    def workers(self, params: Mapping[str, Any]) -> int:
        """How many workers of a cluster train together."""

    # A booster.

    def best_round(self, booster: Any) -> int | None:
        """The number of rounds up to the best one; None if it did not stop early."""

    def n_rounds(self, booster: Any) -> int:
        """The number of rounds of a booster that is saved."""

    def has_splits(self, booster: Any) -> bool:
        """Whether any tree has a split; True for models without trees."""

    def training_scores(self, booster: Any, data: Any) -> NDArray[np.floating]:
        """The scores of the training data of a booster in training, shape (n_documents,)."""

    def scores(self, booster: Any, features: Any, rounds: int | None = None) -> NDArray[np.floating]:
        """The booster's scores after `rounds`, by default the best ones, shape (n_documents,)."""

    def predict(self, booster: Any, X: Any, params: Mapping[str, Any]) -> Any:
        """The predictions of a `LambdaRanker` with these parameters, bit for bit, before grades become scores."""

    def write(self, booster: Any, suffix: str) -> bytes:
        """The bytes of a file of the booster whose name ends in `suffix`."""

    def read(self, content: bytes) -> Any:
        """Load a booster from the bytes of its file."""

    def feature_names(self, booster: Any) -> tuple[str, ...] | None:
        """Names of the features, or None if the booster has none."""

    def categories(self, booster: Any) -> dict[str, list[Any]]:
        """The values of each categorical feature that the booster itself stores."""

    def importance(self, booster: Any) -> NDArray[np.float64]:
        """The total gain of each feature, shape (n_features,)."""

    def n_features(self, booster: Any) -> int:
        """Number of features of the booster."""
        return self.importance(booster).size

    # Names.

    def parameters(self) -> frozenset[str]:
        """The names of all parameters that the engine reads; empty if unknown."""

    @property
    def reserved(self) -> frozenset[str]:
        """Parameters for which the command line has its own options."""
        concepts = ("objective", "metric", "rounds", "early stopping", "seed")
        return frozenset(self.quiet).union(*map(self.aliases.__getitem__, concepts))

    def unknown(self, key: Any) -> str | None:
        """A remedy for a parameter that the engine does not know, else None."""
        known = self.parameters()
        return remedy(key, known) if known and key not in known else None

    def named_columns(self, names: Iterable[str], columns: Iterable[Any]) -> tuple[Any, ...]:
        """The columns under which the features `names` are in a table; a name itself if it is not there."""
        exact = {column: column for column in columns}
        by_name = {str(column).replace(" ", self.blank): column for column in exact} | exact
        return tuple(by_name.get(name, name) for name in names)


def engine_named(name: str) -> Engine:
    """The engine; its package is imported only now."""
    engine: Engine = import_module(f"lambdaboost.{name}.engine").ENGINE
    return engine


def engine_of(model: Any) -> str | None:
    """The name of the engine of a booster; None for anything else."""
    name = type(model).__module__.split(".")[0]
    return name if name in ENGINES and type(model).__name__ == "Booster" else None


def carried(collection: Collection | Shards) -> dict[str, Any]:
    """What an engine's data set takes of a collection beside the features."""
    q = collection.queries
    sources = {name: labels for name, labels in q.labels.items() if name != RELEVANCE}
    beside = {"label": q.labels[RELEVANCE], "group": q.sizes, "weight": q.weight}
    return {**beside, "sources": sources, "position": q.positions}


def likely(name: str, known: Set[str]) -> str | None:
    """The known name that was probably meant; None if `name` is known, or similar to none.

    >>> known = {"n_estimators", "max_depth"}
    >>> likely("n_estimator", known), likely("depth", known), likely("max_depth", known), likely("my_own", known)
    ('n_estimators', 'max_depth', None, None)
    """
    if name in known:
        return None
    ends = [full for full in known if full.endswith(f"_{name}")]
    ends = [full for full in ends if not any(full.endswith(f"_{end}") for end in ends)]
    close = ends if len(ends) == 1 else get_close_matches(name, sorted(known), 1, 0.8)
    return close[0] if close else None


def remedy(name: Any, known: Set[str]) -> str:
    """What to do about a name that is not known.

    >>> remedy("max_depht", {"max_depth"}), remedy("my_own", {"max_depth"})
    ("did you mean 'max_depth'?", 'leave it out')
    """
    meant = likely(name, known) if isinstance(name, str) else None
    close = [meant] if meant else get_close_matches(str(name), known, 2)
    return f"did you mean {' or '.join(map(repr, close))}?" if close else "leave it out"
