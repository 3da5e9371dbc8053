"""The order that measures see: exact, stable, whatever the length of the list."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lambdaboost.evaluation.ranking import ranked, ranking, retrieved

SIZES = [1, 2, 3, 4, 5, 16, 100, 1000, 3000]

SCORES = {
    "distinct": lambda rng, n: rng.permutation(n).astype(float),
    "all equal": lambda rng, n: np.zeros(n),
    "many ties": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "apart by less than a float32 tells": lambda rng, n: 1 + rng.integers(0, 9, n) * 1e-12,
    "beyond a float32": lambda rng, n: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
    "not retrieved": lambda rng, n: np.where(rng.random(n) < 0.3, -np.inf, rng.normal(size=n)),
    "none retrieved": lambda rng, n: np.full(n, -np.inf),
    "one far off": lambda rng, n: np.where(np.arange(n) == n // 2, 1e9, rng.normal(size=n)),
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_ranked_values(dtype):
    scores = np.array([0.5, -np.inf, 2.0, 0.5])
    assert_array_equal(ranked(np.array([1, 2, 3, 4], dtype), scores, np.array([0, 4])), [3, 1, 4, 2])


def test_retrieved():
    values = np.array([1, 2], dtype=np.float32)
    assert retrieved(values, np.array([0.0, 1.0]), np.nan) is values
    masked = retrieved(values, np.array([0.0, -np.inf]), np.nan)
    assert masked.dtype == np.float32
    assert_array_equal(masked, np.array([1, np.nan], dtype=np.float32))
