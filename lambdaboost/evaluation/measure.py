"""`Measure`: the base class of ranking measures."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import field, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_number, check_whole, error_context
from lambdaboost._value import Value
from lambdaboost._warn import warn
from lambdaboost._words import quote
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.ties import describe_sorted_ties
from lambdaboost.scoring import call_measure

MEASURES: dict[str, type[Any]] = {}  # all of them by name, each entered where it is defined
MAX_TEXT = 40  # characters of a parameter in a name


class Measure(Value, ABC, registered=False):
    """Base class of ranking measures: the quality of a ranking, query by query; higher is better.

    Documents rank by descending score; ties stay in input order. A document whose label is missing (NaN) keeps its
    rank and has gain 0. A document of score −inf was not retrieved: it counts in the ideal, in the number of relevant
    documents, and as the lower one in pairs, but has gain 0 at its own rank. A pair of two such documents is in the
    wrong order, as in trec_eval's bpref: a pairwise measure of a query of which nothing was retrieved is the lowest.

    A measure of your own is a subclass that defines `values`. Of its fields, `k` is a cutoff, `threshold` the lowest
    grade that is relevant and `source` the label source, which are checked here.

    Attributes
    ----------
    empty : float, default 0.0
        By keyword only. The value for a query on which the measure is undefined, such as one without a relevant
        document: NaN leaves the query out of the mean, 1.0 is the value in LightGBM and XGBoost.

    Raises
    ------
    ValueError, TypeError
        If a parameter is invalid; names it, its value and what is expected.

    """

    registry: ClassVar[dict[str, type[Any]] | None] = MEASURES
    # Whether labels below 0 have a meaning, for only their order or their differences count.
    allows_negative: ClassVar[bool] = False

    empty: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.empty is not math.nan:
            check_number(
                "empty", self.empty, remedy="give a number, or float('nan') to leave such queries out"
            )
        # Fields that mean the same in every measure that has them.
        for spec in fields(self):
            value = getattr(self, spec.name)
            if spec.name == "k" and not (value is None and spec.default is None):
                remedy = "give the last rank that counts, a whole number ≥ 1"
                if spec.default is None:
                    remedy += ", or None for all documents"
                check_whole("k", value, remedy=remedy)
            elif spec.name == "threshold":
                remedy = "give the lowest grade that counts as relevant, a number > 0"
                check_number("threshold", value, above=0, remedy=remedy)
            elif spec.name == "source" and not isinstance(value, str):
                raise TypeError(f"source is {value!r}: give the name of a label source, such as 'clicks'")

    @property
    def name(self) -> str:
        """The name in the engines' results and in tables; `parse` reads those of numbers and words.

        That of the class in lower case with the cutoff, then the label source, then each parameter that is not at its
        default, with a dot between it and its value: letters, digits and ``@ - . _``, which both engines print and
        their readers split. Other characters become a dot in a source and an underscore in a value, and long values
        are cut; parse such a measure from its `repr`. ``NDCG(source="clicks")`` is ``ndcg-source.clicks``, since
        ``ndcg-clicks`` is CNDCG.

        >>> from lambdaboost import CNDCG, MAP, NDCG
        >>> NDCG(k=3).name, CNDCG(k=3).name, MAP().name, NDCG(k=3, gain="linear").name
        ('ndcg@3', 'ndcg@3-clicks', 'map', 'ndcg@3-gain.linear')
        >>> CNDCG(source="a b").name, NDCG(gain=(0, 1, 3)).name
        ('ndcg-a.b', 'ndcg-gain.0.0_1.0_3.0')
        """
        parts = [re.sub("(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).lower()]  # such as kendall_tau
        for spec in fields(self):
            value = getattr(self, spec.name)
            if spec.name == "k" and value is not None:
                parts[0] += f"@{value}"
            elif spec.name == "source" and spec.default != RELEVANCE:
                parts.insert(1, re.sub(r"\W+", ".", value))
            elif repr(value) != repr(spec.default):
                text = re.sub(r"[^\w.]+", "_", str(value).strip("()"))
                parts.append(f"{spec.name}.{text[:MAX_TEXT]}")
        return "-".join(parts)

    @property
    def source(self) -> str:
        """The label source: ``"relevance"``, unless the measure has a field of that name, such as `CNDCG`."""
        return RELEVANCE

    @property
    def sources(self) -> tuple[str, ...]:
        """All label sources that it reads, `source` first."""
        return (self.source,)

    @property
    def reads_positions(self) -> bool:
        """Whether it reads the positions at which rows were shown, so that data without them are refused."""
        return False

    @abstractmethod
    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """The value for each query, float64 (n_queries,), from checked scores; NaN where undefined.

        A measure of your own defines this; it may change the scores, which are a copy. Everything else calls
        `per_query`.
        """

    def per_query(self, scores: ArrayLike, q: Queries) -> NDArray[np.float64]:
        """The value for each query; `empty` where undefined.

        Parameters
        ----------
        scores : array of shape (n_documents,)
            Finite scores; −inf for a document that was not retrieved. They belong to the rows of `q` by place; a pandas
            Series is refused where ``q.index`` has its rows in another order.
        q : Queries
            The documents and their labels.

        Returns
        -------
        float64 (n_queries,)

        """
        if not isinstance(q, Queries):
            raise TypeError(
                f"q is of type {type(q).__name__}: give the labels as Queries(relevance, sizes=…)"
            )
        s = q.scores(scores, allow_minus_infinity=True)
        for name in self.sources:
            q.source(name, allow_negative=self.allows_negative)
        if self.reads_positions:
            q.required_position()
        returned: Any = self.values(s.copy(), q)  # a measure of your own may return anything
        with suppress(ValueError):  # NumPy's, where parts are of unequal length
            values = np.asarray(returned)
            if values.shape == (q.n_queries,) and values.dtype.kind in "biuf" and not np.isinf(values).any():
                return np.where(np.isnan(values), self.empty, values)
        form = f"type {type(returned).__name__}"
        if isinstance(returned, np.ndarray):
            form = f"shape {returned.shape}"
        raise ValueError(
            f"values of {self!r} returns {quote(returned)}, of {form}: return one number for each query, "
            f"({q.n_queries},), NaN where the measure is undefined"
        )

    def undefined_on(self, q: Queries) -> NDArray[np.bool_]:
        """The queries that count as `empty`, bool (n_queries,), for scores that do not tie."""
        return np.isnan(replace(self, empty=math.nan).per_query(np.arange(q.n_documents), q))

    def __call__(self, scores: Any, queries: Any, weight: Any = None, group: Any = None) -> Any:
        """The mean over queries, weighted by ``q.query_weight`` and without those that are NaN, as the caller wants it.

        ====================================== ============================ ======================
        caller                                 arguments                    result
        ====================================== ============================ ======================
        you                                    scores, Queries              the mean
        ``feval=`` of `lightgbm.train`         preds, Dataset               ``name, value, True``
        ``eval_metric=`` of `LGBMRanker.fit`   y_true, y_pred, weight,      ``name, value, True``
                                               group
        ``custom_metric=`` of `xgboost.train`  preds, DMatrix               ``name, value``
        ``scoring=`` of scikit-learn           ranker, X, grades            the mean
        ====================================== ============================ ======================

        X is a frame whose queries and label sources are the columns that the ranker names, by default the queries in
        column ``qid``. The reported name is `name`. For XGBoost it has the prefix ``pre-`` unless it begins with ndcg,
        map, pre or auc: XGBoost's early stopping minimises every other name.

        With `Queries`, a warning says where rows stand in the order of their labels and many scores tie, since the
        order of the rows then decides.
        """
        if not isinstance(queries, Queries):
            return call_measure(self, scores, queries, weight, group)
        if weight is not None or group is not None:
            raise TypeError(
                "weights are those of the queries: give (scores, Queries(…, weight=…)) and nothing else"
            )
        value = self.mean(scores, queries)
        checked = queries.scores(scores, allow_minus_infinity=True)
        if ties := describe_sorted_ties([self], checked, queries):
            warn(ties)
        return value

    def mean(self, scores: ArrayLike, q: Queries) -> float:
        """What ``measure(scores, q)`` is, without its warning of ties that the order of rows decides."""
        return mean_of(self.per_query(scores, q), q.query_weight)


def mean_of(values: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """The weighted mean of the values that are not NaN; NaN without any."""
    if (missing := np.isnan(values)).any():
        values, weight = np.where(missing, 0.0, values), np.where(missing, 0.0, weight)
    total = weight.sum()
    # Not weight @ values: BLAS would start threads, which takes longer, and sum in an order that depends on them.
    if not total > 0:
        return math.nan
    return float((weight * values).sum() / total)


def check_measure(measure: Measure, q: Queries, name: str) -> None:
    """Raise if a measure cannot be computed on `q`, which `name` was made of, or no query of it has an order."""
    with error_context(f"measure {measure!r}, in {name}"):
        undefined = measure.undefined_on(q)
    counts = q.query_weight > 0
    if not any((q.is_ordered(source) & counts).any() for source in measure.sources):
        of = "" if counts.all() else " of positive weight"
        raise ValueError(
            f"{name} has no query{of} with two documents of different {' or '.join(measure.sources)}, so that every "
            "ranking is as good: give more queries, or other labels"
        )
    if undefined[counts].all():
        raise ValueError(
            f"{measure!r} is undefined on every query of {name}: give another measure, or other labels"
        )
