"""Which objectives can be computed although no worker has all queries."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from lambdaboost.engines.engine import Engine
from lambdaboost.engines.leaves import Leaves
from lambdaboost.objectives import Constrained, GradientStep, Objective, PositionGAM, UnbiasedLambdaRank
from lambdaboost.objectives.combiners.combiner import Combiner

CHECKPOINT = (
    "checkpoint on a cluster: every worker would write the same file; keep the model of one worker yourself, and "
    "continue with init_model= or xgb_model="
)


def check_distributed(rule: Any, leaves: Leaves) -> None:
    """Raise if a rule depends on all queries together."""
    if leaves == "newton":
        raise ValueError(
            "leaves='newton' on a cluster: both engines would compute a leaf from one worker's rows; "
            "use leaves='gradient' or 'engine'"
        )
    if isinstance(rule, Objective):
        _refuse_sums_over_all(rule)


def check_least_leaf(engine: Engine, added: bool) -> None:
    """Raise if each worker would derive the minimum leaf size from its own rows: `added` if none was given."""
    if added:
        name = engine.aliases["least leaf"][0]
        raise ValueError(
            f"gradient steps on a cluster without {name}: each worker would derive it from its own rows; give "
            f"{name}= the lesser of 100 and a twentieth of all documents, but no less than 20"
        )


def _refuse_sums_over_all(objective: Objective) -> None:
    if isinstance(objective, GradientStep) and objective.normalize == "all":
        raise ValueError(
            f"{objective!r} divides by the standard deviation of all λ, and no worker has all of them: "
            "use normalize='query'"
        )
    if isinstance(objective, UnbiasedLambdaRank | PositionGAM):
        raise ValueError(
            f"{objective!r} estimates the bias of positions from all queries, and no worker has all of them: estimate "
            "it from the log first, and use InversePropensity"
        )
    if isinstance(objective, Constrained) or any(
        isinstance(getattr(objective, part.name), Combiner)
        for part in fields(objective)  # type: ignore[arg-type]
    ):
        raise ValueError(
            f"{objective!r} weights its objectives by their λ and measures on all queries, and no worker has all of "
            "them: give fixed weights or schedules"
        )
    for part in fields(objective):  # type: ignore[arg-type]
        value = getattr(objective, part.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Objective):
                _refuse_sums_over_all(inner)
