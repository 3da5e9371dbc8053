"""`parse`: objectives read from text, by the names under which they are registered."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from lambdaboost._words import listed
from lambdaboost.clicks.propensities import CURVES
from lambdaboost.engines import ENGINES
from lambdaboost.engines.native import NativeObjective
from lambdaboost.evaluation import MEASURES, read_value
from lambdaboost.objectives.objective import OBJECTIVES, Objective
from lambdaboost.objectives.recipes import RECIPES
from lambdaboost.objectives.schedules import SCHEDULES


def parse(text: str) -> Any:
    """The objective that a text names: its `repr`, a bare name for its defaults, or a recipe.

    Only registered names, numbers, strings and tuples are read; no code runs. ``Propensities.load("curve.json")`` is a
    saved curve, ``Propensities.power(1, 10)`` one of a formula.

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
    objectives: dict[str, Any] = {**OBJECTIVES, **RECIPES}
    parts: dict[str, Any] = {**SCHEDULES, **MEASURES, **CURVES}
    value = read_value(text, {**objectives, **parts})
    if not isinstance(value, Objective):
        raise ValueError(f"{text!r} is {value!r}, not an objective: give one of {', '.join(objectives)}")
    return value


def read_objective(objective: Any) -> Any:
    """The objective or native objective of a text, which must be one; anything else unchanged.

    >>> read_objective("rank:ndcg"), read_objective("LambdaRank")
    (rank:ndcg, LambdaRank())
    """
    if not isinstance(objective, str):
        return objective
    names = [name for engine in ENGINES.values() for name in engine.NATIVE_OBJECTIVES]
    text = objective.strip()
    if text in names:
        return NativeObjective(text)
    known = {name.lower(): name for name in (*OBJECTIVES, *RECIPES, *names)}
    # No repr, but a word such as engines have.
    if text not in known.values() and re.fullmatch("[a-z_:]+", text):
        remedy = f"give such as YetiLoss(), or an engine's own of ranking: {listed(names)}"
        if close := get_close_matches(text, known, 1):
            remedy = f"did you mean {known[close[0]]!r}?"
        raise ValueError(f"objective is {objective!r}, which is unknown: {remedy}")
    return parse(objective)
