"""The order that measures see: exact, stable, whatever the length of the list."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lambdaboost._jit import using
from lambdaboost.datasets import Queries
from lambdaboost.evaluation.lanes import LANES, LONGEST_IN_LANES
from lambdaboost.evaluation.rankings import ranking, sort_by_score

SIZES = [1, 2, 3, 4, 5, 16, LONGEST_IN_LANES - 1, LONGEST_IN_LANES, LONGEST_IN_LANES + 1, 100, 1000, 3000]

SCORES = {
    "distinct": lambda rng, n: rng.permutation(n).astype(float),
    "all equal": lambda rng, n: np.zeros(n),
    "many ties": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "apart by less than a float32 tells": lambda rng, n: 1 + rng.integers(0, 9, n) * 1e-12,
    "beyond a float32": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    "too near for two buckets": lambda rng, n: rng.integers(0, 99, n) * 5e-324,
    "too far apart for a float64": lambda rng, n: rng.uniform(-1, 1, n) * 1.7e308,
    "not retrieved": lambda rng, n: np.where(rng.random(n) < 0.3, -np.inf, rng.normal(size=n)),
    "none retrieved": lambda rng, n: np.full(n, -np.inf),
    "one far off": lambda rng, n: np.where(np.arange(n) == n // 2, 1e9, rng.normal(size=n)),
    "one far off, most of the others equal": lambda rng, n: np.where(
        np.arange(n) == n // 2, -1e9, (rng.random(n) < 0.1) * rng.normal(size=n)
    ),
    "heavy tails": lambda rng, n: np.where(rng.random(n) < 0.1, -np.inf, rng.standard_cauchy(n)),
    "two groups": lambda rng, n: rng.normal(size=n) + 1e3 * rng.integers(0, 2, n),
    "sorted": lambda rng, n: -np.arange(n, dtype=float),
    "sorted upside down": lambda rng, n: np.arange(n, dtype=float),
}


def definition(scores):
    return np.lexsort((np.arange(scores.size), -scores))


@pytest.mark.parametrize("kind", SCORES)
def test_ranking_is_the_stable_sort(kind):
    rng = np.random.default_rng(0)
    scores = [SCORES[kind](rng, n) for n in SIZES]
    offsets = np.concatenate([[0], np.cumsum(SIZES)])
    orders = [definition(s) for s in scores]
    assert_array_equal(ranking(np.concatenate(scores), offsets), np.concatenate(orders))


def test_ties_of_few_scores_stay_in_order_whatever_the_rounding():
    """A score at the border of two buckets goes to the same one wherever it stands in the list."""
    rng = np.random.default_rng(2)
    sizes = rng.integers(LONGEST_IN_LANES + 1, 160, 400)
    scores = [rng.integers(0, rng.integers(2, 6), n) * rng.random() for n in sizes]
    orders = [definition(s) for s in scores]
    found = ranking(np.concatenate(scores), np.concatenate([[0], np.cumsum(sizes)]))
    assert_array_equal(found, np.concatenate(orders))


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n_queries", [1, LANES - 1, LANES, 5 * LANES + 1])
@pytest.mark.parametrize("kind", SCORES)
def test_short_lists_beside_long_ones_rank_as_alone(kind, n_queries, threads):
    rng = np.random.default_rng(1)
    sizes = rng.choice([*range(1, 13), LONGEST_IN_LANES, LONGEST_IN_LANES + 1], n_queries)
    scores = [SCORES[kind](rng, n) for n in sizes]
    q = Queries(np.zeros(sizes.sum()), sizes)
    with using(threads):
        found = sort_by_score(np.arange(q.n_documents, dtype=float), np.concatenate(scores), q)
    expected = [start + definition(s) for start, s in zip(q.offsets, scores, strict=False)]
    assert_array_equal(found, np.concatenate(expected))
