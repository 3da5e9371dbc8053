"""How far apart scores may lie: outliers, centres, perfect order, and `GradientStep` of the smallest forces."""

import naive
import numpy as np
import pytest

from lambdaboost import (
    GradientStep,
    InversePropensity,
    LambdaRank,
    Propensities,
    Queries,
    RankNet,
    SigmoidLocal,
    YetiLoss,
)
from lambdaboost.evaluation import MAP, PairAccuracy, Spearman
from lambdaboost.objectives.kernels.prepared import BY_FLOAT64

# At 100 λ of 1e-43 have no digits left in float32: dividing by their spread would make forces of the noise.
GAPS = (30.0, 60.0, 80.0, 100.0, 130.0, 300.0, 6301.0, 1e6, 1e17)
CENTERS = (-50.0, -20.0, 0.0, 20.0, 50.0)
# Scores with an outlier, and labels: with the outlier in all pairs, at its place and at the wrong end, and in some.
LISTS = {
    "two": (lambda gap: [gap, 0.0], [1, 0]),
    "two, wrong": (lambda gap: [gap, 0.0], [0, 1]),
    "high": (lambda gap: [gap, 25.9, 10.0, 0.0], [1, 0, 0, 0]),
    "high, all pairs": (lambda gap: [gap, 25.9, 10.0, 0.0], [3, 2, 1, 0]),
    "low": (lambda gap: [-gap, 25.9, 10.0, 0.0], [0, 1, 1, 1]),
    "low, wrong": (lambda gap: [-gap, 25.9, 10.0, 0.0], [1, 0, 0, 0]),
    "both": (lambda gap: [gap, 3.0, 1.0, -gap], [3, 1, 2, 0]),
    "a longer list": (lambda gap: [gap, *np.linspace(5.0, 0.0, 60)], [2, *np.arange(60) % 2]),
}


GAPPED = [
    *(SigmoidLocal(center=center) for center in CENTERS),
    RankNet(),
    LambdaRank(),
    LambdaRank(PairAccuracy()),
]


@pytest.mark.parametrize("objective", GAPPED, ids=repr)
@pytest.mark.parametrize("name", LISTS)
def test_a_gap(name, objective):
    make, relevance = LISTS[name]
    relevance = np.asarray(relevance, float)
    is_local = isinstance(objective, SigmoidLocal)
    for gap in GAPS:
        scores, q = np.asarray(make(gap)), Queries(relevance, sizes=[relevance.size])
        with np.errstate(over="ignore", invalid="ignore"):
            lam, mu = naive.of_documents(objective, scores, {"relevance": relevance}, range(scores.size))
        grad, hess = objective.gradient(scores, q)
        largest = np.abs(lam).max()
        np.testing.assert_allclose(-grad, lam, rtol=0, atol=(1e-6 if is_local else 5e-6) * largest + 1e-38)
        if is_local:
            np.testing.assert_allclose(hess, mu, rtol=0, atol=1e-6 * max(largest, np.abs(mu).max()) + 1e-38)
        else:
            assert hess.min() >= 0
        found, _ = GradientStep(objective).gradient(scores, q)
        steps, _ = naive.gradient_step(lam.astype(np.float32).astype(float), relevance)
        np.testing.assert_allclose(-found, steps, rtol=0, atol=1e-5, err_msg=f"a gap of {gap}")


