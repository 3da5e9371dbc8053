"""The noise of YetiLoss, what it is a function of, and its sums over long lists; `rules` has references by pairs."""

import naive
import numpy as np
import pytest
from scipy import stats

from lambdaboost import MAP, NDCG, Queries, YetiLoss
from lambdaboost.evaluation.levels import levels_of
from lambdaboost.objectives.kernels.noise import add_noise, digest_levels, digest_round


def noise_of(q, scores, seed=0, iteration=0, draw=0):
    """The noise of every document, float64 (n_documents,), from the float32 sums of the kernel."""
    of_query, every = digest_levels(q, levels_of(q, "relevance")), np.ones(q.n_queries, bool)
    noisy = np.empty((draw + 1, q.n_documents))
    add_noise(
        0,
        q.n_queries,
        q.offsets,
        every,
        of_query,
        digest_round(seed, iteration),
        np.float32(1),
        scores,
        noisy,
    )
    return noisy[draw] - (scores - np.repeat(np.maximum.reduceat(scores, q.offsets[:-1]), q.sizes))


def test_noise_is_standard_gumbel():
    q = Queries(np.arange(200_000) % 3, sizes=[200_000])
    g = noise_of(q, np.zeros(q.n_documents))
    assert g.mean() == pytest.approx(np.euler_gamma, abs=0.01)
    assert g.var() == pytest.approx(np.pi**2 / 6, abs=0.03)
    assert stats.kstest(g[:20_000], "gumbel_r").pvalue > 0.01
    # Neighbours, draws, rounds and seeds have nothing to do with each other.
    zeros = np.zeros(q.n_documents)
    others = [
        noise_of(q, zeros, draw=1),
        noise_of(q, zeros, iteration=1),
        noise_of(q, zeros, seed=1),
        np.roll(g, 1),
    ]
    assert max(abs(np.corrcoef(g, other)[0, 1]) for other in others) < 0.01


def long_list(n=3000, levels=5, spread=2.0):
    rng = np.random.default_rng(n)
    y = rng.choice(levels, n).astype(float)
    y[::17] = np.nan
    return Queries(y, sizes=[n]), rng.normal(size=n) * spread


@pytest.mark.parametrize(
    ("metric", "n", "spread"),
    [
        *((NDCG(), n, spread) for n, spread in ((4000, 2.0), (4000, 0.0), (4000, 12.0), (6000, 0.3))),
        pytest.param(MAP(), 3000, 2.0, marks=pytest.mark.slow),
    ],
)
def test_long_lists(metric, n, spread):
    """Some documents of lists that the sweep takes."""
    q, scores = long_list(n, spread=spread)
    rows = range(0, n, n // 3 if metric == MAP() else n // 40)
    naive.check_documents(YetiLoss(metric), scores, q, rows, 2e-6, iteration=4)


def test_long_lists_with_scores_far_apart_are_finite():
    q, scores = long_list(4000)
    scores[5] = 1e6
    for apart in (scores, scores * 1e5):
        grad, hess = YetiLoss().gradient(apart, q)
        assert np.isfinite(grad).all()
        assert (hess >= 0).all()
        assert abs(grad.sum(dtype=np.float64)) < 1e-4 * np.abs(grad).max() * 60
