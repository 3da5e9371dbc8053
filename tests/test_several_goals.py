"""The combiners of `experiments.several_goals` against references and on engines, and the study at tiny sizes."""

import math
from dataclasses import replace

import drawn
import lightgbm as lgb
import naive
import numpy as np
import on_lightgbm
import on_xgboost
import pytest
import rules
import xgboost as xgb
from scipy.optimize import linprog

from experiments.several_goals import methods
from experiments.several_goals.combiners import (
    Chebyshev,
    Combined,
    ExactPareto,
    FromSources,
    MinNorm,
    StochasticLabels,
    costs,
    shortest,
    towards_balance,
)
from experiments.several_goals.methods import FIRST, SECOND_ALONE
from experiments.several_goals.results import hypervolume
from lambdaboost import CNDCG, NDCG, ClickTier, LambdaRank, Queries, RankNet, Scaled, Scorecard
from lambdaboost.datasets import web_search_log
from lambdaboost.objectives.scaled import Gradients

TWO = (LambdaRank(), ClickTier())
COMBINERS = [
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


def angles(seed, count):
    vectors = np.random.default_rng(seed).normal(size=(count, 4))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    return vectors @ vectors.T


@pytest.mark.parametrize("seed", range(12))
def test_min_norm_is_the_shortest_combination(seed):
    gram = angles(seed, 3)
    alpha = shortest(gram)
    assert (alpha >= 0).all() and alpha.sum() == pytest.approx(1)
    # Of the shortest alone, the slope in every objective with a weight is the same, and lower in none.
    slopes = gram @ alpha
    assert slopes.min() == pytest.approx(alpha @ gram @ alpha, abs=1e-9)


def program(costs, preferences, gram):
    """What Exact Pareto search maximises, and the least slopes (Mahapatra and Rajan 2020, Algorithm 1)."""
    preferred = preferences * costs
    share = preferred / preferred.sum()
    divergence = (share * np.log(costs.size * share)).sum()
    toward = gram @ (preferences * (np.log(costs.size * share) - divergence))
    if (toward <= 0).all():
        return toward, np.zeros(costs.size)
    return toward, np.where(preferred == preferred.max(), 0.0, np.where(toward > 0, -np.inf, toward))


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_exact_pareto_solves_its_linear_program(seed, count):
    rng = np.random.default_rng(100 + seed)
    gram, costs = angles(seed, count), rng.uniform(0.05, 0.9, count)
    preferences = rng.dirichlet(np.ones(count))
    if seed % 3 == 0:
        costs = 0.1 / preferences  # in balance
    alpha = towards_balance(preferences * costs, preferences, gram)
    assert (alpha >= 0).all() and alpha.sum() == pytest.approx(1)
    if seed % 3 == 0:
        np.testing.assert_allclose(alpha, shortest(gram))
        return
    gain, least = program(costs, preferences, gram)
    there = np.isfinite(least)
    best = linprog(-gain, -gram[there], -least[there], np.ones((1, count)), [1.0], (0, None))
    if best.status == 2:
        pytest.skip("no feasible point")
    assert gain @ alpha >= -best.fun - 1e-9 and (gram @ alpha >= least - 1e-9).all()


def test_exact_pareto_in_balance_keeps_it():
    """Every program over cosines is indifferent between two λ of one norm: all weight was on the first."""
    halves = np.array([0.5, 0.5])
    np.testing.assert_array_equal(towards_balance(halves, halves, np.eye(2)), halves)
    thirds = np.full(3, 1 / 3)
    np.testing.assert_allclose(towards_balance(thirds, thirds, np.eye(3)), thirds)


def soft_maximum(weighted, temperature):
    """Weights of a soft maximum of weighted costs."""
    largest = max(weighted)
    if largest <= 0:
        return [1 / len(weighted)] * len(weighted)
    soft = [math.exp((c / largest - 1) / temperature) for c in weighted]
    return [x / sum(soft) for x in soft]


def test_chebyshev_prefers_the_largest_cost():
    scores, q = queries()
    found = Gradients((LambdaRank(), LambdaRank(CNDCG())), scores, q, 0)
    one, two = costs(found)
    np.testing.assert_allclose(Chebyshev((1.0, 2.0)).weigh(found), soft_maximum([one, 2 * two], 0.05))
    assert Chebyshev((1.0, 100.0)).weigh(found)[1] > 0.999 > 0.001 > Chebyshev((100.0, 1.0)).weigh(found)[1]
    q = Queries([1, 0], sizes=[2], clicks=[1.0, 0.0])  # both costs are 0
    found = Gradients((LambdaRank(), LambdaRank(CNDCG())), np.array([1.0, 0.0]), q, 0)
    np.testing.assert_array_equal(Chebyshev((1.0, 1.0)).weigh(found), [0.5, 0.5])


def chebyshev(parts, s, q, m):
    cost = [
        1 - naive.measured(of, [(s[rows], y[of.source]) for rows, y in drawn.rows(q)])
        for of in (NDCG(), CNDCG(k=5))
    ]
    return soft_maximum([cost[0], 2 * cost[1]], 0.05)


def drawn_by_query(parts, s, q, m):
    of_row = np.repeat(np.random.default_rng((3, m)).random(q.n_queries, dtype=np.float32), q.sizes)
    return [(of_row < 0.3) * 1.0, ((of_row >= 0.3) & (of_row < 0.9)) * 1.0, (of_row >= 0.9) * 1.0]


THREE = (*TWO, RankNet()), (rules._GRADES, rules._CLICKS, rules._PAIRS)
RATES = (LambdaRank(), LambdaRank(CNDCG(k=5))), (rules._GRADES, rules._RATES)


@pytest.mark.parametrize(
    ("objectives", "references", "combiner", "weigh"),
    [
        (*THREE, StochasticLabels((0.3, 0.6, 0.1), by="query", seed=3), drawn_by_query),
        (*RATES, Chebyshev((1.0, 2.0)), chebyshev),
        (TWO, (rules._GRADES, rules._CLICKS), MinNorm(), lambda *_: [0.5, 0.5]),
    ],
    ids=["StochasticLabels", "Chebyshev", "MinNorm"],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_whole_equals_the_reference(objectives, references, combiner, weigh, seed):
    scores, q = queries(seed)
    for m in (0, 3):
        lam, mu = rules._combined(references, weigh)(scores, q, m)
        grad, hess = Combined(objectives, combiner).gradient(scores, q, m)
        np.testing.assert_allclose(grad, -lam, rtol=1e-4, atol=1e-5 * np.abs(lam).max())
        np.testing.assert_allclose(hess, mu, rtol=1e-4, atol=1e-5 * np.abs(mu).max())


@EACH
def test_an_objective_without_force_has_no_share(combiner):
    scores, q = queries()
    labels = {"fresh": q.labels["fresh"], "stale": q.labels["stale"], "clicks": 0 * scores}
    grad, _ = Combined(TWO, combiner).gradient(scores, Queries(q.relevance, q.sizes, **labels), 3)
    alone, _ = LambdaRank().gradient(scores, q)
    assert np.isfinite(grad).all() and np.abs(grad).max() > 0
    if isinstance(combiner, Chebyshev | MinNorm | ExactPareto):
        np.testing.assert_allclose(grad, alone, rtol=1e-6, atol=1e-9)  # all weight is on the other


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


def test_sources_of_one_half_are_scaled_halves():
    scores, q = queries(fresh=np.full(60, 0.25), stale=np.full(60, 0.75))
    np.testing.assert_array_equal(
        Combined(TWO, FromSources(("fresh", "stale"))).gradient(scores, q),
        Scorecard(TWO, Scaled((0.25, 0.75))).gradient(scores, q),
    )
    assert Combined(TWO, FromSources(("fresh", "stale"))).sources == ("relevance", "clicks", "fresh", "stale")
    with pytest.raises(ValueError, match="do not sum to 1"):
        Combined(TWO, FromSources(("fresh", "fresh"))).gradient(scores, q)


@EACH
def test_both_engines_train_by_the_callback(combiner):
    """Grades and click rates both rise."""
    X, q = web_search_log(queries=60, documents=15, seed=1)
    share = np.repeat(np.random.default_rng(0).random(q.n_queries), q.sizes)
    sources = {"clicks": q.labels["clicks"], "fresh": share, "stale": 1 - share}
    objective = Combined((LambdaRank(), LambdaRank(CNDCG())), combiner)
    data = on_lightgbm.dataset(X, q.relevance, group=q.sizes, sources=sources)
    params = {"objective": objective, "metric": "None", "num_leaves": 7, "verbose": -1, "num_threads": 1}
    by_lightgbm = lgb.train(params, data, 15).predict(X)
    matrix = on_xgboost.dataset(X, q.relevance, group=q.sizes, sources=sources)
    params = {"max_depth": 3, "min_child_weight": 0, "nthread": 1, "disable_default_eval_metric": True}
    by_xgboost = xgb.train(params, matrix, 15, obj=objective).predict(matrix)
    for measure in (NDCG(), CNDCG()):
        before = measure(np.zeros(len(X)), q)
        assert min(measure(by_lightgbm, q), measure(by_xgboost, q)) > before + 0.05


# The study


@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_hypervolume_against_cells(n):
    """Of a grid of quarters, on which the points lie: with ties, and some below the reference."""
    corners = np.array([[x, y] for x in range(1, 5) for y in range(-1, 5)]) / 4
    for seed in range(5):
        points = np.random.default_rng(seed).integers(-1, 5, (n, 2)) / 4
        reached = (points[None] >= corners[:, None]).all(axis=2).any(axis=1)
        assert hypervolume(points, np.array([0.0, -0.5])) == pytest.approx(reached.sum() / 16, abs=1e-12)


@pytest.mark.slow
def test_the_study_at_tiny_sizes(tmp_path):
    pytest.importorskip("matplotlib")
    import experiments.several_goals.__main__ as command

    options = ["--quick", "--sets", "synthetic, position", "--workers", "1", "--out", str(tmp_path)]
    (found,) = command.main(options).values()
    alone = {FIRST, SECOND_ALONE, "Constrained, 0.01"}
    assert set(methods.combined(found.goals, 0)) | alone < set(found.systems)
    assert all(found.of_seed(name, 0).shape == (2, 80) for name in found.systems)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for said in (
        "## Hypervolume",
        "| Chebyshev |",
        "| preferences as features, 0.8 |",
        "test queries; ▲ better",
    ):
        assert said in text
