"""LambdaLoss, ListNet, ListMLE and ApproxNDCG: costs, and scores far out."""

import drawn
import naive
import numpy as np
import pytest

from lambdaboost import ApproxNDCG, LambdaLoss, ListMLE, ListNet, Queries


def costs():
    """Costs whose derivatives the rules are, of one query; μ is the second derivative, or a bound on it."""

    def listnet(s, y):
        chances, _ = naive.softmax(list(y))
        return -sum(c * (a - np.logaddexp.reduce(s)) for c, a in zip(chances, s, strict=True))

    def listmle(s, y):
        return sum(np.logaddexp.reduce([s[k], *s[y < y[k]]]) - s[k] for k in range(s.size))

    def approx(s, y):
        gains = 2.0**y - 1
        ranks = [1 + sum(naive.sigmoid(2 * (a - b)) for b in s) - 0.5 for a in s]
        return 1 - sum(g / np.log2(1 + r) for g, r in zip(gains, ranks, strict=True)) / naive.ideal_dcg(gains)

    return [(ListNet(), listnet, True), (ListMLE(), listmle, True), (ApproxNDCG(alpha=2.0), approx, False)]


@pytest.mark.parametrize(("objective", "cost", "exact"), costs(), ids=["ListNet", "ListMLE", "ApproxNDCG"])
def test_finite_differences_of_the_cost(objective, cost, exact):
    scores, q = drawn.make(10, [12])
    y, h = q.relevance.astype(float), 1e-4
    grad, hess = objective.gradient(scores, q)
    for i in range(12):
        e = np.eye(12)[i] * h
        up, here, down = cost(scores + e, y), cost(scores, y), cost(scores - e, y)
        assert abs((up - down) / (2 * h) - grad[i]) < 1e-5
        second = (up - 2 * here + down) / h**2
        assert abs(second - hess[i]) < 1e-5 if exact else second < hess[i] + 1e-5


@pytest.mark.parametrize("far", [1e4, 1e12, -1e12, 1e17])
@pytest.mark.parametrize("objective", [ApproxNDCG(), ApproxNDCG(alpha=1.0), LambdaLoss(scheme="1")], ids=repr)
def test_a_score_far_out_leaves_the_others_their_digits(objective, far):
    """Of a document without a label at the end: the others' λ are those of their naive reference."""
    scores, q = drawn.make(3, [20])
    relevance = np.append(q.relevance, np.nan)
    with_one = Queries(relevance, sizes=[21])
    moved = np.append(scores, far)
    alpha = getattr(objective, "alpha", 0.0)
    expected = (
        naive.approx_ndcg(moved, relevance, alpha) if alpha else naive.lambda_loss(moved, relevance, "1")
    )
    grad, hess = objective.gradient(moved, with_one)
    np.testing.assert_allclose(-grad, expected[0], rtol=0, atol=1e-5 * np.abs(expected[0]).max())
    np.testing.assert_allclose(hess, expected[1], rtol=0, atol=1e-5 * np.abs(expected[1]).max())
