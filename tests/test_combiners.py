"""Weights of several objectives from their λ, their costs, draws and sources."""

from dataclasses import replace

import drawn
import lightgbm as lgb
import naive
import numpy as np
import pytest
import xgboost as xgb
from lambdaboost.diagnostics import lambda_share_by_grade

from lambdaboost import (
    AUC,
    CNDCG,
    MAP,
    NDCG,
    ApproxNDCG,
    Blend,
    Chebyshev,
    ClickTier,
    Constrained,
    ExactPareto,
    FromSources,
    GradientStep,
    InversePropensity,
    LambdaRank,
    Linear,
    ListNet,
    MinNorm,
    PairAccuracy,
    Queries,
    RankNet,
    Scaled,
    Scorecard,
    SigmoidLocal,
    StochasticLabels,
    StructuredHinge,
    draw_preferences,
)
from lambdaboost import lightgbm as lb_lightgbm
from lambdaboost import xgboost as lb_xgboost
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import web_search_log
from lambdaboost.objectives import parse
from lambdaboost.objectives.combiners.balancing import shortest, towards_balance
from lambdaboost.objectives.combiners.gradients import Gradients

TWO, THREE = (LambdaRank(), ClickTier()), (LambdaRank(), ClickTier(), RankNet())
COMBINERS = [
    Scaled((0.8, 0.2)),
    Scaled((1.0, Linear(0.0, 0.01))),
    StochasticLabels((0.8, 0.2)),
    StochasticLabels((0.8, 0.2), by="query", seed=4),
    Chebyshev((1.0, 2.0)),
    MinNorm(),
    ExactPareto((0.7, 0.3)),
    FromSources(("fresh", "stale")),
]
EACH = pytest.mark.parametrize("combiner", COMBINERS, ids=repr)


def queries(seed=0, sizes=(30, 20, 10), **more):
    scores, q = drawn.make(seed, list(sizes))
    share = np.repeat(np.random.default_rng(seed).random(len(sizes)), sizes).round(2)
    labels = {"clicks": q.labels["clicks"], "fresh": share, "stale": 1 - share} | more
    return scores, Queries(q.relevance, sizes, position=q.positions, **labels)


def cosines(seed, count):
    vectors = np.random.default_rng(seed).normal(size=(count, 4))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    return vectors @ vectors.T


# The weights.


@pytest.mark.parametrize("seed", range(12))
def test_min_norm_is_the_shortest_combination(seed):
    gram = cosines(seed, 3)
    alpha = shortest(gram)
    assert (alpha >= 0).all() and alpha.sum() == pytest.approx(1)
    on_grid = naive.shortest(gram)
    assert alpha @ gram @ alpha <= on_grid @ gram @ on_grid + 1e-12
    np.testing.assert_allclose(alpha, on_grid, atol=0.02)
    # The slope in every objective with a weight is the same, and lower in none.
    slopes = gram @ alpha
    assert slopes.min() == pytest.approx(alpha @ gram @ alpha, abs=1e-9)


def test_min_norm_of_two_is_halfway():
    np.testing.assert_array_equal(shortest(cosines(1, 2)), [0.5, 0.5])
    scores, q = queries()
    halves = Scorecard(TWO, Scaled((0.5, 0.5))).gradient(scores, q)
    np.testing.assert_array_equal(Scorecard(TWO, MinNorm()).gradient(scores, q), halves)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_exact_pareto_solves_its_linear_program(seed, count):
    rng = np.random.default_rng(100 + seed)
    gram, costs = cosines(seed, count), rng.uniform(0.05, 0.9, count)
    preferences = rng.dirichlet(np.ones(count))
    if seed % 3 == 0:
        costs = 0.1 / preferences  # in balance
    alpha = towards_balance(preferences * costs, preferences, gram)
    assert (alpha >= 0).all() and alpha.sum() == pytest.approx(1)
    on_grid = naive.exact_pareto(costs, preferences, gram)
    if seed % 3 == 0:
        assert alpha @ gram @ alpha <= on_grid @ gram @ on_grid + 1e-12
        return
    if on_grid is None:
        pytest.skip("no feasible point on the grid")
    preferred = preferences * costs
    share = preferred / preferred.sum()
    divergence = (share * np.log(count * share)).sum()
    anchor = gram @ (preferences * (np.log(count * share) - divergence))
    assert anchor @ alpha >= anchor @ on_grid - 1e-9


