"""Gumbel-noised ranks: against a float64 reference that makes the same draws."""

import drawn
import naive
import numpy as np
import pytest

from lambdaboost import (
    CNDCG,
    ERR,
    MAP,
    MRR,
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    GumbelRanks,
    LambdaRank,
    PairAccuracy,
    Precision,
    RankNet,
    SigmoidLocal,
)
from lambdaboost.objectives import parse

BETA, DRAWS, SEED, ROUND = 0.7, 3, 5, 2


def by_noisy_swaps(metric, labels, scores, rankers, force=naive.logistic):
    """Each pair weighed by the mean of its swaps under the rankers, forced by the scores."""
    y = [float(label) for label in labels]
    return naive.pair_rule(
        scores,
        naive.graded_pairs(y),
        lambda i, j: np.mean([naive.swap(metric, ranker, y, i, j) for ranker in rankers]),
        force,
    )


def one_tier(labels, scores, ranker):
    ranks, gains = naive.ranks(ranker), [naive.click_gain(c) for c in labels["clicks"]]
    pairs = [
        (i, j)
        for i, j in naive.graded_pairs(labels["clicks"])
        if labels["relevance"][i] == labels["relevance"][j]
    ]
    return naive.pair_rule(scores, pairs, lambda i, j: naive.swap_ndcg(gains, ranks, i, j), naive.logistic)


def by_noisy_tiers(labels, scores, rankers):
    parts = [one_tier(labels, scores, ranker) for ranker in rankers]
    return np.mean(parts, axis=0)


@pytest.mark.parametrize(
    ("objective", "reference"),
    [
        *(
            (LambdaRank(metric), lambda y, s, r, metric=metric: by_noisy_swaps(metric, y["relevance"], s, r))
            for metric in (NDCG(), NDCG(k=3), MAP(), MRR(k=4), ERR(k=5, max_grade=5), Precision(k=3))
        ),
        (
            LambdaRank(NDCG(k=5), sigma=2.0),
            lambda y, s, r: by_noisy_swaps(NDCG(k=5), y["relevance"], s, r, lambda o: naive.logistic(o, 2.0)),
        ),
        (
            SigmoidLocal(NDCG(k=5), center=0.5),
            lambda y, s, r: by_noisy_swaps(NDCG(k=5), y["relevance"], s, r, lambda o: naive.local(o, 0.5)),
        ),
        (ClickTier(), lambda y, s, r: by_noisy_tiers(y, s, r)),
    ],
    ids=lambda value: repr(value) if hasattr(value, "gradient") else "",
)
def test_equals_the_reference_with_the_same_draws(objective, reference):
    scores, q = drawn.make(9, [14, 1, 20], missing=True)
    noise = np.random.default_rng((SEED, ROUND)).gumbel(size=(DRAWS, q.n_documents))
    rankers = scores + BETA * noise
    grad, hess = GumbelRanks(objective, BETA, DRAWS, SEED).gradient(scores, q, ROUND)
    for rows, labels in drawn.rows(q):
        lam, mu = reference(labels, scores[rows].tolist(), [r.tolist() for r in rankers[:, rows]])
        np.testing.assert_allclose(-grad[rows], lam, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(hess[rows], mu, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    "objective",
    [
        LambdaRank(),
        LambdaRank(NDCG(k=3)),
        LambdaRank(MAP()),
        LambdaRank(CNDCG()),
        SigmoidLocal(),
        ClickTier(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_without_noise_it_is_the_objective(objective, spread):
    scores, q = drawn.make(10, [50, 1, 80], spread=spread)
    for got, want in zip(
        GumbelRanks(objective, 0.0).gradient(scores, q), objective.gradient(scores, q), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6 * np.abs(want).max())


def test_forces_sum_to_zero_and_draws_follow_from_seed_and_round():
    scores, q = drawn.make(11, [60, 30])
    first = GumbelRanks(LambdaRank(), seed=3).gradient(scores, q, 1)[0]
    for rows, _ in drawn.rows(q):
        assert abs(first[rows].sum(dtype=np.float64)) < 1e-5
    np.testing.assert_array_equal(GumbelRanks(LambdaRank(), seed=3).gradient(scores, q, 1)[0], first)
    assert (GumbelRanks(LambdaRank(), seed=3).gradient(scores, q, 2)[0] != first).any()
    assert (GumbelRanks(LambdaRank(), seed=4).gradient(scores, q, 1)[0] != first).any()


def test_values():
    made = GradientStep(Blend(GumbelRanks(LambdaRank(MAP()), 0.5, 8, 1), GumbelRanks(SigmoidLocal()), 0.5))
    assert parse(repr(made)) == made
    assert GumbelRanks(SigmoidLocal()).curvature_changes_sign
    assert GumbelRanks(ClickTier()).sources == ClickTier().sources


@pytest.mark.parametrize(
    ("error", "message", "make"),
    [
        (TypeError, "expected one whose pair weights depend on ranks", lambda: GumbelRanks(RankNet())),
        (TypeError, "with any measure except PairAccuracy", lambda: GumbelRanks(LambdaRank(PairAccuracy()))),
        (TypeError, "expected one whose pair weights", lambda: GumbelRanks(GradientStep(LambdaRank()))),
        (TypeError, "objective is None, expected an objective", lambda: GumbelRanks(None)),
        (ValueError, "beta is -0.5", lambda: GumbelRanks(LambdaRank(), -0.5)),
        (ValueError, "draws is 0", lambda: GumbelRanks(LambdaRank(), draws=0)),
        (TypeError, "seed is .*: give a whole number", lambda: GumbelRanks(LambdaRank(), seed="1")),
    ],
)
def test_wrong_values(error, message, make):
    with pytest.raises(error, match=message):
        make()
