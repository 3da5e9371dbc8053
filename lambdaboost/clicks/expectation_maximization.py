"""`regression_em`: propensities and relevance together, by expectation maximization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._warn import warn
from lambdaboost.clicks import _likelihood
from lambdaboost.clicks._curves import Floats, curve_with_intervals
from lambdaboost.clicks.click_log import ClickLog, check_log
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.harvesting import Sets, connected_part
from lambdaboost.clicks.propensities import Propensities

STEPS = 20  # at most, each of three EM steps
TOLERANCE = 5e-3  # of log θ; trees change a little from step to step
FOLDS = 2
MANY = 100_000  # from this many documents on, trees are fitted on several threads
TREES = {"max_iter": 25, "learning_rate": 0.2, "max_leaf_nodes": 15, "early_stopping": False}
SMALLEST = 1e-9


def regression_em(
    log: ClickLog, features: ArrayLike | None = None, *, intervals: int | None = None, seed: int = 0
) -> Propensities:
    """Propensities by expectation maximization of the position-based model (Wang et al. 2018, section 4).

    P(click) = θ_k γ_qd. Each step computes P(looked at | no click) = θ(1 − γ)/(1 − θγ) and P(relevant | no click) =
    (1 − θ)γ/(1 − θγ) for the impressions without a click; for those with a click, both are 1. Then θ_k becomes the mean
    of the former over the impressions at k, and γ a model of the features, fitted to the mean of the latter over the
    impressions of each document. The model is scikit-learn's HistGradientBoostingClassifier; it is fitted to expected
    labels where the paper samples them, and predicts each document from other queries.

    Without features there is no EM, since γ would be one number per document, and its estimate from few impressions
    would bias the curve. Instead, the curve maximizes the likelihood given the number of clicks of each document, which
    does not depend on γ: a click falls at k with probability n_k θ_k / Σ_j n_j θ_j, where n_k is the number of the
    document's impressions at k. Only clicked documents that were shown at two or more positions count, and the curve is
    that of the positions which they connect, as in `intervention_harvesting`.

    Parameters
    ----------
    log : ClickLog
        Sessions of one or more rankers.
    features : array of shape (log.n_documents, n_features), optional
        Features of ``log.documents``: ``x[log.rows_of(query, document)]``. With them, documents that were shown at
        one position only count as well, and the curve is only as good as the features predict relevance.
    intervals : int, optional
        Number of resamples of the queries for 95 % intervals, 0 for none. By default 200, but 0 with features, where
        each resample is a whole fit.
    seed : int
        Seed of the resamples.

    Returns
    -------
    Propensities

    Raises
    ------
    ValueError
        If the log has no clicks, or without features no documents that connect two positions. Positions that the log
        does not determine are None, with a warning.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import PositionBased, simulate
    >>> q = Queries([2, 0, 1] * 40, sizes=[3] * 40)
    >>> rng = np.random.default_rng(0)
    >>> log = simulate(rng.normal(size=(2, 120)), q, PositionBased(eta=1.0), 500, rng)
    >>> regression_em(log).covers(Propensities.power(1.0, 3))
    array([ True,  True,  True])

    """
    check_log(log)
    counts = log.counts()
    if features is None:
        resamples = 200 if intervals is None else intervals
        return curve_with_intervals(_by_document(counts), counts, resamples, seed)
    if not counts.clicks.any():
        raise ValueError("the log has no click, so no propensity can be estimated: give more sessions")
    if counts.n_queries < FOLDS:
        raise ValueError(
            "the log has one query, but with features each document's relevance is predicted from other queries: give "
            f"a log of at least {FOLDS} queries, or features=None"
        )
    return curve_with_intervals(
        _by_features(counts, _checked(features, counts)), counts, intervals or 0, seed
    )


def _checked(features: ArrayLike, counts: Counts) -> NDArray[np.float32]:
    try:
        x = np.asarray(features, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise TypeError(f"features must be numbers, a row for each document: {error}") from None
    if x.ndim != 2 or len(x) != counts.n_documents or x.shape[1] == 0:
        raise ValueError(
            f"features has shape {x.shape}, expected ({counts.n_documents}, n_features): one row for each of "
            "log.documents, such as x[log.rows_of(query, document)]"
        )
    if (empty := np.isnan(x).all(axis=0)).any():
        raise ValueError(f"features[:, {int(empty.argmax())}] is missing in every row: leave the column out")
    return x


def _by_document(counts: Counts) -> Callable[[Floats], Floats]:
    """The largest conditional likelihood, by Newton's method in log θ; it is concave."""
    from scipy import sparse

    sets = Sets.of(counts)
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

        found, moved = _likelihood.newton(terms, position, document, start)
        if (times == 1).all():
            start = found  # of the resamples
            if moved > _likelihood.TOLERANCE:
                _warn_of_limit(_likelihood.STEPS, moved)
        curve = np.full(counts.n_positions, np.nan)
        curve[part] = np.exp(found)
        return curve

    return estimate


