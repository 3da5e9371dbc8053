"""`CNDCG`: NDCG of click labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import _checks
from lambdaboost.evaluation.measure import MEASURES
from lambdaboost.evaluation.ndcg import DiscountedGain


@MEASURES.add
@dataclass(frozen=True, repr=False)
class CNDCG(DiscountedGain):
    r"""Click NDCG: NDCG of click labels c in [0, 1], scaled to the range of the grades.

    .. math:: \mathrm{CNDCG@}k = \frac{1}{Z} \sum_{r=1}^{k} \frac{2^{4 c(r)} - 1}{\log_2(1 + r)}

    with c(r) the click label at rank r and Z the highest such sum (Svore, Volkovs and Burges 2011, eq. 9). In
    [0, 1]; undefined where no document was clicked.

    Parameters
    ----------
    k : int, optional
        The last rank that counts; None counts all.
    source : str, default "clicks"
        The label source, with values in [0, 1].
    scale : float, default 4
        The factor 4 above: the highest grade, so that gains are comparable with those of grades.
    empty : float, default 0.0
        The value for a query without clicks.

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

    k: int | None = None
    source: str = "clicks"
    scale: float = 4
    empty: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give a number above 0 and below 1024, such as the highest grade"
        scale = _checks.number("scale", self.scale, remedy)
        if not 0 < scale < 1024:
            raise ValueError(f"scale is {self.scale!r}: {remedy}")
        self._set(k=_checks.cutoff(self.k), source=_checks.source(self.source), scale=scale)

    def _gains(self, q: Queries) -> NDArray[np.float64]:
        labels = q.source(self.source)
        _checks.refuse_labels(self.source, labels, labels > 1, "click labels must lie in [0, 1]")
        return np.exp2(self.scale * np.nan_to_num(labels.astype(np.float64), nan=0.0)) - 1.0
