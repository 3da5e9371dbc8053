"""`Objective`: the base class of all objectives."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike

from lambdaboost._value import Value
from lambdaboost.callback import Gradient, call_objective
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.bound import Bound
from lambdaboost.objectives.bound import LambdaMu as LambdaMu
from lambdaboost.objectives.bound import Lambdas as Lambdas
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.prepared import Floats as Floats
from lambdaboost.objectives.kernels.prepared import PreparedPairs, Round
from lambdaboost.objectives.no_pair import NoPair, explain_no_pair, labels_differ

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
        """The rule of its pairs, or None."""
        return None

    def on(self, q: Queries) -> Bound:
        """Bind it to its queries: ``bound(scores, iteration)`` gives λ and μ, as a training asks in every round.

        Label sources, signs and positions are checked, and what does not depend on the scores is found, once. Errors
        are those of `gradient`.

        >>> from lambdaboost import LambdaRank
        >>> bound = LambdaRank().on(Queries([0, 1], sizes=[2]))
        >>> lam, mu = bound([0.0, 0.0], iteration=0)
        >>> lam.round(4)
        array([-0.1845,  0.1845], dtype=float32)
        """
        if not isinstance(q, Queries):
            raise TypeError(f"q is {type(q).__name__}, expected lambdaboost.Queries(relevance, sizes=…)")
        for name in self.sources:
            q.source(name, allow_negative=self.allows_negative)
        if self.reads_positions:
            q.required_position()
        return Bound(self, q.offsets, q.weight, self.prepare(q))

    def prepare(self, q: Queries) -> Lambdas:
        """The function of a `Round` that gives its λ and μ on these queries; combinations ask it of their parts."""
        if type(self).lambdas is not Objective.lambdas:
            return lambda now: self.lambdas(now.scores, q, now.iteration)
        return self._prepare(q)

    def _prepare(self, q: Queries) -> Lambdas:
        """The same where `lambdas` is not overridden: what lambdaboost's own objectives define."""
        rule = self.rule
        if rule is None:
            raise NotImplementedError(f"{type(self).__name__} has neither a rule nor lambdas")
        return PreparedPairs(rule, q)

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document before weights, from checked float64 scores; for objectives of your own."""
        return self._prepare(q)(Round(scores, float(scores.max() - scores.min()), iteration))

    def without_pair(self, q: Queries) -> tuple[NoPair, ...]:
        """Itself, or those of its parts that have no two documents to order in any of these queries."""
        if self.has_pair(q):
            return ()
        return (NoPair(self, *explain_no_pair(rule_of(self) or PairRule(self.sources[0]), q)),)

    def has_pair(self, q: Queries) -> bool:
        """Whether it has two documents to order in one of these queries."""
        rule = rule_of(self)
        if rule is not None:
            return rule.has_pair(q)
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
        return self.on(q).gradient(scores, iteration)

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

    __call__ = call_objective


def rule_of(objective: Objective) -> PairRule | None:
    """The rule that an objective's λ are computed by: None where `lambdas` is overridden, whatever rule it inherits."""
    return objective.rule if type(objective).lambdas is Objective.lambdas else None


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
