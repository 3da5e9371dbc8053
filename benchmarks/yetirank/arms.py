"""`Arm`: an objective with trees, and all that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from benchmarks.yetirank.prototypes import QueryRMSE, QuerySoftmax, YetiRank
from lambdaboost import XENDCG, GradientStep, GumbelRanks, LambdaLoss, LambdaRank, ListNet
from lambdaboost.engines.leaves import GRADIENT_LEAF
from lambdaboost.objectives import Objective

Params = tuple[tuple[str, Any], ...]
Name = tuple[str, str, str]  # engine, row and column


@dataclass(frozen=True)
class Arm:
    """An objective with trees: a cell of a table."""

    engine: Literal["catboost", "lightgbm", "xgboost"]
    objective: Objective | str
    trees: str = ""
    params: Params = ()
    leaves: Literal["engine", "newton"] = "engine"

    @property
    def key(self) -> str:
        """What files are named by."""
        text = f"{self.engine} {self.objective} {self.params} {self.leaves}"
        return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in text)

    def given(self, rate: float, seed: int) -> dict[str, Any]:
        """The engine's parameters."""
        named = {"catboost": "random_seed", "lightgbm": "seed", "xgboost": "seed"}
        return dict(self.params) | {"learning_rate": rate, named[self.engine]: seed}

    def catboost(self, rate: float, seed: int) -> CatBoostSetting:
        """The same for the field's trainer."""
        return CatBoostSetting(self.given(rate, seed))


@dataclass(frozen=True)
class CatBoostSetting:
    """Parameters in place of a setting of the field."""

    params: dict[str, Any]

    def catboost(self) -> dict[str, Any]:
        """CatBoost's parameters."""
        return self.params


PLAIN = {"bootstrap_type": "No", "random_strength": 0}
LEAFWISE = {"grow_policy": "Lossguide"}  # of 31 leaves
YETI = "YetiRank"
SOFTMAX = "QuerySoftMax"
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "as it is": (YETI, {}),
    "no bootstrap": (YETI, {"bootstrap_type": "No"}),
    "random strength 0": (YETI, {"random_strength": 0}),
    "neither": (YETI, PLAIN),
    "leaf-wise trees of 31 leaves": (YETI, LEAFWISE),
    "neither, leaf-wise": (YETI, PLAIN | LEAFWISE),
    "depth 4": (YETI, {"depth": 4}),
    "score function L2": (YETI, {"score_function": "L2"}),
    "no noise": (f"{YETI}:noise=No", {}),
    "1 permutation": (f"{YETI}:permutations=1", {}),
    "ΔNDCG as weights": (f"{YETI}:mode=NDCG;dcg_type=Exp", {}),
}
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    SOFTMAX: (SOFTMAX, {}),
    "QuerySoftMax, Newton's leaves": (SOFTMAX, {"leaf_estimation_method": "Newton"}),
    "QuerySoftMax, neither, leaf-wise": (SOFTMAX, PLAIN | LEAFWISE),
    "LambdaMart": ("LambdaMart", {}),
    "PairLogit": ("PairLogit", {}),
    "QueryRMSE": ("QueryRMSE", {}),
}
BASE = "31 leaves"
NEWTON = "least-squares splits"
LIGHTGBM: dict[str, dict[str, Any]] = {
    BASE: {},
    "8 leaves": {"num_leaves": 8},
    "4 leaves": {"num_leaves": 4},
    "depth 4": {"max_depth": 4, "num_leaves": 16},
    "extra trees": {"extra_trees": True},
    NEWTON: {},
}
XGBOOST: dict[str, dict[str, Any]] = {
    BASE: {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 31},
    "depth 6": {},
    "depth 3": {"max_depth": 3},
}
NOISY = GradientStep(GumbelRanks(LambdaRank()))
PROTOTYPES = (QuerySoftmax(), QueryRMSE(), YetiRank())
SHARED = (LambdaRank(), LambdaLoss(), NOISY, ListNet(), *PROTOTYPES)
OBJECTIVES: dict[str, tuple[Objective | str, ...]] = {
    "lightgbm": ("lambdarank", "rank_xendcg", *SHARED),
    "xgboost": ("rank:ndcg", XENDCG(), *SHARED[1:]),
}
TREES = {"lightgbm": LIGHTGBM, "xgboost": XGBOOST}


def arms() -> dict[Name, Arm]:
    """Every arm by engine, row and column; CatBoost's where it is installed."""
    found = {}
    if find_spec("catboost") is not None:
        for row, (loss, params) in (CHANGES | LOSSES).items():
            found["catboost", row, ""] = Arm("catboost", loss, row, tuple(params.items()))
    for engine, objectives in OBJECTIVES.items():
        for objective in objectives:
            for trees, params in TREES[engine].items():
                if trees != NEWTON or not isinstance(objective, str):
                    found[engine, str(objective), trees] = _arm(engine, objective, trees, params)
    return found


def _arm(engine: Any, objective: Objective | str, trees: str, params: dict[str, Any]) -> Arm:
    if trees == NEWTON:
        inner = objective.objective if isinstance(objective, GradientStep) else objective
        return Arm(engine, inner, trees, tuple(params.items()), "newton")
    if engine == "xgboost" and isinstance(objective, GradientStep):
        params = params | {"min_child_weight": GRADIENT_LEAF}
    return Arm(engine, objective, trees, tuple(params.items()))
