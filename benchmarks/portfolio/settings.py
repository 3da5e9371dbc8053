"""`Setting`: an objective with its own numbers and those of its trees, in the terms of `lambdaboost.tune`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.field.settings import between
from lambdaboost import NDCG, ListNet
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.space import Space
from lambdaboost.tuning.standard import standard

DRAWS, SEED = 30, 29
LEAVES = (4, 6, 8, 12, 16, 24, 31, 48, 64)
SMALL = 6  # leaves of the small trees
RANGES = {
    "learning_rate": (0.03, 0.3),
    "l2": (0.001, 30.0),
    "least_documents": (3.0, 100.0),
    "least_hessian": (0.01, 10.0),
}
STEPS = (20.0, 200.0)  # documents in the smallest leaf of gradient steps
# XGBoost's own trees.
OWN = {"learning_rate": 0.3, "grow_policy": "depthwise", "max_depth": 6, "max_leaves": 0}
CANDIDATES = {c.name: c for c in standard([NDCG(10)], ("lightgbm", "xgboost"), ())}
CANDIDATES |= {"ListNet()": Candidate(ListNet(), "lightgbm")}


@dataclass(frozen=True)
class Setting:
    """A candidate of `tune`, by name, with values of its knobs; others keep the first values of `tune`.

    Attributes
    ----------
    candidate : str
        Its name.
    values : dict
        Values by the names of knobs.
    depth : int
        Largest depth of a tree; 0 sets none.
    own : bool
        Whether the trees are the engine's own defaults, whatever `tune` begins with.

    """

    candidate: str
    values: Mapping[str, float] = field(default_factory=dict, hash=False)
    depth: int = 0
    own: bool = False

    @property
    def name(self) -> str:
        """Its name in tables."""
        said = [f"{name}={value:g}" for name, value in self.values.items()]
        said += [f"depth={self.depth}"] * bool(self.depth) + ["XGBoost's own trees"] * self.own
        return ", ".join([self.candidate, *said])

    @property
    def fixed(self) -> dict[str, Any]:
        """The engine's parameters that are no values of knobs."""
        own = OWN if self.own else {}
        return own | ({"max_depth": self.depth} if self.depth else {})

    def values_on(self, space: Space) -> dict[str, float]:
        """The values of all knobs, each within the range that `tune` has for the data."""
        return {
            knob.name: knob.rounded(min(max(self.values.get(knob.name, knob.start), knob.low), knob.high))
            for knob in space.knobs(CANDIDATES[self.candidate]).values()
        }


def settings() -> tuple[Setting, ...]:
    """All settings, the same at every call."""
    whole = [Setting(name, own=c.engine == "xgboost") for name, c in CANDIDATES.items()]
    small = ("lambdarank", "rank_xendcg", "rank:ndcg", "LambdaRank()", "LambdaLoss()", "ListNet()")
    whole += [Setting(name, {"max_leaves": SMALL}) for name in small]
    rng = np.random.default_rng(SEED)
    names: list[str] = []
    while len(names) < DRAWS:
        names += [str(name) for name in rng.permutation(list(CANDIDATES))]
    return (*whole, *(_drawn(name, rng) for name in names[:DRAWS]))


def _drawn(name: str, rng: np.random.Generator) -> Setting:
    candidate = CANDIDATES[name]
    values: dict[str, float] = {}
    for knob in Space(20_000).knobs(candidate).values():
        low, high = RANGES.get(knob.name, (knob.low, knob.high))
        if knob.name == "least_documents" and candidate.steps:
            low, high = STEPS
        share = float(rng.random())
        if knob.name == "max_leaves":
            values[knob.name] = LEAVES[int(share * len(LEAVES))]
        else:
            value = between(low, high, share) if knob.log else low + (high - low) * share
            values[knob.name] = round(value) if knob.whole else float(f"{value:.2g}")
    is_balanced = rng.random() < 1 / 3
    return Setting(name, values, math.ceil(math.log2(values["max_leaves"])) if is_balanced else 0)
