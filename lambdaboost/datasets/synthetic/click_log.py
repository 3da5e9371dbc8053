"""Click-through rates as a search engine logs them over several rankers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets.click_models import Probability, sampled_last_clicks

RANKERS = 5
SESSIONS = 200  # of each query with each ranker
SHOWN = 10
# Standard deviation of the rankers' individual scores, in standard deviations of their common score.
RANKER_NOISE = 0.7


def click_through_rate(
    utility: NDArray[np.float64],
    score: NDArray[np.float64],
    sizes: NDArray[np.int64],
    click_model: Callable[[Probability, Probability], Probability],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Last clicks divided by times shown for each document, (n_documents,); 0 if never shown."""
    attraction, satisfaction = _logistic(2 * (utility - 0.5)), _logistic(2 * (utility - 1.0))
    clicks, shown = np.zeros(utility.size), np.zeros(utility.size)
    for _ in range(RANKERS):
        page = result_pages(score + RANKER_NOISE * score.std() * rng.standard_normal(score.size), sizes)
        filled = page >= 0
        last_click = click_model(
            np.where(filled, attraction[page], 0.0), np.where(filled, satisfaction[page], 0.0)
        )
        # A document appears once on a page, so no row is repeated.
        clicks[page[filled]] += sampled_last_clicks(last_click, SESSIONS, rng)[filled]
        shown[page[filled]] += SESSIONS
    return clicks / np.maximum(shown, 1)


def result_pages(
    score: NDArray[np.float64], sizes: NDArray[np.int64], shown: int = SHOWN
) -> NDArray[np.int64]:
    """Rows of each query's best documents, best first, (n_queries, shown); −1 past the last document.

    >>> result_pages(np.array([0.1, 0.7, 0.5]), np.array([2, 1]))[:, :3]
    array([[ 1,  0, -1],
           [ 2, -1, -1]])
    """
    query_of_row = np.repeat(np.arange(sizes.size), sizes)
    ranking = np.lexsort((-score, query_of_row))
    position = np.arange(score.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    top = position < shown
    page = np.full((sizes.size, shown), -1)
    page[query_of_row[top], position[top]] = ranking[top]
    return page


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-x))
