"""`regression_em`: propensities and relevance together, by expectation maximization."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._warn import warn
from lambdaboost.clicks.click_log import ClickLog, Counts
from lambdaboost.clicks.curves import Floats, curve_with_intervals
from lambdaboost.clicks.propensities import Propensities
from lambdaboost.datasets.arrays import as_array

STEPS = 20  # at most, each of three EM steps
TOLERANCE = 5e-3  # of log θ; trees change a little from step to step
FOLDS = 2
MANY = 100_000  # from this many documents on, trees are fitted on several threads
TREES = {"max_iter": 25, "learning_rate": 0.2, "max_leaf_nodes": 15, "early_stopping": False}
SMALLEST = 1e-9


def regression_em(log: ClickLog, features: ArrayLike, *, verbose: bool = True) -> Propensities:
    """Propensities by expectation maximization of the position-based model (Wang et al. 2018, section 4).

    P(click) = θ_k γ_qd. Each step computes P(looked at | no click) = θ(1 − γ)/(1 − θγ) and P(relevant | no click) =
    (1 − θ)γ/(1 − θγ) for the impressions without a click; for those with a click, both are 1. Then θ_k becomes the mean
    of the former over the impressions at k, and γ a model of the features, fitted to the mean of the latter over the
    impressions of each document. The model is scikit-learn's HistGradientBoostingClassifier; it is fitted to expected
    labels where the paper samples them, and predicts each document from other queries. The curve has no intervals;
    positions without a click are None, with a warning.

    Parameters
    ----------
    log : ClickLog
        Sessions of one or more rankers. Documents shown at a single position count too.
    features : array of shape (log.n_documents, n_features)
        Features of ``log.documents``: ``x[log.rows_of(query, document)]``. The better they predict relevance, the
        better the curve.
    verbose : bool
        Whether each step is reported on standard error: a log of a million documents takes minutes.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import PositionBased, simulate
    >>> q = Queries([2, 0, 1] * 40, sizes=[3] * 40)
    >>> log = simulate(-np.arange(120), q, PositionBased(eta=1.0), 500, np.random.default_rng(0))
    >>> curve = regression_em(log, np.tile([[2], [0], [1]], (40, 1)), verbose=False)
    >>> len(curve)
    3

    """
    counts = log.counts()
    if not counts.clicks.any():
        raise ValueError("the log has no click, so no propensity can be estimated: give more sessions")
    if counts.n_queries < FOLDS:
        raise ValueError(
            "the log has one query, but each document's relevance is predicted from other queries: give a log of at "
            f"least {FOLDS} queries"
        )
    x = np.asarray(as_array(features), dtype=np.float32)
    if x.ndim != 2 or len(x) != counts.n_documents or x.shape[1] == 0:
        raise ValueError(
            f"features has shape {x.shape}, expected ({counts.n_documents}, n_features): one row for each of "
            "log.documents, such as x[log.rows_of(query, document)]"
        )
    return curve_with_intervals(lambda _: _curve(counts, x, verbose), counts, 0)


def _curve(counts: Counts, x: NDArray[np.float32], verbose: bool) -> Floats:
    """EM with relevance as a model of features, on the positions with clicks; NaN at the others."""
    kept = (counts.by_position(counts.clicks) > 0)[counts.position - 1]
    places, position = np.unique(counts.position[kept] - 1, return_inverse=True)
    document, n, c = counts.index[kept], counts.impressions[kept], counts.clicks[kept]
    fold = (np.arange(counts.n_queries) % FOLDS)[counts.query_of_document]
    curve = np.full(counts.n_positions, np.nan)

    def by_document(values: Floats) -> Floats:
        return np.bincount(document, values, minlength=counts.n_documents).astype(np.float64)

    of_document, looks = by_document(n), np.bincount(position, n)
    if np.unique(fold[of_document > 0]).size < FOLDS:  # no other queries to learn from
        return curve

    def step(log_parameters: Floats) -> tuple[Floats, float]:
        theta, gamma = np.split(np.exp(log_parameters), [places.size])
        t, g = theta[position], gamma[document]
        unclicked = (n - c) / (1 - t * g)
        looked = np.bincount(position, c + unclicked * t * (1 - g))
        relevant = by_document(c + unclicked * (1 - t) * g) / np.maximum(of_document, SMALLEST)
        fitted = _predict_relevance(x, np.clip(relevant, 0, 1), of_document, fold)
        new = np.concatenate([looked / np.maximum(looks, SMALLEST), fitted])
        likelihood = (c * np.log(t * g) + (n - c) * np.log1p(-t * g)).sum()
        return np.log(np.clip(new, SMALLEST, 1 - 1e-6)), float(likelihood)

    # Click rates by position: the curve if relevance did not depend on position.
    rate = np.bincount(position, c) / np.maximum(looks, SMALLEST)
    rate = np.clip(rate / max(rate.max(), SMALLEST), 0.01, 0.99)
    mean = np.clip(c.sum() / n.sum(), SMALLEST, 0.5)
    now = np.log(np.append(rate, np.full(counts.n_documents, mean)))

    # The fixed point of EM steps, extrapolated (SQUAREM, scheme S3 of Varadhan & Roland 2008).
    for number in range(1, STEPS + 1):
        first, likelihood = step(now)
        after, _ = step(first)
        change, bend = first - now, after - 2 * first + now
        size = np.sqrt((change**2).sum() / max((bend**2).sum(), 1e-300))
        if size > 1:
            jumped = np.minimum(now + 2 * size * change + size**2 * bend, np.log(1 - SMALLEST))
            further, of_jump = step(jumped)
            if of_jump >= likelihood:
                after = further
        moved = float(np.ptp((after - now)[: places.size]))  # a common factor is no change of the curve
        now = after
        if verbose:
            progress = f"step {number} of at most {STEPS}, a propensity moved by {100 * moved:.1f} %"
            print(f"regression_em: {progress}, done below {100 * TOLERANCE} %", file=sys.stderr)
        if moved < TOLERANCE:
            break
    else:
        warn(
            f"regression_em stopped after {STEPS} steps while the log of a propensity still moved by {moved:.2g}: the "
            "log says little about some positions; give more sessions, or take() the rows of the first positions"
        )
    curve[places] = np.exp(now[: places.size])
    return curve


def _predict_relevance(
    x: NDArray[np.float32], relevant: Floats, weight: Floats, fold: NDArray[np.int64]
) -> Floats:
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
        # scikit-learn takes no column without a value.
        filled = np.where(np.isnan(x[kept]).all(axis=0), 0, x)
        model = HistGradientBoostingClassifier(**TREES, random_state=0)
        # Threads that wait for each other make small fits up to a hundred times as slow on a busy machine.
        with threadpool_limits(1 if len(x) < MANY else None):
            model.fit(np.concatenate([filled[kept]] * 2), np.repeat([1, 0], kept.sum()), sample_weight=both)
            gamma[fold == held_out] = model.predict_proba(filled[fold == held_out])[:, 1]
    return gamma
