"""Gumbel-noised ranks: against a float64 reference that makes the same draws."""

import drawn
import naive
import numpy as np
import pytest

from lambdaboost import ERR, MAP, MRR, NDCG, ClickTier, GumbelRanks, LambdaRank, Precision, SigmoidLocal

BETA, DRAWS, SEED, ROUND = 0.7, 3, 5, 2


def by_noisy_swaps(objective, labels, scores, rankers):
    """Each pair of the objective weighted by the mean of its swaps under the rankers, forced by the scores."""
    rule = objective.rule
    y, n = [float(label) for label in labels[rule.source]], len(scores)
    tied = [labels[name] for name in rule.within]
    pairs = [(i, j) for i, j in naive.graded_pairs(y) if all(tier[i] == tier[j] for tier in tied)]
    by_rank = [[-float(rank) for rank in naive.ranks(ranker)] for ranker in rankers]

    def weight(i, j):
        return np.mean([naive.swap(rule.metric, ranks, y, i, j) for ranks in by_rank]) if n > 1 else 0.0

    def force(o):
        return naive.local(o, rule.center) if rule.local else naive.logistic(o, rule.sigma)

    return naive.pair_rule(scores, pairs, weight, force)


@pytest.mark.parametrize(
    "objective",
    [
        *(
            LambdaRank(of)
            for of in (NDCG(), NDCG(k=3), MAP(), MRR(k=4), ERR(k=5, max_grade=5), Precision(k=3))
        ),
        LambdaRank(NDCG(k=5), sigma=2.0),
        SigmoidLocal(NDCG(k=5), center=0.5),
        ClickTier(),
    ],
    ids=repr,
)
def test_equals_the_reference_with_the_same_draws(objective):
    scores, q = drawn.make(9, [14, 1, 20], missing=True)
    noise = np.random.default_rng((SEED, ROUND)).gumbel(size=(DRAWS, q.n_documents))
    rankers = scores + BETA * noise
    grad, hess = GumbelRanks(objective, BETA, DRAWS, SEED).gradient(scores, q, ROUND)
    for rows, labels in drawn.rows(q):
        lam, mu = by_noisy_swaps(objective, labels, scores[rows].tolist(), rankers[:, rows].tolist())
        np.testing.assert_allclose(-grad[rows], lam, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(hess[rows], mu, rtol=1e-4, atol=1e-6)


def test_forces_sum_to_zero_and_draws_follow_from_seed_and_round():
    scores, q = drawn.make(11, [60, 30])
    first = GumbelRanks(LambdaRank(), seed=3).gradient(scores, q, 1)[0]
    for rows, _ in drawn.rows(q):
        assert abs(first[rows].sum(dtype=np.float64)) < 1e-5
    np.testing.assert_array_equal(GumbelRanks(LambdaRank(), seed=3).gradient(scores, q, 1)[0], first)
    assert (GumbelRanks(LambdaRank(), seed=3).gradient(scores, q, 2)[0] != first).any()
    assert (GumbelRanks(LambdaRank(), seed=4).gradient(scores, q, 1)[0] != first).any()
