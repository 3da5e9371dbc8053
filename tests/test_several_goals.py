"""The combiners of `experiments.several_goals` against references and on engines, and the study at tiny sizes."""

import itertools
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

from experiments.several_goals import methods
from experiments.several_goals.combiners import (
    Chebyshev,
    Combined,
    ExactPareto,
    FromSources,
    MinNorm,
    StochasticLabels,
    cosines,
    costs,
    shortest,
    towards_balance,
)
from experiments.several_goals.methods import FIRST, SECOND_ALONE, SUM
from experiments.several_goals.results import OfSet, hypervolume
from experiments.several_goals.sets import known
from experiments.several_goals.training import Task
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
    on_grid = naive.shortest(gram)
    assert alpha @ gram @ alpha <= on_grid @ gram @ on_grid + 1e-12
    np.testing.assert_allclose(alpha, on_grid, atol=0.02)
    # The slope in every objective with a weight is the same, and lower in none.
    slopes = gram @ alpha
    assert slopes.min() == pytest.approx(alpha @ gram @ alpha, abs=1e-9)


def test_min_norm_of_two_is_halfway():
    np.testing.assert_array_equal(shortest(angles(1, 2)), [0.5, 0.5])
    scores, q = queries()
    halves = Scorecard(TWO, Scaled((0.5, 0.5))).gradient(scores, q)
    np.testing.assert_array_equal(Combined(TWO, MinNorm()).gradient(scores, q), halves)


def test_cosines():
    scores, q = queries()
    found = Gradients((LambdaRank(), ClickTier(), RankNet()), scores, q, 0)
    lambdas = np.array([lam for lam, _ in found.derivatives], dtype=np.float64)
    expected = lambdas @ lambdas.T / np.outer(found.norms, found.norms)
    np.testing.assert_allclose(cosines(found), expected, rtol=1e-6)


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


def test_chebyshev_prefers_the_largest_cost():
    scores, q = queries()
    found = Gradients((LambdaRank(), LambdaRank(CNDCG())), scores, q, 0)
    one, two = costs(found)
    np.testing.assert_allclose(Chebyshev((1.0, 2.0)).weigh(found), naive.chebyshev([one, 2 * two], 0.05))
    assert Chebyshev((1.0, 100.0)).weigh(found)[1] > 0.999 > 0.001 > Chebyshev((100.0, 1.0)).weigh(found)[1]
    q = Queries([1, 0], sizes=[2], clicks=[1.0, 0.0])  # both costs are 0
    found = Gradients((LambdaRank(), LambdaRank(CNDCG())), np.array([1.0, 0.0]), q, 0)
    np.testing.assert_array_equal(Chebyshev((1.0, 1.0)).weigh(found), [0.5, 0.5])


def test_the_cost_is_one_less_the_measure_where_it_is_defined():
    q = Queries([2, 0, 0, 0], sizes=[2, 2])  # NDCG is undefined on the second query
    found = Gradients((LambdaRank(),), np.array([0.0, 1.0, 0.0, 1.0]), q, 0)
    assert costs(found) == pytest.approx(1 - 1 / np.log2(3))
    assert costs(Gradients((LambdaRank(),), np.zeros(4), Queries([0, 0, 0, 0], sizes=[2, 2]), 0)) == 0


def chebyshev(parts, s, q, m):
    cost = [
        1 - naive.measured(of, [(s[rows], y[of.source]) for rows, y in drawn.rows(q)])
        for of in (NDCG(), CNDCG(k=5))
    ]
    return naive.chebyshev([cost[0], 2 * cost[1]], 0.05)


def drawn_by_query(parts, s, q, m):
    of_row = np.repeat(np.random.default_rng((3, m)).random(q.n_queries, dtype=np.float32), q.sizes)
    return [(of_row < 0.3) * 1.0, ((of_row >= 0.3) & (of_row < 0.9)) * 1.0, (of_row >= 0.9) * 1.0]


@pytest.mark.parametrize(
    ("objectives", "combiner", "references", "weigh"),
    [
        (
            (*TWO, RankNet()),
            StochasticLabels((0.3, 0.6, 0.1), by="query", seed=3),
            (rules._GRADES, rules._CLICKS, rules._PAIRS),
            drawn_by_query,
        ),
        (
            (LambdaRank(), LambdaRank(CNDCG(k=5))),
            Chebyshev((1.0, 2.0)),
            (rules._GRADES, rules._RATES),
            chebyshev,
        ),
        (TWO, MinNorm(), (rules._GRADES, rules._CLICKS), lambda *_: [0.5, 0.5]),
    ],
    ids=["StochasticLabels", "Chebyshev", "MinNorm"],
)
@pytest.mark.parametrize("seed", range(3))
def test_the_whole_equals_the_reference(objectives, combiner, references, weigh, seed):
    scores, q = queries(seed)
    for m in (0, 3):
        lam, mu = rules._combined(references, weigh)(scores, q, m)
        grad, hess = Combined(objectives, combiner).gradient(scores, q, m)
        np.testing.assert_allclose(grad, -lam, rtol=1e-4, atol=1e-5 * np.abs(lam).max())
        np.testing.assert_allclose(hess, mu, rtol=1e-4, atol=1e-5 * np.abs(mu).max())


