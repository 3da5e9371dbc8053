"""`intervention_harvesting`: propensities from documents that several rankers showed at different positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks._curves import Floats, curve_with_intervals
from lambdaboost.clicks._likelihood import TINY, largest_likelihood
from lambdaboost.clicks.click_log import ClickLog, check_log
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.propensities import Propensities


def intervention_harvesting(log: ClickLog, *, intervals: int = 200, seed: int = 0) -> Propensities:
    """Propensities from documents that were shown at two positions (Agarwal et al. 2019, WSDM).

    The interventional set of positions k and k' is every (query, document) that was shown at both. Its documents are
    equally relevant at k and at k', so the ratio of its click rates ĉ_k and ĉ_k' is p_k / p_k'. These are means over
    the documents with weights n n' / (n + n'), where n and n' are a document's impressions at k and k'; the paper's
    weights have a higher variance where rankers serve different shares of a query. With w_kk' the sum of the weights,
    the curve p and the mean relevance r_kk' of each set maximize the likelihood (the paper's all-pairs estimator)
    Σ_{k<k'} w_kk' [ĉ_k log p_k r_kk' + (1 − ĉ_k) log(1 − p_k r_kk') + the same for k'].

    The curve is that of the positions which clicks in these sets connect, of several such parts that with most clicks.
    The others are None; a warning names them, and ``extended()`` fills them.

    Parameters
    ----------
    log : ClickLog
        Sessions of several rankers, or of one that changed over time.
    intervals : int
        Number of resamples of the queries for 95 % intervals; 0 for none.
    seed : int
        Seed of the resamples.

    Returns
    -------
    Propensities

    Raises
    ------
    ValueError
        If no document was shown at two positions, or no clicks connect any two positions.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import PositionBased, simulate
    >>> q = Queries([2, 0, 1] * 40, sizes=[3] * 40)
    >>> rng = np.random.default_rng(0)
    >>> log = simulate(rng.normal(size=(2, 120)), q, PositionBased(eta=1.0), 500, rng)
    >>> intervention_harvesting(log).covers(Propensities.power(1.0, 3))
    array([ True,  True,  True])

    """
    check_log(log)
    counts = log.counts()
    if counts.n_positions == 1:
        return curve_with_intervals(lambda _: np.ones(1), counts, intervals, seed)
    sets = Sets.of(counts)
    n = counts.impressions
    here, there = n[sets.first], n[sets.second]
    weight, rate = here * there / (here + there), counts.clicks / np.maximum(n, TINY)
    by_query = sets.by_query([weight * rate[sets.first], weight * rate[sets.second], weight])
    low, high, k = sets.low, sets.high, counts.n_positions

    def estimate(times: Floats) -> Floats:
        sums = np.asarray(by_query.T @ times).reshape(-1, 3)
        part = connected_part(low, high, sums, k)
        kept, number = part[low] & part[high], np.cumsum(part) - 1
        curve = np.full(k, np.nan)
        curve[part] = all_pairs(number[low[kept]], number[high[kept]], sums[kept], int(part.sum()))
        return curve

    return curve_with_intervals(estimate, counts, intervals, seed)


@dataclass(frozen=True, eq=False)
class Sets:
    """The interventional sets of a log: documents that were shown at two positions k < k', from 0.

    Attributes
    ----------
    first, second : int64 (n,)
        The rows of the counts for each document and pair of its positions.
    query, set_of : int64 (n,)
        Its query and its set.
    low, high : int64 (n_sets,)
        The two positions of each set.

    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    query: NDArray[np.int64]
    set_of: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    n_queries: int

    @classmethod
    def of(cls, counts: Counts, impressions: float = 0.0) -> Sets:
        """The sets of the documents that have more than so many impressions at both positions; raises without any."""
        shown = np.flatnonzero(counts.impressions > impressions)
        document = counts.index[shown]
        firsts, seconds = [], []
        for step in range(1, counts.n_positions):  # rows of one document are adjacent, positions ascending
            first = np.flatnonzero(document[step:] == document[:-step])
            firsts.append(shown[first])
            seconds.append(shown[first + step])
            if first.size == 0:
                break
        first, second = (
            np.concatenate(rows) if rows else np.empty(0, np.int64) for rows in (firsts, seconds)
        )
        if first.size == 0:
            raise ValueError(
                f"no document was shown {'more than once ' if impressions else ''}at two positions, so position and "
                "relevance cannot be separated: log several rankers or a swap experiment, or use regression_em with "
                "features"
            )
        k, position = counts.n_positions, counts.position.astype(np.int64) - 1
        pairs, set_of = np.unique(position[first] * k + position[second], return_inverse=True)
        return cls(first, second, counts.query_index[first], set_of, pairs // k, pairs % k, counts.n_queries)

    def by_query(self, values: Sequence[Floats]) -> Any:
        """Sums of values (n,) of each query and set, sparse (n_queries, n_sets * len(values))."""
        from scipy import sparse

        n = len(values)
        column = n * self.set_of[:, None] + np.arange(n)
        rows = np.repeat(self.query, n)
        shape = (self.n_queries, n * self.low.size)
        return sparse.csc_matrix((np.stack(values, axis=1).ravel(), (rows, column.ravel())), shape=shape)


def connected_part(
    low: NDArray[np.int64], high: NDArray[np.int64], sums: Floats, k: int
) -> NDArray[np.bool_]:
    """Which of k positions have a curve of finite likelihood: of the strongly connected parts that with most clicks.

    A set with clicks at one of its positions bounds the ratio to the other from below; `sums` begin with its clicks at
    both.
    """
    from scipy import sparse

    here, there = sums[:, 0], sums[:, 1]
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    graph = sparse.coo_matrix((np.concatenate([here, there]), (rows, columns)), shape=(k, k)).tocsr()
    graph.eliminate_zeros()
    part = sparse.csgraph.connected_components(graph, directed=True, connection="strong")[1]
    inside = part[rows] == part[columns]
    clicks = np.bincount(part[rows], np.where(inside, np.concatenate([here, there]), 0.0))
    return np.asarray(part == np.argmax(clicks))


def all_pairs(low: NDArray[np.int64], high: NDArray[np.int64], sums: Floats, k: int) -> Floats:
    """The curve of the largest likelihood; `sums` are the clicks at both positions and the weight of each pair."""
    kept = (sums[:, 0] + sums[:, 1]) > 0
    low, high, (here, there, weight) = low[kept], high[kept], sums[kept].T
    groups = np.tile(np.arange(low.size), 2)
    clicks = np.concatenate([here, there])
    return np.exp(largest_likelihood(np.concatenate([low, high]), groups, np.tile(weight, 2), clicks, k))
