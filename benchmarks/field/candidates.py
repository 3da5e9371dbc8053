"""`Candidate`: an objective on the engine that trains it, by a name that tables and files know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from lambdaboost import (
    NDCG,
    XENDCG,
    GradientStep,
    GumbelRanks,
    LambdaLoss,
    LambdaRank,
    RankNet,
    graded,
    iteration_dependent,
)
from lambdaboost.objectives import Objective

ARGUMENT = re.compile(r"(?<=[(,\s])(objective|metric|first|second)=")

EngineName = Literal["lightgbm", "xgboost", "catboost"]


@dataclass(frozen=True)
class Candidate:
    """An objective, lambdaboost's or by an engine's own name, on its engine."""

    name: str
    engine: EngineName
    objective: Objective | str

    @property
    def is_native(self) -> bool:
        """Whether the engine computes it."""
        return isinstance(self.objective, str)

    @property
    def in_steps(self) -> bool:
        """Whether leaves are gradient steps."""
        return isinstance(self.objective, GradientStep)

    @property
    def key(self) -> str:
        """What files are named by."""
        text = self.name if self.is_native else repr(self.objective)
        return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in text)


LAMBDARANK = Candidate("LightGBM lambdarank", "lightgbm", "lambdarank")
XE_NDCG = Candidate("LightGBM rank_xendcg", "lightgbm", "rank_xendcg")
CATBOOST = Candidate("CatBoost YetiRank", "catboost", "YetiRank")
NATIVE = (
    LAMBDARANK,
    XE_NDCG,
    Candidate("XGBoost rank:ndcg", "xgboost", "rank:ndcg"),
    Candidate("XGBoost rank:pairwise", "xgboost", "rank:pairwise"),
    CATBOOST,
)


def of_lightgbm(objective: Objective, name: str = "") -> Candidate:
    """An objective of lambdaboost on LightGBM, by its repr without the names of arguments, or by a name."""
    return Candidate(name or ARGUMENT.sub("", repr(objective)), "lightgbm", objective)


DEFAULT = of_lightgbm(LambdaRank())  # what LambdaRanker trains where nothing is given


def candidates(measure: NDCG, sources: Iterable[str] = ()) -> tuple[Candidate, ...]:
    """The field: the engines' own objectives, then lambdaboost's; with label sources, grades with each of them."""
    objectives: list[Objective] = [] if measure.k is None else [LambdaRank(NDCG(measure.k))]
    objectives += [RankNet(), XENDCG(), LambdaLoss(), GradientStep(LambdaRank())]
    found = [*(c for c in NATIVE if find_spec(c.engine) is not None), DEFAULT, *map(of_lightgbm, objectives)]
    found += [of_lightgbm(iteration_dependent(), "iteration_dependent()")]
    found += [of_lightgbm(GradientStep(GumbelRanks(LambdaRank())))]
    found += [of_lightgbm(graded(source=name), f"graded(source={name!r})") for name in sources]
    return tuple(found)