def test_exact_pareto_lowers_the_cost_that_is_too_high():
    apart = np.eye(2)
    np.testing.assert_array_equal(
        towards_balance(np.array([0.8, 0.2]), np.array([0.5, 0.5]), apart), [1.0, 0.0]
    )
    np.testing.assert_array_equal(
        towards_balance(np.array([0.2, 0.8]), np.array([0.5, 0.5]), apart), [0.0, 1.0]
    )


def test_exact_pareto_in_balance_keeps_it():
    """Every program over cosines is indifferent between two λ of one norm: all weight was on the first."""
    halves = np.array([0.5, 0.5])
    np.testing.assert_array_equal(towards_balance(halves, halves, np.eye(2)), halves)
    thirds = np.full(3, 1 / 3)
    np.testing.assert_allclose(towards_balance(thirds, thirds, np.eye(3)), thirds)


def test_no_newton_step_is_longer_than_that_of_the_first():
    """μ are as λ or larger: neither the second's own steps nor the first's are exceeded."""
    _, q = queries()
    far = -10.0 * np.nan_to_num(q.labels["clicks"])  # the wrong order: λ of the clicks are large, μ small
    for one, two in ((LambdaRank(), LambdaRank(CNDCG())), (LambdaRank(CNDCG()), LambdaRank())):
        parts = Gradients((one, two), far, q, 0)
        lam, mu = parts.combined(np.array([0.0, 1.0]))
        step = np.linalg.norm(lam) / mu.sum()
        of_each = [np.linalg.norm(lam) / mu.sum() for lam, mu in parts.derivatives]
        assert step == pytest.approx(min(of_each), rel=1e-4)
        assert max(of_each) > 2 * min(of_each)


def test_steps_with_curvature_of_both_signs_stay_finite():
    scores, q = queries()
    grad, hess = Scorecard((LambdaRank(), SigmoidLocal()), Scaled((0.5, 0.5))).gradient(scores, q)
    assert np.isfinite(grad).all() and np.isfinite(hess).all()


def test_sums_lose_nothing_that_the_parts_have():
    """In float32, forces that nearly cancel left rounding errors alone."""
    scores, q = queries(sizes=[40] * 20)
    parts = LambdaRank(), RankNet()
    (one, _), (two, _) = (part.lambdas(scores, q, 0) for part in parts)
    assert one.dtype == two.dtype == np.float32
    to_first = Gradients(parts, scores, q, 0).to_first[1]
    for objective, w in (
        (Scorecard(parts, (0.7, 0.3)), 0.3),
        (Blend(*parts, 0.3), 0.3),
        (Scorecard(parts, Scaled((0.7, 0.3))), 0.3 * to_first),
    ):
        grad, _ = objective.gradient(scores, q)
        exact = -(0.7 * one.astype(np.float64) + w * two.astype(np.float64))
        np.testing.assert_array_equal(grad, exact.astype(np.float32))


def test_chebyshev_prefers_the_largest_cost():
    scores, q = queries()
    parts = Gradients((LambdaRank(), LambdaRank(CNDCG())), scores, q, 0)
    np.testing.assert_allclose(
        Chebyshev((1.0, 2.0)).weigh(parts),
        naive.chebyshev([parts.costs[0], 2 * parts.costs[1]], 0.05),
    )
    assert Chebyshev((1.0, 100.0)).weigh(parts)[1] > 0.999 > 0.001 > Chebyshev((100.0, 1.0)).weigh(parts)[1]