def _warn_of_limit(steps: int, moved: float) -> None:
    warn(
        f"regression_em stopped after {steps} steps while the log of a propensity still moved by {moved:.2g}: the log "
        "says little about some positions; give more sessions, or take() the rows of the first positions"
    )


def _accelerated(
    step: Callable[[Floats], tuple[Floats, float]], begin: Floats, n_positions: int
) -> tuple[Floats, float]:
    """The fixed point of EM steps, extrapolated (SQUAREM, scheme S3 of Varadhan & Roland 2008); the last move."""
    now = begin
    for _ in range(STEPS):
        first, likelihood = step(now)
        second, _ = step(first)
        change, bend = first - now, second - 2 * first + now
        size = np.sqrt((change**2).sum() / max((bend**2).sum(), 1e-300))
        if size > 1:
            jumped = np.minimum(now + 2 * size * change + size**2 * bend, np.log(1 - SMALLEST))
            after, of_jump = step(jumped)
            if not of_jump >= likelihood:
                after = second
        else:
            after = second
        moved = float(np.ptp((after - now)[:n_positions]))  # a common factor is no change of the curve
        now = after
        if moved < TOLERANCE:
            break
    return now, moved


def _by_features(counts: Counts, x: NDArray[np.float32]) -> Callable[[Floats], Floats]:
    """EM with relevance as a model of features, on the positions with clicks."""
    kept = (counts.by_position(counts.clicks) > 0)[counts.position - 1]
    places, position = np.unique(counts.position[kept] - 1, return_inverse=True)
    query, document = counts.query_index[kept], counts.index[kept]
    impressions, clicks, n_positions = counts.impressions[kept], counts.clicks[kept], places.size

    def by_document(values: Floats) -> Floats:
        return np.bincount(document, values, minlength=counts.n_documents).astype(np.float64)

    fold = (np.arange(counts.n_queries) % FOLDS)[counts.query_of_document]

    def estimate(times: Floats) -> Floats:
        curve = np.full(counts.n_positions, np.nan)
        n, c = times[query] * impressions, times[query] * clicks
        of_document = by_document(n)
        if np.unique(fold[of_document > 0]).size < FOLDS:  # a resample without queries to learn from
            return curve
        looks = np.bincount(position, n, minlength=n_positions)
        mean = np.clip(c.sum() / n.sum(), SMALLEST, 0.5)

        def step(log_parameters: Floats) -> tuple[Floats, float]:
            theta, gamma = np.split(np.exp(log_parameters), [n_positions])
            t, g = theta[position], gamma[document]
            unclicked = (n - c) / (1 - t * g)
            looked = np.bincount(position, c + unclicked * t * (1 - g), minlength=n_positions)
            relevant = by_document(c + unclicked * (1 - t) * g) / np.maximum(of_document, SMALLEST)
            fitted = _fitted(x, np.clip(relevant, 0, 1), of_document, fold)
            new = np.concatenate([looked / np.maximum(looks, SMALLEST), fitted])
            likelihood = (c * np.log(t * g) + (n - c) * np.log1p(-t * g)).sum()
            return np.log(np.clip(new, SMALLEST, 1 - 1e-6)), float(likelihood)

        # Click rates by position: the curve if relevance did not depend on position.
        rate = np.bincount(position, c, minlength=n_positions) / np.maximum(looks, SMALLEST)
        rate = np.clip(rate / max(rate.max(), SMALLEST), 0.01, 0.99)
        begin = np.concatenate([rate, np.full(counts.n_documents, mean)])
        found, moved = _accelerated(step, np.log(begin), n_positions)
        if moved >= TOLERANCE and (times == 1).all():  # the estimate, not one of its resamples
            _warn_of_limit(STEPS, moved)
        curve[places] = np.where(looks > 0, np.exp(found[:n_positions]), np.nan)
        return curve

    return estimate


def _fitted(x: NDArray[np.float32], relevant: Floats, weight: Floats, fold: NDArray[np.int64]) -> Floats:
    """Relevance by features, each document's by a model of the other queries.

    A model that has seen a document knows the click rate at the position where it was shown, and would explain bias as
    relevance.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    gamma = np.empty(len(x))
    for held_out in range(FOLDS):
        kept = (fold != held_out) & (weight > 0)
        # Each document counts once as relevant and once as not, with the probabilities as weights.
        both = np.concatenate([relevant[kept], 1 - relevant[kept]]) * np.tile(weight[kept], 2)
        model = HistGradientBoostingClassifier(**TREES, random_state=0)
        # Threads that wait for each other make small fits up to a hundred times as slow on a busy machine.
        with threadpool_limits(1 if len(x) < MANY else None):
            model.fit(np.concatenate([x[kept]] * 2), np.repeat([1, 0], kept.sum()), sample_weight=both)
            gamma[fold == held_out] = model.predict_proba(x[fold == held_out])[:, 1]
    return gamma
