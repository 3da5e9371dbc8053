"""The reference of `Constrained`: the measure of its primary objective, which is trained alone first."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from lambdaboost._warn import warn
from lambdaboost.engines.plan import Plan
from lambdaboost.engines.resume import Resumed
from lambdaboost.evaluation import Measure
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
            f"{name} is given, but {constraint_in(rule)!r} has no reference for its rounds: pass reference=, the "
            f"primary measure on the training data after each round, those of {name} included"
        )


@contextmanager
def training_alone() -> Iterator[None]:
    """Without warnings: the whole training gives those of its data and parameters, and reads what one part ignores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def kept_by(rule: Any) -> Measure:
    """The measure that a constrained rule keeps, of which the reference consists."""
    constraint = constraint_in(rule)
    assert constraint is not None
    return constraint.kept


def warn_if_broken(rule: Any, rounds: int, measured: float) -> None:
    """Warn if a model breaks the constraint, by its measure on the training data after some rounds."""
    constraint = constraint_in(rule)
    if constraint is None or constraint.reference is None or not 0 < rounds <= len(constraint.reference):
        return
    expected = constraint.reference[rounds - 1]
    if expected - measured > constraint.keep:
        warn(
            f"keep: {constraint.measure!r} on the training data is {measured:.4f} after {rounds} rounds, "
            f"{expected - measured:.4f} below the {expected:.4f} of the model of the primary objective alone, and "
            f"keep={constraint.keep:g}: give a lower learning rate, or a higher keep"
        )
