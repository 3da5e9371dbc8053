"""`Scaled`: weights of λ that have one norm, and the measures of objectives that are summed."""

import drawn
import numpy as np
import pytest

from lambdaboost import (
    CNDCG,
    MAP,
    NDCG,
    ApproxNDCG,
    Blend,
    ClickTier,
    GradientStep,
    InversePropensity,
    LambdaRank,
    Linear,
    ListNet,
    PairAccuracy,
    Queries,
    RankNet,
    Scaled,
    Scorecard,
    SigmoidLocal,
)
from lambdaboost.clicks import Propensities
from lambdaboost.objectives.scaled import Gradients

TWO = (LambdaRank(), ClickTier())


def queries(seed=0, sizes=(30, 20, 10)):
    """Drawn scores, and queries with clicks."""
    scores, q = drawn.make(seed, list(sizes))
    return scores, Queries(q.relevance, sizes, position=q.positions, clicks=q.labels["clicks"])


HALVES = Scaled((0.5, 0.5))
EACH = pytest.mark.parametrize("weights", [Scaled((0.8, 0.2)), Scaled((1.0, Linear(0.0, 0.01)))], ids=repr)


def test_no_newton_step_is_longer_than_that_of_the_first():
    """μ are as λ or larger: neither the second's own steps nor the first's are exceeded."""
    _, q = queries()
    far = -10.0 * np.nan_to_num(q.labels["clicks"])  # the wrong order: λ of the clicks are large, μ small
    for one, two in ((LambdaRank(), LambdaRank(CNDCG())), (LambdaRank(CNDCG()), LambdaRank())):
        parts = Gradients((one, two), far, q, 0)
        lam, mu = parts.scaled_sum(np.array([0.0, 1.0]))
        step = np.linalg.norm(lam) / mu.sum()
        of_each = [np.linalg.norm(lam) / mu.sum() for lam, mu in parts.derivatives]
        assert step == pytest.approx(min(of_each), rel=1e-4)
        assert max(of_each) > 2 * min(of_each)


def test_sums_lose_nothing_that_the_parts_have():
    """In float32, forces that nearly cancel left rounding errors alone."""
    scores, q = queries(sizes=[40] * 20)
    parts = LambdaRank(), RankNet()
    (one, _), (two, _) = (part.lambdas(scores, q, 0) for part in parts)
    assert one.dtype == two.dtype == np.float32
    factor = Gradients(parts, scores, q, 0).lambda_factors[1]
    for objective, w in (
        (Scorecard(parts, (0.7, 0.3)), 0.3),
        (Blend(*parts, 0.3), 0.3),
        (Scorecard(parts, Scaled((0.7, 0.3))), 0.3 * factor),
    ):
        grad, _ = objective.gradient(scores, q)
        exact = -(0.7 * one.astype(np.float64) + w * two.astype(np.float64))
        np.testing.assert_array_equal(grad, exact.astype(np.float32))


@EACH
def test_scaling_an_objective_changes_nothing(weights):
    scores, q = queries()
    one = Scorecard((ClickTier(), LambdaRank()), weights).gradient(scores, q, 3)
    three = Scorecard((ClickTier(), Scorecard((LambdaRank(),), (3.0,))), weights).gradient(scores, q, 3)
    np.testing.assert_allclose(one[0], three[0], rtol=1e-5, atol=1e-7)


@EACH
def test_an_objective_without_force_has_no_share(weights):
    scores, q = queries()
    grad, _ = Scorecard(TWO, weights).gradient(scores, Queries(q.relevance, q.sizes, clicks=0 * scores), 3)
    alone, _ = LambdaRank().gradient(scores, q)
    np.testing.assert_allclose(grad, np.array(Scorecard(TWO, weights).weights_at(3))[0] * alone, rtol=1e-6)


def test_what_parts_are_flows_through():
    local = Scorecard((LambdaRank(), SigmoidLocal()), HALVES)
    assert local.curvature_changes_sign and not GradientStep(local).curvature_changes_sign
    with pytest.raises(ValueError, match=r"curvature .* changes sign"):
        local.refuse_on_engines()
    pairs = Scorecard((RankNet(), RankNet(sigma=2.0)), HALVES)
    assert pairs.allows_negative and not pairs.ranks_ties_by_row
    up = InversePropensity(ClickTier(), Propensities((1.0, 0.5)))
    assert up.measure == CNDCG()
    assert Scorecard((LambdaRank(), up), HALVES).reads_positions
    inside = Scorecard((Blend(*TWO, 0.5), RankNet()), HALVES)
    assert inside.sources == ("relevance", "clicks")


def test_the_measure_of_an_objective():
    assert LambdaRank(MAP()).measure == MAP()
    assert ClickTier(source="sales").measure == CNDCG(source="sales")
    assert RankNet().measure == PairAccuracy()
    assert GradientStep(RankNet()).measure == PairAccuracy()
    assert ApproxNDCG().measure == NDCG()
    for none in (ListNet(), Blend(*TWO, 0.1), Scorecard(TWO, (1, 1)), GradientStep(Blend(*TWO, 0.1))):
        with pytest.raises(
            TypeError, match=r"does not optimise a single measure.*such as LambdaRank\(NDCG\(k=10\)\)"
        ):
            _ = none.measure
