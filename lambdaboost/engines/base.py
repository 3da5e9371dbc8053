"""The protocol of an engine: all questions that lambdaboost asks of one, which `lightgbm` and `xgboost` answer.

A third engine is a third module with these names; nothing else in the package knows an engine's own functions. The
modules import their engine inside functions, so that either may be missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.collection import Categories
from lambdaboost.datasets.queries import Queries

# What an engine takes of an objective: the gradient and the hessian, float32 (n_documents,).
Gradient = tuple[NDArray[np.float32], NDArray[np.float32]]

# Called after every round with the measure of the validation data, None without.
OnRound = Callable[[float | None], object]


class Fields(NamedTuple):
    """The fields of an engine's data set, by row or query; None where one was not given."""

    offsets: NDArray[Any] | None  # where each query begins, and the end
    labels: NDArray[Any] | None
    weight: NDArray[Any] | None  # of rows or of queries
    parent: Any = None  # the data set of which it has the rows `rows`, None for one that is no subset
    rows: Any = None


class Split(NamedTuple):
    """A split: left if feature ≤ threshold (both float32) or, where there are categories, if it is one of them.

    A child is another split, or the value of a leaf.
    """

    feature: int
    threshold: np.float32
    categories: tuple[int, ...]
    missing_left: bool
    left: Split | float
    right: Split | float


class Engine(Protocol):
    """What an engine answers: first for a training, on parameters, data sets and boosters; then on trained models."""

    NAME: str  # "lightgbm": of the module, of the engine's package, and in saved models
    TITLE: str  # "LightGBM"
    NATIVE_OBJECTIVES: tuple[str, ...]  # the engine's own ranking objectives, the default first
    MIN_LEAF_SIZE: str  # the parameter with the smallest leaf, in documents or in hessians
    DEFAULTS: dict[str, float]  # of the parameters that limit the size of leaves
    NO_GROUPS: str  # the error for a data set without queries
    # Parameters that only its own ranking objective reads: the value with which that does what lambdaboost does, None
    # without one, and what to give instead.
    ONLY_NATIVE: dict[str, tuple[bool | None, str]]

    # Parameters.

    RESERVED: tuple[str, ...]  # those for which the command line has its own options

    def parameter_names(self) -> frozenset[str]:
        """All names of parameters, with their aliases."""

    def given(self, params: Mapping[str, Any], name: str) -> Any:
        """The value of a parameter under any of its names; None without."""

    def is_metric(self, text: str) -> bool:
        """Whether a text names one of the engine's own metrics."""

    def workers(self, params: Mapping[str, Any]) -> int:
        """How many workers of a cluster train together."""

    # Data sets.

    DATA_METHOD: str  # a method of its data sets that those of no other engine have, by which they are known

    def fields_of(self, data: Any) -> Fields:
        """The fields of a data set, as given while the engine has not read it; asked in every round."""

    def sliced_from(self) -> Any:
        """The data set whose slices train now and have lost what was attached; None elsewhere."""

    def dataset(
        self,
        features: Any,
        q: Queries,
        *,
        names: Sequence[str] | None = None,
        reference: Any = None,
    ) -> Any:
        """A data set of the grades, 0 where missing; validation data are binned as the data set `reference`."""

    # Boosters in training.

    BOOSTER_METHOD: (
        str  # a method of its boosters that those of no other engine have, by which they are known
    )

    ROUNDS_METHOD: str  # the method that counts its rounds, with those of the model that it continues
    THREADS: str  # the parameter with the number of threads

    def params_of(self, booster: Any) -> Mapping[str, Any]:
        """The parameters that the user gave, as far as the engine shows them."""

    def own_metrics(self, booster: Any) -> Sequence[str]:
        """The names of the engine's own metrics that the booster evaluates, as in its results."""

    def metrics_in_training(self, booster: Any) -> Sequence[Any]:
        """The callables that the training of the booster evaluates."""

    def metric_result(self, name: str, value: float) -> tuple[Any, ...]:
        """The result of a metric that is maximised, as the engine expects it: its name, its value, and what else."""

    def train(
        self,
        objective: Callable[..., Any] | str,
        params: Mapping[str, Any],
        rounds: int,
        data: Any,
        valid: Any = None,
        measure: Callable[..., Any] | None = None,
        early_stopping: int | None = None,
        on_round: OnRound | None = None,
    ) -> Any:
        """The booster of the engine's `train`, without output; after early stopping it ends at its best round.

        The objective is one of lambdaboost, or the name of the engine's own.
        """

    # Its `LambdaRanker`, as `cross_validate`, `tune` and `merge` ask for it.

    QUIET: dict[str, Any]  # its parameters without output

    def tree_params(self, leaves: int, documents: int, hessian: float, rows: float) -> dict[str, Any]:
        """Parameters of trees that grow leaf by leaf, each on a fraction of the rows.

        Where an engine limits the size of leaves by documents, `documents` is the smallest, else the sum `hessian`.
        """

    def measure_fit(self, ranker: Any, measure: Any, patience: int | None) -> dict[str, Any]:
        """Have the next `fit` of a ranker evaluate a measure; returns the arguments that `fit` needs for it.

        It ends after `patience` rounds in which the measure has not risen, and keeps the trees of all rounds.
        """

    def first_rounds(self, n: int) -> dict[str, Any]:
        """The argument of its `predict` for the model of the first n rounds."""

    def set_booster(self, ranker: Any, booster: Any, history: dict[str, Any]) -> None:
        """Give a ranker a booster and the results of its rounds, as the engine's own `fit` does."""

    # Trainings of several workers over the engine's own network, as `lambdaboost.dask` asks for them.

    OF_CLUSTER: dict[str, Any]  # the parameters of a training of several workers, unless others are given

    def open_network(self, client: Any, workers: list[str]) -> dict[str, Any]:
        """The network of a Dask cluster, by which a worker finds the others, for each worker."""

    def join_network(self, network: Any) -> AbstractContextManager[dict[str, Any]]:
        """The network on a worker, with the parameters that it needs."""

    # Trained models. A booster is asked for the rounds that it predicts with.

    SUFFIXES: tuple[str, ...]  # of model files, by which the format is known
    UNNAMED: str  # its names of features that were given none, such as "Column_{}"
    ABSENT_IN_TEXT: float  # as its own reader takes a feature that a line of text does not have

    def read(self, content: bytes) -> Any:
        """The booster of the bytes of its file."""

    def write(self, booster: Any, suffix: str) -> bytes:
        """The bytes of a booster's file, in the format of the suffix, without a cluster that trained it."""

    def scores(
        self, booster: Any, X: Any, rounds: int | None = None, *, missing: float = math.nan
    ) -> NDArray[np.floating]:
        """The predictions after `rounds`, by default all that it predicts with, shape (n_documents,)."""

    def contributions(self, booster: Any, X: Any, *, missing: float = math.nan) -> NDArray[np.floating]:
        """SHAP values of the scores, with the base in a last column, shape (n_documents, n_features + 1)."""

    def n_rounds(self, booster: Any) -> int:
        """The number of rounds of a booster that is saved."""

    def feature_names(self, booster: Any) -> tuple[str, ...]:
        """Names of the features; those of `UNNAMED` if they were given none."""

    def first_is_unused(self, booster: Any) -> bool:
        """Whether the first feature is unused, as is column 0 of text that the engine itself read."""

    def categories(self, booster: Any) -> dict[str, list[Any]]:
        """The values of each categorical feature that the booster itself stores."""

    def trees(self, booster: Any) -> tuple[list[Split | float], str]:
        """The trees, whose sum it predicts, and the name of its objective; a ValueError for a model of no such sum."""

    def merged(
        self, boosters: Sequence[Any], weights: Sequence[float], categories: Sequence[Categories]
    ) -> Any:
        """The booster whose raw score is the weighted sum of those of `boosters`, each up to its best round.

        `categories` are those of each booster, by its own names; a ValueError for boosters whose sum is no model.
        """


