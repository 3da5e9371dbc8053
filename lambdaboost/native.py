"""The engines' own ranking objectives, by name."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, ClassVar

import numpy as np

from lambdaboost._checks import refuse_labels
from lambdaboost._installed import TITLES
from lambdaboost._warn import warn
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.objectives import parse

# By engine, the default first.
NATIVE_OBJECTIVES = {
    "lightgbm": ("lambdarank", "rank_xendcg"),
    "xgboost": ("rank:ndcg", "rank:pairwise", "rank:map"),
}


@dataclass(frozen=True, repr=False)
class NativeObjective:
    """An engine's own ranking objective, computed by the engine; its `repr` is its name.

    >>> read_objective("rank:ndcg"), read_objective("rank:ndcg").owner
    (rank:ndcg, 'xgboost')
    """

    name: str
    sources: ClassVar = (RELEVANCE,)
    allows_negative: ClassVar = False

    def __repr__(self) -> str:
        return self.name

    @property
    def owner(self) -> str:
        """The name of its engine."""
        return next(engine for engine, names in NATIVE_OBJECTIVES.items() if self.name in names)

    def check_labels(self, labels: Any) -> None:
        """Warn of missing grades, which the engine reads as 0; raise for grades that it cannot read."""
        grades, title = np.asarray(labels), TITLES[self.owner]
        if grades.dtype.kind == "f" and np.isnan(grades).any():
            warn(
                f"NaN labels: {title}'s own objective reads missing grades as 0; drop these rows, or give an "
                "objective such as LambdaRank(), for which they stay missing"
            )
            grades = np.nan_to_num(grades)
        remedy = "give an objective of their order, such as RankNet() or LambdaRank(Spearman())"
        own = f"{title}'s own {self.name} takes grades"
        refuse_labels("relevance", grades, grades < 0, f"{own} ≥ 0; {remedy}")
        if self.name == "rank:map":
            remedy = "convert them, or give LambdaRank(MAP())"
            refuse_labels("relevance", grades, (grades != 0) & (grades != 1), f"{own} 0 and 1 only; {remedy}")

    def check_positions(self, q: Queries) -> None:
        """Warn of positions that it does not read; LightGBM's ``"lambdarank"`` corrects for them in its own way."""
        if q.positions is not None and self.name != "lambdarank":
            warn(f"position: {self.name!r} does not read positions, so training ignores them")

    def check(self, engine: str) -> None:
        """Raise if it is not an objective of this engine, such as ``"lightgbm"``."""
        if engine != self.owner:
            own = " or ".join(map(repr, NATIVE_OBJECTIVES[engine]))
            raise ValueError(
                f"objective is {self.name!r}, which is {TITLES[self.owner]}'s own: on {TITLES[engine]} give {own}, or "
                "an objective such as LambdaRank()"
            )


def read_objective(objective: Any) -> Any:
    """The objective or native objective of a text, which must be one; anything else unchanged."""
    if not isinstance(objective, str):
        return objective
    names = [name for of_engine in NATIVE_OBJECTIVES.values() for name in of_engine]
    text = objective.strip()
    if text in names:
        return NativeObjective(text)
    close = get_close_matches(text, names, 1, 0.8)
    if close and not text[:1].isupper():
        raise ValueError(f"objective is {objective!r}, which is unknown: did you mean {close[0]!r}?")
    return parse(objective)
