"""McRank: ranking by the expected grade of a classifier, which the engines train with their own objectives."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_whole, refuse_labels
from lambdaboost._value import Value
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.objectives.base.objective import Floats

GRADE_MODELS: dict[str, type[Any]] = {}  # all of them by name, each entered where it is defined


class GradeModel(Value, registered=False):
    """A model of each document's grade alone: the base of `McRank` and `OrdinalMcRank`.

    It has no gradient in one score, so it is not an `Objective`: `train`, `cv` and `LambdaRanker` of either engine take
    it as ``objective=`` and train classifiers. `scores` converts their predictions to scores.
    """

    registry: ClassVar[dict[str, type[Any]] | None] = GRADE_MODELS

    sources: ClassVar[tuple[str, ...]] = (RELEVANCE,)
    allows_negative: ClassVar[bool] = False  # labels are grades

    classes: int = 5

    def __post_init__(self) -> None:
        check_whole("classes", self.classes, 2)

    @property
    def outputs(self) -> int:
        """The number of outputs of the model for each document."""
        raise NotImplementedError

    def scores(self, probabilities: ArrayLike) -> Floats:
        """The scores to rank by, from the model's probabilities (n_documents, outputs)."""
        raise NotImplementedError

    def check(self, relevance: ArrayLike | None, leaves: str = "engine") -> None:
        """Raise if a grade is missing, not whole or too high for the classes, or `leaves` is not "engine".

        Grades are None where they stand in a file that is not read yet.
        """
        if leaves != "engine":
            raise ValueError(
                f"leaves is {leaves!r}: {self!r} has leaves='engine' only, those of a classifier"
            )
        if relevance is None:
            return
        labels = Queries(relevance, sizes=[np.size(relevance)]).relevance
        bad = ~((labels == np.floor(labels)) & (labels < self.classes))
        remedy = (
            f"{self!r} takes the grades 0 to {self.classes - 1}; leave documents without a grade out, make grades "
            "whole, and classes one more than the highest"
        )
        refuse_labels("relevance", labels, bad, remedy)


class McRank(GradeModel):
    r"""Multiclass boosting of the grades, ranked by the expected grade (Li, Burges and Wu 2007; 2008, §3.8).

    .. math:: s_i = \sum_z z\,P(z \mid x_i)

    with P the class probabilities of LightGBM's ``multiclass`` or XGBoost's ``multi:softprob``, which ignore
    queries. It has no λ-gradient: give it to `LambdaRanker`, `train` or `cv` of either engine. A ranker predicts the
    scores; a booster itself predicts P, and ``McRank().scores(booster.predict(X))`` are the scores.

    Parameters
    ----------
    classes : int
        Grades are 0, 1, …, classes − 1; at least 2.

    Examples
    --------
    >>> from lambdaboost import McRank
    >>> McRank(classes=3).scores([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    array([0.5, 2. ])
    >>> from lambdaboost.datasets import web_search_log
    >>> from lambdaboost.lightgbm import LambdaRanker
    >>> X, q = web_search_log(queries=20, documents=30, seed=3)
    >>> ranker = LambdaRanker(objective=McRank(classes=5), n_estimators=3, verbose=-1)
    >>> ranker.fit(X, q.relevance, group=q.sizes).predict(X).shape
    (584,)

    """

    @property
    def outputs(self) -> int:
        """One probability per grade."""
        return self.classes

    def scores(self, probabilities: ArrayLike) -> Floats:
        """Σ z P(z) of class probabilities (n_documents, classes); float64 (n_documents,)."""
        return np.asarray(probabilities, dtype=np.float64) @ np.arange(self.classes)


class OrdinalMcRank(GradeModel):
    r"""McRank by cumulative models: one binary classifier for each "grade z or better" (Li, Burges and Wu 2007).

    .. math:: s_i = \sum_{z \ge 1} P(y_i \ge z \mid x_i),

    the expected grade again, from classes − 1 logistic models, a tree of each a round, that use the order of the
    grades. Train it as `McRank`. XGBoost trains labels of its ``binary:logistic``; LightGBM receives the derivatives of
    the logistic loss, so its booster predicts margins, the logarithms of P/(1 − P).

    Parameters
    ----------
    classes : int
        Grades are 0, 1, …, classes − 1; at least 2.

    Examples
    --------
    >>> from lambdaboost import OrdinalMcRank
    >>> OrdinalMcRank(classes=3).scores([[0.5, 0.0], [1.0, 1.0]])
    array([0.5, 2. ])

    """

    @property
    def outputs(self) -> int:
        """One probability per threshold."""
        return self.classes - 1

    def scores(self, probabilities: ArrayLike) -> Floats:
        """Σ P(y ≥ z) of (n_documents, classes − 1); float64 (n_documents,)."""
        p = np.asarray(probabilities, dtype=np.float64)
        return p.reshape(len(p), self.outputs).sum(axis=1)

    def reached(self, grades: NDArray[np.floating | np.integer]) -> NDArray[np.float32]:
        """Whether each grade is z or better, for z = 1, 2, …; float32 (n_documents, classes − 1) of 0 and 1."""
        return (grades[:, None] >= np.arange(1, self.classes)).astype(np.float32)
