"""`training_share`: measures by the share of training queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure, _checks

if TYPE_CHECKING:
    import pandas as pd

Fit = Callable[[NDArray[np.int64]], ArrayLike]


@dataclass(frozen=True, eq=False)
class TrainingShare:
    """The result of `training_share`.

    Attributes
    ----------
    shares : float64 (n_shares,)
        Shares of the training queries.
    n_queries : int64 (n_shares,)
        Number of queries in each share.
    values : dict of Measure to float64 (n_shares, n_test_queries)
        The value of each measure for each test query.

    """

    shares: NDArray[np.float64]
    n_queries: NDArray[np.int64]
    values: dict[Measure, NDArray[np.float64]]

    def frame(self) -> pd.DataFrame:
        """One row per share and measure: share, queries, measure, mean over test queries, its standard error."""
        import pandas as pd

        return pd.DataFrame(
            {
                "share": share,
                "queries": queries,
                "measure": repr(measure),
                "mean": mean,
                "standard_error": error,
            }
            for measure, values in self.values.items()
            for share, queries, mean, error in zip(
                self.shares, self.n_queries, *mean_and_error(values), strict=True
            )
        )


def training_share(
    fit: Fit,
    n_queries: int,
    test: Queries,
    measures: Iterable[Measure] = (NDCG(1), NDCG(3), NDCG(10)),
    shares: Iterable[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    seed: int = 0,
) -> TrainingShare:
    """Measures on test queries after training on growing shares of the training queries (2011 paper, fig. 7).

    Parameters
    ----------
    fit : callable
        ``fit(queries)`` trains on the queries of these int64 indices, such as by ``train.take(queries)`` and
        ``X[train.rows_of(queries)]``, and returns the scores of the test documents.
    n_queries : int
        Number of training queries.
    test : Queries
        The test documents and their labels.
    measures : iterable of Measure
        The measures.
    shares : iterable of float in (0, 1]
        Shares of the training queries, rounded to at least one query.
    seed : int
        Seed of the sampling of queries. Each share contains every smaller one and is the same for every `fit`, so that
        systems are comparable at each share.

    Returns
    -------
    TrainingShare

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or `fit` does not return one finite score per test document.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> test = Queries([0, 1, 2], sizes=[3])
    >>> found = training_share(lambda queries: queries.size * np.arange(3), 10, test, [NDCG()], [0.2, 1.0])
    >>> found.n_queries, found.values[NDCG()]
    (array([ 2, 10]), array([[1.],
           [1.]]))

    """
    if not callable(fit):
        raise TypeError(f"fit is {fit!r}: give a function of training query indices that returns test scores")
    if not isinstance(test, Queries):
        raise TypeError(f"test is {type(test).__name__}, expected lambdaboost.Queries(relevance, sizes=…)")
    measures = list(measures)
    if not measures or not all(isinstance(measure, Measure) for measure in measures):
        raise TypeError(f"measures is {measures!r}: give at least one measure, such as [NDCG(3)]")
    for measure in measures:
        test.source(measure.source)
    chosen = nested_queries(n_queries, shares := list(shares), seed)
    values = {measure: np.empty((len(chosen), test.n_queries)) for measure in measures}
    for at, queries in enumerate(chosen):
        scores = test.scores(fit(queries))
        for measure in measures:
            values[measure][at] = measure.per_query(scores, test)
    return TrainingShare(np.array(shares, dtype=np.float64), np.array([len(c) for c in chosen]), values)


def nested_queries(n_queries: int, shares: Iterable[float], seed: int = 0) -> list[NDArray[np.int64]]:
    """Indices of each share of the queries, ascending; a larger share contains every smaller one.

    >>> [queries.size for queries in nested_queries(8, [0.25, 1.0])]
    [2, 8]
    """
    n = _checks.whole("n_queries", n_queries, "give the number of training queries, ≥ 1")
    shares = list(shares)
    if not shares or not all(
        isinstance(share, int | float | np.number) and 0 < share <= 1 for share in shares
    ):
        raise ValueError(f"shares is {shares!r}: give shares of the training queries in (0, 1]")
    drawn = np.random.default_rng(seed).permutation(n)
    return [np.sort(drawn[: max(1, round(share * n))]) for share in shares]


def mean_and_error(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean over the queries and its standard error for each share; queries that are NaN are left out."""
    n = np.count_nonzero(~np.isnan(values), axis=1)
    mean = np.nansum(values, axis=1) / np.maximum(n, 1)
    squares = np.nansum((values - mean[:, None]) ** 2, axis=1)
    error = np.sqrt(squares / np.maximum(n - 1, 1) / np.maximum(n, 1))
    return np.where(n > 0, mean, np.nan), np.where(n > 1, error, np.nan)
