"""Which objectives can be computed where no worker sees all queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from lambdaboost.engines.engine import Engine
from lambdaboost.engines.leaves import Leaves, least_documents
from lambdaboost.objectives import GradientStep, Objective

CHECKPOINT = (
    "checkpoint on a cluster: every worker would write the same file; keep the model of one worker yourself, and "
    "continue with init_model= or xgb_model="
)


def check_distributed(rule: Any, leaves: Leaves) -> None:
    """Raise where a rule needs figures of all queries together."""
    if leaves == "newton":
        raise ValueError(
            "leaves='newton' on a cluster: both engines would fill a leaf from one worker's rows of it; "
            "use leaves='gradient' or 'engine'"
        )
    if isinstance(rule, Objective):
        _refuse_sums_over_all(rule)


def check_least_leaf(engine: Engine, least: int | None) -> None:
    """Raise where each worker would derive the least leaf, `least`, from its own rows."""
    if least is not None:
        name = engine.aliases["least leaf"][0]
        raise ValueError(
            f"gradient steps on a cluster without {name}: each worker would derive it from its own rows; give "
            f"{name}= the lesser of 100 and a twentieth of all documents, but no less than 20"
        )


def with_least_leaf(
    engine: Engine, params: Mapping[str, Any], rule: Objective, documents: int
) -> dict[str, Any]:
    """The parameters, with the least leaf that suits the documents of all workers, where none is given."""
    least, names = least_documents(rule, documents), engine.aliases["least leaf"]
    if least is None or any(params.get(name) is not None for name in names):
        return dict(params)
    return {**params, names[0]: least}


def _refuse_sums_over_all(objective: Objective) -> None:
    if isinstance(objective, GradientStep) and objective.normalize == "all":
        raise ValueError(
            f"{objective!r} divides by the spread of all λ together, and no worker sees all of them: "
            "use normalize='query'"
        )
    for part in fields(objective):  # type: ignore[arg-type]
        value = getattr(objective, part.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Objective):
                _refuse_sums_over_all(inner)
