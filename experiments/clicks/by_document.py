"""`curve_by_document`: "regression EM" of a log without features, by the likelihood given each document's clicks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks import ClickLog, Counts, Propensities
from lambdaboost.clicks.curves import Floats, curve_with_intervals
from lambdaboost.clicks.harvesting import InterventionPairs, connected_part, newton


def curve_by_document(log: ClickLog, intervals: int = 200) -> Propensities:
    """Propensities of the position-based model P(click) = θ_k γ_qd (Wang et al. 2018) with a γ for each document.

    There is no EM, since γ would be one number per document, and its estimate from few impressions would bias the
    curve. Instead, the curve maximizes the likelihood given the number of clicks of each document, which does not
    depend on γ: a click falls at k with probability n_k θ_k / Σ_j n_j θ_j, where n_k is the number of the document's
    impressions at k. Only clicked documents that were shown at two or more positions count, and the curve is that of
    the positions which they connect, as in `intervention_harvesting`.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import PositionBased, simulate
    >>> q, rng = Queries([2, 0, 1] * 40, sizes=[3] * 40), np.random.default_rng(0)
    >>> log = simulate(rng.normal(size=(2, 120)), q, PositionBased(eta=1.0), 500, rng)
    >>> curve = curve_by_document(log)
    >>> curve.low[1] < 1 / 2 < curve.high[1]
    True

    """
    counts = log.counts()
    return curve_with_intervals(_estimator(counts), counts, intervals)


def _estimator(counts: Counts) -> Callable[[Floats], Floats]:
    """The largest conditional likelihood, by Newton's method in log θ; it is concave."""
    from scipy import sparse

    sets = InterventionPairs.of(counts)
    clicked = [
        np.bincount(sets.set_of, counts.clicks[rows], minlength=sets.low.size)
        for rows in (sets.first, sets.second)
    ]
    part = connected_part(sets.low, sets.high, np.stack(clicked, axis=1), counts.n_positions)
    here = (part[counts.position - 1] & (counts.impressions > 0)).astype(np.float64)
    telling = (counts.by_document(here) > 1) & (counts.by_document(here * counts.clicks) > 0)
    kept = np.flatnonzero(here * telling[counts.index])
    position = (np.cumsum(part) - 1)[counts.position[kept] - 1]
    known, document = np.unique(counts.index[kept], return_inverse=True)
    query = counts.query_of_document[known]
    n, c = counts.impressions[kept], counts.clicks[kept]
    of_document = np.bincount(document, c)
    k = int(part.sum())
    clicks = sparse.csc_matrix((c, (query[document], position)), shape=(counts.n_queries, k))
    start = np.zeros(k)

    def estimate(times: Floats) -> Floats:
        nonlocal start
        weight = (times[query] * of_document)[document]
        wanted = np.asarray(clicks.T @ times)

        def terms(theta: Floats) -> tuple[NDArray[Any], Floats, Floats]:
            looks = n * theta
            share = looks / np.bincount(document, looks)[document]  # P(a click of the document falls here)
            expected = weight * share
            return wanted - np.bincount(position, expected, minlength=k), expected, np.sqrt(weight) * share

        found, _ = newton(terms, position, document, start)
        if (times == 1).all():
            start = found  # of the resamples
        curve = np.full(counts.n_positions, np.nan)
        curve[part] = np.exp(found)
        return curve

    return estimate
