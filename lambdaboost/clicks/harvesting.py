"""`intervention_harvesting`: propensities from documents that several rankers showed at different positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks.click_log import ClickLog, Counts
from lambdaboost.clicks.curves import Floats, curve_with_intervals
from lambdaboost.clicks.propensities import Propensities

Numbers = NDArray[np.int64]
STEPS = 60  # of Newton's method, at most
TOLERANCE = 1e-8  # of log p
LARGEST_RATE = 1 - 1e-12
TINY = 1e-300


def intervention_harvesting(log: ClickLog, *, intervals: int = 200) -> Propensities:
    """Propensities from documents that were shown at two positions (Agarwal et al. 2019, WSDM).

    The interventional set of positions k and k' is every (query, document) that was shown at both. Its documents are
    equally relevant at k and at k', so the ratio of its click rates ĉ_k and ĉ_k' is p_k / p_k'. These are means over
    the documents with weights n n' / (n + n'), where n and n' are a document's impressions at k and k'; the paper's
    weights have a higher variance where rankers serve different shares of a query. With w_kk' the sum of the weights,
    the curve p and the mean relevance r_kk' of each set maximize the likelihood (the paper's all-pairs estimator)
    Σ_{k<k'} w_kk' [ĉ_k log p_k r_kk' + (1 − ĉ_k) log(1 − p_k r_kk') + the same for k'].

    The curve covers the positions connected by clicks in these sets; of several connected components, the one with most
    clicks. The others are None; a warning names them, and ``extended()`` fills them. A ValueError if there are none.

    Parameters
    ----------
    log : ClickLog
        Sessions of several rankers, or of one that changed over time.
    intervals : int
        Number of resamples of the queries for 95 % intervals; 0 for none.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import PositionBased, simulate
    >>> q, rng = Queries([2, 0, 1] * 40, sizes=[3] * 40), np.random.default_rng(0)
    >>> log = simulate(rng.normal(size=(2, 120)), q, PositionBased(eta=1.0), 500, rng)
    >>> curve = intervention_harvesting(log)
    >>> curve.low[1] < 1 / 2 < curve.high[1]
    True

    """
    from scipy import sparse

    counts = log.counts()
    if counts.n_positions == 1:
        return curve_with_intervals(lambda _: np.ones(1), counts, intervals)
    first, second = rows_at_two_positions(counts)

    # The interventional sets: a pair of positions from 0 each, low < high.
    k, position = counts.n_positions, counts.position.astype(np.int64) - 1
    pairs, set_of = np.unique(position[first] * k + position[second], return_inverse=True)
    low, high = pairs // k, pairs % k

    # The weighted click rates at both positions and the weights, summed over each query and set: three columns a set.
    n = counts.impressions
    here, there = n[first], n[second]
    weight, rate = here * there / (here + there), counts.clicks / np.maximum(n, TINY)
    values = np.stack([weight * rate[first], weight * rate[second], weight], axis=1)
    query = np.repeat(counts.query_of_document[counts.index[first]], 3)
    column = 3 * set_of[:, None] + np.arange(3)
    shape = (counts.n_queries, 3 * pairs.size)
    by_query = sparse.csc_matrix((values.ravel(), (query, column.ravel())), shape=shape)

    def estimate(times: Floats) -> Floats:
        sums = np.asarray(by_query.T @ times).reshape(-1, 3)
        part = connected_part(low, high, sums, k)
        kept, number = part[low] & part[high], np.cumsum(part) - 1
        curve = np.full(k, np.nan)
        curve[part] = fit_all_pairs(number[low[kept]], number[high[kept]], sums[kept], int(part.sum()))
        return curve

    return curve_with_intervals(estimate, counts, intervals)


def rows_at_two_positions(counts: Counts) -> tuple[Numbers, Numbers]:
    """The rows of the counts for each document and pair of its positions k < k', at k and at k'; raises without any.

    Only rows with impressions count.
    """
    shown = np.flatnonzero(counts.impressions > 0)
    document = counts.index[shown]
    firsts, seconds = [], []
    for step in range(1, counts.n_positions):  # rows of one document are adjacent, positions ascending
        first = np.flatnonzero(document[step:] == document[:-step])
        firsts.append(shown[first])
        seconds.append(shown[first + step])
        if first.size == 0:
            break
    if sum(map(len, firsts)) == 0:
        raise ValueError(
            "no document was shown at two positions, so position and relevance cannot be separated: log several "
            "rankers or a swap experiment, or use regression_em with features"
        )
    return np.concatenate(firsts), np.concatenate(seconds)


def connected_part(low: Numbers, high: Numbers, sums: Floats, k: int) -> NDArray[np.bool_]:
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


def fit_all_pairs(low: Numbers, high: Numbers, sums: Floats, k: int) -> Floats:
    """The curve p of k positions that maximizes Σ c log(p_k r_g) + (n − c) log(1 − p_k r_g) over p and r, p_0 = 1.

    `sums` are the clicks at both positions and the weight of each pair g. Log r is eliminated: the gradient is that of
    the likelihood at the best r. The likelihood is concave in (log p, log r). Only p r < 1 is enforced: r ≤ 1 would
    bias the curve where, of few trials, a larger share than p is clicked. NaN if the pairs do not connect the
    positions.
    """
    from scipy import sparse

    # A row for each position of each pair; pairs without clicks carry no information.
    kept = (sums[:, 0] + sums[:, 1]) > 0
    low, high, (here, there, weight) = low[kept], high[kept], sums[kept].T
    position, group = np.concatenate([low, high]), np.tile(np.arange(low.size), 2)
    clicks, clicked = np.concatenate([here, there]), here + there
    # A rate of 1 everywhere would have no curvature.
    missed = np.tile(weight * (1 + 1e-7), 2) - clicks

    log_p, moved = np.zeros(k), 0.0
    for _ in range(STEPS):
        # The best r of each pair, for which its clicks c equal the sum of m p r / (1 - p r) over both positions, with m
        # the impressions without a click: of the two roots of this quadratic the one with p r < 1.
        p = np.exp(log_p)[position]
        (p_low, p_high), (m_low, m_high) = p.reshape(2, -1), (missed * p).reshape(2, -1)
        apart = np.hypot(clicked * (p_low - p_high) + m_low - m_high, 2 * np.sqrt(m_low * m_high))
        relevance = 2 * clicked / (clicked * (p_low + p_high) + m_low + m_high + apart)

        # The slope in log p, and the Hessian: the Laplacian of a graph of the positions.
        rate = np.minimum(p * relevance[group], LARGEST_RATE)
        odds = missed * rate / (1 - rate)
        bend = odds / (1 - rate)
        spread = bend / np.sqrt(np.maximum(np.bincount(group, bend)[group], TINY))
        slope = np.bincount(position, clicks - odds, minlength=k)
        mixed = sparse.csr_matrix((spread, (group, position)), shape=(low.size, k))
        hessian = np.diag(np.bincount(position, bend, minlength=k)) - (mixed.T @ mixed).toarray()
        # A Newton step of the positions after the first, of at most 1.
        try:
            step = np.linalg.solve(hessian[1:, 1:], slope[1:])
        except np.linalg.LinAlgError:
            return np.full(k, np.nan)
        moved = float(np.abs(step).max(initial=0.0))
        if not np.isfinite(moved):
            return np.full(k, np.nan)
        log_p[1:] += step * min(1.0, 1.0 / max(moved, TINY))
        if moved <= TOLERANCE:
            break
    if moved >= 1e-3:
        return np.full(k, np.nan)
    return np.exp(log_p)
