"""The space of a search: parameters of trees under one name for both engines, and the knobs of each candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lambdaboost.engines.leaves import GRADIENT_LEAF
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.knobs import Knob

NO_L2 = 0.001  # the lower end of the logarithmic range means no L2
# The engines' names for what a knob sets, the main one first; what is fixed under any of them is not searched.
LIGHTGBM = {
    "learning_rate": ("learning_rate", "shrinkage_rate", "eta"),
    "max_leaves": ("num_leaves", "num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
    "feature_fraction": ("feature_fraction", "sub_feature", "colsample_bytree"),
    "row_fraction": ("bagging_fraction", "sub_row", "subsample", "bagging"),
    "l2": ("lambda_l2", "reg_lambda", "lambda"),
    "least_documents": (
        *("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
    ),
}
XGBOOST = {
    "learning_rate": ("learning_rate", "eta"),
    "max_leaves": ("max_leaves", "max_depth"),
    "feature_fraction": ("colsample_bytree",),
    "row_fraction": ("subsample",),
    "l2": ("lambda", "reg_lambda"),
    "least_documents": ("min_child_weight",),
    "least_hessian": ("min_child_weight",),
}
NAMES = {"lightgbm": LIGHTGBM, "xgboost": XGBOOST}


@dataclass(frozen=True)
class Space:
    """The values that the search sets, for data of `documents` rows; `fixed` parameters of an engine are left alone.

    >>> from lambdaboost.tuning.candidates import Candidate
    >>> [knob.name for knob in Space(1000).trees(Candidate("rank_xendcg", "lightgbm"))]
    ['learning_rate', 'max_leaves', 'feature_fraction', 'row_fraction', 'l2', 'least_documents']
    """

    documents: int
    fixed: tuple[str, ...] = ()

    def trees(self, candidate: Candidate) -> tuple[Knob, ...]:
        """The knobs of trees, with the engine's defaults, or lambdaboost's for gradient steps, as first values."""
        most = min(max(self.documents // 20, 8), 128)
        knobs = [
            Knob("learning_rate", 0.02, 0.3, 0.1, log=True),
            Knob("max_leaves", 4, most, min(31, most), log=True, whole=True),
            Knob("feature_fraction", 0.4, 1.0, 1.0),
            Knob("row_fraction", 0.5, 1.0, 1.0),
            Knob("l2", NO_L2, 100.0, 1.0 if candidate.engine == "xgboost" else NO_L2, log=True),
            self._least(candidate),
        ]
        names = NAMES[candidate.engine]
        return tuple(knob for knob in knobs if not set(names[knob.name]) & set(self.fixed))

    def _least(self, candidate: Candidate) -> Knob:
        """The smallest leaf: documents, or for Newton leaves of XGBoost the sum of hessians."""
        if candidate.steps:
            start = min(GRADIENT_LEAF, max(20, self.documents // 20))
            return Knob(
                "least_documents", 5, max(40, min(300, self.documents // 10)), start, log=True, whole=True
            )
        if candidate.engine == "xgboost":
            return Knob("least_hessian", 0.01, 30.0, 1.0, log=True)
        high = max(20, min(300, self.documents // 20))
        return Knob("least_documents", 1, high, 20, log=True, whole=True)

    def named(self, candidate: Candidate) -> dict[str, Knob]:
        """All knobs of a candidate by their names in the search; candidates share those of the trees."""
        trees = {self._shared(knob, candidate): knob for knob in self.trees(candidate)}
        return trees | {f"{knob.name} of {candidate.name}": knob for knob in candidate.knobs}

    @staticmethod
    def _shared(knob: Knob, candidate: Candidate) -> str:
        steps = knob.name == "least_documents" and candidate.steps
        return "least_documents of steps" if steps else knob.name

    def start(self, candidate: Candidate) -> dict[str, float]:
        """The first values of a candidate, by their names in the search."""
        return {name: knob.start for name, knob in self.named(candidate).items()}

    def defaults(self, candidate: Candidate) -> dict[str, float]:
        """The same by the names of the knobs."""
        return {knob.name: knob.start for knob in self.named(candidate).values()}

    def trees_of(self, candidate: Candidate) -> list[str]:
        """The names of the knobs of trees in the search."""
        return [self._shared(knob, candidate) for knob in self.trees(candidate)]

    def suggested(self, trial: Any, candidate: Candidate) -> dict[str, float]:
        """The values that an Optuna trial suggests, by the names of the knobs."""
        return {knob.name: knob.suggested(trial, name) for name, knob in self.named(candidate).items()}


def params_of(candidate: Candidate, values: Mapping[str, float]) -> dict[str, Any]:
    """The engine's parameters for these values of the knobs.

    >>> params_of(Candidate("rank_xendcg", "lightgbm"), {"max_leaves": 15, "l2": 0.001, "row_fraction": 1.0})
    {'num_leaves': 15, 'lambda_l2': 0.0, 'bagging_fraction': 1.0}
    """
    names = NAMES[candidate.engine]
    own = {knob.name for knob in candidate.knobs}
    params: dict[str, Any] = {}
    for knob, value in values.items():
        if knob not in own:
            params[names[knob][0]] = 0.0 if knob == "l2" and value <= NO_L2 else value
    if candidate.engine == "lightgbm" and params.get("bagging_fraction", 1.0) < 1:
        params["bagging_freq"] = 1
    if "max_leaves" in params:  # grown leaf by leaf, as in LightGBM
        params |= {"grow_policy": "lossguide", "max_depth": 0}
    return params | candidate.engine_params(values)
