"""The settings of the matrix: objectives with their own numbers and those of their trees, as `tune` has them."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.field.settings import between
from lambdaboost import NDCG
from lambdaboost.tuning.portfolio import Setting
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
OBJECTIVES = (
    "lambdarank",
    "rank_xendcg",
    "rank:ndcg",
    "rank:pairwise",
    "RankNet()",
    "LambdaRank()",
    "LambdaRank() with a cutoff",
    "LambdaLoss()",
    "LambdaRank() by gradient steps",
    "iteration_dependent() by gradient steps",
    "GumbelRanks(LambdaRank()) by gradient steps",
    "ListNet()",
)
KNOWN = {c.name: c for c in standard([NDCG(10)], ("lightgbm", "xgboost"), ())}
CANDIDATES = {name: KNOWN[name] for name in OBJECTIVES}


def name_of(setting: Setting) -> str:
    """The name of a setting in tables."""
    said = [f"{name}={value:g}" for name, value in setting.values.items()]
    said += [f"depth={setting.depth}"] * bool(setting.depth) + ["XGBoost's own trees"] * setting.own
    return ", ".join([setting.candidate, *said])


def knobs_of(setting: Setting, space: Space) -> dict[str, float]:
    """The values of all knobs, each within the range that `tune` has for the data; none where all are the engine's."""
    if setting.own:
        return {}
    values = {
        knob.name: knob.rounded(min(max(setting.values.get(knob.name, knob.start), knob.low), knob.high))
        for knob in space.knobs(CANDIDATES[setting.candidate]).values()
    }
    return values | ({"depth": setting.depth} if setting.depth else {})


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