@EACH
def test_weights_of_documents_count_in_the_norms(combiner):
    """A query of weight 0 has no part in the norms."""
    scores, q = queries()
    labels = {name: q.labels[name] for name in ("clicks", "fresh", "stale")}
    q = Queries(q.relevance, q.sizes, weight=[2.0, 0.0, 1.0], **labels)
    parts = [tuple(f.astype(float) for f in part.lambdas(scores, q, 3)) for part in TWO]
    lam, mu = naive.combine(parts, combiner.weigh(Gradients(TWO, scores, q, 3)), q.weight)
    grad, hess = Combined(TWO, combiner).gradient(scores, q, 3)
    np.testing.assert_allclose(grad, -lam * q.weight, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(hess, mu * q.weight, rtol=1e-5, atol=1e-7)


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


def invented(changes, real=True, seeds=2):
    """Figures of 20 queries a fold in which each system differs from the first goal alone by such constants."""
    goals = replace(known(None)["synthetic, position"], name="made", real=real)
    found, names = OfSet(goals), {FIRST: (0.0, 0.0), SECOND_ALONE: (-0.1, 0.1)} | changes
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(goals.folds * 20)
        for fold in range(goals.folds):
            tested = np.sort(order[fold * 20 : (fold + 1) * 20])
            outcome = {"tested": tested}
            for at, (name, by) in enumerate(names.items()):
                rows = 0.5 + tested / 1000 + 1e-4 * np.sin(at * tested + np.arange(2)[:, None])
                outcome[name] = rows + np.array(by)[:, None]
            found.add(Task("made", seed, fold, "alone"), outcome)
    return found


def test_real_queries_are_averaged_over_seeds_and_synthetic_ones_put_together():
    real, synthetic = invented({}), invented({}, real=False)
    assert real.per_query(FIRST).shape == (2, 100) and synthetic.per_query(FIRST).shape == (2, 40)
    by_query = real.per_query(FIRST)[0]  # in the order of the data, in both parts
    assert np.allclose(by_query, 0.5 + np.arange(100) / 1000, atol=1e-3)
    assert np.allclose(real.of_seed(FIRST, 1)[0], by_query)


def cells(points, reference):
    """The cells of the grid through all coordinates whose upper corner some point reaches."""
    axes = [sorted({r, *(p[k] for p in points if p[k] > r)}) for k, r in enumerate(reference)]
    corners = itertools.product(*(range(1, len(axis)) for axis in axes))
    return sum(
        (axes[0][i] - axes[0][i - 1]) * (axes[1][j] - axes[1][j - 1])
        for i, j in corners
        if any(p[0] >= axes[0][i] and p[1] >= axes[1][j] for p in points)
    )


@pytest.mark.parametrize("n", [0, 1, 7, 30])
def test_hypervolume_against_cells(n):
    for seed in range(5):
        points = (
            np.random.default_rng(seed).integers(-1, 5, (n, 2)) / 4
        )  # with ties, some below the reference
        reference = np.array([0.0, -0.5])
        assert hypervolume(points, reference) == pytest.approx(cells(points.tolist(), reference), abs=1e-12)


def test_hypervolumes_are_those_of_the_mean_points():
    grid = {methods.named(SUM, w): (-0.1 * w, 0.1 * w) for w in methods.WEIGHTS}
    found = invented(grid)
    values = found.volumes({SUM: list(grid)})[SUM]
    points = np.array([100 * found.per_query(name).mean(axis=1) for name in (FIRST, SECOND_ALONE, *grid)])
    assert values[0] == pytest.approx(hypervolume(points[2:], points[:2].min(axis=0)), rel=1e-3)
    assert np.percentile(values[1:], 0.5) < values[0] < np.percentile(values[1:], 99.5)


@pytest.mark.slow
def test_the_study_at_tiny_sizes(tmp_path):
    pytest.importorskip("matplotlib")
    import experiments.several_goals.__main__ as command

    with pytest.raises(
        ValueError, match=r"--sets 'mslr': expected one of 'synthetic, position', .*others need DATA"
    ):
        command.main(["--sets", "mslr"])
    options = ["--quick", "--sets", "synthetic, position", "--workers", "1", "--out", str(tmp_path)]
    (found,) = command.main(options).values()
    assert set(methods.combined(found.goals, 0)) | {FIRST, SECOND_ALONE, "Constrained, 0.01"} < set(
        found.systems
    )
    assert all(found.of_seed(name, 0).shape == (2, 80) for name in found.systems)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for expected in (
        "## Hypervolume",
        "| Chebyshev |",
        "| preferences as features, 0.8 |",
        "test queries; ▲ better",
    ):
        assert expected in text
