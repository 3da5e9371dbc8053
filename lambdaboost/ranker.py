"""The base of both `LambdaRanker`s: columns by name, categories, parameters of objectives, scores."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lambdaboost._checks import error_context, refuse_labels
from lambdaboost._jit import using
from lambdaboost._words import did_you_mean
from lambdaboost.callback import check_sources
from lambdaboost.datasets import Collection, Columns, Encoder, Queries
from lambdaboost.datasets.arrays import as_floats, check_order, only_column
from lambdaboost.datasets.collection import check_alone
from lambdaboost.datasets.table import open_table
from lambdaboost.engines.base import Engine
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import NDCG, Measure, parse
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.objectives.objective import Objective
from lambdaboost.saving import booster_to_continue, changed_params, known_encoder, with_booster_features
from lambdaboost.scoring import columns_of, score_estimator
from lambdaboost.training import trainable

# The parameters of a `LambdaRanker` that its engine's ranker does not have.
OWN_PARAMS = ("query", "sources", "position", "weight", "unseen")
DEFAULT_MEASURE = NDCG(3)


class Documents(NamedTuple):
    """The training data or a validation set, as the engine takes it; grades are NaN where missing."""

    features: Any  # of a table a pandas frame
    queries: Queries
    init_score: Any
    # What it was read from, the arrays by role.
    X: Any
    y: Any
    arrays: Mapping[str, Any]


class Ranker:
    """The base class of both rankers; it comes before the engine's ranker among the bases."""

    _engine: Engine
    objective: Any
    query: str
    sources: Any
    position: str | None
    weight: str | None
    unseen: str
    # As of the last fit, since parameters may change later.
    _fitted: Encoder
    _fitted_objective: Objective | NativeObjective
    # Those of the engine's ranker.
    n_jobs: Any
    get_params: Any
    fit: Any

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters that differ from the defaults; scikit-learn would show all of ``**parameters``."""
        given = sorted(changed_params(self).items(), key=lambda setting: setting[0] != "objective")
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given)})"

    @property
    def objective_(self) -> Objective | NativeObjective:
        """The objective that the model was fitted with."""
        check_is_fitted(self)
        return self._fitted_objective

    @property
    def _encoder(self) -> Encoder:
        """What reads its tables: the columns, features and categories of the last fit."""
        check_is_fitted(self)
        return replace(self._fitted, unseen=self.unseen)

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Scores of documents, as the engine's ranker predicts; of a DataFrame, the features are taken by name."""
        return super().predict(self._features(X), **arguments)  # type: ignore[misc]

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        group: Any = None,
        qid: Any = None,
    ) -> float:
        """The first measure of `eval_metric`, by default NDCG(3), of documents X with grades y.

        Callables and metrics of the engine's own are passed over. Queries are given as `group`, as `qid`, or as the
        column `query` of X; weights of rows or queries by `sample_weight`.
        """
        metrics = read_metrics("eval_metric", getattr(self, "eval_metric", None), self._engine)
        measure = next((metric for metric in metrics if isinstance(metric, Measure)), DEFAULT_MEASURE)
        return score_estimator(measure, self, X, y, group=group, qid=qid, weight=sample_weight)

    def _features(self, X: Any) -> Any:
        """The features of X, by the names of those that the ranker was fitted on."""
        encoder = self._encoder
        if isinstance(X, Collection):
            X = encoder_of(X, Columns(), self.unseen).frame(X.features)
        table = open_table(X, "X", encoder.text)
        features = encoder.transform(table)
        if not table.is_named:
            return features
        return encoder.frame(features)

    def _objective_to_fit(self) -> Any:
        """Check the names of the parameters and the objective; return the objective."""
        params = self.get_params()
        known = self._engine.parameter_names().union(type(self)().get_params())
        of_fit = inspect.signature(self.fit).parameters
        for name, value in params.items():
            if name not in known:
                remedy = did_you_mean(name, known)
                if name in of_fit:
                    remedy = f"give it to fit({name}=…)"
                raise ValueError(f"{name}={value!r} is no parameter of a ranker: {remedy}")
        if (classes := self._engine.given(params, "num_class")) not in (None, 1):
            raise ValueError(f"num_class={classes}: a ranker has one score for a document; leave it out")
        return trainable(self.objective, self._engine.NAME)

    def _read_training(
        self, X: Any, y: Any, objective: Any, first_model: Any, **arrays: Any
    ) -> tuple[Any, Encoder, Documents]:
        """The booster that is continued, the encoder, and the training data; `arrays` are by role, as in `Columns`."""
        columns, first = columns_of(self), None
        if first_model is not None:
            first = booster_to_continue(first_model, self._engine)
        if isinstance(X, Collection):
            if first is not None:
                raise TypeError("X is a Collection, which cannot continue a model: give a table or an array")
            encoder = encoder_of(X, columns, self.unseen)
        else:
            table = open_table(X, "X", columns.text)
            encoder = Encoder(columns)
            if first is not None and table.is_named:
                # The features and categories of the model that the training continues, in its order.
                known = known_encoder(first_model) or Encoder(columns)
                encoder = Encoder(columns, (), known.categories, self.unseen)
                encoder = with_booster_features(encoder, first, table.names)
                encoder = replace(encoder, features=encoder.features or columns.features_of(table))
                columns = replace(columns, features=encoder.features)
            # A booster has no categories, or does not store them, as XGBoost before 3.1.
            if not encoder.categories:
                encoder = Encoder.fit(columns, table, self.unseen)
        training = self._read_documents("X", X, y, encoder, **arrays)
        if first is not None:
            n, width = len(self._engine.feature_names(first)), training.features.shape[1]
            if n != width:
                raise ValueError(
                    f"X has {width} features, the model that it continues {n}: give the same columns"
                )
        self._check_readers("X", training.queries, [objective])
        return first, encoder, training

    def _read_eval_sets(
        self,
        eval_set: Any,
        eval_arrays: Mapping[str, tuple[str, Any]],
        training: Documents,
        encoder: Encoder,
        metrics: Sequence[Any],
    ) -> list[Documents]:
        """The validation sets; one that is the training data is the same object.

        `eval_arrays` have the role and the list for all sets, by the argument of `fit`.
        """
        # One validation set, or a list or tuple of them.
        sets = [] if eval_set is None else list(eval_set)
        if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
            sets = [eval_set]
        for name, (_, items) in eval_arrays.items():
            if items is not None and len(items) != len(sets):
                raise ValueError(
                    f"{name} has {len(items)} items, eval_set {len(sets)}: give one for each set"
                )
        found, width = [], training.features.shape[1]
        for at, one_set in enumerate(sets):
            name = f"eval_set[{at}]"
            if not isinstance(one_set, tuple | list) or len(one_set) != 2:
                raise TypeError(f"{name} is of type {type(one_set).__name__}, expected a pair (X, y)")
            X, y = one_set
            arrays = {role: items[at] for role, items in eval_arrays.values() if items is not None}
            arrays = {role: array for role, array in arrays.items() if array is not None}
            # The training's own X and y are the training data, unless other arrays are given with them.
            is_same = (np.array_equal(array, training.arrays[role]) for role, array in arrays.items())
            if X is training.X and y is training.y and all(is_same):
                one = training
            else:
                one = self._read_documents(name, X, y, encoder, **arrays)
            n = one.features.shape[1]
            if n != width:
                raise ValueError(f"{name} has {n} features, X {width}: give the same columns")
            self._check_readers(name, one.queries, metrics)
            found.append(one)
        return found

    def _read_documents(
        self, name: str, X: Any, y: Any, encoder: Encoder, init_score: Any = None, **arrays: Any
    ) -> Documents:
        """Documents as the engine takes them."""
        if isinstance(X, Collection):
            check_alone(name, y=y, init_score=init_score, **arrays)
            if encoder != encoder_of(X, encoder.columns, encoder.unseen):
                raise ValueError(
                    f"{name} and X differ in features or categories: read both by the same Columns"
                )
            return Documents(encoder.frame(X.features), X.queries, None, X, y, arrays)
        table = open_table(X, name, encoder.text)
        data = encoder.read(table, y, optional=name != "X", **arrays)
        arrays["init_score"] = init_score
        if init_score is not None:
            # LightGBM makes NaN 0; more values than rows would be taken by the wrong rows.
            called, n = f"initial score of {name}", data.queries.n_documents
            check_order(called, init_score, name, X)
            init_score = as_floats(called, only_column(init_score))
            if init_score.size != n:
                raise ValueError(
                    f"{called} has {init_score.size} values, expected {n}: give one for each row"
                )
            refuse_labels(called, init_score, ~np.isfinite(init_score), "give finite numbers")
            if data.rows is not None:
                init_score = init_score[data.rows]
        if name == "X":
            warn_of_leaks(data.features, data.queries, data.feature_names)
        features = data.features
        if table.is_named:
            features = encoder.frame(features)
        return Documents(features, data.queries, init_score, X, y, arrays)

    def _check_readers(self, name: str, q: Queries, readers: Sequence[Any]) -> None:
        """Raise before the training if the objective or a measure does not take the documents."""
        for reader in readers:
            check_sources(reader, q, name)
            if isinstance(reader, NativeObjective):
                reader.check_queries(q, self._engine.given(self.get_params(), "device_type"))
            elif isinstance(reader, Measure):
                with error_context(name), using(max(0, self.n_jobs or 0)):
                    reader.per_query(np.zeros(q.n_documents), q)


