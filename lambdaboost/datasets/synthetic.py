"""`web_search_log`: a synthetic search log, of which the same seed gives the same bits."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_whole
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries

Column = NDArray[np.float64]

# Shares of grades 0 to 4 in MSLR-WEB30K, rounded.
GRADE_SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)
CORE_FEATURES = 16  # all further ones are noisy copies of these, or noise
FEATURE_NOISE = 0.4  # standard deviation of the measurement error in most features
JUDGE_NOISE = 0.35  # that of a judge's error; that of the true utility is about 1
RANKERS = 5
RANKER_NOISE = 0.7  # of the rankers' own scores, in standard deviations of their common score
SESSIONS = 200  # of each query with each ranker
SHOWN = 10
CONTINUATION = 0.95  # of users who read down the list: they go on after a document that does not satisfy


def web_search_log(
    queries: int = 1000, documents: int = 120, features: int = 40, seed: int = 0, click_model: str = "cascade"
) -> Collection:
    """A search engine's log: features, judged grades 0–4, and click-through rates as label source ``clicks``.

    For graded objectives, after the data of Svore, Volkovs & Burges (2011, section 6). Every document has a
    true utility, a non-linear function of how its parts match the query, of its quality and of the query's
    intent. Two labels follow from it independently:

    - the grade: utility plus a judge's error, binned so that 52, 32, 13, 2 and 1 % of all documents get 0 to 4;
    - the click-through rate: five noisy linear rankers in turn show their ten best documents to 200 users
      each, who click by the click model; the rate is last clicks over times shown, 0 if never shown, which
      ``graded(zeros="missing")`` leaves out.

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
        How users click: they read down the list until satisfied, or look at position k with probability 1/k.

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
    check_whole("features", features, least=CORE_FEATURES)
    rng = np.random.default_rng(check_whole("seed", seed, least=0))
    if click_model not in LAST_CLICK:
        raise ValueError(f"click_model is {click_model!r}: choose one of {', '.join(LAST_CLICK)}")
    shape = 6.25  # of a gamma distribution: standard deviation 0.4 of the mean
    sizes = np.maximum(1, np.rint(rng.gamma(shape, documents / shape, queries))).astype(np.int64)
    n, query_of_row = sizes.sum(), np.repeat(np.arange(queries), sizes)

    # The true attributes of each page; its parts match the query similarly.
    topic = rng.standard_normal(n)
    title, body, anchor = (0.7 * topic + 0.7 * rng.standard_normal(n) for _ in range(3))
    quality = rng.standard_normal(n)
    spam = rng.random(n)
    depth = rng.poisson(1.5, n).astype(np.float64)
    freshness = rng.random(n)

    # Those of its query. Some queries have many good pages, others none, which does not affect the ranking.
    terms = (1.0 + rng.poisson(2.0, queries))[query_of_row]
    navigational = (rng.random(queries) < 0.25)[query_of_row].astype(np.float64)
    news = (rng.random(queries) < 0.2)[query_of_row].astype(np.float64)
    appeal = 0.4 * rng.standard_normal(queries)[query_of_row]

    # The true utility of a page: attributes interact, so no additive model approximates it well.
    match = 0.4 * title + 0.4 * body + 0.3 * anchor
    # Quality matters only if the page is on topic.
    worth = np.tanh(match) * (0.5 + _logistic(2 * quality))
    home = navigational * (depth == 0) * _logistic(3 * anchor)
    recent = news * (freshness - 0.5)
    utility = worth + home + recent - 1.0 * (spam > 0.9) + appeal

    # The features of a ranker: attributes with an error, drawn for each use, or on another scale.
    seen_title, seen_body, seen_anchor, seen_quality, body_of_terms, body_of_model, quality_of_links = (
        truth + FEATURE_NOISE * rng.standard_normal(n)
        for truth in (title, body, anchor, quality, body, body, quality)
    )
    core = {
        "match_title": seen_title,
        "match_body": seen_body,
        "match_anchor": seen_anchor,
        "bm25": np.logaddexp(0, seen_title + seen_body),
        "covered_terms": np.rint(terms * _logistic(body_of_terms)),
        "language_model": -np.exp(-0.5 * body_of_model),
        "pagerank": seen_quality,
        "inlinks": np.floor(np.exp(1.5 * quality_of_links + 0.5 * seen_anchor)),
        "spam_percentile": np.clip(spam + 0.05 * rng.standard_normal(n), 0, 1),
        "url_depth": depth,
        "url_length": np.rint(12 + 8 * depth + rng.gamma(4.0, 3.0, n)),
        "age_days": np.rint(2000 * (1 - freshness) ** 2),
        "page_length": np.rint(np.exp(6 + rng.standard_normal(n))),
        "query_terms": terms,
        "query_navigational": _logistic(3 * navigational - 1.5),
        "query_news": _logistic(3 * news - 1.5),
    }
    grades = grades_by_share(utility + JUDGE_NOISE * rng.standard_normal(n))

    # The score of the search engine in production, whose pages users click: a weighted sum of standardised features.
    weights = {"match_title": 0.6, "match_body": 0.3, "bm25": 0.6, "pagerank": 0.4, "spam_percentile": -0.3}
    columns = np.array([core[name] for name in weights]).T
    spread = columns.std(axis=0)
    standardised = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1)
    score = standardised @ np.array(list(weights.values()))

    # Last clicks divided by times shown, 0 if never shown: each ranker's own pages, which add noise to the score.
    attraction, satisfaction = _logistic(2 * (utility - 0.5)), _logistic(2 * (utility - 1.0))
    clicked, shown = np.zeros(n), np.zeros(n)
    for _ in range(RANKERS):
        page = result_pages(score + RANKER_NOISE * score.std() * rng.standard_normal(n), sizes, SHOWN)
        filled = page >= 0
        chance = LAST_CLICK[click_model](
            np.where(filled, attraction[page], 0.0), np.where(filled, satisfaction[page], 0.0)
        )
        nowhere = np.clip(1 - chance.sum(axis=1, keepdims=True), 0, 1)
        last = rng.multinomial(SESSIONS, np.hstack([chance, nowhere]))[:, :-1]
        # A document appears once on a page, so no row is repeated.
        clicked[page[filled]] += last[filled]
        shown[page[filled]] += SESSIONS
    clicks = clicked / np.maximum(shown, 1)

    # The core features, then noisy copies of them and pure noise alternating.
    names, x = list(core), np.empty((n, features), dtype=np.float32)
    x[:, :CORE_FEATURES] = np.column_stack(list(core.values()))
    for column in range(CORE_FEATURES, features):
        noise, which = rng.standard_normal(n), (column - CORE_FEATURES) // 2
        name = names[which % CORE_FEATURES]
        if (column - CORE_FEATURES) % 2 == 0:
            x[:, column] = core[name] + core[name].std() * noise
            names.append(f"copy_{which}_{name}")
        else:
            x[:, column] = noise
            names.append(f"noise_{which}")
    return Collection(x, Queries(grades, sizes=sizes, clicks=clicks), feature_names=tuple(names))