def test_the_cost_is_one_less_the_measure_where_it_is_defined():
    q = Queries([2, 0, 0, 0], sizes=[2, 2])  # NDCG is undefined on the second query
    assert Gradients((LambdaRank(),), np.array([0.0, 1.0, 0.0, 1.0]), q, 0).costs == pytest.approx(
        1 - 1 / np.log2(3)
    )
    assert Gradients((LambdaRank(),), np.zeros(4), Queries([0, 0, 0, 0], sizes=[2, 2]), 0).costs == 0


def test_costs_of_zero_weight_all_alike():
    q = Queries([1, 0], sizes=[2], clicks=[1.0, 0.0])
    parts = Gradients((LambdaRank(), LambdaRank(CNDCG())), np.array([1.0, 0.0]), q, 0)
    np.testing.assert_array_equal(Chebyshev((1.0, 1.0)).weigh(parts), [0.5, 0.5])


def test_query_weights_are_those_of_the_parts():
    """XGBoost's convention normalises them; sums of objectives forgot that."""
    scores, q = queries()
    q = Queries(q.relevance, q.sizes, weight=[2.0, 0.5, 1.0], clicks=q.labels["clicks"])
    native = LambdaRank(convention="xgboost")
    own = native.gradient(scores, q)
    for whole in (
        Scorecard((native, native), (1.0, 0.0)),
        Blend(native, native, 0.0),
        Constrained(native, native, reference=(1.0,)),
        GradientStep(Scorecard((native, native), (1.0, 0.0)), "none"),
    ):
        np.testing.assert_allclose(whole.gradient(scores, q)[0], own[0], rtol=1e-6)
    for mixed in (
        Scorecard((native, ClickTier()), (0.5, 0.5)),
        Blend(native, ClickTier(), 0.5),
        Constrained(native, ClickTier(), reference=(0.5,)),
    ):
        with pytest.raises(ValueError, match=r"uses the query weights in another way than .*convention"):
            mixed.gradient(scores, q)
        unweighted = Queries(q.relevance, q.sizes, clicks=q.labels["clicks"])
        assert np.isfinite(mixed.gradient(scores, unweighted)[0]).all()


def test_lists_and_arrays_are_tuples():
    assert Chebyshev([1, 2.0]) == Chebyshev((1, 2.0))
    assert ExactPareto(np.array([0.5, 0.5])) == ExactPareto((0.5, 0.5))
    assert StochasticLabels([0.5, 0.5]).probabilities == (0.5, 0.5)
    assert FromSources(["a", "b"]).names == ("a", "b")
    assert repr(Scaled((np.float64(0.5), np.float32(0.25)))) == "Scaled(weights=(0.5, 0.25))"


@EACH
def test_scaling_an_objective_changes_nothing(combiner):
    """λ of 3 LambdaRank() have the same direction and the same measure."""
    if isinstance(combiner, StochasticLabels) and combiner.by == "document":
        pytest.skip("same draws, other sums")
    scores, q = queries()
    tripled = Scorecard((LambdaRank(),), (3.0,))
    object.__setattr__(tripled, "metric", NDCG())  # so that it has a cost
    one = Scorecard((ClickTier(), LambdaRank()), combiner).gradient(scores, q, 3)
    three = Scorecard((ClickTier(), tripled), combiner).gradient(scores, q, 3)
    np.testing.assert_allclose(one[0], three[0], rtol=1e-5, atol=1e-7)


