"""`trust_harvesting`: position bias with false clicks, from documents that were shown at two positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost.clicks.click_log import ClickLog, Counts
from lambdaboost.clicks.curves import Floats, bootstrap_queries, warn_left_out
from lambdaboost.clicks.harvesting import InterventionPairs, connected_part
from lambdaboost.clicks.propensities import AffineBias

STEPS = 3  # of the weights of the sets
RESAMPLES = 50  # of the queries, half of which must have a solution


def trust_harvesting(log: ClickLog) -> AffineBias:
    """Examination and false clicks of each position, from documents that were shown at two positions.

    Where a document has click rates ĉ_k and ĉ_k' at two positions, (ĉ_k − β_k)/α_k and (ĉ_k' − β_k')/α_k' estimate the
    same r. α and β are those that make the sum of squared differences least, over all such documents and positions
    with weights n n' / (n + n') and 1/(α_k^−2 + α_k'^−2). In it c²/n² is replaced by c (c − 1) / (n (n − 1)), whose
    expectation is the square of the click probability, so noise of the rates does not bias α. No relevance is modelled,
    so rankers may depend on it. Clicks leave r free up to a factor and a shift; here the first position has α = 1 and
    β = 0, which changes the order of no documents.

    Both cover the positions connected by such documents; of several connected components, the one with most
    impressions. The others are None; a warning names them.

    Parameters
    ----------
    log : ClickLog
        Sessions of several rankers, or of random swaps; a document counts where it was shown at least twice. A
        ValueError if they differ too little in relevance to distinguish false clicks from examination.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import TrustBias, simulate
    >>> q, rng = Queries([2, 0, 1] * 100, sizes=[3] * 100), np.random.default_rng(0)
    >>> bias = trust_harvesting(simulate(rng.normal(size=(3, 300)), q, TrustBias(eta=1.0), 1000, rng))
    >>> round(bias.alpha[1], 1)  # 0.5 (0.97 − 0.65 / 2) / (0.98 − 0.65) of these users
    1.0

    """
    counts = log.counts()
    k = counts.n_positions
    if k == 1:
        raise ValueError("the log has one position, so there is no bias of positions: train on its rates")
    sets = InterventionPairs.of(counts, 1.0)
    of_documents = _moments(counts, sets)
    weight = np.bincount(sets.set_of, of_documents[0])
    part = connected_part(sets.low, sets.high, np.stack([weight, weight], axis=1), k)
    kept, number, n = part[sets.low], np.cumsum(part) - 1, int(part.sum())
    low, high, moments = number[sets.low[kept]], number[sets.high[kept]], sets.by_query(of_documents)

    def estimate(times: Floats) -> Floats:
        return _least_squares(low, high, np.asarray(moments.T @ times).reshape(-1, 6)[kept], n)

    found, estimates = bootstrap_queries(estimate, counts.n_queries, RESAMPLES if counts.n_queries > 1 else 0)
    solved = np.isfinite(estimates).all(axis=1)
    if not np.isfinite(found).all() or solved.sum() < len(estimates) / 2:
        raise ValueError(
            "the log does not distinguish false clicks from examination: the documents shown at two positions differ "
            "too little in relevance, or have too few clicks; give more sessions, take() the rows of the first "
            "positions, or use intervention_harvesting, which assumes no false clicks"
        )
    warn_left_out(part, counts)
    alpha, beta = np.ma.masked_all((2, k))
    found_alpha, found_beta = np.split(found, 2)
    ratio = found_alpha / found_alpha[0]  # for r as the click probability at the first known position
    alpha[part], beta[part] = ratio, found_beta - ratio * found_beta[0]
    return AffineBias(alpha, beta, names=counts.names)


def _moments(counts: Counts, sets: InterventionPairs) -> list[Floats]:
    """Weight, and weighted p, q, p², q² and p q of each document at the two positions of each of its sets."""
    n, c = counts.impressions, counts.clicks
    rate, square = c / np.maximum(n, 1), c * (c - 1) / np.maximum(n * (n - 1), 1e-12)
    first, second = sets.first, sets.second
    p, q = rate[first], rate[second]
    weight = n[first] * n[second] / (n[first] + n[second])
    return [weight * part for part in (np.ones(p.size), p, q, square[first], square[second], p * q)]


def _least_squares(low: NDArray[np.int64], high: NDArray[np.int64], moments: Floats, k: int) -> Floats:
    """α and β, (2k,), from a = 1/α and b = β/α that minimise Σ (a_k p − b_k − a_k' q + b_k')²; NaN if undetermined.

    The position with the largest weight has a = 1 and b = 0.
    """
    w, p, q, pp, qq, pq = moments.T
    # Products of (−p, q, 1, −1), the factors of the a and b of both positions.
    products = np.array([[pp, -pq, -p, p], [-pq, qq, q, -q], [-p, q, w, -w], [p, -q, -w, w]])
    at = np.stack([low, high, k + low, k + high])
    known = int(np.argmax(np.bincount(low, w, minlength=k) + np.bincount(high, w, minlength=k)))
    rest = np.delete(np.arange(2 * k), [known, k + known])
    solved = np.repeat([1.0, 0.0], k)
    for _ in range(STEPS):
        hessian = np.zeros((2 * k, 2 * k))
        np.add.at(hessian, (at[:, None], at[None]), products / (solved[low] ** 2 + solved[high] ** 2))
        inner = hessian[np.ix_(rest, rest)]
        try:
            np.linalg.cholesky(inner)  # a minimum, not a saddle
            solved[rest] = np.linalg.solve(inner, -hessian[rest, known])
        except np.linalg.LinAlgError:
            return np.full(2 * k, np.nan)
        if not (solved[:k] > 0).all():
            return np.full(2 * k, np.nan)
    return np.concatenate([1 / solved[:k], solved[k:] / solved[:k]])
