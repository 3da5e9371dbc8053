"""`regression_em`: propensities and relevance together, by expectation maximization."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.clicks._bootstrap import Floats, checked_intervals, curve_with_intervals
from lambdaboost.clicks._checks import check_clicked, check_connected, check_shown
from lambdaboost.clicks.click_log import ClickLog, check_log
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.propensities import Propensities

STEPS = 20  # at most, each of three EM steps
TOLERANCE = 5e-3  # of log θ; trees change a little from step to step
FOLDS = 2
NEWTON_STEPS, NEWTON_TOLERANCE = 60, 1e-8
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
    document's impressions at k. Only clicked documents that were shown at two or more positions count.

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
        If a position has no clicks, or there are no features and the documents do not connect the positions.

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
    check_shown(counts.by_position(counts.impressions), log.position_names)
    check_clicked(counts.by_position(counts.clicks), log.position_names)
    resamples = (200 if features is None else 0) if intervals is None else intervals
    checked_intervals(resamples, counts.n_queries)
    estimate = _by_document(counts) if features is None else _by_features(counts, _checked(features, counts))
    return curve_with_intervals(estimate, counts.n_queries, resamples, seed, log.position_names)


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


def _start(counts: Counts, impressions: Floats, clicks: Floats) -> Floats:
    """Click rates by position relative to the largest: the curve if relevance did not depend on position."""
    rate = counts.by_position(clicks) / np.maximum(counts.by_position(impressions), SMALLEST)
    return np.clip(rate / max(rate.max(), SMALLEST), 0.01, 0.99)


def _by_document(counts: Counts) -> Callable[[Floats], Floats]:
    """The largest conditional likelihood, by Newton's method in log θ; it is concave."""
    from scipy import sparse

    kept = _connecting(counts)
    position = counts.position[kept].astype(np.int64) - 1
    known, document = np.unique(counts.index[kept], return_inverse=True)
    query = counts.query_of_document[known]
    n, c = counts.impressions[kept], counts.clicks[kept]
    of_document = np.bincount(document, c)
    k = counts.n_positions
    clicks = sparse.csc_matrix((c, (query[document], position)), shape=(counts.n_queries, k))
    state = {"start": np.zeros(k)}  # resamples start from the estimate

    def estimate(times: Floats) -> Floats:
        log_theta = state["start"].copy()
        weight = times[query] * of_document
        wanted = np.asarray(clicks.T @ times)
        for _ in range(NEWTON_STEPS):
            looks = n * np.exp(log_theta)[position]
            share = looks / np.bincount(document, looks)[document]  # P(a click of the document falls here)
            expected = np.bincount(position, weight[document] * share, minlength=k)
            mixed = sparse.csr_matrix(
                (np.sqrt(weight)[document] * share, (document, position)), shape=(known.size, k)
            )
            hessian = np.diag(expected) - (mixed.T @ mixed).toarray()
            try:
                step = np.linalg.solve(hessian[1:, 1:], (wanted - expected)[1:])
            except np.linalg.LinAlgError:  # the resample does not connect the positions
                return np.full(k, np.nan)
            largest = np.abs(step).max(initial=0.0)
            log_theta[1:] += step * min(1.0, 1.0 / max(largest, SMALLEST))
            if not largest > NEWTON_TOLERANCE:
                break
        if (times == 1).all():
            state["start"] = log_theta
        return np.exp(log_theta)

    return estimate


def _connecting(counts: Counts) -> NDArray[np.int64]:
    """Rows of documents with clicks that were shown at two or more positions; raises if they do not connect all."""
    from scipy import sparse

    shown = counts.impressions > 0
    several = counts.by_document(shown.astype(np.float64)) > 1
    clicked = counts.by_document(counts.clicks) > 0
    kept = np.flatnonzero(shown & (several & clicked)[counts.index])
    if kept.size == 0:
        raise ValueError(
            "no document with clicks was shown at two positions, so position and relevance cannot be separated: give "
            "features, or log several rankers"
        )
    graph = sparse.coo_matrix(
        (np.ones(kept.size), (counts.position[kept] - 1, counts.n_positions + counts.index[kept])),
        shape=(counts.n_positions + counts.n_documents,) * 2,
    )
    part = sparse.csgraph.connected_components(graph, directed=False)[1][: counts.n_positions]
    check_connected(part, counts.names, "document with clicks", "give features, or log more rankers")
    return kept


def _accelerated(step: Callable[[Floats], tuple[Floats, float]], begin: Floats, n_positions: int) -> Floats:
    """The fixed point of EM steps, extrapolated (SQUAREM, scheme S3 of Varadhan & Roland 2008)."""
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
        moved = (after - now)[:n_positions]
        now = after
        if np.ptp(moved) < TOLERANCE:  # a common factor is no change of the curve
            break
    return now


def _by_features(counts: Counts, x: NDArray[np.float32]) -> Callable[[Floats], Floats]:
    """EM with relevance as a model of features."""
    position = counts.position.astype(np.int64) - 1
    query, document = counts.query_index, counts.index
    n_positions = counts.n_positions

    fold = (np.arange(counts.n_queries) % FOLDS)[counts.query_of_document]

    def estimate(times: Floats) -> Floats:
        n, c = times[query] * counts.impressions, times[query] * counts.clicks
        looks = np.bincount(position, n, minlength=n_positions)
        of_document = counts.by_document(n)
        mean = np.clip(c.sum() / n.sum(), SMALLEST, 0.5)

        def step(log_parameters: Floats) -> tuple[Floats, float]:
            theta, gamma = np.split(np.exp(log_parameters), [n_positions])
            t, g = theta[position], gamma[document]
            unclicked = (n - c) / (1 - t * g)
            looked = np.bincount(position, c + unclicked * t * (1 - g), minlength=n_positions)
            relevant = counts.by_document(c + unclicked * (1 - t) * g) / np.maximum(of_document, SMALLEST)
            fitted = _fitted(x, np.clip(relevant, 0, 1), of_document, fold)
            new = np.concatenate([looked / np.maximum(looks, SMALLEST), fitted])
            likelihood = (c * np.log(t * g) + (n - c) * np.log1p(-t * g)).sum()
            return np.log(np.clip(new, SMALLEST, 1 - 1e-6)), float(likelihood)

        begin = np.concatenate([_start(counts, n, c), np.full(counts.n_documents, mean)])
        theta = np.exp(_accelerated(step, np.log(begin), n_positions)[:n_positions])
        theta[looks == 0] = np.nan
        return theta

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
