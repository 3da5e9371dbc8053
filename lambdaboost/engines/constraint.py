"""The reference of `Constrained`: the measure of its primary objective, which is trained alone first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lambdaboost._warn import warn
from lambdaboost.datasets import Queries
from lambdaboost.engines.plan import Plan
from lambdaboost.engines.resume import Resumed
from lambdaboost.objectives import Constrained, Objective
from lambdaboost.objectives.base.wrapper import Wrapper
from lambdaboost.objectives.constrained import constraint_in

# What evaluates or stops a training, but does not change its trees.
_WATCHING = ("metric", "early stopping")


def lacks_reference(rule: Any) -> bool:
    """Whether a rule is constrained and its reference is still to be measured."""
    constraint = constraint_in(rule)
    return constraint is not None and constraint.reference is None


def alone(rule: Any) -> Objective:
    """The rule with the primary objective alone."""
    return _replaced(rule, lambda constraint: constraint.primary)


def with_reference(
    plan: Plan, resumption: Resumed | None, rounds: int, train_alone: Callable[[], Sequence[float]]
) -> Plan:
    """The plan with the measure of the primary objective's own model after each of `rounds` rounds, if it lacks it.

    A checkpoint carries it; `train_alone` measures it.
    """
    if not lacks_reference(plan.rule):
        return plan
    reference = None if resumption is None else resumption.reference
    if reference is None or len(reference) < rounds:
        reference = train_alone()
    if resumption is not None:
        resumption.reference = list(reference)
    return replace(plan, rule=referenced(plan.rule, reference))


def referenced(rule: Any, reference: Sequence[float]) -> Objective:
    """The rule with a reference."""
    return _replaced(rule, lambda constraint: replace(constraint, reference=tuple(map(float, reference))))


def _replaced(rule: Any, change: Callable[[Constrained], Objective]) -> Objective:
    if isinstance(rule, Wrapper):
        return replace(rule, objective=_replaced(rule.objective, change))  # type: ignore[type-var]
    return change(rule)


def params_alone(plan: Plan, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the training of the primary objective: without metrics and early stopping."""
    watching = {name for concept in _WATCHING for name in plan.engine.aliases[concept]}
    return {name: value for name, value in params.items() if name not in watching}


def refuse_continued(rule: Any, name: str, model: Any) -> None:
    """Raise if a model is continued without a reference."""
    if model is not None and lacks_reference(rule):
        raise ValueError(
            f"{name} with {constraint_in(rule)!r}: the primary objective's own model has to be of all rounds, those of "
            f"{name} included; give reference=, its measure on the training data after each round"
        )


def warn_if_broken(rule: Any, iteration: int, scores: np.ndarray[Any, Any], q: Queries) -> None:
    """Warn if the constraint is broken in the last round, at these scores of the training data."""
    constraint = constraint_in(rule)
    if constraint is None:
        return
    shortfall = constraint.shortfall(np.asarray(scores, dtype=np.float64), q, iteration) if iteration else 0.0
    if shortfall > constraint.keep:
        own = constraint.reference[iteration - 1]  # type: ignore[index]
        warn(
            f"keep: {constraint.measure!r} on the training data is {own - shortfall:.4f} in the last round, "
            f"{shortfall:.4f} below the {own:.4f} of the primary objective's own model, and keep={constraint.keep:g}; "
            "train more rounds, with a lower learning rate or larger leaves, or give a higher keep"
        )