@EACH
def test_weights_of_documents_count_in_the_norms(combiner):
    """A query of weight 0 has no part in the weights."""
    scores, q = queries()
    objective = Scorecard(TWO, combiner)
    if isinstance(combiner, Chebyshev | ExactPareto):
        pytest.skip("a cost is the mean of queries with any weight")
    weighted = Queries(
        q.relevance,
        q.sizes,
        weight=[2.0, 0.0, 1.0],
        **{name: q.labels[name] for name in ("clicks", "fresh", "stale")},
    )
    parts = [tuple(f.astype(float) for f in part.lambdas(scores, weighted, 3)) for part in TWO]
    weights = combiner.weigh(Gradients(TWO, scores, weighted, 3))
    lam, mu = naive.combine(parts, weights, weighted.weight)
    grad, hess = objective.gradient(scores, weighted, 3)
    np.testing.assert_allclose(grad, -lam * weighted.weight, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(hess, mu * weighted.weight, rtol=1e-5, atol=1e-7)


@EACH
def test_an_objective_without_force_has_no_share(combiner):
    scores, q = queries()
    silent = Queries(
        q.relevance, q.sizes, clicks=0 * scores, fresh=q.labels["fresh"], stale=q.labels["stale"]
    )
    grad, _ = Scorecard(TWO, combiner).gradient(scores, silent, 3)
    alone, _ = LambdaRank().gradient(scores, silent)
    at = np.abs(alone) > 1e-3
    ratio = grad[at] / alone[at]
    assert np.isfinite(grad).all() and np.abs(grad).max() > 0
    if isinstance(combiner, Chebyshev | MinNorm | ExactPareto):
        np.testing.assert_allclose(ratio, 1.0, rtol=1e-6)  # all weight is on the other


def test_draws_follow_the_probabilities_and_the_round():
    scores, q = queries(sizes=[40] * 100)
    parts = Gradients(TWO, scores, q, 0)
    for by in ("document", "query"):
        combiner = StochasticLabels((0.7, 0.3), by=by, seed=2)
        rounds = [combiner.weigh(replace(parts, iteration=m)) for m in range(50)]
        assert np.mean(rounds, axis=(0, 2)) == pytest.approx([0.7, 0.3], abs=0.02)
        assert all((w.sum(axis=0) == 1).all() and set(np.unique(w)) == {0.0, 1.0} for w in rounds)
        assert (rounds[0] != rounds[1]).any()
        np.testing.assert_array_equal(combiner.weigh(replace(parts, iteration=7)), rounds[7])
        other = StochasticLabels((0.7, 0.3), by=by, seed=3)
        assert (other.weigh(parts) != rounds[0]).any()
        changes = np.count_nonzero(np.diff(rounds[0][0]))
        assert (changes < 100) == (by == "query")


def test_drawn_documents_take_their_own_lambda():
    scores, q = queries()
    combiner = StochasticLabels((0.5, 0.5))
    parts = Gradients(TWO, scores, q, 5)
    grad, _ = Blend(*TWO, combiner).gradient(scores, q, 5)
    first = combiner.weigh(parts)[0] == 1
    np.testing.assert_allclose(grad[first], -parts.derivatives[0][0][first], rtol=1e-6)
    np.testing.assert_allclose(
        grad[~first], -(parts.to_first[1] * parts.derivatives[1][0])[~first], rtol=1e-5
    )


def test_sources_of_one_half_are_scaled_halves():
    scores, q = queries(fresh=np.full(60, 0.25), stale=np.full(60, 0.75))
    np.testing.assert_array_equal(
        Scorecard(TWO, FromSources(("fresh", "stale"))).gradient(scores, q),
        Scorecard(TWO, Scaled((0.25, 0.75))).gradient(scores, q),
    )


# As values.


@EACH
@pytest.mark.parametrize(
    ("engine", "leaves"), [("lightgbm", "engine"), ("lightgbm", "gradient"), ("xgboost", "engine")]
)
def test_trains_and_repeats(combiner, engine, leaves):
    scores, q = queries(sizes=[20] * 8)
    X = np.column_stack([q.relevance + scores, q.labels["clicks"] + scores[::-1], scores])
    sources = {name: q.labels[name] for name in ("clicks", "fresh", "stale")}
    objective = Blend(*TWO, combiner)

    def train(objective):
        if engine == "lightgbm":
            data = lb_lightgbm.Dataset(X, q.relevance, group=q.sizes, sources=sources)
            params = {"num_leaves": 4, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1}
            booster = lb_lightgbm.train(params, data, 3, objective=objective, leaves=leaves)
            return booster.predict(X)
        data = lb_xgboost.DMatrix(X, q.relevance, group=q.sizes, sources=sources)
        params = {"max_depth": 2, "min_child_weight": 0, "nthread": 1}
        return lb_xgboost.train(params, data, 3, objective=objective, leaves=leaves).predict(data)

    trained = train(objective)
    assert np.unique(trained).size > 3
    np.testing.assert_array_equal(train(objective.text), trained)


@EACH
def test_a_blend_and_a_scorecard_of_two_are_one(combiner):
    scores, q = queries()
    blend, scorecard = Blend(*TWO, combiner), Scorecard(TWO, combiner)
    assert parse(repr(blend)) == blend and parse(repr(scorecard)) == scorecard
    assert blend.sources == scorecard.sources
    assert blend.ranks_ties_by_row == scorecard.ranks_ties_by_row
    np.testing.assert_array_equal(blend.gradient(scores, q, 4), scorecard.gradient(scores, q, 4))


def test_what_parts_are_flows_through():
    local = Scorecard((LambdaRank(), SigmoidLocal()), Scaled((0.5, 0.5)))
    assert local.curvature_changes_sign and not GradientStep(local).curvature_changes_sign
    with pytest.raises(ValueError, match=r"curvature .* changes sign"):
        local.refuse_on_engines()
    pairs = (RankNet(), RankNet(sigma=2.0))
    assert Scorecard(pairs, Scaled((0.5, 0.5))).allows_negative
    assert not Scorecard(pairs, MinNorm()).ranks_ties_by_row
    assert Scorecard(pairs, Chebyshev((1.0, 1.0))).ranks_ties_by_row  # the measure does
    assert Blend(*pairs, ExactPareto((0.5, 0.5))).ranks_ties_by_row
    up = InversePropensity(ClickTier(), Propensities((1.0, 0.5)))
    assert up.measure == CNDCG()
    assert Scorecard((LambdaRank(), up), MinNorm()).reads_positions
    inside = Scorecard((Blend(*TWO, 0.5), RankNet()), Scaled((0.5, 0.5)))
    assert inside.sources == ("relevance", "clicks")
    native = Scorecard((LambdaRank(convention="lightgbm"), ClickTier()), Scaled((0.5, 0.5)))
    scores, q = queries()
    assert np.isfinite(native.gradient(scores, q)[0]).all()


@EACH
def test_documents_of_one_source_only(combiner):
    """Half of the documents have no grade, others no clicks; pairs of the rest count as without them."""
    scores, q = queries(sizes=[20] * 8)
    relevance, clicks = q.relevance.copy(), q.labels["clicks"].copy()
    relevance[::2] = np.nan
    clicks[1::4] = np.nan
    missing = Queries(relevance, q.sizes, clicks=clicks, fresh=q.labels["fresh"], stale=q.labels["stale"])
    both = LambdaRank(), LambdaRank(CNDCG())
    grad, _ = Scorecard(both, combiner).gradient(scores, missing, 2)
    of_clicks = np.atleast_1d(combiner.weigh(Gradients(both, scores, missing, 2))[1])
    assert np.isfinite(grad).all() and np.abs(grad).max() > 0
    # Documents without a grade are in pairs of clicks only.
    assert (np.abs(grad[np.isnan(relevance)]).max() > 0) == (of_clicks > 0).any()


def test_the_measure_of_an_objective():
    assert LambdaRank(MAP()).measure == MAP()
    assert ClickTier(source="sales").measure == CNDCG(source="sales")
    assert RankNet().measure == PairAccuracy()
    assert GradientStep(RankNet()).measure == PairAccuracy()
    assert StructuredHinge(AUC()).measure == AUC()
    assert ApproxNDCG().measure == NDCG()
    for none in (ListNet(), Blend(*TWO, 0.1), Scorecard(TWO, (1, 1)), GradientStep(Blend(*TWO, 0.1))):
        with pytest.raises(TypeError, match=r"raises no single measure.*such as LambdaRank\(NDCG\(k=10\)\)"):
            _ = none.measure


# One model, any trade-off.


def test_one_booster_spans_the_front():
    """Every query stands there four times, each time with other preferences."""
    log, valid = (web_search_log(n, documents=30, seed=seed).shuffled(0) for n, seed in ((200, 3), (100, 77)))
    sizes = np.tile(log.queries.sizes, 4)
    preferences = draw_preferences(sizes, k=2, concentration=0.3, seed=1)
    data = lb_lightgbm.Dataset(
        np.hstack([np.tile(log.features, (4, 1)), preferences[:, 1:]]),
        np.tile(log.queries.relevance, 4),
        group=sizes,
        sources={
            "clicks": np.tile(log.queries.labels["clicks"], 4),
            "grades_p": preferences[:, 0],
            "clicks_p": preferences[:, 1],
        },
    )
    objective = Scorecard((LambdaRank(), LambdaRank(CNDCG())), FromSources(("grades_p", "clicks_p")))
    booster = lb_lightgbm.train({"verbose": -1, "num_threads": 1}, data, 60, objective=objective)
    found = []
    for p in (0.0, 0.5, 1.0):
        scores = booster.predict(np.column_stack([valid.features, np.full(len(valid.features), p)]))
        found.append((NDCG(10)(scores, valid.queries), CNDCG(10)(scores, valid.queries)))
    grades, clicks = np.transpose(found)
    assert grades[0] > grades[2] + 0.005 and clicks[2] > clicks[0] + 0.002, found


def test_drawn_preferences():
    drawn_ = draw_preferences([3, 1, 2], k=3, seed=5)
    assert drawn_.shape == (6, 3) and drawn_.dtype == np.float32
    np.testing.assert_allclose(drawn_.sum(axis=1), 1, rtol=1e-6)
    assert (drawn_[0] == drawn_[2]).all() and (drawn_[2] != drawn_[3]).any()
    np.testing.assert_array_equal(draw_preferences([3, 1, 2], k=3, seed=5), drawn_)
    narrow = draw_preferences(np.ones(500, dtype=int), k=2, concentration=100.0)
    wide = draw_preferences(np.ones(500, dtype=int), k=2, concentration=0.1)
    assert narrow.std() < 0.1 < 0.3 < wide.std()


# What is refused.


SCORES, Q = queries()


@pytest.mark.parametrize(
    ("error", "message", "make"),
    [
        (ValueError, "weights has 3 entries for 2 objectives", lambda: Scorecard(TWO, Scaled((1, 1, 1)))),
        (ValueError, "weights has 3 entries for 2", lambda: Blend(*TWO, Chebyshev((1, 2, 3)))),
        (ValueError, r"weights is \(1.0,\): give .* two objectives", lambda: Chebyshev((1.0,))),
        (ValueError, r"weights is \(0.0, 0.0\): .* above 0", lambda: Scaled((0, 0.0))),
        (ValueError, r"names is \(\)", lambda: FromSources(())),
        (TypeError, "weight is <class .*MinNorm.*: give a number", lambda: Blend(*TWO, MinNorm)),
        (TypeError, "weights is <class .*Scaled.*a combiner such as", lambda: Scorecard(TWO, Scaled)),
        (ValueError, "preferences has 2 entries for 3", lambda: Scorecard(THREE, ExactPareto((0.5, 0.5)))),
        (ValueError, "probabilities has 2 entries", lambda: Scorecard(THREE, StochasticLabels((0.5, 0.5)))),
        (ValueError, "names has 2 entries for 3", lambda: Scorecard(THREE, FromSources(("a", "b")))),
        (ValueError, r"weights\[1\] is -1", lambda: Scaled((1, -1))),
        (TypeError, "weights is 0.5: give a tuple", lambda: Scaled(0.5)),
        (TypeError, r"weights\[0\] is 'x'", lambda: Scaled(("x", 1))),
        (ValueError, r"weights\[0\] is 0.* > 0", lambda: Chebyshev((0, 1.0))),
        (TypeError, "weights is 3: give a tuple", lambda: Chebyshev(3)),
        (ValueError, r"preferences is \(0.5, 0.6\).* sum to 1", lambda: ExactPareto((0.5, 0.6))),
        (ValueError, r"preferences\[0\] is 1.5", lambda: ExactPareto((1.5, -0.5))),
        (ValueError, r"preferences\[1\] is 0.*> 0", lambda: ExactPareto((1.0, 0.0))),
        (TypeError, "preferences is 'ab'", lambda: ExactPareto("ab")),
        (ValueError, r"probabilities is \(0.5, 0.4\)", lambda: StochasticLabels((0.5, 0.4))),
        (
            ValueError,
            "by is 'pair', expected one of document, query",
            lambda: StochasticLabels((1, 0), "pair"),
        ),
        (ValueError, "seed is -1", lambda: StochasticLabels((1, 0), seed=-1)),
        (TypeError, "names is 'clicks': give a tuple", lambda: FromSources("clicks")),
        (TypeError, "raises no single measure", lambda: Scorecard((ListNet(), RankNet()), Chebyshev((1, 1)))),
        (TypeError, "raises no single measure", lambda: Blend(ListNet(), RankNet(), ExactPareto((0.5, 0.5)))),
        (ValueError, "k must be|k is 1", lambda: draw_preferences([2], 1)),
        (ValueError, "concentration is 0", lambda: draw_preferences([2], 2, 0)),
        (ValueError, r"sizes is \[0\]", lambda: draw_preferences([0], 2)),
        (TypeError, "given weights", lambda: lambda_share_by_grade(Blend(*TWO, MinNorm()), SCORES, Q)),
    ],
)
def test_wrong_values(error, message, make):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("message", "more"),
    [
        ("fresh.* is -0.5: labels must be", {"fresh": np.full(60, -0.5), "stale": np.full(60, 1.5)}),
        (
            r"fresh \+ stale\[0\] is 0.8: .* sum to 1: divide",
            {"fresh": np.full(60, 0.4), "stale": np.full(60, 0.4)},
        ),
        (
            r"fresh\[3\] is 0.9: give the same preference",
            {"fresh": [0.5] * 3 + [0.9] + [0.5] * 56, "stale": np.full(60, 0.5)},
        ),
        (r"fresh\[2\] is nan: give a preference", {"fresh": [0.5, 0.5, np.nan] + [0.5] * 57}),
    ],
)
def test_wrong_preferences(message, more):
    scores, q = queries(**more)
    with pytest.raises(ValueError, match=message):
        Scorecard(TWO, FromSources(("fresh", "stale"))).gradient(scores, q)


