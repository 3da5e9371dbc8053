"""LambdaRank: pairs weighted by the change of a measure when the two documents swap."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_choice, check_sigma, check_whole
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.base.objective import Floats, LambdaMu, Objective
from lambdaboost.objectives.kernels.pair_rule import PairRule
from lambdaboost.objectives.native.lightgbm import lightgbm_gradient
from lambdaboost.objectives.native.xgboost import xgboost_gradient, xgboost_weights
from lambdaboost.objectives.swaps.registry import check_swap

Convention = Literal["paper", "lightgbm", "xgboost"]
# The options of each convention, at the engine's defaults.
OPTIONS: dict[Convention, dict[str, Any]] = {
    "paper": {},
    "lightgbm": {"truncation": 30, "norm": True},
    "xgboost": {"truncation": 32, "norm": True, "score_norm": True},
}


class LambdaRank(Objective):
    r"""The λ-gradient of a measure (Burges, Ragno and Le 2006; 2011 paper, eqs. 4-8): λ^L.

    For a pair with :math:`l_i > l_j`, :math:`\rho = 1/(1 + e^{\sigma(s_i - s_j)})`:
    :math:`\lambda = \sigma\,|\Delta Z|\,\rho` and :math:`\mu = \sigma^2\,|\Delta Z|\,\rho(1-\rho)`, where
    :math:`\Delta Z` is the change of the measure Z when i and j swap ranks in the current order. With p the higher and
    r the lower of their ranks, u the document at p, i a relevant document and j another where Z is binary:

    =================== =======================================================================================
    Z                   :math:`|\Delta Z|`
    =================== =======================================================================================
    NDCG@k, CNDCG@k     :math:`|(2^{l_i} - 2^{l_j})(D(r_i) - D(r_j))| / Z^*`, D zero past k
    Precision@k, WTA    :math:`1/k` where :math:`p \le k < r`; WTA is Precision@1
    MAP@k               :math:`\frac1M |C(p)v(p) - C(r)v(r) + S(r) - S(p)|`, C one higher where j is above
    MRR@k               :math:`|\max(v(r_j), x_i) - Z|`, x_i what the other relevant documents give
    ERR@k               :math:`|R_i - R_j| \, (V(p) - V(r)) / (1 - R_u)`
    PairAccuracy        :math:`(1 + \sum_{p < \rho < r} \mathrm{sgn}(l_i - l_\rho) - \mathrm{sgn}(l_j - l_\rho)) / N`
    Spearman            :math:`|r_i - r_j|\,|b_i - b_j| / (AB)`, r the ranks of documents with a label
    =================== =======================================================================================

    R and N are the relevant documents and the pairs of the query, M = min(R, k), and v(r) = 1/r, 0 past k; C(r) counts
    the relevant documents up to rank r and S(r) sums v over their ranks; R_i is the probability that i satisfies, P(r)
    the product of 1 − R above rank r, and :math:`V(r) = \sum_{\rho<r} R(\rho) P(\rho)/\rho + P(r)/r`, terms past k
    zero; b are the ranks of the labels less their mean, ties averaged, :math:`B^2 = \sum b^2`, and
    :math:`A^2 = n(n^2-1)/12`.
    A pair on the same side of a binary measure's threshold has weight 0.

    Parameters
    ----------
    metric : NDCG, CNDCG, MAP, MRR, ERR, WTA, Precision, PairAccuracy or Spearman
        The measure Z; pairs are of different labels in its source.
    sigma : float
        Steepness of the logistic, > 0.
    convention : "paper", "lightgbm" or "xgboost"
        The papers' rule, or a copy of an engine's own objective: LightGBM's ``lambdarank``, or XGBoost's ``rank:ndcg``
        with top-k pairs. In both, discounts go on past the truncation and weights are divided by score differences.
        XGBoost's trees are the same with the same ``base_score``; by default ``rank:ndcg`` fits one of about 1e-9.
    truncation : int, optional
        Only with an engine's convention: LightGBM's ``lambdarank_truncation_level`` (30), XGBoost's
        ``lambdarank_num_pair_per_sample`` (32). In the paper's convention the measure has the cutoff: ``NDCG(k=30)``.
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
        check_sigma(self.sigma)
        check_choice("convention", self.convention, Convention)
        for option in self._given:
            if option not in OPTIONS[self.convention]:
                raise ValueError(f"{option}={self._given[option]!r} {_belonging(option, self.convention)}")
        if self.convention != "paper":
            self._check_native(**self._options)

    def _check_native(self, truncation: int, **switches: bool) -> None:
        name = self.convention
        if not isinstance(self.metric, NDCG) or self.metric.k is not None:
            raise ValueError(
                f"metric is {self.metric!r}: convention={name!r} has NDCG() only, and truncates by truncation="
            )
        check_whole("truncation", truncation)
        for option, value in switches.items():
            if not isinstance(value, bool):
                raise TypeError(f"{option} is {value!r}, expected True or False")
        if name == "xgboost" and self.sigma != 1:
            raise ValueError(f"sigma is {self.sigma!r}: convention='xgboost' has σ = 1 only")

    @property
    def _given(self) -> dict[str, Any]:
        options = {"truncation": self.truncation, "norm": self.norm, "score_norm": self.score_norm}
        return {name: value for name, value in options.items() if value is not None}

    @property
    def _options(self) -> dict[str, Any]:
        return OPTIONS[self.convention] | self._given

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0, for only their order counts."""
        return self.convention == "paper" and self.metric.allows_negative

    @cached_property
    def rule(self) -> PairRule | None:
        """The pairs, swap and force in the paper's convention."""
        paper = self.convention == "paper"
        return PairRule(self.metric.source, self.metric, sigma=self.sigma) if paper else None

    def row_weights(self, q: Queries) -> NDArray[np.floating] | None:
        """What λ and μ of each document are multiplied by, or None."""
        return xgboost_weights(q) if self.convention == "xgboost" else q.weight

    def lambdas(self, scores: Floats, q: Queries, iteration: int) -> LambdaMu:
        """λ and μ of every document."""
        if self.convention == "paper":
            return super().lambdas(scores, q, iteration)
        assert isinstance(self.metric, NDCG)
        if self.convention == "lightgbm":
            grad, hess = lightgbm_gradient(scores, q, self.metric, self.sigma, **self._options)
        else:
            grad, hess = xgboost_gradient(scores, q, self.metric, **self._options)
        return -grad, hess


def _belonging(option: str, convention: Convention) -> str:
    """Which conventions have an option, and what this one has in place of it."""
    having = " or ".join(repr(name) for name, known in OPTIONS.items() if option in known)
    known = " and ".join(f"{name}=" for name in OPTIONS[convention])
    papers = "in the paper's convention the measure truncates, as NDCG(k=30), and nothing is normalised"
    return f"belongs to convention={having}; " + (
        f"convention={convention!r} has {known} only" if known else papers
    )
