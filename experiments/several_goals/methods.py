"""The systems that are compared, by name."""

from __future__ import annotations

from collections.abc import Callable

from experiments.several_goals.combiners import Chebyshev, Combined, ExactPareto, MinNorm, StochasticLabels
from experiments.several_goals.sets import Goals
from lambdaboost import Constrained, Scaled, Scorecard
from lambdaboost.objectives import Objective

WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9)  # of the second goal
READ_OFF = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)  # of the model with preferences as features
TOLERANCES = (0.005, 0.01)

FIRST, SECOND_ALONE = "first goal alone", "second goal alone"
SUM, CONSTRAINED, ONE_MODEL, MIN_NORM = "weighted sum", "Constrained", "preferences as features", "MinNorm"
COMBINERS: dict[str, Callable[[tuple[Objective, ...], float, int], Objective]] = {
    "Scaled": lambda of, w, seed: Scorecard(of, Scaled((1 - w, w))),
    "StochasticLabels": lambda of, w, seed: Combined(of, StochasticLabels((1 - w, w), seed=seed)),
    "Chebyshev": lambda of, w, seed: Combined(of, Chebyshev((1 - w, w))),
    "ExactPareto": lambda of, w, seed: Combined(of, ExactPareto((1 - w, w))),
}


def named(method: str, setting: float) -> str:
    """The name of a system, such as ``"weighted sum, 0.3"``."""
    return f"{method}, {setting:g}"


def alone(goals: Goals, seed: int) -> dict[str, Objective]:
    """Each goal alone."""
    return dict(zip((FIRST, SECOND_ALONE), goals.objectives, strict=True))


def weighted(goals: Goals, seed: int) -> dict[str, Objective]:
    """Sums with fixed weights."""
    return {named(SUM, w): Scorecard(goals.objectives, (1 - w, w)) for w in WEIGHTS}


def combined(goals: Goals, seed: int) -> dict[str, Objective]:
    """Every combiner at every weight, and the one without."""
    found: dict[str, Objective] = {
        named(name, w): make(goals.objectives, w, seed) for name, make in COMBINERS.items() for w in WEIGHTS
    }
    return found | {MIN_NORM: Combined(goals.objectives, MinNorm())}


def constrained(goals: Goals, seed: int) -> dict[str, Objective]:
    """The first goal kept within each tolerance; the training fills in the reference."""
    return {
        named(CONSTRAINED, keep): Constrained(*goals.objectives, keep=keep, reference=(1.0,))
        for keep in TOLERANCES
    }