def grades_by_share(utility: ArrayLike) -> NDArray[np.int64]:
    """Grades 0 to 4, the lowest 52 % of utilities graded 0, the next 32 % 1, then 13 %, 2 % and 1 %.

    >>> np.bincount(grades_by_share(np.arange(200.0)))
    array([104,  64,  26,   4,   2])
    """
    utility = np.asarray(utility)
    cuts = np.rint(np.cumsum(GRADE_SHARES)[:-1] * utility.size)
    rank = np.empty(utility.size, dtype=np.int64)
    rank[np.argsort(utility, kind="stable")] = np.arange(utility.size)
    return np.searchsorted(cuts, rank, side="right")


def _logistic(x: Column) -> Column:
    """1 / (1 + e^−x)."""
    return 1 / (1 + np.exp(-x))


def _cascade_last_click(attraction: Column, satisfaction: Column) -> Column:
    """P(last click), (n_queries, n_positions), of users who read down the list until satisfied (Chapelle & Zhang 2009).

    A document that is read is clicked with its attraction, and then satisfies with its satisfaction, which ends the
    session; otherwise users read on with probability γ = `CONTINUATION`.

    >>> _cascade_last_click(np.array([[0.5, 0.5]]), np.array([[1.0, 1.0]]))  # one click at most
    array([[0.5   , 0.2375]])
    """
    goes_on = CONTINUATION * (1 - attraction * satisfaction)
    reads = np.ones_like(attraction)
    np.cumprod(goes_on[:, :-1], axis=1, out=reads[:, 1:])
    last = np.empty_like(attraction)
    silent = np.ones(len(attraction))  # P(no click from here on)
    for r in reversed(range(attraction.shape[1])):
        a, s = attraction[:, r], satisfaction[:, r]
        silent_below = 1 - CONTINUATION + CONTINUATION * silent
        last[:, r] = reads[:, r] * a * (s + (1 - s) * silent_below)
        silent = (1 - a) * silent_below
    return last


def _position_last_click(attraction: Column, satisfaction: Column) -> Column:
    """P(last click), the lowest one, of users who look at position k with probability 1/k; satisfaction is not used.

    >>> _position_last_click(np.array([[0.5, 0.5]]), np.ones((1, 2)))
    array([[0.375, 0.25 ]])
    """
    click = attraction / np.arange(1, attraction.shape[1] + 1)
    none_below = np.ones_like(click)
    none_below[:, :-1] = np.cumprod(1 - click[:, :0:-1], axis=1)[:, ::-1]
    return click * none_below


LAST_CLICK = MappingProxyType({"cascade": _cascade_last_click, "position": _position_last_click})


def result_pages(score: Column, sizes: NDArray[np.int64], shown: int) -> NDArray[np.int64]:
    """Rows of each query's best documents, best first, (n_queries, shown); −1 past the last document.

    >>> result_pages(np.array([0.1, 0.7, 0.5]), np.array([2, 1]), 3)
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
