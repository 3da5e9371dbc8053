"""What the `LambdaRanker`s of both engines share: columns by name, categories, parameters of objectives, scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, column_or_1d

from lambdaboost._checks import saying
from lambdaboost._value import Value
from lambdaboost._words import listed, shown
from lambdaboost.datasets.arrays import weights_of
from lambdaboost.datasets.categories import Categories, categories_in
from lambdaboost.datasets.columns import check_features, grades_of
from lambdaboost.datasets.named_columns import NamedColumns, names_in
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.datasets.tables import as_frame, with_categories
from lambdaboost.engine_data import attach
from lambdaboost.evaluation import NDCG, Measure, parse
from lambdaboost.leaks import warn_of_leaks
from lambdaboost.native import NativeObjective, read_objective
from lambdaboost.objectives.base.objective import Objective, check_objective
from lambdaboost.saving import settings_of
from lambdaboost.traps import remedy

# The parameters of a `LambdaRanker` that its engine's ranker does not have.
OWN = ("objective", "query", "sources", "position")
DEFAULT_MEASURE = NDCG(3)


@dataclass(frozen=True, eq=False)
class Rows:
    """The training data or a validation set, checked; `grades` are NaN where missing."""

    name: str  # of the argument
    features: Any
    sizes: Any
    grades: Any
    sources: Mapping[str, Any]
    position: Any
    weight: Any
    start: Any  # initial scores

    @property
    def label(self) -> Any:
        """The grades, with 0 where they are missing."""
        return np.nan_to_num(self.grades)

    def attach_to(self, data: Any) -> Any:
        """The engine's data set with the sources and positions."""
        missing = {RELEVANCE: self.grades} if np.isnan(self.grades).any() else {}
        return attach(data, position=self.position, **self.sources, **missing)

    @property
    def queries(self) -> Queries:
        """The queries, unweighted."""
        return Queries(self.grades, self.sizes, position=self.position, **self.sources)

    def warn_of_leaks(self) -> None:
        """Warn of features that tell the labels."""
        warn_of_leaks(self.features, self.queries)

    def check(self, metrics: Iterable[Any]) -> None:
        """Raise before the training if a measure refuses a validation set."""
        for metric in metrics:
            if isinstance(metric, Measure):
                with saying(self.name):
                    metric.per_query(np.zeros(self.grades.size), self.queries)


class Ranker:
    """What both rankers share; comes before the engine's ranker among the bases.

    `_parameter_names` are the engine's parameters, `_eval_names` the arguments of `fit` for weights and initial scores
    of validation sets; with `_unweighted` a validation set with the training's own X and y,
    but without weights of its own, is not the training set.
    """

    _title: str
    _parameter_names: frozenset[str]
    _unweighted: bool
    _eval_names: ClassVar[Mapping[str, str]]
    objective: Any
    query: str
    sources: Any
    position: str | None

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters that differ from the defaults; scikit-learn would show all of ``**parameters``."""
        given = sorted(settings_of(self).items(), key=lambda setting: setting[0] != "objective")
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given)})"

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of the objective: ``objective__weight=0.1``."""
        plain = {name: value for name, value in params.items() if not name.startswith("objective__")}
        if len(plain) < len(params):
            objective = read_objective(plain.get("objective", self.objective))
            for name in params.keys() - plain.keys():
                _, *path = name.split("__")
                objective = _replaced("objective", objective, path, params[name])
            plain["objective"] = objective
        super().set_params(**plain)  # type: ignore[misc]
        return self

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

        Queries are given as `group`, as `qid`, or as the column `query` of X; weights of rows or queries by
        `sample_weight`.
        """
        named = getattr(self, "eval_metric", None)
        listed = named if isinstance(named, list | tuple) else [named]
        measure = next((metric for metric in listed if isinstance(metric, Measure)), DEFAULT_MEASURE)
        q = NamedColumns.of(self).scored(X, y, measure, group, qid)
        if sample_weight is not None:
            q = Queries(q.relevance, q.sizes, weight=sample_weight, position=q.positions, **further(q))
        return float(measure(self.predict(X), q))

    @staticmethod
    def _checked(X: Any) -> Any:
        """Features that the engine's ranker would check."""
        return X

    def _features(self, X: Any) -> Any:
        """The features of X, by the names of those that the ranker was fitted on."""
        features = NamedColumns.of(self).features(table_of(X), getattr(self, "_fitted_columns", None))
        return with_categories("X", features, getattr(self, "_fitted_categories", None))

    def _objective_to_fit(self) -> Objective | NativeObjective:
        """The checked objective, after the names of the parameters."""
        known = self._parameter_names.union(type(self)().get_params())  # type: ignore[attr-defined]
        for name, value in self.get_params().items():  # type: ignore[attr-defined]
            if name in ("qid", "group", "groups", "query_id") and value is not None:
                raise ValueError(
                    f"{name}={value!r} is no parameter of a ranker: name the column of the queries as query=, or give "
                    "them to fit as group= or qid="
                )
            if self._parameter_names and name not in known:
                raise ValueError(f"{name}={value!r} is no parameter of a ranker: {remedy(name, known)}")
        rule: Any = read_objective(self.objective)
        if isinstance(rule, NativeObjective):
            rule.check(self._title.lower())
            return rule
        check_objective("objective", rule)
        checked: Objective = rule
        checked.refuse_on_engines()
        return checked

    def _training_rows(
        self, X: Any, y: Any, beside: Mapping[str, Any], categories: Categories | None
    ) -> Rows:
        """The training data; `beside` are queries, sources, position, weight and start as they were given."""
        X, columns = table_of(X), NamedColumns.of(self)
        split = columns.split_training(X, *map(beside.get, ("group", "qid", "sources", "position")))
        return self._rows("X", "", split, y, beside, categories)

    def _validation_rows(
        self, eval_set: Any, X: Any, y: Any, beside: Mapping[str, Any], lists: Mapping[str, Any], rows: Rows
    ) -> list[Rows | None]:
        """The validation sets, None for those that are the training data X and y.

        `lists` are the arguments with one item for each set, by the names in `beside`.
        """
        sets = [eval_set] if isinstance(eval_set, tuple) and len(eval_set) == 2 else list(eval_set or [])
        found: list[Rows | None] = []
        for name, items in lists.items():
            if items is not None and len(items) != len(sets):
                argument = self._eval_names.get(name, f"eval_{name}")
                raise ValueError(
                    f"{argument} has {len(items)} items, eval_set {len(sets)}: give one for each set"
                )
        for at, (Xv, yv) in enumerate(sets):
            own = {name: None if items is None else items[at] for name, items in lists.items()}
            same = Xv is X and yv is y
            for name in ("sources", "position", "weight", "start"):
                given, strict = own.get(name), self._unweighted and name in ("weight", "start")
                same = same and (given is beside.get(name) or (given is None and not strict))
            if same:
                found.append(None)
                continue
            called, columns = f"eval_set[{at}]", NamedColumns.of(self)
            order = names_in(rows.features)
            beside_queries = map(own.get, ("group", "qid", "sources", "position"))
            split = columns.split(called, table_of(Xv), *beside_queries, order=order)
            categories = categories_of(rows.features)
            found.append(self._rows(called, f"{called} ", split, yv, own, categories))
        return found

    def _rows(
        self,
        name: str,
        before: str,
        split: Any,
        y: Any,
        beside: Mapping[str, Any],
        categories: Categories | None,
    ) -> Rows:
        features = self._checked(with_categories(name, split.features, categories))
        check_features(name, features, self._title)
        grades, weight = grades_of(y), beside.get("weight")
        rows = getattr(features, "shape", (grades.size,))[0]
        if grades.size != rows:
            raise ValueError(
                f"{before}y has {grades.size} rows, {name} has {rows}: give one grade per document"
            )
        if weight is not None:
            weight = weights_of(f"{before}sample_weight", column_or_1d(weight))
        sources = split.sources or {}
        return Rows(name, features, split.sizes, grades, sources, split.position, weight, beside.get("start"))

    def _note(self, objective: Any, X: Any) -> None:
        """Keep what a fitted ranker needs, since its parameters may change later."""
        self._fitted_objective, self._fitted_columns = objective, names_in(X)
        self._fitted_categories = categories_of(X)