def encoder_of(data: Collection, columns: Columns, unseen: str) -> Encoder:
    """The encoder of a Collection, whose sparse features have a place alone, as those of a sparse matrix."""
    names = data.feature_names if isinstance(data.features, np.ndarray) else None
    return Encoder(columns, names or (), data.categories, unseen)


def read_metrics(name: str, metrics: Any, engine: Engine) -> list[Any]:
    """Metrics as measures, callables and names of the engine's own.

    A text that `parse` reads is a measure of lambdaboost, whatever the engine calls so; the engine's own metric of that
    name has the engine's name before it, such as ``"xgboost:ndcg@10"``. What only the engine knows needs none.

    Raises
    ------
    TypeError, ValueError
        For anything else, and for two measures of the same name, whose results would be mixed up.

    """
    found: list[Any] = []
    for metric in as_list(metrics):
        if isinstance(metric, type) or not (callable(metric) or isinstance(metric, str)):
            raise TypeError(
                f"{name} has {metric!r}, expected measures such as NDCG(k=3), names, or callables"
            )
        if not isinstance(metric, str):
            found.append(metric)
            continue
        texts = [metric]
        if "(" not in metric:
            texts = [text.strip() for text in metric.split(",")]
        for text in texts:
            own = text.removeprefix(f"{engine.NAME}:")
            if own != text:
                if not engine.is_metric(own):
                    raise ValueError(
                        f"{text!r} is none of {engine.TITLE}'s metrics: leave out '{engine.NAME}:'"
                    )
                found.append(own)
                continue
            try:
                found.append(parse(text))
            except ValueError:
                if not engine.is_metric(text):
                    raise
                found.append(text)
    measures = [metric.name for metric in found if isinstance(metric, Measure)]
    if twice := [one for one in measures if measures.count(one) > 1]:
        raise ValueError(f"{name} gives two measures called {twice[0]!r}: leave one out")
    return found


def as_list(value: Any) -> list[Any]:
    """A list or tuple as a list, anything else as its only item, None as none.

    >>> as_list((1, 2)), as_list("ndcg"), as_list(None)
    ([1, 2], ['ndcg'], [])
    """
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    return [value]
