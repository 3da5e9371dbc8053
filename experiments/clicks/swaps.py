"""`swap_experiment`: propensities from documents that were swapped or shuffled at random."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import refuse_labels
from lambdaboost.clicks._curves import (
    Floats,
    check_clicked,
    counts_of_all_positions,
    curve_with_intervals,
    words,
)
from lambdaboost.clicks.click_log import ClickLog
from lambdaboost.clicks.counts import Counts
from lambdaboost.clicks.propensities import Propensities

FIRST = 1


def swap_experiment(
    log: ClickLog, arm: ArrayLike | None = None, *, intervals: int = 200, seed: int = 0
) -> Propensities:
    """Propensities from an experiment that showed documents at positions chosen at random.

    With `arm`, sessions swapped the documents of positions 1 and k with probability 1/2, and p_k / p_1 is the click
    rate at k over that at 1 in these sessions (Joachims, Swaminathan & Schnabel 2017; RandPair of Wang et al. 2018).
    Without it, every list was shuffled as a whole, and p_k is the click rate at k (RandTopN).

    Parameters
    ----------
    log : ClickLog
        The sessions of the experiment.
    arm : array of shape (n_rows,), optional
        For each row, the position k that its session swapped with position 1 or could have swapped; 0 in sessions
        outside the experiment.
    intervals, seed : int
        As in `intervention_harvesting`.

    Returns
    -------
    Propensities

    Raises
    ------
    ValueError
        If a position has no arm or no clicks, or `arm` is missing and the lists were not shuffled.

    Examples
    --------
    >>> from lambdaboost import Queries
    >>> from lambdaboost.clicks import PositionBased, simulate_swaps
    >>> q = Queries([2, 0, 1] * 20, sizes=[3] * 20)
    >>> rng = np.random.default_rng(0)
    >>> log, arm = simulate_swaps(rng.normal(size=60), q, PositionBased(eta=1.0), 1000, rng)
    >>> swap_experiment(log, arm).covers(Propensities.power(1.0, 3))
    array([ True,  True,  True])

    """
    counts = counts_of_all_positions(log)
    if arm is None:
        _check_shuffled(counts)
        check_clicked(counts.by_position(counts.clicks), counts)
        arms, first = log.position.astype(np.int64), np.zeros(log.n_rows, dtype=np.bool_)
    else:
        arms = _checked_arm(arm, log)
        first = (log.position == FIRST) & (arms > 0)
    kept = first | (log.position == arms)
    # Cells: query, arm, and whether the row is at position 1 rather than at that of the arm.
    shape = (log.n_queries, log.n_positions, 2)
    cell = ((log.query_of_row * log.n_positions + arms - 1) * 2 + first)[kept]
    impressions = log.impressions_of_row()[kept]
    clicks, looks = (
        np.bincount(cell, weight, minlength=np.prod(shape)).reshape(shape)
        for weight in (impressions * log.clicked[kept], impressions)
    )

    def estimate(times: Floats) -> Floats:
        rate = np.tensordot(times, clicks, axes=1) / np.tensordot(times, looks, axes=1)
        if arm is None:
            return rate[:, 0]
        return np.append(1.0, (rate[:, 0] / rate[:, 1])[FIRST:])

    if arm is not None:
        absent = (looks.sum(axis=0) == 0).any(axis=1)
        absent[FIRST - 1] = False
        if absent.any():
            raise ValueError(
                f"{words(absent, counts)}: no arm of the experiment, as no session may have exchanged it with position "
                "1; take() the rows of the other positions"
            )
        clicked = clicks.sum(axis=0).min(axis=1)
        clicked[FIRST - 1] = 1
        check_clicked(clicked, counts, " at either place of its arm")
    return curve_with_intervals(estimate, counts, intervals, seed)


def _checked_arm(arm: ArrayLike, log: ClickLog) -> NDArray[np.int64]:
    given = np.asarray(arm)
    if given.shape != (log.n_rows,):
        raise ValueError(f"arm has shape {given.shape}, the log has {log.n_rows} rows: give one for each row")
    if given.dtype.kind not in "iu":
        raise TypeError(f"arm must be whole numbers, the position of each session's arm, got {given.dtype}")
    wrong = (given != 0) & ((given <= FIRST) | (given > log.n_positions))
    refuse_labels("arm", given, wrong, f"give a position from 2 to {log.n_positions}, or 0 for none")
    return given.astype(np.int64)


def _check_shuffled(counts: Counts) -> None:
    """Raise if positions clearly depend on the document, by Pearson's χ² of documents and positions in each query."""
    k = counts.n_positions
    place = counts.query_index * k + counts.position - 1
    at_place = np.bincount(place, counts.impressions, minlength=counts.n_queries * k)
    of_query = at_place.reshape(-1, k).sum(axis=1)
    of_document = counts.by_document(counts.impressions)
    kept = counts.impressions > 0
    n = counts.impressions[kept]
    expected = at_place[place[kept]] * of_document[counts.index[kept]] / of_query[counts.query_index[kept]]
    chi2 = (n**2 / expected).sum() - of_query.sum()
    documents = np.bincount(counts.query_of_document, of_document > 0, minlength=counts.n_queries)
    positions = (at_place.reshape(-1, k) > 0).sum(axis=1)
    free = (np.maximum(documents - 1, 0) * np.maximum(positions - 1, 0)).sum()
    # χ² per degree of freedom is at most 2 on average if lists are shuffled, each showing a document once, and more if
    # some lists repeat; for one fixed list it is the number of impressions.
    if free == 0 or chi2 > 10 * free:
        raise ValueError(
            "the lists were not shuffled: documents differ in the positions where they were shown; give arm= for "
            "swaps of two positions, or use intervention_harvesting"
        )