def read_metrics(name: str, metrics: Any, is_own: Callable[[str], bool]) -> list[Any]:
    """Metrics as measures, callables and names of the engine's own; a TypeError for anything else."""
    given = list(metrics) if isinstance(metrics, list | tuple) else [] if metrics is None else [metrics]
    found: list[Any] = []
    for metric in given:
        if isinstance(metric, type) or not (callable(metric) or isinstance(metric, str)):
            raise TypeError(
                f"{name} has {metric!r}, expected measures such as NDCG(k=3), names, or callables"
            )
        texts = metric.split(",") if isinstance(metric, str) and "(" not in metric else [metric]
        for text in texts:
            if isinstance(text, str):
                text = text.strip()
                text = text if is_own(text) else parse(text)
            found.append(text)
    return found


def further(q: Queries) -> dict[str, Any]:
    """The label sources but the grades."""
    return {name: labels for name, labels in q.labels.items() if name != RELEVANCE}


def table_of(X: Any) -> Any:
    """X with the types that both engines read: a table of Arrow batches, numbers of pandas' Arrow types as NumPy's."""
    if type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([X])
    if hasattr(X, "iloc") and hasattr(X, "dtypes"):
        arrow = [at for at, kind in enumerate(X.dtypes) if type(kind).__name__ == "ArrowDtype"]
        numeric = [at for at in arrow if X.dtypes.iloc[at].kind in "biuf"]
        if numeric:
            X = X.copy(deep=False)
            for at in numeric:
                X.isetitem(at, X.iloc[:, at].to_numpy(dtype=np.float64, na_value=np.nan))
    return X


def categories_of(X: Any) -> Categories | None:
    """The categories of a table; None for anything else."""
    return None if (frame := as_frame("X", X)) is None else categories_in(frame)


def _replaced(owner: str, value: Any, path: Sequence[str], to: Any) -> Any:
    name, *rest = path
    known = [part.name for part in fields(value)] if isinstance(value, Value) else []  # type: ignore[arg-type]
    if name not in known:
        remedy = f"give one of {listed(known)}" if known else "leave it out"
        raise ValueError(f"{owner}__{name}: {value!r} has no parameter {shown(name)}; {remedy}")
    if rest:
        to = _replaced(f"{owner}__{name}", read_objective(getattr(value, name)), rest, to)
    elif isinstance(to, str) and isinstance(getattr(value, name), Objective):
        to = read_objective(to)
    return replace(value, **{name: to})