def usable_names(names: Sequence[Any] | None) -> Sequence[Any] | None:
    """The names of features, or None where an engine would refuse one of them or make two of them one.

    LightGBM refuses these characters and keeps an underscore for a blank, XGBoost refuses brackets and <. All or none
    are named; a description (`lambdaboost.save`) has the names in any case.
    """
    if names is None:
        return None
    refused = re.search(r'[\[\]{}<":,]', "".join(map(str, names)))
    kept = {re.sub(r"\s", "_", str(name)) for name in names}
    return None if refused or len(kept) < len(names) else names


def is_true(value: Any) -> bool:
    """Whether an engine reads a parameter as true."""
    return str(value).lower() in ("true", "1", "+")


# The smallest leaf of gradient steps: smaller ones lower NDCG on small data. With their hessian of 1 an engine's limit
# counts documents; with λ hessians the same limit counts far fewer.
GRADIENT_LEAF = 100


def min_leaf_size(objective: Any, documents: int) -> int | None:
    """The smallest leaf that suits gradient steps, in documents; None for objectives with λ hessians.

    100, or a twentieth of the data if that is less, but at least LightGBM's own 20.

    >>> from lambdaboost import GradientStep, LambdaRank
    >>> [min_leaf_size(GradientStep(LambdaRank()), documents) for documents in (3, 1_000, 1_000_000)]
    [20, 50, 100]
    """
    needs = getattr(objective, "needs", None)  # an engine's own has none
    if needs is None or not needs.counts_documents:
        return None
    return min(GRADIENT_LEAF, max(20, documents // 20))


def with_min_leaf_size(
    params: Mapping[str, Any], engine: Engine, objective: Any, documents: int
) -> dict[str, Any]:
    """The parameters, with the default minimum leaf size of gradient steps if they have none.

    >>> from lambdaboost import GradientStep, LambdaRank
    >>> from lambdaboost.engines import lightgbm, xgboost
    >>> with_min_leaf_size({}, xgboost, GradientStep(LambdaRank()), 1_000)
    {'min_child_weight': 50}
    >>> with_min_leaf_size({"min_child_samples": 5}, lightgbm, GradientStep(LambdaRank()), 1_000)
    {'min_child_samples': 5}
    """
    found, name, least = dict(params), engine.MIN_LEAF_SIZE, min_leaf_size(objective, documents)
    if least is not None and engine.given(params, name) is None:
        found[name] = least
    return found
