"""`Measure`: the base class of ranking measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._engine_threads import called_by, calling_booster
from lambdaboost._registry import Registry
from lambdaboost._value import Value
from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import is_lightgbm, is_xgboost, queries_of, queries_of_arrays
from lambdaboost.datasets.named_columns import NamedColumns
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import _checks


class Measure(Value, ABC):
    """Base class of ranking measures: the quality of a ranking, query by query; higher is better.

    Documents rank by descending score; ties stay in input order. A document whose label is missing (NaN) keeps its
    rank and has gain 0. A document of score −inf was not retrieved: it counts in the ideal, in the number of relevant
    documents, and as the lower one in pairs, but has gain 0 at its own rank. A measure is a frozen dataclass whose last
    field is ``empty: float = 0.0``.

    Attributes
    ----------
    empty : float
        The value for a query on which the measure is undefined, such as one without a relevant document: NaN leaves
        the query out of the mean, 1.0 is the value in LightGBM and XGBoost.

    Raises
    ------
    ValueError, TypeError
        If a parameter is invalid; names it, its value and what is expected.

    """

    empty: float

    def __post_init__(self) -> None:
        self._set(empty=_checks.empty(self.empty))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **{f.name: getattr(self, f.name) for f in fields(self)}), ()  # type: ignore[arg-type]

    def _set(self, **checked: Any) -> None:
        """Store checked fields, in ``__post_init__`` only."""
        for name, item in checked.items():
            object.__setattr__(self, name, item)

    @property
    def source(self) -> str:
        """The label source: ``"relevance"``, unless the measure names another."""
        return "relevance"

    @property
    def sources(self) -> tuple[str, ...]:
        """All label sources that it reads, `source` first."""
        return (self.source,)

    @property
    def reads_positions(self) -> bool:
        """Whether it reads the positions at which rows were shown, so that data without them are refused."""
        return False

    @abstractmethod
    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """The value for each query; NaN where undefined."""

    def per_query(self, scores: ArrayLike, q: Queries) -> NDArray[np.float64]:
        """The value for each query; `empty` where undefined.

        Parameters
        ----------
        scores : array of shape (n_documents,)
            Finite scores; −inf for a document that was not retrieved.
        q : Queries
            The documents and their labels.

        Returns
        -------
        float64 (n_queries,)

        """
        if not isinstance(q, Queries):
            raise TypeError(f"q is a {type(q).__name__}: give the labels as Queries(relevance, sizes=…)")
        if self.reads_positions:
            q.required_position()
        values = self._per_query(_checks.scores(scores, q), q)
        return np.where(np.isnan(values), self.empty, values)

    def __call__(self, scores: Any, queries: Any, weight: Any = None, group: Any = None) -> Any:
        """The mean over queries, returned as the caller expects it.

        ``(scores, Queries)`` returns the mean weighted by ``q.query_weight``, over the queries that are not NaN. A
        measure also works as

        - ``feval=`` of `lightgbm.train`: ``(preds, Dataset)`` returns ``(name, value, True)``;
        - ``eval_metric=`` of `LGBMRanker.fit`: ``(y_true, y_pred, weight, group)`` returns the same;
        - ``custom_metric=`` of `xgboost.train`: ``(preds, DMatrix)`` returns ``(name, value)``;
        - ``scoring=`` of scikit-learn: ``(ranker, X, grades)`` returns the mean, with X a frame whose queries and label
          sources are the columns that the ranker names, by default the queries in column ``qid``.

        The reported name is the `repr` without spaces. For XGBoost it is in lower case, with the prefix ``pre-`` unless
        it begins with ndcg, map, pre or auc: XGBoost's early stopping minimises every other name.
        """
        if isinstance(queries, Queries):
            return self._mean(scores, queries)
        if hasattr(scores, "predict"):
            q = _queries_in(scores, queries, weight, self)
            return self._mean(scores.predict(queries), q)
        with called_by(calling_booster()):
            return self._of_engine(scores, queries, weight, group)

    def _of_engine(self, scores: Any, queries: Any, weight: Any, group: Any) -> Any:
        """The name and the mean, as the calling engine expects them."""
        if group is not None:
            y_true, y_pred = scores, queries
            return self._lightgbm_name, self._mean(y_pred, queries_of_arrays(y_true, weight, group)), True
        if is_lightgbm(queries):
            return self._lightgbm_name, self._mean(scores, queries_of(queries, self.sources)), True
        if is_xgboost(queries):
            return self._xgboost_name, self._mean(scores, queries_of(queries, self.sources))
        raise TypeError(
            f"a measure cannot be called with scores and a {type(queries).__name__}: give (scores, Queries), "
            "(preds, lightgbm.Dataset), (preds, xgboost.DMatrix), (y_true, y_pred, weight, group) or (ranker, X, y)"
        )

    def _mean(self, scores: ArrayLike, q: Queries) -> float:
        values, weight = self.per_query(scores, q), q.query_weight
        if (missing := np.isnan(values)).any():
            values, weight = np.where(missing, 0.0, values), np.where(missing, 0.0, weight)
        total = weight.sum()
        # Not weight @ values: BLAS would start threads, which takes longer, and sum in an order that depends on them.
        return float((weight * values).sum() / total) if total > 0 else float("nan")

    @property
    def _lightgbm_name(self) -> str:
        return repr(self).replace(" ", "")

    @property
    def _xgboost_name(self) -> str:
        # XGBoost's early stopping minimises every metric whose name begins differently.
        name = self._lightgbm_name.lower()
        return name if name.startswith(("ndcg", "map", "pre", "auc")) else f"pre-{name}"


# The measures by name, each entered by ``@MEASURES.add`` where it is defined.
MEASURES: Registry[type[Measure]] = Registry()


def _queries_in(estimator: Any, X: Any, grades: Any, measure: Measure) -> Queries:
    """The queries of a frame, with what a measure reads, from the columns that the estimator names."""
    columns = NamedColumns.of(estimator)
    if columns.query_of_row("X", X, None, None) is None:
        raise ValueError(
            f"X has no column {columns.query!r}: a measure as scoring= needs a pandas or polars DataFrame with the "
            "query of each row"
        )
    needed = [source for source in measure.sources if source != RELEVANCE]
    rows = columns.split("X", X, needed=needed, needs_position=measure.reads_positions)
    labels = {name: (rows.sources or {})[name] for name in needed}
    return Queries(grades, rows.sizes, position=rows.position, **labels)
