"""Curves with bootstrap intervals over queries, and the words of positions in messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets._checks import check_count

Floats = NDArray[np.float64]
LEVEL = 95  # percent of the resamples that an interval holds
MOST_NAMED = 8  # positions in a message


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


def check_shown(by_position: Floats, names: tuple[str, ...] | None) -> None:
    """Raise if a position up to the last one was never shown."""
    if (by_position > 0).all():
        return
    never = words(np.flatnonzero(by_position <= 0) + 1, names)
    raise ValueError(
        f"{never}: never shown, so the propensity cannot be estimated; give a log of all positions, or take() the rows "
        "of those before"
    )


def check_clicked(clicks: Floats, names: tuple[str, ...] | None, where: str = "") -> None:
    """Raise if a position has no clicks."""
    if (clicks > 0).all():
        return
    never = words(np.flatnonzero(clicks <= 0) + 1, names)
    raise ValueError(
        f"{never}: no click{where}, so the propensity cannot be estimated; give more sessions, or take() the rows of "
        "the other positions"
    )


def words(positions: Iterable[int], names: tuple[str, ...] | None = None) -> str:
    """Positions as text, the first of many.

    >>> words([3]), words([1, 4, 5]), words([2], ("side", "top"))
    ('position 3', 'positions 1, 4, 5', "position 'top'")
    >>> words(range(3, 30))
    'positions 3, 4, 5, 6, 7, 8, 9, 10 and 19 more'
    """
    given = list(map(int, positions))
    shown = [str(k) if names is None else repr(names[k - 1]) for k in given[:MOST_NAMED]]
    more = f" and {len(given) - MOST_NAMED} more" if len(given) > MOST_NAMED else ""
    return f"position{'s' if len(given) > 1 else ''} {', '.join(shown)}{more}"
