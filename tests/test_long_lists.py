"""Long lists: the tree against float64 sums over all pairs, whatever the scores, on both sides of the switch."""

import naive
import numpy as np
import pytest

from lambdaboost import (
    NDCG,
    ClickTier,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    SigmoidLocal,
)
from lambdaboost.objectives.kernels import tree as _tree
from lambdaboost.objectives.kernels.levels import levels_of
from lambdaboost.objectives.swaps.registry import pair_weights

SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]


def reference(objective, scores, relevance):
    """λ and μ of one query in float64, a row of pairs at a time."""
    n = scores.size
    rank = np.empty(n, dtype=int)
    rank[np.argsort(-scores, kind="stable")] = np.arange(1, n + 1)
    metric = getattr(objective, "metric", NDCG())
    discount = np.where(rank <= (metric.k or n), 1 / np.log2(1.0 + rank), 0)
    gain = np.nan_to_num(2.0**relevance - 1)
    ideal = (np.sort(gain)[::-1] / np.log2(1.0 + np.arange(1, n + 1)))[: metric.k].sum()
    sigma, center = getattr(objective, "sigma", 1.0), getattr(objective, "center", 0.0)
    lam, mu = np.empty(n), np.empty(n)
    with np.errstate(over="ignore"):
        for i in range(n):
            side = np.nan_to_num(np.sign(relevance[i] - relevance))
            w = (
                np.abs(side)
                if isinstance(objective, RankNet)
                else np.abs((gain[i] - gain) * (discount[i] - discount))
            )
            w = w * (side != 0) / (1 if isinstance(objective, RankNet) else ideal)
            x = sigma * side * (scores[i] - scores) + center
            rho, rest = 1 / (1 + np.exp(x)), 1 / (1 + np.exp(-x))
            if isinstance(objective, SigmoidLocal):
                lam[i], mu[i] = (side * w * rho * rest).sum(), (w * rho * rest * (rest - rho)).sum()
            else:
                lam[i], mu[i] = sigma * (side * w * rho).sum(), sigma**2 * (w * rho * rest).sum()
    return lam, mu


def check(objective, scores, relevance, monkeypatch, pairs_a_document):
    monkeypatch.setattr(_tree, "PAIRS_A_DOCUMENT", pairs_a_document)
    grad, hess = objective.gradient(scores, Queries(relevance, sizes=[scores.size]))
    lam, mu = reference(objective, scores, relevance)
    assert np.abs(-grad - lam).max() <= 1e-5 * np.abs(lam).max()
    assert np.abs(hess - mu).max() <= 1e-5 * max(np.abs(mu).max(), np.abs(lam).max())


OBJECTIVES = [
    LambdaRank(),
    LambdaRank(sigma=30.0),
    LambdaRank(NDCG(k=500)),
    RankNet(),
    SigmoidLocal(),
    SigmoidLocal(NDCG(k=900), center=-1.5),
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=repr)
@pytest.mark.parametrize("tree", [True, False], ids=["tree", "pairs"])
def test_each_objective(objective, tree, monkeypatch):
    rng = np.random.default_rng(0)
    n = 2_100  # not a multiple of anything
    check(
        objective, rng.normal(size=n), rng.choice(5, p=SHARES, size=n) * 1.0, monkeypatch, 0 if tree else 1e18
    )


@pytest.mark.parametrize("spread", [0.0, 1e-30, 1e-3, 3.0, 12.0, 100.0, 1e6])
@pytest.mark.parametrize("tree", [True, False], ids=["tree", "pairs"])
def test_each_range_of_scores(spread, tree, monkeypatch):
    rng = np.random.default_rng(1)
    n = 1_300
    scores = rng.standard_t(2, size=n) * spread  # far outliers
    check(LambdaRank(), scores, rng.choice(5, p=SHARES, size=n) * 1.0, monkeypatch, 0 if tree else 1e18)


