"""`Objective`: the base class of all objectives."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._value import Value
from lambdaboost.callback import Gradient, gradient_of
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE, all_finite
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.no_pair import NoPair, explain_no_pair, labels_differ

Floats = NDArray[np.float64]
# λ and μ of every document; float32 where kernels give them.
LambdaMu = tuple[NDArray[np.floating], NDArray[np.floating]]

WIDEST_SPAN = 1e290  # the most that two scores of a query may differ by
OBJECTIVES: dict[str, type[Any]] = {}  # all of them by name, each entered where it is defined


class Objective(Value, registered=False):
    """A ranking objective: an immutable value that gives λ and μ, and that both engines call.

    Pass it as ``lgb.train({"objective": objective}, …)``, ``lgb.LGBMRanker(objective=objective)`` or
    ``xgb.train(…, obj=objective)``.

    A subclass has either a `rule` of its pairs or `lambdas`. What it reads is by default what its field `metric` reads.
    """

    registry: ClassVar[dict[str, type[Any]] | None] = OBJECTIVES
    # Whether μ can be negative: then no Newton step can use it.
    curvature_changes_sign: ClassVar[bool] = False
    # Whether ties are ranked by row and the gradient depends on it. In the first round all scores are equal.
    ranks_ties_by_row: ClassVar[bool] = True
    # Whether it reads the positions at which rows were shown, so that data without them are refused.
    reads_positions: ClassVar[bool] = False
    # Whether its hessian is 1, so that an engine's smallest leaf counts documents.
    counts_documents: ClassVar[bool] = False
    # Whether it can be a part of others.
    can_be_part: ClassVar[bool] = True

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return (RELEVANCE,) if self._metric is None else self._metric.sources

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return self._metric is not None and self._metric.allows_negative

    @property
    def _metric(self) -> Measure | None:
        metric = getattr(self, "metric", None)
        return metric if isinstance(metric, Measure) else None

    @property
    def measure(self) -> Measure:
        """The measure that it optimises; a TypeError if there is no single one."""
        if self._metric is not None:
            return self._metric
        raise TypeError(
            f"{self!r} does not optimise a single measure: give an objective of one measure, "
            "such as LambdaRank(NDCG(k=10))"
        )

    @property
    def rule(self) -> PairRule | None:
        """The rule of its pairs, or None; a blend of two rules computes both in one pass."""
        return None

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document before weights, from checked float64 scores."""
        rule = self.rule
        if rule is None:
            raise NotImplementedError(f"{type(self).__name__} has neither a rule nor lambdas")
        return rule.lambdas(scores, q)

    def without_pair(self, q: Queries) -> tuple[NoPair, ...]:
        """Itself, or those of its parts that have no two documents to order in any of these queries."""
        if self.has_pair(q):
            return ()
        return (NoPair(self, *explain_no_pair(self.rule or PairRule(self.sources[0]), q)),)

    def has_pair(self, q: Queries) -> bool:
        """Whether it has two documents to order in one of these queries."""
        if self.rule is not None:
            return self.rule.has_pair(q)
        return not self.sources or any(labels_differ(name, q) for name in self.sources)

    def gradient(self, scores: ArrayLike, q: Queries, iteration: int = 0) -> Gradient:
        """Gradient and hessian of the cost in the scores, grad = −λ and hess = μ, times the weights.

        Parameters
        ----------
        scores : array of shape (n_documents,)
            The model's scores, finite.
        q : Queries
            The documents' queries, labels and weights.
        iteration : int
            The boosting round, from 0; only objectives with a schedule or random draws use it.

        Returns
        -------
        grad, hess : float32 (n_documents,)

        Raises
        ------
        ValueError
            For scores of the wrong length, not finite, or more than 1e290 apart in a query; a negative round; a missing
            label source or missing positions; labels below 0, unless only their order counts; a gradient that is not
            finite, which both engines would accept silently.

        """
        if not isinstance(q, Queries):
            raise TypeError(f"q is {type(q).__name__}, expected lambdaboost.Queries(relevance, sizes=…)")
        if isinstance(iteration, bool) or not isinstance(iteration, int | np.integer) or iteration < 0:
            raise ValueError(f"iteration is {iteration!r}: boosting rounds are whole numbers counted from 0")
        s = q.scores(scores)
        _check_span(s, q)
        for name in self.sources:
            q.source(name, allow_negative=self.allows_negative)
        if self.reads_positions:
            q.required_position()
        lam, mu = self.lambdas(s, q, int(iteration))
        # Each pass over the documents counts. 0 − λ is never −0. The sums of a rule are new arrays, in which −λ
        # replaces λ; the arrays that another `lambdas` returns may be its own.
        of_rule = type(self).lambdas is Objective.lambdas
        grad = np.subtract(0.0, lam, out=lam if of_rule else None).astype(np.float32, copy=False)
        hess = mu.astype(np.float32, copy=False)
        if q.weight is not None:
            grad = (grad * q.weight).astype(np.float32, copy=False)
            hess = (hess * q.weight).astype(np.float32, copy=False)
        _check_finite(self, iteration, grad=grad, hess=hess)
        return grad, hess

    def refuse_on_engines(self) -> None:
        """Raise where the curvature changes sign, so that no engine can take a Newton step."""
        if self.curvature_changes_sign:
            raise ValueError(
                f"the curvature of {self!r} changes sign, so no Newton step can use it: "
                f"train with GradientStep({self!r})"
            )

    def check_training(self, q: Queries) -> None:
        """Raise ValueError where no engine can train it on these queries."""
        self.refuse_on_engines()

    def __call__(self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> Gradient:
        """Gradient and hessian, called as the engines do.

        ``(preds, train_data)`` with a lightgbm.Dataset or an xgboost.DMatrix, as `lightgbm.train` and `xgboost.train`
        call it, or ``(y_true, y_pred, weight, group)`` as `LGBMRanker` does. The boosting round is that of the calling
        `Booster.update`, however often it asks; 0 outside of one.

        Raises
        ------
        ValueError
            As `gradient`, and where the curvature changes sign or the booster's parameters ruin the training.

        """
        return gradient_of(self, y_true, y_pred, weight, group)


def _check_span(scores: Floats, q: Queries) -> None:
    """Raise where the scores of a query are so far apart that their differences overflow."""
    if float(scores.max()) - float(scores.min()) <= WIDEST_SPAN:
        return
    with np.errstate(over="ignore"):
        span = np.maximum.reduceat(scores, q.offsets[:-1]) - np.minimum.reduceat(scores, q.offsets[:-1])
    if (span > WIDEST_SPAN).any():
        query = int((span > WIDEST_SPAN).argmax())
        raise ValueError(
            f"scores of query {query} are {span[query]:g} apart, expected at most {WIDEST_SPAN:g}: "
            "scale the scores down"
        )


def _check_finite(objective: Objective, iteration: int, **derivatives: NDArray[np.float32]) -> None:
    for name, values in derivatives.items():
        if not all_finite(values):
            finite = np.isfinite(values)
            row = int(finite.argmin())
            raise ValueError(
                f"{name}[{row}] of {objective!r} is {values[row]} in round {iteration}: both engines would continue "
                "silently; look at its schedules and weights, and at the scores and labels of that document's query"
            )


def check_objective(name: str, value: object) -> None:
    """Raise TypeError where `value` is not an objective."""
    if not isinstance(value, Objective):
        raise TypeError(
            f"{name} is {value!r}, expected an objective with a gradient such as LambdaRank() of lambdaboost.objectives"
        )


def check_part(name: str, value: object) -> None:
    """Raise where `value` is not an objective that can be a part of others."""
    check_objective(name, value)
    if isinstance(value, Objective) and not value.can_be_part:
        raise ValueError(
            f"{name} is {value!r}, which compares with the reference of a whole training and so cannot be part of "
            "another objective: combine first, then constrain"
        )
