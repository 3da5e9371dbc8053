"""`KendallTau`: rank correlation with the preferences of clicks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation._pairs import levels, share_of_pairs
from lambdaboost.evaluation.measure import MEASURES, Measure

Variant = Literal["gamma", "b"]


@MEASURES.add
@dataclass(frozen=True, repr=False)
class KendallTau(Measure):
    r"""Kendall's τ between the ranking and the pairwise preferences of clicks.

    .. math:: \gamma = \frac{P - Q}{P + Q}, \qquad \tau_b = \frac{P - Q}{\sqrt{(P + Q)\, n (n - 1) / 2}}

    with P and Q the numbers of pairs of different label in the right and in the wrong order, and n that of labelled
    documents. Documents of equal score rank in input order, so only labels tie. Without tied labels both variants are
    Kendall's τ. γ (Goodman and Kruskal 1954) excludes tied pairs, as Joachims (2002) does for click preferences, so a
    ranking that contradicts no preference has 1; τ_b (Kendall 1945) counts them, so it reaches 1 only without tied
    labels. Svore, Volkovs and Burges (2011, §4.1) prefer CNDCG to τ for its weight on the top. In
    [−1, 1]; undefined where no two labels differ.

    Parameters
    ----------
    source : str, default "clicks"
        The label source of the preferences.
    variant : {"gamma", "b"}
        How tied labels count: ``"gamma"`` excludes them, ``"b"`` is the τ_b of `scipy.stats.kendalltau`.
    empty : float, default 0.0
        The value for a query without a pair.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([1, 1, 0, 0], sizes=[4], clicks=[0.5, 0.2, 0.1, 0.1])
    >>> KendallTau().per_query([4.0, 1.0, 3.0, 2.0], q).round(4)
    array([0.2])
    >>> KendallTau(variant="b").per_query([4.0, 1.0, 3.0, 2.0], q).round(4)
    array([0.1826])

    """

    allows_negative: ClassVar[bool] = True

    source: str = "clicks"
    variant: Variant = "gamma"
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant not in get_args(Variant):
            raise ValueError(f"variant is {self.variant!r}: give 'gamma' or 'b'")
        self._set(source=_checks.source(self.source))

    def _per_query(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        gamma = 2.0 * share_of_pairs(scores, q, self.source) - 1.0
        return gamma if self.variant == "gamma" else gamma * _untied(q, self.source)


def _untied(q: Queries, source: str) -> NDArray[np.float64]:
    """The square root of the share of untied pairs, τ_b / γ; NaN if there is no pair; cached in `q`."""
    return q.memo(("untied", source), lambda: _square_root_of_untied(q, source))


def _square_root_of_untied(q: Queries, source: str) -> NDArray[np.float64]:
    level = levels(q, source)
    n = np.add.reduceat(level.of_document > 0, q.offsets[:-1], dtype=np.float64)
    pairs = n * (n - 1) / 2
    share = np.divide(level.n_pairs, pairs, where=pairs > 0, out=np.full(q.n_queries, np.nan))
    return np.sqrt(share)