@pytest.mark.parametrize("tree", [True, False], ids=["tree", "pairs"])
def test_a_large_sigma_leaves_differences_their_digits(tree, monkeypatch):
    rng = np.random.default_rng(6)
    n = 1_300
    scores = 1e6 * rng.integers(0, 4, n) + 1e-6 * rng.normal(size=n)
    check(RankNet(sigma=1e6), scores, rng.choice(5, p=SHARES, size=n) * 1.0, monkeypatch, 0 if tree else 1e18)


@pytest.mark.parametrize("grades", [2, 16, 17, 1000])
def test_each_number_of_grades(grades, monkeypatch):
    rng = np.random.default_rng(2)
    n = 1_000
    relevance = rng.integers(0, grades, n) * (4.0 / (grades - 1))
    check(LambdaRank(), np.round(rng.normal(size=n), 1), relevance, monkeypatch, 0)


def test_missing_labels_keep_their_ranks(monkeypatch):
    rng = np.random.default_rng(3)
    n = 1_500
    relevance = rng.choice(5, p=SHARES, size=n) * 1.0
    relevance[rng.random(n) < 0.3] = np.nan
    check(LambdaRank(), rng.normal(size=n), relevance, monkeypatch, 0)


@pytest.mark.parametrize("zeros", ["label", "missing"])
@pytest.mark.parametrize("tree", [True, False], ids=["tree", "pairs"])
def test_clicks(zeros, tree, monkeypatch):
    """Not within grades: the tree knows one list of levels, each above all that follow."""
    monkeypatch.setattr(_tree, "PAIRS_A_DOCUMENT", 0 if tree else 1e18)
    rng = np.random.default_rng(7)
    n = 700
    clicks, scores = rng.choice([0, 0, 0.5, 1, np.nan], n), rng.normal(size=n)
    q = Queries(np.zeros(n), sizes=[n], clicks=clicks)
    objective = ClickTier(within=(), zeros=zeros)
    levels = objective.rule.levels(q)
    assert _tree.worth_a_tree(q, levels, pair_weights(objective.metric, q)).all() == tree
    lam, mu = naive.click_tier(scores.tolist(), clicks.tolist(), [], zeros=zeros)
    grad, hess = objective.gradient(scores, q)
    assert np.abs(-grad - lam).max() <= 1e-5 * np.abs(lam).max()
    assert np.abs(hess - mu).max() <= 1e-5 * np.abs(mu).max()


def test_the_switch_is_where_pairs_are_many():
    rng = np.random.default_rng(4)
    q = Queries(rng.choice(5, p=SHARES, size=12_200) * 1.0, sizes=[200, 12_000])
    graded = levels_of(q, "relevance")
    assert _tree.worth_a_tree(q, graded, pair_weights(NDCG(), q)).tolist() == [False, True]
    cut = pair_weights(NDCG(k=10), q)
    assert _tree.worth_a_tree(q, graded, cut).tolist() == [False, False]  # a cutoff leaves few pairs


def test_a_list_of_a_million():
    rng = np.random.default_rng(5)
    n = 1_000_000
    relevance, scores = rng.choice(5, p=SHARES, size=n) * 1.0, rng.normal(size=n)
    q = Queries(relevance, sizes=[n])
    grad, hess = GradientStep(LambdaRank(), normalize="none").gradient(scores, q)
    assert (hess == 1).all()
    discount = 1 / np.log2(2.0 + np.argsort(np.argsort(-scores, kind="stable")))
    gain = 2.0**relevance - 1
    ideal = (np.sort(gain)[::-1] / np.log2(2.0 + np.arange(n))).sum()
    for i in [0, 123_456, int(scores.argmax()), int(scores.argmin()), int(relevance.argmax())]:
        side = np.sign(relevance[i] - relevance)
        rho = 1 / (1 + np.exp(side * (scores[i] - scores)))
        lam = (side * np.abs((gain[i] - gain) * (discount[i] - discount)) * rho).sum() / ideal
        assert abs(-grad[i] - lam) <= 1e-5 * np.abs(grad).max()
