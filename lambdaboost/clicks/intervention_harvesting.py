"""`intervention_harvesting`: propensities from documents that several rankers showed at different positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks._bootstrap import Floats, curve_with_intervals
from lambdaboost.clicks._checks import check_clicked, check_connected, check_shown, words
from lambdaboost.clicks._likelihood import largest_likelihood
from lambdaboost.clicks.click_log import ClickLog, check_log
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.propensities import Propensities

Method = Literal["all-pairs", "adjacent", "pivot"]


def intervention_harvesting(
    log: ClickLog, method: Method = "all-pairs", *, intervals: int = 200, seed: int = 0
) -> Propensities:
    r"""Propensities from documents that were shown at two positions (Agarwal et al. 2019, WSDM).

    The interventional set of positions k and k' is every (query, document) that was shown at both. Its documents are
    equally relevant at k and at k', so the ratio of its click rates ĉ_k and ĉ_k' is p_k / p_k'. These are means over
    the documents with weights n n' / (n + n'), where n and n' are a document's impressions at k and k'; the paper's
    weights have a higher variance where rankers serve different shares of a query. With w_kk' the sum of the weights,

    - ``"all-pairs"`` maximizes the likelihood Σ_{k<k'} w_kk' [ĉ_k log p_k r_kk' + (1 − ĉ_k) log(1 − p_k r_kk') + the
      same for k'] over the curve p and the mean relevance r_kk' of each set,
    - ``"adjacent"`` multiplies the ratios of neighbours, p_k / p_1 = Π_{1<j≤k} ĉ_j / ĉ_{j−1},
    - ``"pivot"`` takes p_k / p_1 = ĉ_k / ĉ_1 from the set of 1 and k.

    Parameters
    ----------
    log : ClickLog
        Sessions of several rankers, or of one that changed over time.
    method : {"all-pairs", "adjacent", "pivot"}
        The paper's estimator; the first uses every set.
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
        If the sets do not connect the positions as the method needs, or a position has no clicks in them.

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
    if method not in ("all-pairs", "adjacent", "pivot"):
        raise ValueError(f"method is {method!r}: give 'all-pairs', 'adjacent' or 'pivot'")
    check_log(log)
    from scipy import sparse

    counts = log.counts()
    names = log.position_names
    check_shown(counts.by_position(counts.impressions), names)
    if counts.n_positions == 1:
        ends = (1.0,) if intervals else None
        return Propensities((1.0,), ends, ends, names)
    sets = _sets(counts, method)
    pairs = np.unique(sets.pair)
    low, high = np.divmod(pairs, counts.n_positions)
    _check_connected(low, high, counts.n_positions, method, names)
    # Clicks at the better place, at the other, and the weight, of each query and set.
    column = 3 * np.searchsorted(pairs, sets.pair)[:, None] + np.arange(3)
    row = np.broadcast_to(sets.query[:, None], column.shape)
    by_query = sparse.csc_matrix(
        (sets.sums.ravel(), (row.ravel(), column.ravel())), shape=(counts.n_queries, 3 * pairs.size)
    )
    solve: Callable[..., Floats] = {"all-pairs": _all_pairs, "adjacent": _adjacent, "pivot": _pivot}[method]
    totals = np.asarray(by_query.T @ np.ones(counts.n_queries)).reshape(-1, 3)
    _check_clicks(totals, low, high, counts.n_positions, method, names)

    def estimate(times: Floats) -> Floats:
        sums = np.asarray(by_query.T @ times).reshape(-1, 3)
        return solve(low, high, sums, counts.n_positions)

    with np.errstate(divide="ignore", invalid="ignore"):
        return curve_with_intervals(estimate, counts.n_queries, intervals, seed, names)


class _Sets(NamedTuple):
    """Documents shown at two positions: one row for each document and pair of its positions."""

    pair: NDArray[np.int64]  # k · n_positions + k', both from 0, k < k'
    query: NDArray[np.int64]
    sums: Floats  # (n, 3): weighted click rate at k, that at k', and the weight


def _sets(counts: Counts, method: Method) -> _Sets:
    shown = np.flatnonzero(counts.impressions > 0)
    document, position = counts.index[shown], counts.position[shown].astype(np.int64) - 1
    n, rate = counts.impressions[shown], counts.clicks[shown] / counts.impressions[shown]
    parts = []
    for step in range(1, counts.n_positions):  # rows of one document are adjacent, positions ascending
        first = np.flatnonzero(document[step:] == document[:-step])
        if first.size == 0:
            break
        second = first + step
        if method != "all-pairs":
            wanted = (position[first] == 0) if method == "pivot" else position[second] == position[first] + 1
            first, second = first[wanted], second[wanted]
        weight = n[first] * n[second] / (n[first] + n[second])
        sums = np.stack([weight * rate[first], weight * rate[second], weight], axis=1)
        pair = position[first] * counts.n_positions + position[second]
        parts.append(_Sets(pair, counts.query_index[shown[first]], sums))
    if not parts:
        raise ValueError(
            "no document was shown at two positions, so position and relevance cannot be separated: log several "
            "rankers or a swap experiment, or use regression_em with features"
        )
    return _Sets(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _check_connected(
    low: NDArray[np.int64], high: NDArray[np.int64], n: int, method: Method, names: tuple[str, ...] | None
) -> None:
    if method != "all-pairs":
        absent = np.setdiff1d(np.arange(1, n), high) + 1
        if absent.size:
            both = f"position 1 and at {words(absent, names)}"
            if method == "adjacent":
                both = " and at ".join(words([k], names) for k in (absent[0] - 1, absent[0]))
            raise ValueError(
                f"no document was shown both at {both}: use method='all-pairs', which does not need this, or log more "
                "rankers"
            )
        return
    from scipy import sparse

    graph = sparse.coo_matrix((np.ones(low.size), (low, high)), shape=(n, n))
    part = sparse.csgraph.connected_components(graph, directed=False)[1]
    check_connected(part, names, "document", "log more rankers, or take() the rows of one group")


def _check_clicks(
    totals: Floats, low: NDArray[np.int64], high: NDArray[np.int64], n: int, method: Method,
    names: tuple[str, ...] | None,
) -> None:  # fmt: skip
    """Raise if a rate that the method divides by, or a position of all sets, has no clicks."""
    clicks = np.zeros(n)
    if method == "all-pairs":
        np.add.at(clicks, low, totals[:, 0])
        np.add.at(clicks, high, totals[:, 1])
    else:
        clicks[high] = totals[:, 1]
        clicks[0] = 1.0
        np.minimum.at(clicks, low, totals[:, 0])
    check_clicked(clicks, names, " on a document that was also shown elsewhere")


def _pivot(low: NDArray[np.int64], high: NDArray[np.int64], sums: Floats, n: int) -> Floats:
    ratio = np.ones(n)
    ratio[high] = sums[:, 1] / sums[:, 0]
    return ratio


def _adjacent(low: NDArray[np.int64], high: NDArray[np.int64], sums: Floats, n: int) -> Floats:
    return np.cumprod(_pivot(low, high, sums, n)).astype(np.float64)


def _all_pairs(low: NDArray[np.int64], high: NDArray[np.int64], sums: Floats, n: int) -> Floats:
    """The curve of the largest likelihood."""
    kept = (sums[:, 0] + sums[:, 1]) > 0
    low, high, (here, there, weight) = low[kept], high[kept], sums[kept].T
    return np.exp(
        largest_likelihood(
            np.concatenate([low, high]),
            np.tile(np.arange(low.size), 2),
            np.tile(weight, 2),
            np.concatenate([here, there]),
            np.ones(low.size),
            np.zeros(n),
        )
    )
