"""The engines' own ranking objectives as values: their options, what they refuse, and their gradients.

Both weigh pairs by NDCG whose discounts do not end at the truncation: a pair counts where either document is in the
first ranks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.base.checks import check_rank
from lambdaboost.objectives.native import lightgbm, xgboost
from lambdaboost.objectives.native.queries import Derivatives


@dataclass(frozen=True)
class LightGBMConvention:
    """LightGBM's ``lambdarank``; None is its default.

    Attributes
    ----------
    truncation : int, optional
        ``lambdarank_truncation_level``, 30.
    norm : bool, optional
        ``lambdarank_norm``, True.

    """

    truncation: int | None = None
    norm: bool | None = None

    def check(self, metric: Measure, sigma: float) -> None:
        """Raise if LightGBM has no such objective."""
        _check(self, "lightgbm", metric)

    def gradient(self, scores: NDArray[np.float64], q: Queries, metric: NDCG, sigma: float) -> Derivatives:
        """Gradient and hessian before weights, float32 (n_documents,) each."""
        truncation = self.truncation or lightgbm.TRUNCATION
        return lightgbm.gradient(scores, q, metric, sigma, truncation, self.norm is not False)

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """The weight of each row, as given."""
        return q.weight


@dataclass(frozen=True)
class XGBoostConvention:
    """XGBoost's ``rank:ndcg`` with top-k pairs; None is its default.

    Attributes
    ----------
    truncation : int, optional
        ``lambdarank_num_pair_per_sample``, 32.
    norm : bool, optional
        ``lambdarank_normalization``, True.
    score_norm : bool, optional
        ``lambdarank_score_normalization``, True.

    """

    truncation: int | None = None
    norm: bool | None = None
    score_norm: bool | None = None

    def check(self, metric: Measure, sigma: float) -> None:
        """Raise if XGBoost has no such objective."""
        _check(self, "xgboost", metric)
        if sigma != 1:
            raise ValueError(f"sigma is {sigma!r}: convention='xgboost' has σ = 1 only")

    def gradient(self, scores: NDArray[np.float64], q: Queries, metric: NDCG, sigma: float) -> Derivatives:
        """Gradient and hessian before weights, float32 (n_documents,) each."""
        truncation = self.truncation or xgboost.TRUNCATION
        return xgboost.gradient(
            scores, q, metric, truncation, self.norm is not False, self.score_norm is not False
        )

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """The weight of each row: its query's, scaled to a mean of 1 over the queries."""
        return xgboost.row_weights(q)


NativeConvention = LightGBMConvention | XGBoostConvention
CONVENTIONS: dict[str, type[LightGBMConvention] | type[XGBoostConvention]] = {
    "lightgbm": LightGBMConvention,
    "xgboost": XGBoostConvention,
}


def convention_of(name: str, options: dict[str, Any]) -> NativeConvention | None:
    """The engine's convention of that name with the options that are not None; None for the papers'.

    Raises
    ------
    ValueError
        Where there is no such convention, or it has no such option.

    """
    if name not in ("paper", *CONVENTIONS):
        raise ValueError(f"convention is {name!r}, expected one of {', '.join(('paper', *CONVENTIONS))}")
    given = {option: value for option, value in options.items() if value is not None}
    if name == "paper":
        for option, value in given.items():
            raise ValueError(
                f"{option}={value!r} belongs to {_conventions_with(option)}; in the paper's convention the measure "
                "truncates, as NDCG(k=30), and nothing is normalised"
            )
        return None
    convention = CONVENTIONS[name]
    known = [field.name for field in fields(convention)]
    for option, value in given.items():
        if option not in known:
            raise ValueError(
                f"{option}={value!r} belongs to {_conventions_with(option)}; convention={name!r} has "
                f"{' and '.join(f'{choice}=' for choice in known)} only"
            )
    return convention(**given)


def _conventions_with(option: str) -> str:
    having = [name for name, cls in CONVENTIONS.items() if option in {field.name for field in fields(cls)}]
    return "convention=" + " or ".join(map(repr, having))


def _check(convention: NativeConvention, name: str, metric: Measure) -> None:
    """Raise for another measure than NDCG, a truncation that is no rank, or a switch that is not True or False."""
    if not isinstance(metric, NDCG) or metric.k is not None:
        raise ValueError(
            f"metric is {metric!r}: convention={name!r} has NDCG() only, and truncates by truncation="
        )
    if convention.truncation is not None:
        check_rank("truncation", convention.truncation)
    for field in fields(convention):
        value = getattr(convention, field.name)
        if field.name != "truncation" and not isinstance(value, bool | None):
            raise TypeError(f"{field.name} is {value!r}, expected True or False")
