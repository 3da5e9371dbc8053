"""The space of a search: parameters of trees under one name for both engines, and the knobs of each candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lambdaboost.traps import GRADIENT_LEAF
from lambdaboost.tuning.candidates import Candidate, Knob

NO_L2 = 0.001  # the lower end of the logarithmic range means no L2
RATE = "learning_rate"
# The engines' names for what a knob sets, the main one first; what is fixed under any of them is not searched, nor is a
# fraction of rows where the parameter that switches it on is fixed.
LIGHTGBM = {
    RATE: ("learning_rate", "shrinkage_rate", "eta"),
    "max_leaves": ("num_leaves", "num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
    "feature_fraction": ("feature_fraction", "sub_feature", "colsample_bytree"),
    "row_fraction": (
        *("bagging_fraction", "sub_row", "subsample", "bagging", "bagging_freq", "subsample_freq"),
        *("data_sample_strategy", "boosting", "boosting_type", "boost"),
    ),
    "l2": ("lambda_l2", "reg_lambda", "lambda"),
    "least_documents": (
        *("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
    ),
}
XGBOOST = {
    RATE: ("learning_rate", "eta"),
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
    """The values that the search sets, for data of `documents` rows; parameters that are `fixed` are left alone.

    >>> from lambdaboost.tuning.candidates import native
    >>> [knob.name for knob in Space(1000, ("num_leaves",)).knobs(native("lambdarank")).values()]
    ['learning_rate', 'feature_fraction', 'row_fraction', 'l2', 'least_documents', 'truncation']
    """

    documents: int
    fixed: tuple[str, ...] = ()

    def knobs(self, candidate: Candidate) -> dict[str, Knob]:
        """The knobs of a candidate that are free, by their names in the search; candidates share those of the trees."""
        own = {f"{knob.name} of {candidate.name}": knob for knob in candidate.knobs}
        every = self._trees(candidate) | own
        return {name: knob for name, knob in every.items() if not set(knob.params) & set(self.fixed)}

    def _trees(self, candidate: Candidate) -> dict[str, Knob]:
        """The knobs of trees, from moderate first values."""
        most = min(max(self.documents // 20, 31), 128)
        knobs = [
            Knob(RATE, 0.02, 0.3, 0.1, log=True),
            Knob("max_leaves", 4, most, 31, log=True, whole=True),
            Knob("feature_fraction", 0.4, 1.0, 1.0),
            Knob("row_fraction", 0.5, 1.0, 1.0),
            Knob("l2", NO_L2, 100.0, 1.0 if candidate.engine == "xgboost" else NO_L2, log=True),
            self._least(candidate),
        ]
        names = NAMES[candidate.engine]
        shared = {"least_documents": "least_documents of steps"} if candidate.steps else {}
        return {shared.get(knob.name, knob.name): replace(knob, params=names[knob.name]) for knob in knobs}

    def _least(self, candidate: Candidate) -> Knob:
        """The smallest leaf: documents, or for XGBoost's own leaves the sum of hessians."""
        name = "least_documents"
        if candidate.steps:
            start = min(GRADIENT_LEAF, max(20, self.documents // 20))
            return Knob(name, 5, max(40, min(300, self.documents // 10)), start, log=True, whole=True)
        if candidate.engine == "xgboost":
            return Knob("least_hessian", 0.01, 30.0, 1.0, log=True)
        return Knob(name, 1, max(20, min(300, self.documents // 20)), 20, log=True, whole=True)

    def start(self, candidate: Candidate) -> dict[str, float]:
        """The first values of a candidate, by their names in the search."""
        return {name: knob.start for name, knob in self.knobs(candidate).items()}

    def values(self, candidate: Candidate, asked: Mapping[str, float]) -> dict[str, float]:
        """The values by the names of the knobs, rounded; `asked` has them by their names in the search."""
        return {knob.name: knob.rounded(asked[name]) for name, knob in self.knobs(candidate).items()}

    def params(self, candidate: Candidate, values: Mapping[str, float]) -> dict[str, Any]:
        """The engine's parameters for these values of the knobs, and of the largest depth of the trees.

        >>> from lambdaboost.tuning.candidates import native
        >>> Space(1000).params(native("rank_xendcg"), {"max_leaves": 15, "l2": 0.001, "row_fraction": 0.5})
        {'num_leaves': 15, 'bagging_fraction': 0.5, 'lambda_l2': 0.0, 'bagging_freq': 1}
        """
        params: dict[str, Any] = {}
        for knob in self.knobs(candidate).values():
            if knob.params and knob.name in values:
                value = values[knob.name]
                params[knob.params[0]] = 0.0 if knob.name == "l2" and value <= NO_L2 else value
        if candidate.engine == "lightgbm" and params.get("bagging_fraction", 1.0) < 1:
            params["bagging_freq"] = 1
        if "max_leaves" in params:  # grown leaf by leaf, as in LightGBM
            params |= {"grow_policy": "lossguide", "max_depth": 0}
        if "depth" in values:
            params["max_depth"] = values["depth"]
        return params
