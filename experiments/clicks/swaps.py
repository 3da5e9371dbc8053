"""Swap experiments: documents that are swapped or shuffled at random, and the propensities that they tell."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost import Queries
from lambdaboost.clicks import ClickLog, Counts, Propensities
from lambdaboost.clicks.curves import Floats, curve_with_intervals
from lambdaboost.clicks.simulation import clicked_lists
from lambdaboost.datasets.synthetic import result_pages

FIRST = 1


class SwapExperiment(NamedTuple):
    """A log of random swaps, and its `arm` as `swap_experiment` takes it."""

    log: ClickLog
    arm: NDArray[np.int64]


def simulate_swaps(
    scores: ArrayLike, q: Queries, model: Any, sessions: int, rng: np.random.Generator, k: int = 10
) -> SwapExperiment:
    """Like `simulate`, with a swap experiment in every session.

    Each session draws a position k from 2 to the end of its list, its arm, and swaps the documents of 1 and k with
    probability 1/2 (Joachims, Swaminathan & Schnabel 2017). `swap_experiment` reads the log and the arms.
    """
    pages = np.stack([result_pages(q.scores(ranker), q.sizes, k) for ranker in np.atleast_2d(scores)])
    query = np.repeat(np.arange(q.n_queries), sessions)
    rows = pages[rng.integers(len(pages), size=query.size), query]
    length = (rows >= 0).sum(axis=1)
    # A list of one document has no other position.
    arm = np.where(length > 1, 1 + (rng.random(length.size) * (length - 1)).astype(np.int64), 0)
    swapped = np.flatnonzero(rng.random(length.size) < 0.5)
    rows[swapped, 0], rows[swapped, arm[swapped]] = rows[swapped, arm[swapped]], rows[swapped, 0]
    log = clicked_lists(rows, query, q, model, rng)
    return SwapExperiment(log, np.where(arm > 0, arm + 1, 0)[np.repeat(np.arange(length.size), length)])


def swap_experiment(
    log: ClickLog, arm: NDArray[np.int64] | None = None, *, intervals: int = 200
) -> Propensities:
    """Propensities from an experiment that showed documents at positions chosen at random.

    With `arm`, sessions swapped the documents of positions 1 and k with probability 1/2, and p_k / p_1 is the click
    rate at k over that at 1 in these sessions (Joachims, Swaminathan & Schnabel 2017; RandPair of Wang et al. 2018).
    Without it, every list was shuffled as a whole, and p_k is the click rate at k (RandTopN).

    Parameters
    ----------
    log : ClickLog
        The sessions of the experiment.
    arm : int array of shape (n_rows,), optional
        For each row, the position k that its session swapped with position 1 or could have swapped; 0 in sessions
        outside the experiment.
    intervals : int
        As in `intervention_harvesting`.

    Raises
    ------
    ValueError
        If a position has no arm or no clicks, or `arm` is missing and the lists were not shuffled.

    Examples
    --------
    >>> from lambdaboost.clicks import PositionBased
    >>> q, rng = Queries([2, 0, 1] * 20, sizes=[3] * 20), np.random.default_rng(0)
    >>> log, arm = simulate_swaps(rng.normal(size=60), q, PositionBased(eta=1.0), 1000, rng)
    >>> curve = swap_experiment(log, arm)
    >>> curve.low[1] < 1 / 2 < curve.high[1]
    True

    """
    counts = log.counts()
    _refuse("never shown", counts.by_position(counts.impressions) <= 0)
    if arm is None:
        _check_shuffled(counts)
        _refuse("no click", counts.by_position(counts.clicks) <= 0)
        arms, first = log.position.astype(np.int64), np.zeros(log.n_rows, dtype=np.bool_)
    else:
        arms, first = arm, (log.position == FIRST) & (arm > 0)
    kept = first | (log.position == arms)
    # Cells: query, arm, and whether the row is at position 1 rather than at that of the arm.
    shape = (counts.n_queries, log.n_positions, 2)
    cell = ((log.query_of_row * log.n_positions + arms - 1) * 2 + first)[kept]
    impressions = np.ones(int(kept.sum())) if log.weight is None else log.weight[kept]
    clicks, looks = (
        np.bincount(cell, weight, minlength=np.prod(shape)).reshape(shape)
        for weight in (impressions * log.clicked[kept], impressions)
    )

    def estimate(times: Floats) -> Floats:
        rate = np.tensordot(times, clicks, axes=1) / np.tensordot(times, looks, axes=1)
        return rate[:, 0] if arm is None else np.append(1.0, (rate[:, 0] / rate[:, 1])[FIRST:])

    if arm is not None:
        _refuse("no arm of the experiment", (looks.sum(axis=0)[FIRST:] == 0).any(axis=1), FIRST)
        _refuse("no click at either place of its arm", clicks.sum(axis=0)[FIRST:].min(axis=1) == 0, FIRST)
    return curve_with_intervals(estimate, counts, intervals)


def _refuse(what: str, positions: NDArray[np.bool_], after: int = 0) -> None:
    """Raise if any of these positions lacks what determines its propensity."""
    if positions.any():
        raise ValueError(
            f"positions {np.flatnonzero(positions) + 1 + after}: {what}; take() the rows of others"
        )


def _check_shuffled(counts: Counts) -> None:
    """Raise if positions clearly depend on the document, by Pearson's χ² of documents and positions in each query."""
    k, query_of_row = counts.n_positions, counts.query_of_document[counts.index]
    place = query_of_row * k + counts.position - 1
    at_place = np.bincount(place, counts.impressions, minlength=counts.n_queries * k)
    of_query = at_place.reshape(-1, k).sum(axis=1)
    of_document = counts.by_document(counts.impressions)
    kept = counts.impressions > 0
    n = counts.impressions[kept]
    expected = at_place[place[kept]] * of_document[counts.index[kept]] / of_query[query_of_row[kept]]
    chi2 = (n**2 / expected).sum() - of_query.sum()
    documents = np.bincount(counts.query_of_document, of_document > 0, minlength=counts.n_queries)
    positions = (at_place.reshape(-1, k) > 0).sum(axis=1)
    free = (np.maximum(documents - 1, 0) * np.maximum(positions - 1, 0)).sum()
    # χ² per degree of freedom is at most 2 on average if lists are shuffled, each showing a document once, and more if
    # some lists repeat; for one fixed list it is the number of impressions.
    if free == 0 or chi2 > 10 * free:
        raise ValueError(
            "the lists were not shuffled: documents differ in the positions where they were shown"
        )
