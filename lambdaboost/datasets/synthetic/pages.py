"""The synthetic pages of `web_search_log`: their attributes, utility and features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]

# Standard deviation of the measurement error in most features.
FEATURE_NOISE = 0.4
CORE_FEATURES = (
    "match_title",
    "match_body",
    "match_anchor",
    "bm25",
    "covered_terms",
    "language_model",
    "pagerank",
    "inlinks",
    "spam_percentile",
    "url_depth",
    "url_length",
    "age_days",
    "page_length",
    "query_terms",
    "query_navigational",
    "query_news",
)


class Pages(NamedTuple):
    """The true attributes of each query–document pair, arrays of shape (n_documents,)."""

    title: Column
    body: Column
    anchor: Column
    quality: Column
    spam: Column
    depth: Column
    freshness: Column
    terms: Column
    navigational: Column
    news: Column
    appeal: Column


def draw_pages(query_of_row: NDArray[np.int64], n_queries: int, rng: np.random.Generator) -> Pages:
    """Draw pages for each query; attributes of the query are the same for all of its pages."""
    n = query_of_row.size
    topic = rng.standard_normal(n)

    def part() -> Column:  # the parts of a page match a query similarly
        return 0.7 * topic + 0.7 * rng.standard_normal(n)

    return Pages(
        title=part(),
        body=part(),
        anchor=part(),
        quality=rng.standard_normal(n),
        spam=rng.random(n),
        depth=rng.poisson(1.5, n).astype(np.float64),
        freshness=rng.random(n),
        terms=(1.0 + rng.poisson(2.0, n_queries))[query_of_row].astype(np.float64),
        navigational=(rng.random(n_queries) < 0.25)[query_of_row].astype(np.float64),
        news=(rng.random(n_queries) < 0.2)[query_of_row].astype(np.float64),
        # Some queries have many good pages, others none; this does not affect the ranking.
        appeal=0.4 * rng.standard_normal(n_queries)[query_of_row],
    )


def utility(pages: Pages) -> Column:
    """The true utility of a page: attributes interact, so no additive model approximates it well."""
    match = 0.4 * pages.title + 0.4 * pages.body + 0.3 * pages.anchor
    # Quality matters only if the page is on topic.
    worth = np.tanh(match) * (0.5 + logistic(2 * pages.quality))
    home = pages.navigational * (pages.depth == 0) * logistic(3 * pages.anchor)
    recent = pages.news * (pages.freshness - 0.5)
    return worth + home + recent - 1.0 * (pages.spam > 0.9) + pages.appeal


def core_features(pages: Pages, rng: np.random.Generator) -> Column:
    """The features of a ranker, (n_documents, 16): attributes with an error or on another scale."""

    def seen(truth: Column) -> Column:
        return truth + FEATURE_NOISE * rng.standard_normal(truth.size)

    title, body, anchor, quality = (
        seen(pages.title),
        seen(pages.body),
        seen(pages.anchor),
        seen(pages.quality),
    )
    columns = {
        "match_title": title,
        "match_body": body,
        "match_anchor": anchor,
        "bm25": np.logaddexp(0, title + body),
        "covered_terms": np.rint(pages.terms * logistic(seen(pages.body))),
        "language_model": -np.exp(-0.5 * seen(pages.body)),
        "pagerank": quality,
        "inlinks": np.floor(np.exp(1.5 * seen(pages.quality) + 0.5 * anchor)),
        "spam_percentile": np.clip(pages.spam + 0.05 * rng.standard_normal(title.size), 0, 1),
        "url_depth": pages.depth,
        "url_length": np.rint(12 + 8 * pages.depth + rng.gamma(4.0, 3.0, title.size)),
        "age_days": np.rint(2000 * (1 - pages.freshness) ** 2),
        "page_length": np.rint(np.exp(6 + rng.standard_normal(title.size))),
        "query_terms": pages.terms,
        "query_navigational": logistic(3 * pages.navigational - 1.5),
        "query_news": logistic(3 * pages.news - 1.5),
    }
    return np.column_stack([columns[name] for name in CORE_FEATURES])


def logistic(x: Column) -> Column:
    """1 / (1 + e^−x)."""
    return 1 / (1 + np.exp(-x))
