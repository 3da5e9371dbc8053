"""Curves: what a log determines of one, and its intervals from resampled queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._warn import warn
from lambdaboost._words import listed
from lambdaboost.clicks.click_log import Counts
from lambdaboost.clicks.propensities import Propensities

Floats = NDArray[np.float64]
LEVEL = 95  # percent of the resamples inside an interval
SHARE = 0.9  # of the resamples must determine a position: fewer do if only one or two queries connect it


def warn_left_out(known: NDArray[np.bool_], counts: Counts, remedy: str = "") -> None:
    """Name the positions without a figure, if there are any."""
    at = np.flatnonzero(~known)
    given: Iterable[object] = at + 1 if counts.names is None else np.array(counts.names)[at].tolist()
    if at.size:
        which = f"position{'s' if at.size > 1 else ''} {listed(given)}"
        warn(f"{which}: left out, since the log does not determine the propensity{remedy}")


def bootstrap_queries(
    estimate: Callable[[Floats], Floats], n_queries: int, intervals: int
) -> tuple[Floats, Floats]:
    """What an estimator finds, (n,), and what it finds on resampled queries, (intervals, n).

    Queries are drawn as a whole, since the rows of one share their documents. `estimate` maps how often each query
    counts, float64 (n_queries,), to numbers that may be NaN; it may divide by 0.
    """
    resamples, rng = check_whole("intervals", intervals, 0), np.random.default_rng(0)
    if resamples and n_queries < 2:
        raise ValueError(
            f"intervals={resamples} resamples queries, but the log has one query: give intervals=0"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = estimate(np.ones(n_queries))
        estimates = np.empty((resamples, found.size))
        for resample in estimates:
            times = np.bincount(rng.integers(n_queries, size=n_queries), minlength=n_queries)
            resample[:] = estimate(times.astype(np.float64))
    return found, estimates


def curve_with_intervals(
    estimate: Callable[[Floats], Floats], counts: Counts, intervals: int
) -> Propensities:
    """The curve that an estimator finds, of any scale, with percentile intervals from resampled queries.

    Curves are relative to the best position of the estimate, whose interval is therefore the point 1. Positions that
    the estimator or many resamples leave undetermined are None; a warning names them.
    """
    found, estimates = bootstrap_queries(estimate, counts.n_queries, intervals)
    known = np.isfinite(found) & (found > 0)
    if known.sum() < min(found.size, 2):
        raise ValueError(
            "too few clicks connect the positions, so the log does not determine their propensities; give more sessions"
        )
    best = int(np.argmax(np.where(known, found, 0)))
    if len(estimates):
        with np.errstate(divide="ignore", invalid="ignore"):
            estimates = estimates / estimates[:, best, None]
        estimates[~np.isfinite(estimates)] = np.nan
        known &= np.isfinite(estimates).mean(axis=0) >= SHARE
        if known.sum() < min(found.size, 2):
            raise ValueError(
                "the curve cannot be estimated on most resamples of the queries, so there are no intervals: some "
                "positions are known from very few queries; give more sessions, or intervals=0"
            )
    warn_left_out(known, counts, "; extended() fills them by a power curve" if counts.names is None else "")
    levels = [(100 - LEVEL) / 2, (100 + LEVEL) / 2]
    ends = np.nanpercentile(np.where(known, estimates, 1.0), levels, axis=0) if len(estimates) else ()
    curves = (found / found[best], *ends)
    return Propensities(*(np.ma.array(curve, mask=~known) for curve in curves), names=counts.names)  # type: ignore[arg-type, misc]
