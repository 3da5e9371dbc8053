"""Curves with bootstrap intervals over queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks._checks import words
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets._checks import check_count

Floats = NDArray[np.float64]
LEVEL = 95  # percent of the resamples inside an interval


def curve_with_intervals(
    estimate: Callable[[Floats], Floats],
    n_queries: int,
    intervals: int,
    seed: int,
    names: tuple[str, ...] | None,
) -> Propensities:
    """The curve that an estimator finds, with percentile intervals from resampled queries.

    Queries are drawn as a whole, since the rows of one share their documents. Curves are relative to the best position
    of the estimate, whose interval is therefore the point 1.

    Parameters
    ----------
    estimate : callable
        Maps how often each query counts, float64 (n_queries,), to a curve of any scale, float64 (n_positions,).
    n_queries : int
        Number of queries.
    intervals : int
        Number of resamples; 0 for no intervals.
    seed : int
        Seed of the resamples.
    names : tuple of str, or None
        Names of the positions.

    """
    resamples = checked_intervals(intervals, n_queries)
    seed = check_count("seed", seed, 0)
    found = estimate(np.ones(n_queries))
    if not (np.isfinite(found) & (found > 0)).all():
        bad = np.flatnonzero(~(np.isfinite(found) & (found > 0))) + 1
        raise ValueError(
            f"the log does not determine the propensity of {words(bad, names)}: too few clicks connect it with the "
            "others; give more sessions, or take() the rows of the other positions"
        )
    best = int(np.argmax(found))
    values = tuple((found / found[best]).tolist())
    if not resamples:
        return Propensities(values, names=names)
    rng = np.random.default_rng(seed)
    drawn = np.empty((resamples, found.size))
    with np.errstate(divide="ignore", invalid="ignore"):
        for resample in drawn:
            times = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries)
            ratio = estimate(times.astype(np.float64))
            resample[:] = ratio / ratio[best]
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    if len(drawn) < resamples / 2:
        raise ValueError(
            "the curve cannot be estimated on most resamples of the queries, so there are no intervals: some positions "
            "are known from very few queries; give more sessions, or intervals=0"
        )
    low, high = np.percentile(drawn, [(100 - LEVEL) / 2, (100 + LEVEL) / 2], axis=0)
    return Propensities(values, tuple(low.tolist()), tuple(high.tolist()), names)


def checked_intervals(intervals: int, n_queries: int) -> int:
    """The number of resamples; raises if there is nothing to resample."""
    resamples = check_count("intervals", intervals, 0)
    if resamples and n_queries < 2:
        raise ValueError(
            f"intervals={resamples} resamples queries, but the log has one query: give intervals=0"
        )
    return resamples
