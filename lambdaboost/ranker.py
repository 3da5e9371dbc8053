"""The base of both `LambdaRanker`s: columns by name, categories, parameters of objectives, scores."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lambdaboost._checks import error_context, shorten_repr
from lambdaboost._jit import using
from lambdaboost.callback import check_sources
from lambdaboost.datasets import Collection, Columns, Encoder, Queries
from lambdaboost.datasets.collection import check_alone
from lambdaboost.datasets.table import Table, open_table
from lambdaboost.engines.base import Engine
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import NDCG, Measure, parse
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.objectives.objective import Objective, check_objective
from lambdaboost.objectives.parsing import read_objective
from lambdaboost.saving import booster_of, changed_params, with_booster_features
from lambdaboost.scoring import columns_of, score_estimator
from lambdaboost.traps import hint

# The parameters of a `LambdaRanker` that its engine's ranker does not have.
OWN_PARAMS = ("query", "sources", "position", "weight", "unseen")
DEFAULT_MEASURE = NDCG(3)


class Documents(NamedTuple):
    """The training data or a validation set, as the engine takes it; grades are NaN where missing."""

    features: Any  # of a table a pandas frame
    queries: Queries
    init_score: Any


class Ranker:
    """The base class of both rankers; it comes before the engine's ranker among the bases."""

    _engine: Engine
    objective: Any
    query: str
    sources: Any
    position: str | None
    weight: str | None
    unseen: str
    # The index of the training frame, and the ids and sizes of its queries; of this process alone.
    _fitted_rows: tuple[Any, Any, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What is saved or copied: without the rows of the training."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_fitted_rows"}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters that differ from the defaults; scikit-learn would show all of ``**parameters``."""
        given = sorted(changed_params(self).items(), key=lambda setting: setting[0] != "objective")
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given)})"

    @property
    def objective_(self) -> Objective | NativeObjective:
        """The objective that the model was fitted with."""
        check_is_fitted(self)
        fitted: Objective | NativeObjective = self._fitted_objective
        return fitted

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
        check_is_fitted(self)
        table = open_table(X, "X")
        features = replace(self._fitted, unseen=self.unseen).transform(table)
        if not table.is_named:
            return features
        return self._fitted.frame(features)

    def _objective_to_fit(self) -> Objective | NativeObjective:
        """Check the names of the parameters and the objective; return the objective."""
        params = self.get_params()  # type: ignore[attr-defined]
        known = self._engine.parameter_names().union(type(self)().get_params())  # type: ignore[attr-defined]
        of_fit = inspect.signature(self.fit).parameters  # type: ignore[attr-defined]
        for name, value in params.items():
            if name not in known:
                remedy = hint(name, known)
                if name in of_fit:
                    remedy = f"give it to fit({name}=…)"
                raise ValueError(f"{name}={value!r} is no parameter of a ranker: {remedy}")
        if (classes := self._engine.given(params, "num_class")) not in (None, 1):
            raise ValueError(f"num_class={classes}: a ranker has one score for a document; leave it out")
        objective: Any = read_objective(self.objective)
        if isinstance(objective, NativeObjective):
            objective.check(self._engine.NAME)
            return objective
        check_objective("objective", objective)
        checked: Objective = objective
        checked.refuse_on_engines()
        return checked

    def _read_data(
        self,
        X: Any,
        y: Any,
        arrays: Mapping[str, Any],
        eval_set: Any,
        eval_arrays: Mapping[str, tuple[str, Any]],
        first_model: Any,
    ) -> tuple[Any, Any, Encoder, Documents, list[Documents]]:
        """The objective, the booster that is continued, the encoder, the training data, and the validation sets.

        `arrays` are what `fit` was given beside X and y, by the role of each; `eval_arrays` have the role and the list
        for all validation sets, by the argument of `fit`. A set that is the training data is the same object.
        """
        objective, first, columns = self._objective_to_fit(), None, columns_of(self)
        data: Any
        if first_model is not None:
            first = booster_of(first_model, self._engine)
        if isinstance(X, Collection):
            if first is not None:
                raise TypeError("X is a Collection, which cannot continue a model: give a table or an array")
            # Sparse features have a place alone, as those of a sparse matrix.
            names = X.feature_names if isinstance(X.features, np.ndarray) else None
            data, encoder = X, Encoder(columns, names or (), X.categories, self.unseen)
        else:
            data = open_table(X, "X")
            encoder = self._encoder(data, columns, first, first_model)
        training = self._read_documents("X", data, y, encoder, **arrays)
        width = training.features.shape[1]
        if first is not None and len(self._engine.feature_names(first)) != width:
            n = len(self._engine.feature_names(first))
            raise ValueError(
                f"X has {width} features, the model that it continues {n}: give the same columns"
            )
        self._check_readers("X", training.queries, [objective])

        # One validation set, or a list or tuple of them.
        sets = [] if eval_set is None else list(eval_set)
        if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
            sets = [eval_set]
        for name, (_, items) in eval_arrays.items():
            if items is not None and len(items) != len(sets):
                raise ValueError(
                    f"{name} has {len(items)} items, eval_set {len(sets)}: give one for each set"
                )
        found = []
        for at, one_set in enumerate(sets):
            if not isinstance(one_set, tuple | list) or len(one_set) != 2:
                raise TypeError(f"eval_set[{at}] is of type {type(one_set).__name__}, expected a pair (X, y)")
            Xv, yv = one_set
            own = {role: items[at] for role, items in eval_arrays.values() if items is not None}
            queries = {role: own.pop(role) for role in ("group", "qid") if own.get(role) is not None}
            # The training data, unless something is given that the training has not.
            again = (
                Xv is X and yv is y and all(one is None or one is arrays[role] for role, one in own.items())
            )
            if again:
                own = {**arrays, **own}
            if queries:
                own |= {"group": None, "qid": None, **queries}
            name = f"eval_set[{at}]"
            one = self._read_documents(name, Xv, yv, encoder, **own)
            if one.features.shape[1] != width:
                n = one.features.shape[1]
                raise ValueError(f"{name} has {n} features, X {width}: give the same columns")
            if again and np.array_equal(one.queries.sizes, training.queries.sizes):
                one = training
            found.append(one)
        return objective, first, encoder, training, found

    def _encoder(self, table: Table, columns: Columns, first: Any, first_model: Any) -> Encoder:
        """The features and categories of a table, or those of the model that the training continues, in its order."""
        if first is None or not table.is_named:
            return Encoder.fit(columns, table, self.unseen)
        of_model = with_booster_features(Encoder(columns, unseen=self.unseen), first, table.names)
        features = of_model.features or columns.features_of(table)
        categories = getattr(getattr(first_model, "_fitted", None), "categories", None) or of_model.categories
        if categories:
            return Encoder(columns, features, categories, self.unseen)
        # A booster has none, or does not store them, as XGBoost before 3.1.
        return Encoder.fit(replace(columns, features=features), table, self.unseen)

    def _read_documents(
        self, name: str, X: Any, y: Any, encoder: Encoder, init_score: Any = None, **arrays: Any
    ) -> Documents:
        """Documents as the engine takes them."""
        if isinstance(X, Collection):
            check_alone(name, y=y, init_score=init_score, **arrays)
            return Documents(encoder.frame(X.features), X.queries, None)
        table = open_table(X, name)
        data = encoder.read(table, y, optional=name != "X", **arrays)
        if init_score is not None:
            init_score = np.asarray(init_score)
            if data.rows is not None:
                init_score = init_score[data.rows]
        if name == "X":
            warn_of_leaks(data.features, data.queries, data.feature_names)
        features = data.features
        if table.is_named:
            features = encoder.frame(features)
        return Documents(features, data.queries, init_score)

    def _check_readers(self, name: str, q: Queries, readers: Sequence[Any]) -> None:
        """Raise before the training if the objective or a measure does not take the documents."""
        for reader in readers:
            check_sources(
                reader,
                q,
                name,
                remedy="name its column in {argument}= of the ranker, and give a table with it",
            )
            if isinstance(reader, NativeObjective):
                reader.check_queries(q, self._engine.given(self.get_params(), "device_type"))  # type: ignore[attr-defined]
            elif isinstance(reader, Measure):
                with error_context(name), using(max(0, self.n_jobs or 0)):  # type: ignore[attr-defined]
                    reader.per_query(np.zeros(q.n_documents), q)

    def _remember_fit(self, objective: Any, fitted: Encoder, X: Any = None, q: Queries | None = None) -> None:
        """Keep what a fitted ranker needs, since its parameters may change later."""
        self._fitted_objective, self._fitted = objective, fitted
        self._fitted_rows = None
        if q is not None and q.ids is not None and hasattr(X, "index") and hasattr(X, "columns"):
            self._fitted_rows = X.index, q.ids, q.sizes


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


def read_callbacks(callbacks: Any) -> list[Any]:
    """Callbacks as a list; raises for one without a list."""
    if callbacks is not None and not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks is {shorten_repr(callbacks)}: give a list of callbacks")
    return list(callbacks or ())
