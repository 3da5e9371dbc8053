"""`Ranker`: what both `LambdaRanker`s share; those of the engines have only what differs."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from inspect import cleandoc
from typing import Any, ClassVar, NamedTuple, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lambdaboost._value import Value
from lambdaboost._words import listed, shown
from lambdaboost.datasets.categories import Categories, categories_in
from lambdaboost.datasets.named_columns import QID, NamedColumns, Rows, names_in
from lambdaboost.datasets.tables import as_frame, with_categories
from lambdaboost.engines.engine import Engine, likely
from lambdaboost.engines.job import DEFAULT_MEASURE
from lambdaboost.engines.leaves import Leaves
from lambdaboost.engines.native import NativeObjective, read_objective
from lambdaboost.engines.saving import settings_of
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import LambdaRank, Objective
from lambdaboost.objectives.base.objective import check_objective

# The parameters of a `LambdaRanker` that its engine's ranker does not have.
OWN = ("objective", "leaves", "query", "sources", "position")
# Arguments of `fit` that `NamedColumns` reads beside the table.
BESIDE = ("group", "qid", "sources", "position")

PARAMETERS = """
objective : Objective or str
    An objective or its text, such as ``"graded"``; or one of the engine's own.
    ``objective__weight=0.1`` of `set_params` and of searches sets a parameter of the objective.
leaves : "engine" or "gradient"
    As in the engine's `train`; predictions have one column in each.
query : str
    The column of a pandas, polars or pyarrow table that holds the query of each row.
sources : list of str, or dict of str to str, optional
    The columns of further label sources, or the column of each source by name.
position : str, optional
    The column of the positions at which rows were shown, as of `Queries`.
"""
NOTES = """
The columns `query`, `sources` and `position` are no features. scikit-learn splits them with the rows:
``GridSearchCV(LambdaRanker(query="srch_id"), grid, cv=GroupKFold(5)).fit(X, y, groups=X["srch_id"])``. Any measure
can be the ``scoring=``; the default is `score`. Queries, sources and positions can also be given to `fit` as
arrays, in place of columns. A ranker fitted on a DataFrame takes its features from later ones by name, in any
order.
"""
FIT = """
Parameters
----------
X : array, sparse matrix or DataFrame of shape (n_rows, n_features)
    Features, the rows of one query adjacent. A pandas, polars or pyarrow table may also hold the columns `query`,
    `sources` and `position` of the ranker.
y : array of shape (n_rows,)
    Grades, or NaN if missing; below 0 only for objectives of their order, such as `RankNet`.
group, qid
    The number of documents of each query, or the query of each row; give one of them.
sources : mapping of str to array of shape (n_rows,), or DataFrame, optional
    Further label sources that are no columns of X. In a grid search give a DataFrame, which scikit-learn splits
    with X.
position : array of shape (n_rows,), optional
    Positions that are no column of X.
sample_weight : array of shape (n_rows,) or (n_queries,), optional
    Weight of each row, or of each query; on XGBoost those of the rows of a query are equal.
eval_set : list of (X, y), optional
    Validation sets; the lists of queries, sources, positions, weights and initial scores have one item for each.
