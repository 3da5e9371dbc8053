"""`Objective`: the base class of all objectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._engine_threads import called_by
from lambdaboost._value import Value
from lambdaboost.datasets import Queries
from lambdaboost.datasets._checks import all_finite
from lambdaboost.datasets.engines import is_lightgbm, is_xgboost, queries_of, queries_of_arrays
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.kernels.pair_rule import Derivatives, PairRule
from lambdaboost.objectives.stock.call import stock_call
from lambdaboost.objectives.stock.traps import check_stock_training

Floats = NDArray[np.float64]

FARTHEST_APART = 1e290  # the most that two scores of a query may differ by


class Objective(Value):
    """A ranking objective: an immutable value that gives λ and μ, and that both engines call.

    Pass it as ``lgb.train({"objective": objective}, …)``, ``lgb.LGBMRanker(objective=objective)`` or
    ``xgb.train(…, obj=objective)``.
    """

    # Whether μ can be negative: then no Newton step can use it.
    curvature_changes_sign: ClassVar[bool] = False
    # Whether ties are ranked by row and the gradient depends on it. In the first round all scores are equal.
    ranks_ties_by_row: ClassVar[bool] = True
    # Whether it reads the positions at which rows were shown, so that data without them are refused.
    reads_positions: ClassVar[bool] = False
    # Whether it can be a part of others.
    can_be_part: ClassVar[bool] = True

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        raise NotImplementedError

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return False

    @property
    def measure(self) -> Measure:
        """The measure that its λ raise; a TypeError if there is no single one."""
        metric = getattr(self, "metric", None)
        if isinstance(metric, Measure):
            return metric
        raise TypeError(
            f"{self!r} raises no single measure, so it has no cost to weight it by: give an objective of one measure, "
            "such as LambdaRank(NDCG(k=10))"
        )

    @property
    def rule(self) -> PairRule | None:
        """The rule of its pairs, or None; a blend of two rules computes both in one pass."""
        return None

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document before weights, from checked float64 scores."""
        raise NotImplementedError

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None."""
        return q.weight

    def gradient(
        self, scores: ArrayLike, q: Queries, iteration: int = 0
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
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
        # Kernels give float32, and lists are short: each pass over the documents counts. 0 − λ is never −0.
        grad, hess = (0.0 - lam).astype(np.float32, copy=False), mu.astype(np.float32, copy=False)
        weights = self.row_weights(q)
        if weights is not None:
            grad = (grad * weights).astype(np.float32, copy=False)
            hess = (hess * weights).astype(np.float32, copy=False)
        _check_finite(self, iteration, grad=grad, hess=hess)
        return grad, hess

    def refuse_on_engines(self) -> None:
        """Raise where the curvature changes sign, so that no engine can take a Newton step."""
        if self.curvature_changes_sign:
            raise ValueError(
                f"the curvature of {self!r} changes sign, so no Newton step can use it: "
                f"train with GradientStep({self!r})"
            )

    def gradient_on(
        self, scores: ArrayLike, data: Any, iteration: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """`gradient` on the queries of a lightgbm.Dataset or an xgboost.DMatrix, at a given round."""
        return self.gradient(scores, queries_of(data, self.sources), iteration)

    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Gradient and hessian, called as the engines do.

        ``(preds, train_data)`` with a lightgbm.Dataset or an xgboost.DMatrix, as `lightgbm.train` and `xgboost.train`
        call it, or ``(y_true, y_pred, weight, group)`` as `LGBMRanker` does. The boosting round is that of the calling
        `Booster.update`, however often it asks; 0 outside of one.

        Raises
        ------
        ValueError
            As `gradient`, and where the curvature changes sign or the booster's parameters ruin the training.

        """
        self.refuse_on_engines()
        call = stock_call()
        check_stock_training(call, y_pred, self.reads_positions)
        iteration = 0 if call is None else call.iteration
        with called_by(None if call is None else call.booster):
            if is_lightgbm(y_pred) or is_xgboost(y_pred):
                derivatives = self.gradient_on(y_true, y_pred, iteration)
            else:
                derivatives = self.gradient(y_pred, queries_of_arrays(y_true, weight, group), iteration)
        if call is not None:
            call.answered = True
        return derivatives


def _check_span(scores: Floats, q: Queries) -> None:
    """Raise where the scores of a query are so far apart that their differences overflow."""
    if float(scores.max()) - float(scores.min()) <= FARTHEST_APART:
        return
    with np.errstate(over="ignore"):
        span = np.maximum.reduceat(scores, q.offsets[:-1]) - np.minimum.reduceat(scores, q.offsets[:-1])
    if (span > FARTHEST_APART).any():
        query = int((span > FARTHEST_APART).argmax())
        raise ValueError(
            f"scores of query {query} are {span[query]:g} apart, expected at most {FARTHEST_APART:g}: "
            "scale the scores down"
        )


def _check_finite(objective: Objective, iteration: int, **derivatives: NDArray[np.float32]) -> None:
    for name, values in derivatives.items():
        if not all_finite(values):
            finite = np.isfinite(values)
            row = int(finite.argmin())
            raise ValueError(
                f"{name}[{row}] of {objective!r} is {values[row]} in round {iteration}: both engines would train on "
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
            f"{name} is {value!r}, which is trained in two steps and cannot be a part of another objective: give its "
            "parts, and constrain the whole"
        )


def common_row_weights(objectives: Sequence[Objective], q: Queries) -> NDArray[np.floating] | None:
    """What λ and μ of each document are multiplied by in all of these objectives; raises if they differ."""
    first, *others = (objective.row_weights(q) for objective in objectives)
    for objective, weights in zip(objectives[1:], others, strict=True):
        same = weights is first or (
            weights is not None and first is not None and np.array_equal(weights, first)
        )
        if not same:
            raise ValueError(
                f"{objective!r} uses the query weights in another way than {objectives[0]!r}, so they have no sum: "
                "give both the same convention, or data without weights"
            )
    return first
