"""`web_search_log`: judged and clicked documents of a simulated web search engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost.datasets.click_models import (
    CLICK_MODELS,
    Cascade,
    PositionBased,
    result_pages,
    sampled_last_clicks,
)
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries
from lambdaboost.datasets.synthetic.grades import grades_by_share
from lambdaboost.datasets.synthetic.pages import CORE_FEATURES, core_features, draw_pages, logistic, utility

# Standard deviation of a judge's error; that of the true utility is about 1.
JUDGE_NOISE = 0.35
RANKERS = 5
SESSIONS = 200  # of each query with each ranker
SHOWN = 10
# Standard deviation of the rankers' individual scores, in standard deviations of their common score.
RANKER_NOISE = 0.7


def web_search_log(
    queries: int = 1000, documents: int = 120, features: int = 40, seed: int = 0, click_model: str = "cascade"
) -> Collection:
    """A search engine's log: features, judged grades 0–4, and click-through rates as label source ``clicks``.

    For graded objectives, after the data of Svore, Volkovs & Burges (2011, section 6). Every document has a
    true utility, a non-linear function of how its parts match the query, of its quality and of the query's
    intent. Two labels follow from it independently:

    - the grade: utility plus a judge's error, binned so that 52, 32, 13, 2 and 1 % of all documents get 0 to 4;
    - the click-through rate: five noisy linear rankers in turn show their ten best documents to 200 users
      each, who click by the click model; the rate is last clicks over times shown, 0 if never shown.

    So grades and clicks mostly agree, and clicks order documents of equal grade. The utility function does not
    depend on the seed: data of two seeds can serve as training and test data.

    Parameters
    ----------
    queries : int
        Number of queries.
    documents : int
        Mean number of documents of a query; list lengths vary around it (gamma, standard deviation 0.4 of the
        mean).
    features : int
        Number of features, at least 16: 16 describe match, quality and query, the others alternate between
        noisy copies of these and pure noise.
    seed : int
        The same seed gives the same data.
    click_model : {"cascade", "position"}
        How users click: see `lambdaboost.datasets.click_models`.

    Returns
    -------
    Collection
        Features float32 with names, labels ``relevance`` in {0, …, 4} and ``clicks`` in [0, 1].

    Raises
    ------
    TypeError, ValueError
        If a number is not whole or too low, or the click model is unknown.

    Examples
    --------
    >>> log = web_search_log(queries=20, documents=30, seed=3)
    >>> log
    Collection(584 documents × 40 features in 20 queries; relevance, clicks)
    >>> log.feature_names[:3]
    ('match_title', 'match_body', 'match_anchor')

    """
    check_whole("queries", queries)
    check_whole("documents", documents)
    check_whole("features", features, least=len(CORE_FEATURES))
    rng = np.random.default_rng(check_whole("seed", seed, least=0))
    if click_model not in CLICK_MODELS:
        raise ValueError(f"click_model is {click_model!r}: choose one of {', '.join(CLICK_MODELS)}")
    sizes = _list_lengths(queries, documents, rng)
    query_of_row = np.repeat(np.arange(queries), sizes)
    pages = draw_pages(query_of_row, queries, rng)
    true_utility = utility(pages)
    core = core_features(pages, rng)
    grades = grades_by_share(true_utility + JUDGE_NOISE * rng.standard_normal(true_utility.size))
    clicks = _click_through_rate(true_utility, _production_score(core), sizes, CLICK_MODELS[click_model], rng)
    names, x = _with_distractors(core, features, rng)
    return Collection(x, Queries(grades, sizes=sizes, clicks=clicks), feature_names=names)


def _list_lengths(queries: int, mean: int, rng: np.random.Generator) -> NDArray[np.int64]:
    shape = 6.25  # of a gamma distribution: standard deviation 0.4 of the mean
    return np.maximum(1, np.rint(rng.gamma(shape, mean / shape, queries))).astype(np.int64)


def _production_score(core: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of the search engine in production: a weighted sum of standardised features."""
    weights = {"match_title": 0.6, "match_body": 0.3, "bm25": 0.6, "pagerank": 0.4, "spam_percentile": -0.3}
    columns = core[:, [CORE_FEATURES.index(name) for name in weights]]
    spread = columns.std(axis=0)
    return (
        (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1) @ np.array(list(weights.values()))
    )


def _click_through_rate(
    utility: NDArray[np.float64],
    score: NDArray[np.float64],
    sizes: NDArray[np.int64],
    click_model: Cascade | PositionBased,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Last clicks divided by times shown for each document, (n_documents,); 0 if never shown."""
    attraction, satisfaction = logistic(2 * (utility - 0.5)), logistic(2 * (utility - 1.0))
    clicks, shown = np.zeros(utility.size), np.zeros(utility.size)
    for _ in range(RANKERS):
        page = result_pages(
            score + RANKER_NOISE * score.std() * rng.standard_normal(score.size), sizes, SHOWN
        )
        filled = page >= 0
        last_click = click_model.last_click(
            np.where(filled, attraction[page], 0.0), np.where(filled, satisfaction[page], 0.0)
        )
        # A document appears once on a page, so no row is repeated.
        clicks[page[filled]] += sampled_last_clicks(last_click, SESSIONS, rng)[filled]
        shown[page[filled]] += SESSIONS
    return clicks / np.maximum(shown, 1)


def _with_distractors(
    core: NDArray[np.float64], features: int, rng: np.random.Generator
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """The core features, then noisy copies and pure noise alternating, up to `features` columns."""
    n, c = core.shape
    x = np.empty((n, features), dtype=np.float32)
    x[:, :c] = core
    names = list(CORE_FEATURES)
    for column in range(c, features):
        x[:, column] = noise = rng.standard_normal(n)
        of = (column - c) // 2 % c
        if (column - c) % 2:
            names.append(f"noise_{(column - c) // 2}")
        else:
            x[:, column] = core[:, of] + core[:, of].std() * noise
            names.append(f"copy_{(column - c) // 2}_{CORE_FEATURES[of]}")
    return tuple(names), x