"""


class Part(NamedTuple):
    """The training data, or a validation set; `items` are grades, weights and initial scores by their arguments."""

    name: str
    rows: Rows
    items: dict[str, Any]


class Ranker:
    """The parameters of a `LambdaRanker`, its data, predictions and scores; comes before the engine's ranker.

    `_stock` is that ranker, `_defaults` are other defaults for its parameters, and `_of_rows` are further arguments of
    `fit` for each row. A validation set that has the objects `_identity` of the training data is not copied.
    """

    _engine: ClassVar[Engine]
    _stock: ClassVar[Any]
    _defaults: ClassVar[dict[str, Any]] = {}
    _identity: ClassVar[tuple[str, ...]] = ("X", "y")
    _of_rows: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for documented in (cls, cls.fit):  # type: ignore[attr-defined]
            text = cleandoc(documented.__doc__ or "")
            for name, shared in (("PARAMETERS", PARAMETERS), ("NOTES", NOTES), ("FIT", FIT)):
                text = text.replace(f"{{{name}}}", shared.strip())
            documented.__doc__ = text

    def __init__(
        self,
        *,
        objective: Objective | str = LambdaRank(),
        leaves: Leaves = "engine",
        query: str = QID,
        sources: Sequence[str] | Mapping[str, str] | None = None,
        position: str | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__(**self._defaults | parameters)
        self.objective = objective  # XGBRanker's own __init__ refuses callables
        self.leaves = leaves
        self.query = query
        self.sources = sources
        self.position = position

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The parameters that differ from the defaults; scikit-learn would show all of ``**parameters``."""
        given = ", ".join(f"{name}={value!r}" for name, value in settings_of(self).items())
        return f"{type(self).__name__}({given})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name, those of the engine's ranker too."""
        stock = copy.copy(self)
        stock.__class__ = self._stock  # the engines' rankers look for parameters along their first bases
        own = {name: getattr(self, name) for name in OWN}
        return own | stock.get_params(deep) | own

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
        return self._fitted_objective

    def predict(self, X: Any, **arguments: Any) -> Any:
        """Scores of documents, as the engine's ranker predicts; of a DataFrame, the features are taken by name."""
        return super().predict(self._features(X), **arguments)  # type: ignore[misc]

    def score(self, X: Any, y: ArrayLike, *, group: Any = None, qid: Any = None) -> float:
        """NDCG(3) of documents X with grades y; queries as `group`, as `qid`, or as the column `query` of X."""
        return self._measured(DEFAULT_MEASURE, X, y, group, qid)

    def _measured(self, measure: Measure, X: Any, y: Any, group: Any, qid: Any) -> float:
        q = NamedColumns.of(self).scored(X, y, measure, group, qid)
        return float(measure(self.predict(X), q))

    def _features(self, X: Any) -> Any:
        """The features of X, by the names of those that the ranker was fitted on."""
        features = NamedColumns.of(self).features(X, getattr(self, "_fitted_columns", None))
        return with_categories("X", features, getattr(self, "_fitted_categories", None))

    def _prepared(
        self, given: Mapping[str, Any], eval_set: Sequence[tuple[Any, Any]]
    ) -> tuple[Any, Part, list[Part | None]]:
        """The objective, the training data, and the validation sets, None for those that are the training data.

        `given` are the arguments of `fit`, among them lists with an item for each validation set.
        """
        self._check_names()
        columns, names = NamedColumns.of(self), (*BESIDE, *self._of_rows)
        training = {name: given[name] for name in ("X", "y", *names)}
        rows = columns.split_training(given["X"], *(given[name] for name in BESIDE))
        part = Part("", rows._replace(features=with_categories("X", rows.features)), training)
        order, categories = names_in(part.rows.features), categories_of(part.rows.features)
        objective = read_objective(self.objective)
        if not isinstance(objective, NativeObjective):
            check_objective("objective", objective)
        # XGBoost puts some names the other way round.
        called = ((name, of) for name in names for of in (f"eval_{name}", f"{name}_eval_set"))
        lists = {name: (of, given[of]) for name, of in called if given.get(of) is not None}
        for of, values in lists.values():
            if len(values) != len(eval_set):
                raise ValueError(
                    f"{of} has {len(values)} items, eval_set {len(eval_set)}: give one for each set"
                )
        sets: list[Part | None] = []
        for i, (X, y) in enumerate(eval_set):
            of_set = {name: values[i] for name, (_, values) in lists.items()}
            items = dict.fromkeys(training) | {"X": X, "y": y} | of_set
            rows = columns.split(f"eval_set[{i}]", X, *(items[name] for name in BESIDE), order=order)
            rows = rows._replace(features=with_categories(f"eval_set[{i}]", rows.features, categories))
            same = all(items[name] is training[name] for name in self._identity)
            sets.append(None if same else Part(f"eval_set[{i}]", rows, items))
        return objective, part, sets

    def _check_names(self) -> None:
        """Raise for parameters that no ranker has; the engine's own are checked with the training's."""
        known = self._engine.parameters()
        for name, value in self.get_params().items():
            if name in ("qid", "group", "groups", "query_id") and value is not None:
                raise ValueError(
                    f"{name}={value!r} is no parameter of a ranker: name the column of the queries as query=, or give "
                    "them to fit as group= or qid="
                )
            if name not in known and (meant := likely(name, set(OWN))):
                raise ValueError(f"{name}={value!r} is no parameter of a ranker: did you mean {meant!r}?")

    def _note(self, objective: Any, X: Any) -> None:
        """Keep what a fitted ranker needs, since its parameters may change later."""
        self._fitted_objective, self.leaves_, self._fitted_columns = objective, self.leaves, names_in(X)
        self._fitted_categories = categories_of(X)


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
