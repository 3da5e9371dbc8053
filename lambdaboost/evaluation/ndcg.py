"""NDCG, normalised discounted cumulative gain, of grades and of clicks."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, refuse_labels
from lambdaboost._jit import kernel
from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation.measure import Measure
from lambdaboost.evaluation.rankings import mask_not_retrieved, over_rankings

# The highest l of a gain 2^l − 1: the gains of 8 million documents still have a sum.
HIGHEST = 1000.0


class DiscountedGain(Measure, registered=False):
    """Base class of NDCG and CNDCG: gains of a label source, discounted by rank, over their ideal."""

    k: int | None = None

    def _gains(self, q: Queries) -> NDArray[np.float64]:
        """The gain of each document; 0 if its label is missing."""
        raise NotImplementedError

    def gains(self, q: Queries) -> NDArray[np.float64]:
        """The gain of each document, float64 (n_documents,); 0 if its label is missing; cached in `q`."""
        return q.memo(("gains", *self._of_gains), lambda: self._gains(q))

    def ideal(self, q: Queries) -> NDArray[np.float64]:
        """The ideal DCG@k of each query, float64 (n_queries,); cached in `q`."""
        return q.memo(
            ("ideal", self.k, *self._of_gains), lambda: dcg(self.gains(q), self.gains(q), q, self.k)
        )

    @cached_property
    def _of_gains(self) -> tuple[Any, ...]:
        """What gains depend on: the class and its parameters without the cutoff and `empty`."""
        names = (spec.name for spec in fields(self) if spec.name not in ("k", "empty"))
        return type(self), *(getattr(self, name) for name in names)

    def values(self, scores: NDArray[np.float64], q: Queries) -> NDArray[np.float64]:
        """The DCG over the ideal one."""
        gains = mask_not_retrieved(self.gains(q), scores, 0.0)
        actual, ideal = dcg(scores, gains, q, self.k), self.ideal(q)
        return np.divide(actual, ideal, where=ideal > 0, out=np.full(ideal.shape, np.nan))


class NDCG(DiscountedGain):
    r"""Normalised discounted cumulative gain: the DCG of the ranking over that of the best ranking.

    .. math:: \mathrm{NDCG@}k = \frac{1}{Z} \sum_{r=1}^{k} \frac{2^{l(r)} - 1}{\log_2(1 + r)}

    with l(r) the grade at rank r and Z the highest such sum (Burges, Ragno and Le 2006, eq. 1). In [0, 1];
    `empty` where no document has gain. For labels in [0, 1], such as click rates, there is `CNDCG`.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    gain : {"exponential", "linear"} or tuple of float
        The gain of grade l: 2^l − 1, l itself, or ``gain[l]`` for whole grades (LightGBM's ``label_gain``),
        which must not decrease with the grade.
    source : str, default "relevance"
        The label source of the grades.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([2, 0, 1, 0, 0], sizes=[3, 2])
    >>> NDCG(k=1).per_query([0.1, 0.2, 0.3, 0.4, 0.5], q).round(4)
    array([0.3333, 0.    ])
    >>> round(NDCG(empty=1.0)([0.3, 0.2, 0.1, 0.4, 0.5], q), 4)
    0.982

    """

    gain: Literal["exponential", "linear"] | tuple[float, ...] = "exponential"
    source: str = RELEVANCE

    def __post_init__(self) -> None:
        super().__post_init__()
        table = self.gain
        if table in ("exponential", "linear"):
            return
        remedy = (
            "give 'exponential', 'linear', or a tuple of the gain of each grade from 0, each from 0 to 1e300"
        )
        if isinstance(table, str):
            raise ValueError(f"gain is {table!r}: {remedy}")
        if not isinstance(table, tuple) or not all(isinstance(gain, float) for gain in table):
            raise TypeError(f"gain is {table!r}: {remedy}")
        if not table or not all(0 <= gain <= 1e300 for gain in table):
            raise ValueError(f"gain is {table!r}: {remedy}")
        for l in range(1, len(table)):
            if table[l] < table[l - 1]:
                raise ValueError(
                    f"gain is {table!r}: the gain of grade {l} is less than that of grade {l - 1}; "
                    "gains must not decrease with the grade, so that the best order is by grade"
                )

    def _gains(self, q: Queries) -> NDArray[np.float64]:
        grades, gain = q.source(self.source), self.gain
        l = np.nan_to_num(grades.astype(np.float64), nan=0.0)
        if gain == "linear":
            return l
        if gain == "exponential":
            too_high = f"its gain 2^l − 1 is too large; use grades up to {HIGHEST:g}, gain='linear' or a tuple of gains"
            refuse_labels(self.source, grades, l > HIGHEST, too_high)
            return np.exp2(l) - 1.0
        remedy = f"gain lists {len(gain)} gains, so grades must be whole numbers from 0 to {len(gain) - 1}"
        refuse_labels(self.source, grades, (l != np.floor(l)) | (l >= len(gain)), remedy)
        return np.where(np.isnan(grades), 0.0, np.array(gain, dtype=np.float64)[l.astype(np.int64)])


class CNDCG(DiscountedGain):
    r"""Click NDCG: NDCG of click labels c in [0, 1], scaled to the range of the grades.

    .. math:: \mathrm{CNDCG@}k = \frac{1}{Z} \sum_{r=1}^{k} \frac{2^{4 c(r)} - 1}{\log_2(1 + r)}

    with c(r) the click label at rank r and Z the highest such sum (Svore, Volkovs and Burges 2011, eq. 9). In
    [0, 1]; `empty` where no document was clicked.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    source : str, default "clicks"
        The label source, with values in [0, 1].
    scale : float, default 4
        The factor 4 above: the highest grade, so that gains are comparable with those of grades.

    Raises
    ------
    ValueError
        If a label is above 1; names its row.

    Examples
    --------
    >>> from lambdaboost.datasets import Queries
    >>> q = Queries([1, 1, 0], sizes=[3], clicks=[0.25, 0.5, 0.0])
    >>> CNDCG(k=1).per_query([3.0, 2.0, 1.0], q).round(4)
    array([0.3333])

    """

    source: str = "clicks"
    scale: float = 4.0

    @property
    def name(self) -> str:
        """That of NDCG, from which the source tells it: ``ndcg@10-clicks``."""
        return re.sub("^cndcg", "ndcg", super().name)

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = f"give a number above 0 and at most {HIGHEST:g}, such as the highest grade"
        check_number("scale", self.scale, above=0, high=HIGHEST, remedy=remedy)

    def _gains(self, q: Queries) -> NDArray[np.float64]:
        labels = q.source(self.source)
        rates = "click labels must lie in [0, 1]: turn counts into rates, by click_rate or COLUMN:rate"
        remedy = f"{rates}; for grades give NDCG(source={self.source!r})"
        refuse_labels(self.source, labels, labels > 1, remedy)
        return np.exp2(self.scale * np.nan_to_num(labels.astype(np.float64), nan=0.0)) - 1.0


def dcg(
    scores: NDArray[np.float64], gains: NDArray[np.float64], q: Queries, k: int | None
) -> NDArray[np.float64]:
    """DCG@k of each query in the order of `scores`; with the gains as scores, the ideal DCG."""
    # D(r) = 1 / log2(1 + r) for ranks r = 1, 2, … up to the cutoff.
    last_rank = int(q.sizes.max())
    if k is not None:
        last_rank = min(k, last_rank)
    discounts = 1.0 / np.log2(1.0 + np.arange(1, 1 + last_rank))
    return over_rankings(_dcgs, gains, scores, q, k, discounts)


@kernel
def _dcgs(first, last, offsets, k, ranked, discounts, out):
    for q in range(first, last):
        in_order, total = ranked[offsets[q] : offsets[q + 1]], 0.0
        for r in range(min(in_order.size, discounts.size)):
            total += in_order[r] * discounts[r]
        out[q] = total