def test_a_missing_source_of_preferences_is_named_before_the_training():
    scores, q = queries()
    objective = Scorecard(TWO, FromSources(("mine", "stale")))
    data = lb_lightgbm.Dataset(
        scores[:, None], q.relevance, group=q.sizes, sources={"clicks": q.labels["clicks"]}
    )
    with pytest.raises(ValueError, match="no label source 'mine'"):
        lb_lightgbm.train({"verbose": -1}, data, 2, objective=objective)
    matrix = lb_xgboost.DMatrix(
        scores[:, None], q.relevance, group=q.sizes, sources={"clicks": q.labels["clicks"]}
    )
    with pytest.raises(ValueError, match="no label source 'mine'"):
        lb_xgboost.train({}, matrix, 2, objective=objective)


def test_stock_engines_train_with_combiners():
    scores, q = queries()
    objective = Scorecard((LambdaRank(), LambdaRank(NDCG(k=3))), MinNorm())
    X = np.column_stack([scores, q.relevance + scores])
    data = lgb.Dataset(X, q.relevance, group=q.sizes)
    params = {"objective": objective, "metric": "None", "verbose": -1, "min_data_in_leaf": 5}
    assert lgb.train(params, data, 2).num_trees() == 2
    matrix = xgb.DMatrix(X, q.relevance, group=q.sizes)
    stock = {"objective": "rank:ndcg", "base_score": 0, "disable_default_eval_metric": True}
    assert xgb.train(stock, matrix, 2, obj=objective).num_boosted_rounds() == 2