@pytest.mark.parametrize("n, power", [(30, 8.0), (500, 3.0)])
def test_large_factors_beside_an_outlier(n, power):
    """A weight times a factor of 10⁸ and more: neither is multiplied by 1/(E_i + E_j), which may be e⁷⁰."""
    scores, relevance = np.random.default_rng(0).normal(size=n), np.zeros(n)
    # One document is the better of all pairs, and was shown last.
    scores[0], relevance[-1] = 1e4, 1
    objective, q = LambdaRank(Spearman()), Queries(relevance, sizes=[n], position=np.arange(n) + 1)
    grad, _ = InversePropensity(objective, Propensities.power(power, n)).gradient(scores, q)
    expected = n**power * objective.gradient(scores, q)[0].astype(np.float64)
    np.testing.assert_allclose(grad, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("objective", [LambdaRank(), RankNet(), SigmoidLocal(center=0.5)], ids=repr)
@pytest.mark.parametrize("n, groups", [(10, 2), (60, 2), (4_000, 4)])
def test_groups_of_scores_far_apart(n, groups, objective):
    """By the kernels of near scores: across a gap ρ is 0 or 1, however wide it is."""
    rng = np.random.default_rng(0)
    relevance, near, group = rng.integers(0, 3, n), 0.1 * rng.normal(size=n), rng.integers(0, groups, n)
    q, watched = Queries(relevance, sizes=[n]), range(0, n, -(-n // 20))
    for gap in (150.0, 1e3, 1e6):
        naive.check_documents(objective, near + group * gap, q, watched, 2e-6)


@pytest.mark.parametrize(
    "objective",
    [LambdaRank(), RankNet(sigma=3.0), SigmoidLocal(center=0.5), SigmoidLocal(center=-50.0)],
    ids=repr,
)
@pytest.mark.parametrize("width", [650.0, 3e3, 1e5])
def test_scores_spread_evenly(width, objective):
    """No gap is wide enough to be narrowed: windows of scores."""
    n, rng = 4_000, np.random.default_rng(0)
    relevance, scores = rng.integers(0, 4, n).astype(float), width * rng.random(n)
    q = Queries(relevance, sizes=[n])
    grad, _ = naive.check_documents(objective, scores, q, range(0, n, 13), 2e-6)
    steps, _ = GradientStep(objective).gradient(scores, q)
    np.testing.assert_allclose(steps, grad / grad.std(dtype=np.float64), rtol=0, atol=1e-5)


SPREADS = {
    "even": lambda rng, n: 3e3 * rng.random(n),  # several windows
    "near": lambda rng, n: rng.normal(size=n),
    "one far above": lambda rng, n: np.where(np.arange(n) == 7, 1e6, rng.normal(size=n)),
    "one far below": lambda rng, n: np.where(np.arange(n) == 7, -1e6, rng.normal(size=n)),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize(
    "objective",
    [
        LambdaRank(MAP()),
        LambdaRank(Spearman()),
        InversePropensity(LambdaRank(), Propensities.power(1.5, 3_000)),
    ],
    ids=repr,
)
def test_the_sweep_equals_the_double_loop(objective, spread):
    n, rng = 3_000, np.random.default_rng(1)
    scores = SPREADS[spread](rng, n)
    q = Queries(np.arange(n) % 4, sizes=[n], position=np.arange(n) + 1)
    grad, hess = objective.gradient(scores, q)
    grad_by_pairs, hess_by_pairs = naive.gradient_by(BY_FLOAT64, objective, scores, q)
    largest = np.abs(grad_by_pairs).max()
    assert not np.array_equal(hess, hess_by_pairs)  # else both were summed by pairs
    np.testing.assert_allclose(grad, grad_by_pairs, rtol=0, atol=2e-6 * largest)
    np.testing.assert_allclose(hess, hess_by_pairs, rtol=0, atol=2e-6 * largest)


def test_windows_of_scores_that_noise_orders_otherwise():
    """The order of mean discounts is far from that of the scores."""
    n, rng = 3_000, np.random.default_rng(1)
    scores, q = 3e3 * rng.random(n), Queries(np.arange(n) % 4, sizes=[n])
    naive.check_documents(YetiLoss(beta=500.0, draws=3), scores, q, range(0, n, 150), 2e-6)


@pytest.mark.parametrize("center", [-1.5, 0.5])
def test_all_scores_in_one_place_by_the_sweep(center):
    """μ of SigmoidLocal is small beside the weights there."""
    n = 6_000
    relevance, scores = (np.arange(n) % 5).astype(float), np.zeros(n)
    objective, watched = SigmoidLocal(center=center), [0, 1, 2, n - 1]
    _, hess = objective.gradient(scores, Queries(relevance, sizes=[n]))
    _, mu = naive.of_documents(objective, scores, {"relevance": relevance}, watched)
    np.testing.assert_allclose(hess[watched], mu, rtol=0, atol=1e-6 * np.abs(hess).max())


@pytest.mark.parametrize("levels", [2, 5])
@pytest.mark.parametrize("width", [1, 30, 100])
def test_perfect_order_by_the_sweep(width, levels):
    """Levels 60 apart: forces of e⁻⁶⁰, which decide the gradient steps."""
    n, rng = 6_000, np.random.default_rng(0)
    relevance = np.sort(rng.integers(0, levels, n))[::-1].astype(float)
    scores = width * np.sort(rng.random(n))[::-1] + 60 * relevance
    q = Queries(relevance, sizes=[n])
    edges = np.flatnonzero(relevance[:-1] != relevance[1:])
    _, hess = naive.check_documents(RankNet(), scores, q, [0, n // 2, n - 1, *edges, *edges + 1], 1e-6)
    assert hess.min() >= 0
    steps = -GradientStep(RankNet()).gradient(scores, q)[0]
    assert steps[relevance == levels - 1].min() >= 0 >= steps[relevance == 0].max()


@pytest.mark.parametrize("n", [3, 30, 120, 6_000])
@pytest.mark.parametrize("step", [1e-5, 2.0**-23])
def test_labels_that_are_nearly_equal(step, n):
    """Beside one far below, whose pairs have no force: differences of gains keep their digits."""
    relevance = np.where(np.arange(n) % 2 == 0, 1.0, 1.0 + step)
    relevance[-1] = 0.0
    scores = np.random.default_rng(0).normal(size=n)
    scores[-1] = -60.0
    naive.check_documents(LambdaRank(), scores, Queries(relevance, sizes=[n]), [0, n // 3, n - 1])
