"""Gradients and measures of one very long list, and of very many short ones."""

import numpy as np
import pytest

from benchmarks.sums import sampled_error
from lambdaboost import MAP, NDCG, LambdaRank, PairAccuracy, Queries

pytestmark = pytest.mark.slow


def test_millions_of_short_lists():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 4, 5_000_000)
    scores = rng.normal(size=sizes.sum())
    q = Queries(rng.integers(0, 3, scores.size).astype(np.float32), sizes=sizes)
    ends = np.r_[0:500, q.n_queries - 500 : q.n_queries]
    some, rows = q.take(ends), q.rows_of(ends)
    together, alone = LambdaRank().gradient(scores, q), LambdaRank().gradient(scores[rows], some)
    np.testing.assert_array_equal([each[rows] for each in together], alone)
    np.testing.assert_array_equal(NDCG(2).per_query(scores, q)[ends], NDCG(2).per_query(scores[rows], some))


def test_a_list_of_a_million_documents():
    rng = np.random.default_rng(0)
    n = 1_000_000
    grades = rng.integers(0, 3, n).astype(np.float32)
    scores = grades + rng.normal(size=n)
    q = Queries(grades, sizes=[n])
    assert max(sampled_error(LambdaRank(), scores, q, np.arange(0, n, n // 8))) < 1e-5
    in_order = grades[np.argsort(-scores, kind="stable")].astype(np.float64)
    discounts = 1 / np.log2(np.arange(n) + 2)
    ideal = (2 ** np.sort(in_order)[::-1] - 1) @ discounts
    assert NDCG()(scores, q) == pytest.approx((2**in_order - 1) @ discounts / ideal)
    hits = np.flatnonzero(in_order > 0)
    assert MAP()(scores, q) == pytest.approx(np.mean(np.arange(1, hits.size + 1) / (hits + 1)))
    worse_above = sum((np.cumsum(in_order < grade)[in_order == grade]).sum() for grade in (1, 2))
    pairs = (n**2 - sum(np.count_nonzero(grades == grade) ** 2 for grade in (0, 1, 2))) / 2
    assert PairAccuracy()(scores, q) == pytest.approx(1 - worse_above / pairs)
