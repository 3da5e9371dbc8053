"""`Objective`: the base class of all objectives, and `Needs`: what one reads and demands of an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._checks import shorten_repr
from lambdaboost._value import Value
from lambdaboost.callback import call_objective
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.base import Gradient
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.bound import Bound
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.kernels.prepared import Floats, LambdaFunction, LambdaMu, Round

OBJECTIVES: dict[str, type[Any]] = {}  # all of them by name, each entered where it is defined


@dataclass(frozen=True)
class Needs:
    """What an objective reads, and what an engine has to know of it.

    Attributes
    ----------
    sources : tuple of str
        The label sources. Data without one of them are refused, with the way to give it.
    positions : bool
        Whether it reads the positions at which rows were shown, so that data without them are refused.
    ties_by_row : bool
        Whether documents of equal score count by the order of their rows. In the first round all scores are equal.
    sign_changes : bool
        Whether μ can be negative, so that no Newton step can use it: an engine trains it within `GradientStep` only.
    counts_documents : bool
        Whether hessians are 1, or the schedule's weight, so that an engine's least hessian of a leaf counts documents.
    allows_negative : bool
        Whether labels may be below 0, since only their order or their differences count.

    Examples
    --------
    >>> from lambdaboost import graded
    >>> from lambdaboost.objectives import Needs
    >>> graded().needs == Needs(("relevance", "clicks"))
    True

    """

    sources: tuple[str, ...] = (RELEVANCE,)
    positions: bool = False
    ties_by_row: bool = True
    sign_changes: bool = False
    counts_documents: bool = False
    allows_negative: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.sources, str):  # which would be read letter by letter
            raise TypeError(f"sources is {self.sources!r}: give a tuple such as ({self.sources!r},)")

    @staticmethod
    def merged(parts: Sequence[Needs]) -> Needs:
        """What a combination needs: all that any of its parts does."""
        return Needs(
            sources=tuple(dict.fromkeys(name for part in parts for name in part.sources)),
            positions=any(part.positions for part in parts),
            ties_by_row=any(part.ties_by_row for part in parts),
            sign_changes=any(part.sign_changes for part in parts),
            counts_documents=any(part.counts_documents for part in parts),
            allows_negative=all(part.allows_negative for part in parts),
        )


class Objective(Value, registered=False):
    """A ranking objective: an immutable value that gives λ and μ, and that both engines call.

    Pass it as ``lgb.train({"objective": objective}, …)``, ``lgb.LGBMRanker(objective=objective)`` or
    ``xgb.train(…, obj=objective)``.

    An objective of your own is a subclass that defines `lambdas`. What it needs is by default what its parts need, or
    what its field `metric` reads, or the labels that its field `source` names; otherwise define `needs`. Objectives of
    lambdaboost define `prepare`::

        gradient, or an engine ──> on(q) ──> prepare(q) ──> a function of each round ──> `lambdas` of your own
    """

    registry: ClassVar[dict[str, type[Any]] | None] = OBJECTIVES

    def __init_subclass__(cls, registered: bool = True, **options: Any) -> None:
        if cls.lambdas is not Objective.lambdas and cls.prepare is not Objective.prepare:
            raise TypeError(
                f"{cls.__name__} defines lambdas, which {cls.prepare.__qualname__} does not call: make it a "
                "subclass of Objective, with a field for the objective whose λ it changes: lam, mu = "
                "self.objective.on(q)(scores, iteration)"
            )
        super().__init_subclass__(registered=registered, **options)

    @property
    def parts(self) -> tuple[Objective, ...]:
        """The objectives that it is computed from: those that its fields hold."""
        held = [getattr(self, spec.name) for spec in fields(self)]
        found = [one for value in held for one in (value if isinstance(value, tuple) else (value,))]
        return tuple(one for one in found if isinstance(one, Objective))

    @property
    def needs(self) -> Needs:
        """What it reads, and what an engine has to know of it: that of its parts, its measure or its label source."""
        if self.parts:
            return Needs.merged([part.needs for part in self.parts])
        metric = getattr(self, "metric", None)
        if isinstance(metric, Measure):
            return Needs(metric.sources, metric.reads_positions, allows_negative=metric.allows_negative)
        source = getattr(self, "source", RELEVANCE)
        return Needs((source if isinstance(source, str) else RELEVANCE,))

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return self.needs.sources

    @property
    def reads_positions(self) -> bool:
        """Whether it reads the positions at which rows were shown."""
        return self.needs.positions

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
        needs = self.needs
        for name in needs.sources:
            q.source(name, allow_negative=needs.allows_negative)
        if needs.positions:
            q.required_position()
        return Bound(self, needs.sign_changes, q.offsets, q.weight, self.prepare(q))

    def prepare(self, q: Queries) -> LambdaFunction:
        """The function of a `Round` that gives λ and μ on these queries; combinations ask it of their parts.

        Here it calls `lambdas`. Each objective of lambdaboost defines it instead: what does not depend on the scores is
        found once.
        """
        wanted = (
            f"lambdas of {self!r} has to return λ and μ, two arrays of numbers of shape ({q.n_documents},)"
        )

        def lambda_mu(now: Round) -> LambdaMu:
            # A copy, since it may write to the scores, which are the caller's and are read by other parts too.
            returned: Any = self.lambdas(now.scores.copy(), q, now.iteration)
            if not isinstance(returned, tuple | list) and np.ndim(returned) != 2:
                raise TypeError(f"{wanted}: it returned {type(returned).__name__}")
            if len(returned) != 2:
                raise ValueError(f"{wanted}: it returned {len(returned)} values")
            lam, mu = np.asarray(returned[0]), np.asarray(returned[1])
            for name, values in (("λ", lam), ("μ", mu)):
                if values.shape != (q.n_documents,):
                    raise ValueError(f"{wanted}: its {name} has shape {values.shape}")
                if values.dtype.kind not in "buif":
                    raise TypeError(f"{wanted}: its {name} is of type {values.dtype}")
            return lam, mu

        return lambda_mu

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document before weights, from checked float64 scores: defined by an objective of your own.

        The scores are a copy. Each of the two arrays has a number for every document; μ is at least 0, unless `needs`
        says that it changes sign. λ and μ of an objective of lambdaboost are ``objective.on(q)(scores, iteration)``.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define lambdas, which return λ and μ")

    def why_no_pair(self, q: Queries) -> dict[str, str]:
        """By the repr of it or of each part, why it has no two documents to order here; empty text where it has."""
        if self.parts:
            return {part: why for one in self.parts for part, why in one.why_no_pair(q).items()}
        counts = q.query_weight > 0
        # `lambdas` of your own may serve a cost that orders no pairs.
        own = type(self).prepare is Objective.prepare
        if own or any((q.is_ordered(name) & counts).any() for name in self.sources):
            return {repr(self): ""}
        return {repr(self): PairRule(self.sources[0]).why_no_pair(q)}

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
            label source or missing positions; labels below 0, unless only their order or differences count; a gradient
            that is not finite, or a hessian below 0 where `needs` promises none, which both engines would accept
            silently.

        """
        bound = self.on(q)
        return bound.gradient(q.scores(scores), iteration)

    def refuse_on_engines(self) -> None:
        """Raise where the curvature changes sign, so that no engine can take a Newton step."""
        if self.needs.sign_changes:
            raise ValueError(
                f"the curvature of {self!r} changes sign, so no Newton step can use it: "
                f"train with GradientStep({self!r})"
            )

    __call__ = call_objective


def check_objective(name: str, value: object) -> None:
    """Raise TypeError where `value` is not an objective."""
    if isinstance(value, type) and issubclass(value, Objective):
        raise TypeError(
            f"{name} is the class {value.__name__}: give an object of it, such as {value.__name__}()"
        )
    if not isinstance(value, Objective):
        raise TypeError(
            f"{name} is {shorten_repr(value)}, expected an objective with a gradient such as LambdaRank() of "
            "lambdaboost.objectives"
        )
