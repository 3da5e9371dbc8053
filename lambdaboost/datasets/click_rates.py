"""`click_rate`: click counts as a rate in [0, 1] within each query."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import refuse_labels
from lambdaboost.datasets.queries import Queries


def click_rate(counts: ArrayLike, queries: Queries) -> NDArray[np.float64]:
    """Click counts as log1p(count) / largest log1p(count) of the query, a label in [0, 1].

    Data sets such as MSLR-WEB30K give counts, while CNDCG of Svore, Volkovs & Burges (2011, eq. 9) needs
    rates. The order within each query is kept; in a query without clicks every rate is 0.

    Parameters
    ----------
    counts : array of shape (n_documents,)
        Clicks of each document, ≥ 0; NaN where unknown, which stays NaN.
    queries : Queries
        The queries of the rows.

    Returns
    -------
    float64 array of shape (n_documents,)
        Rates in [0, 1].

    Raises
    ------
    ValueError
        If a count is negative or infinite, or there is not one per document.

    Examples
    --------
    >>> click_rate([0, 1, 3, 0, 0], Queries([0, 1, 2, 0, 0], sizes=[3, 2]))
    array([0. , 0.5, 1. , 0. , 0. ])

    """
    clicks = np.asarray(counts, dtype=np.float64)
    if clicks.shape != (queries.n_documents,):
        raise ValueError(
            f"counts has shape {clicks.shape}, expected ({queries.n_documents},): one count per document"
        )
    refuse_labels(
        "counts",
        clicks,
        np.isinf(clicks) | (clicks < 0),
        "counts must be finite and ≥ 0, or NaN where unknown",
    )
    log = np.log1p(clicks)
    largest = np.fmax.reduceat(log, queries.offsets[:-1])  # fmax ignores NaN
    return log / np.where(largest > 0, largest, 1.0)[queries.query_of_row]
