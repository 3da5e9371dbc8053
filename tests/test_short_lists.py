"""Short lists, one query a vector lane: against float64 sums, and whatever stands beside them."""

import drawn
import numpy as np
import pytest
from rules import RULES

from lambdaboost import ERR, NDCG, Blend, ClickTier, LambdaRank, Queries, RankNet, SigmoidLocal

SIZES = [1, 2, 3, 5, 10, 30, 38, 39, 40, 41, 42]
BY_PAIRS = [
    RankNet(),
    LambdaRank(),
    LambdaRank(NDCG(k=3)),
    LambdaRank(ERR(k=3, max_grade=5)),
    SigmoidLocal(NDCG(k=10), center=-0.7),
    ClickTier(),
    ClickTier(zeros="missing"),
    ClickTier(source="fresh", within=("relevance", "clicks")),
    Blend(RankNet(), LambdaRank(NDCG(k=3)), 0.3),
]
EACH = [rule for rule in RULES if rule.objective in BY_PAIRS]


@pytest.mark.parametrize("rule", EACH, ids=lambda rule: repr(rule.objective))
@pytest.mark.parametrize(("spread", "decimals"), [(1.0, None), (1.0, 0), (60.0, 1)])
def test_every_figure_is_right_to_a_millionth_of_the_largest(rule, spread, decimals):
    scores, q = drawn.make(1, SIZES * 3, spread, decimals, missing=True)
    grad, hess = rule.objective.gradient(scores, q)
    for rows, labels in drawn.rows(q):
        expected = rule.reference(scores[rows], labels, 0)
        largest = max(np.abs(figure).max() for figure in expected)
        for got, e in zip((-grad[rows], hess[rows]), expected, strict=True):
            np.testing.assert_allclose(got, e, rtol=0, atol=1e-6 * largest + 1e-20)


def test_lists_far_apart_leave_the_bits_of_all_other_lists():
    scores, q = drawn.make(8, SIZES * 20, 1.0)
    before = LambdaRank().gradient(scores, q)
    first = q.offsets[[3, 50, 120]]
    scores[first] += 180.0
    after = LambdaRank().gradient(scores, q)
    others = ~np.isin(q.query_of_row, [3, 50, 120])
    for b, a in zip(before, after, strict=True):
        np.testing.assert_array_equal(a[others], b[others])


@pytest.mark.parametrize("n", [30, 130])
def test_figures_of_lists_as_wide_as_a_float32_holds(n):
    """Where many documents tie 110 below others, E is e^−55: its reciprocal has no square in float32."""
    scores = np.where(np.arange(n) % 3 == 0, 110.0, 0.0)
    grad, hess = RankNet().gradient(scores, Queries(np.arange(n) % 2, sizes=[n]))
    side = np.sign(np.subtract.outer(np.arange(n) % 2, np.arange(n) % 2))
    rho = 1 / (1 + np.exp(side * np.subtract.outer(scores, scores)))
    np.testing.assert_allclose(-grad, (side * rho).sum(axis=1), rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(hess, (side**2 * rho * (1 - rho)).sum(axis=1), rtol=1e-6, atol=1e-30)


@pytest.mark.slow
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
