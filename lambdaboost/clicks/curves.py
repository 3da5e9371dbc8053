"""Curves: what a log determines of one, and its intervals from resampled queries."""

from __future__ import annotations

from collections.abc import Callable

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


def curve_with_intervals(
    estimate: Callable[[Floats], Floats], counts: Counts, intervals: int
) -> Propensities:
    """The curve that an estimator finds, of any scale, with percentile intervals from resampled queries.

    `estimate` maps how often each query counts, float64 (n_queries,), to a curve, float64 (n_positions,), that may be
    NaN; it may divide by 0. Queries are drawn as a whole, since the rows of one share their documents. Curves are
    relative to the best position of the estimate, whose interval is therefore the point 1. Positions that the estimator
    or many resamples leave undetermined are None; a warning names them.
    """
    n, resamples, rng = counts.n_queries, check_whole("intervals", intervals, 0), np.random.default_rng(0)
    if resamples and n < 2:
        raise ValueError(
            f"intervals={resamples} resamples queries, but the log has one query: give intervals=0"
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = estimate(np.ones(n))
        estimates = np.empty((resamples, found.size))
        for resample in estimates:
            times = np.bincount(rng.integers(n, size=n), minlength=n)
            resample[:] = estimate(times.astype(np.float64))
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
    if not known.all():
        left_out = np.flatnonzero(~known)
        remedy, which = "; extended() fills them by a power curve", listed(left_out + 1)
        if counts.names is not None:
            remedy, which = "", listed(counts.names[place] for place in left_out)
        noun = "positions" if left_out.size > 1 else "position"
        warn(f"{noun} {which}: left out, since the log does not determine the propensity{remedy}")
    curves = [found / found[best]]
    if len(estimates):
        levels = [(100 - LEVEL) / 2, (100 + LEVEL) / 2]
        curves += [*np.nanpercentile(np.where(known, estimates, 1.0), levels, axis=0)]
    return Propensities(*(np.ma.array(curve, mask=~known) for curve in curves), names=counts.names)  # type: ignore[arg-type, misc]
