"""The names that `parse` reads: objectives, their parts, grade models and recipes, each registered by a decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lambdaboost._registry import Registry
from lambdaboost.clicks import Propensities
from lambdaboost.evaluation import MEASURES, read_value
from lambdaboost.objectives.base.objective import Objective

OBJECTIVES: Registry[type[Objective]] = Registry()
GRADE_MODELS: Registry[type[Any]] = Registry()
RECIPES: Registry[Callable[..., Objective]] = Registry()
SCHEDULES: Registry[type[Any]] = Registry()
COMBINERS: Registry[type[Any]] = Registry()
PARTS: dict[str, type[Any]] = {"Propensities": Propensities}


def parse(text: str) -> Any:
    """The objective or grade model that a text names: its `repr`, a bare name for its defaults, or a recipe.

    Only registered names, numbers, strings and tuples are read; no code runs.

    Raises
    ------
    ValueError
        If the text cannot be parsed; the message shows what can.

    Examples
    --------
    >>> parse("LambdaRank")
    LambdaRank()
    >>> parse("Blend(LambdaRank(), SigmoidLocal(NDCG(k=3)), Linear(0.1, 0.001))")
    Blend(first=LambdaRank(), second=SigmoidLocal(metric=NDCG(k=3)), weight=Linear(start=0.1, rate=0.001))

    """
    parts = {**SCHEDULES, **COMBINERS, **MEASURES, **PARTS}
    value = read_value(text, {**OBJECTIVES, **GRADE_MODELS, **RECIPES, **parts})
    if not isinstance(value, (Objective, *GRADE_MODELS.values())):
        known = ", ".join((*sorted(OBJECTIVES), *sorted(GRADE_MODELS), *RECIPES))
        raise ValueError(f"{text!r} is {value!r}, not an objective: give one of {known}")
    return value
