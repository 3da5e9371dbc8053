"""CNDCG: NDCG of click labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_number, refuse_labels
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.ndcg import DiscountedGain


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
    scale: float = 4
    short_name = "ndcg"  # with the source: ndcg@10-clicks

    def __post_init__(self) -> None:
        super().__post_init__()
        remedy = "give a number above 0 and at most 1023, such as the highest grade"
        self._set(scale=check_number("scale", self.scale, above=0, high=1023, remedy=remedy))

    def _gains(self, q: Queries) -> NDArray[np.float64]:
        labels = q.source(self.source)
        refuse_labels(self.source, labels, labels > 1, "click labels must lie in [0, 1]")
        return np.exp2(self.scale * np.nan_to_num(labels.astype(np.float64), nan=0.0)) - 1.0
