"""LambdaRank: pairs weighed by what their swap is worth in a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.evaluation._checks import LAST_RANK
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.native import lightgbm as _native_lightgbm
from lambdaboost.objectives.native import xgboost as _native_xgboost
from lambdaboost.objectives.objective import STEEPEST, Derivatives, Floats, Objective, check_number
from lambdaboost.objectives.swaps.of_measure import check_swap

Convention = Literal["paper", "lightgbm", "xgboost"]


@dataclass(frozen=True, repr=False)
class LambdaRank(Objective):
    r"""The λ-gradient of a measure (Burges, Ragno and Le 2006; 2011 paper, eqs. 4-8): λ^L.

    For a pair with :math:`l_i > l_j`, :math:`\rho = 1/(1 + e^{\sigma(s_i - s_j)})`:
    :math:`\lambda = \sigma\,|\Delta Z|\,\rho` and :math:`\mu = \sigma^2\,|\Delta Z|\,\rho(1-\rho)`, where
    :math:`\Delta Z` is what swapping i and j in the order of the round does to the measure Z, with every rank that it
    moves. With p the higher and r the lower of their ranks, u the document at p, i a relevant document and j another
    where Z is binary:

    =================== =======================================================================================
    Z                   :math:`|\Delta Z|`
    =================== =======================================================================================
    NDCG@k, CNDCG@k     :math:`|(2^{l_i} - 2^{l_j})(D(r_i) - D(r_j))| / Z^*`, D zero past k
    Precision@k, WTA    :math:`1/k` where :math:`p \le k < r`; WTA is Precision@1
    MAP@k               :math:`\frac1M |C(p)v(p) - C(r)v(r) + S(r) - S(p)|`, C one higher where j is above
    MRR@k               :math:`|\max(v(r_j), x_i) - Z|`, x_i what the other relevant documents give
    ERR@k               :math:`|R_i - R_j| \, (V(p) - V(r)) / (1 - R_u)`
    PairAccuracy        :math:`(1 + \sum_{p < \rho < r} \mathrm{sgn}(l_i - l_\rho) - \mathrm{sgn}(l_j - l_\rho)) / N`
    =================== =======================================================================================

    R and N are the relevant documents and the pairs of the query, M = min(R, k), and v(r) = 1/r, 0 past k; C(r) counts
    the relevant documents up to rank r and S(r) sums v over their ranks; R_i is the chance that i satisfies, P(r) the
    product of 1 − R above rank r, and :math:`V(r) = \sum_{\rho<r} R(\rho) P(\rho)/\rho + P(r)/r`, terms past k zero.
    A pair on the same side of a binary measure's threshold weighs 0.

    Parameters
    ----------
    metric : NDCG, CNDCG, MAP, MRR, ERR, WTA, Precision or PairAccuracy
        The measure Z; pairs are of different labels in its source.
    sigma : float
        Steepness of the logistic, > 0.
    convention : "paper", "lightgbm" or "xgboost"
        The papers' rule, or a copy of an engine's own objective: LightGBM's ``lambdarank``, or XGBoost's ``rank:ndcg``
        with top-k pairs. Both let discounts run on past the truncation, and divide by score differences. Trees of
        XGBoost are the same from the same ``base_score``; by default ``rank:ndcg`` fits one of about 1e-9.
    truncation : int, optional
        Only with an engine's convention: LightGBM's ``lambdarank_truncation_level`` (30), XGBoost's
        ``lambdarank_num_pair_per_sample`` (32). In the paper's convention the measure says it: ``NDCG(k=30)``.
    norm : bool, optional
        Only with an engine's convention: ``lambdarank_norm`` or ``lambdarank_normalization`` (True).
    score_norm : bool, optional
        Only with XGBoost's convention: ``lambdarank_score_normalization`` (True).

    Examples
    --------
    >>> from lambdaboost import LambdaRank, NDCG, Queries
    >>> grad, hess = LambdaRank(NDCG(k=3)).gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))
    >>> grad.round(4)  # |ΔNDCG|/2, |ΔNDCG| = 1 − 1/log2(3)
    array([ 0.1845, -0.1845], dtype=float32)
    >>> LambdaRank(convention="lightgbm", truncation=10)
    LambdaRank(convention='lightgbm', truncation=10)

    """

    metric: Measure = NDCG()
    sigma: float = 1.0
    convention: Convention = "paper"
    truncation: int | None = None
    norm: bool | None = None
    score_norm: bool | None = None

    def __post_init__(self) -> None:
        check_swap("metric", self.metric)
        check_number("sigma", self.sigma, 0, STEEPEST, open_low=True)
        if self.convention not in get_args(Convention):
            raise ValueError(
                f"convention is {self.convention!r}, expected one of {', '.join(get_args(Convention))}"
            )
        if self.convention == "paper":
            for name in ("truncation", "norm", "score_norm"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name}={getattr(self, name)!r} belongs to convention='lightgbm' or 'xgboost'; "
                        "in the paper's convention the measure truncates, as NDCG(k=30), and nothing is normalised"
                    )
        else:
            self._check_engine()

    def _check_engine(self) -> None:
        if not isinstance(self.metric, NDCG) or self.metric.k is not None:
            raise ValueError(
                f"metric is {self.metric!r}: convention={self.convention!r} knows NDCG() only, "
                "and truncates by truncation="
            )
        if self.truncation is not None:
            if isinstance(self.truncation, bool) or not isinstance(self.truncation, int | np.integer):
                raise TypeError(f"truncation is {self.truncation!r}, expected a whole number ≥ 1")
            check_number("truncation", self.truncation, 1, LAST_RANK)
        for name in ("norm", "score_norm"):
            if not isinstance(getattr(self, name), bool | None):
                raise TypeError(f"{name} is {getattr(self, name)!r}, expected True or False")
        if self.convention == "lightgbm" and self.score_norm is not None:
            raise ValueError(
                f"score_norm={self.score_norm!r} belongs to convention='xgboost'; LightGBM has norm= only"
            )
        if self.convention == "xgboost" and self.sigma != 1:
            raise ValueError(f"sigma is {self.sigma!r}: convention='xgboost' has σ = 1 only")

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it reads."""
        return (self.metric.source,)

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None."""
        return _native_xgboost.row_weights(q) if self.convention == "xgboost" else q.weight

    @property
    def rule(self) -> PairRule | None:
        """The pairs, swap and force in the paper's convention."""
        return (
            PairRule(self.metric.source, self.metric, sigma=self.sigma)
            if self.convention == "paper"
            else None
        )

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> tuple[Derivatives, Derivatives]:
        """λ and μ of every document."""
        if self.rule is not None:
            return self.rule.lambdas(scores, q)
        grad, hess = self._native(scores, q)
        return -grad.astype(np.float64), hess.astype(np.float64)

    def _native(self, scores: Floats, q: Queries) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        norm = self.norm is not False
        if self.convention == "lightgbm":
            truncation = self.truncation or _native_lightgbm.TRUNCATION
            return _native_lightgbm.gradient(scores, q, self.metric, float(self.sigma), int(truncation), norm)  # type: ignore[arg-type]
        truncation = self.truncation or _native_xgboost.TRUNCATION
        score_norm = self.score_norm is not False
        return _native_xgboost.gradient(scores, q, self.metric, int(truncation), norm, score_norm)  # type: ignore[arg-type]
