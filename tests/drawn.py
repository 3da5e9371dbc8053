"""Drawn queries: scores and labels with ties, gaps and missing figures."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from lambdaboost import Queries

SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]  # of the grades
# Ways in which the scores or grades of drawn queries are odd.
ODD = {
    "as drawn": lambda rng, s, y: (s, y),
    "sorted, as files give them": lambda rng, s, y: (-np.arange(s.size) * np.abs(s).max(), y),
    "far apart and close together": lambda rng, s, y: (
        np.where(rng.random(s.size) < 0.2, 1e6 * np.sign(s), 1e-30 * s),
        y,
    ),
    "far from zero": lambda rng, s, y: (1e6 + np.round(s * 64) / 64, y),
    "one relevant": lambda rng, s, y: (s, np.where(np.arange(s.size) == rng.integers(s.size), 3.0, 0.0)),
    "all alike": lambda rng, s, y: (s, 0 * y + rng.integers(0, 5)),
}


@st.composite
def query_sets(draw, max_queries=4, max_size=40):
    """(scores, Queries) with relevance, clicks and fresh labels."""
    seed = draw(st.integers(0, 2**32 - 1))
    sizes = draw(st.lists(st.integers(1, max_size), min_size=1, max_size=max_queries))
    spread = draw(st.sampled_from([0.0, 1e-30, 0.01, 1.0, 8.0, 60.0, 1e3, 1e6, 1e9]))
    decimals = draw(st.sampled_from([None, 1, 0]))
    real_grades = draw(st.booleans())
    odd = draw(st.sampled_from(list(ODD)))
    return make(seed, sizes, spread, decimals, real_grades, draw(st.booleans()), odd)


def make(seed, sizes, spread=1.0, decimals=None, real_grades=False, missing=False, odd="as drawn"):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    scores = rng.normal(size=n) * spread
    if decimals is not None:
        scores = np.round(scores, decimals)
    relevance = rng.choice(5, p=SHARES, size=n).astype(float)
    if real_grades:
        relevance = np.round(relevance + rng.random(n), 2)
    clicks = np.round(rng.random(n), 1) * rng.integers(0, 2, n)
    fresh = np.round(rng.random(n), 1)
    scores, relevance = ODD[odd](rng, scores, relevance)
    if missing:
        for labels in (relevance, clicks, fresh):
            labels[rng.random(n) < 0.2] = np.nan
    return scores, Queries(
        relevance, sizes=sizes, clicks=clicks, fresh=fresh, position=positions(seed, sizes, relevance, clicks)
    )


def positions(seed, sizes, *labels):
    """Each list in an order of its own; documents without any label were not shown."""
    rng = np.random.default_rng((seed, 1))
    shown = np.concatenate([rng.permutation(n) + 1.0 for n in sizes])
    shown[np.isnan(labels).all(axis=0)] = np.nan
    return shown


EDGES = (31, 32, 33, 63, 64, 65)  # beside whole vectors and blocks of the kernels
LONGER = (95, 96, 97, 127, 128, 129)


def edges(seed=0, sizes=EDGES + LONGER):
    """(scores, Queries): lists beside multiples of 32, some with their relevant documents far down the ranking."""
    rng = np.random.default_rng(seed)
    sizes = np.repeat(sizes, 4)
    scores, relevance, clicks = [], [], []
    for query, n in enumerate(sizes):
        order = -0.05 * np.arange(n) * rng.choice([1.0, 1e4])
        some = rng.choice(5, p=SHARES, size=n).astype(float)
        one = np.zeros(n)
        one[rng.integers(n // 2, n)] = rng.integers(1, 5)
        last = np.where(np.arange(n) >= n - rng.integers(1, 4), 1.0 + np.arange(n) % 4, 0.0)
        labels = (some, one, last, np.sort(some))[query % 4]
        shuffled = rng.permutation(n)
        scores.append(order[shuffled])
        relevance.append(labels[shuffled])
        clicks.append((labels / 4)[shuffled])
    flat = np.concatenate(scores)
    return flat, Queries(
        np.concatenate(relevance),
        sizes=sizes,
        clicks=np.concatenate(clicks),
        fresh=np.round(rng.random(flat.size), 1),
        position=positions(seed, sizes, flat),
    )


def rows(q):
    """(row range, labels by source) of each query; positions as one more, and the query's number."""
    given = {**q.labels, **({} if q.position is None else {"position": q.position})}
    for query, (a, b) in enumerate(pairwise(q.offsets)):
        labels = {name: of[a:b].astype(float) for name, of in given.items()}
        yield slice(a, b), {**labels, "query": query}
