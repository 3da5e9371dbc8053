"""`experiments.clicks`: its objectives, curves and swap experiments against slow references, and the study."""

import drawn
import lightgbm as lgb
import naive
import numpy as np
import pytest
import xgboost as xgb
from on_lightgbm import dataset as Dataset
from on_xgboost import dataset as DMatrix

from experiments.clicks import position_gam
from experiments.clicks.by_document import curve_by_document
from experiments.clicks.logs import Cascade
from experiments.clicks.position_gam import PositionGAM
from experiments.clicks.study import five_folds
from experiments.clicks.swaps import simulate_swaps, swap_experiment
from experiments.clicks.unbiased_lambdarank import UnbiasedLambdaRank
from experiments.common.data import one_fold
from lambdaboost import NDCG, Blend, LambdaRank, Queries, RankNet
from lambdaboost.clicks import ClickLog, PositionBased, Propensities, simulate
from lambdaboost.datasets import web_search_log

RNG = np.random.default_rng(7)
K = 6
Q = Queries(RNG.integers(0, 3, 150 * 8), sizes=[8] * 150)
X = np.column_stack([Q.relevance + 0.5 * RNG.normal(size=1200), RNG.normal(size=(1200, 2))])
SCORE = 0.5 * X[:, 0] + RNG.normal(size=1200)  # better than chance, so relevance differs by position
RANKERS = np.array([SCORE, SCORE + RNG.normal(size=1200), SCORE + RNG.normal(size=1200)])


def held(curve, eta):
    """The number of positions whose interval holds the value of 1/rank^η, relative to the first."""
    true = np.array(Propensities.power(eta, len(curve)).values) * curve.values[0]
    return ((np.array(curve.low) <= true + 1e-9) & (true <= np.array(curve.high) + 1e-9)).sum()


@pytest.mark.parametrize("eta", [0.0, 1.0, 2.0])
def test_the_true_curve_is_in_the_intervals(eta):
    log = simulate(RANKERS, Q, PositionBased(eta), 300, np.random.default_rng(1), k=K)
    swaps, arm = simulate_swaps(SCORE, Q, PositionBased(eta), 300, np.random.default_rng(3), k=K)
    few = simulate(RANKERS, Q, PositionBased(eta), 6, np.random.default_rng(4), k=K)
    for curve in (curve_by_document(log), swap_experiment(swaps, arm)):
        assert held(curve, eta) >= K - 1
        assert held(curve, eta + 1) <= 2
    assert held(curve_by_document(few), eta) >= K - 1  # six impressions of each document do not bend it


def test_shuffled_lists_recover_the_curve():
    query, document, session = (
        a.ravel() for a in np.meshgrid(range(80), range(5), range(100), indexing="ij")
    )
    rng = np.random.default_rng(0)
    position = rng.permuted(np.broadcast_to(np.arange(1, 6), (80, 100, 5)), axis=2).transpose(0, 2, 1).ravel()
    attracts = rng.random((80, 5))[query, document]
    clicked = rng.random(query.size) < attracts / position
    log = ClickLog(query, document, position, clicked, session=query * 100 + session)
    assert held(swap_experiment(log), 1) >= 4
    with pytest.raises(ValueError, match="the lists were not shuffled"):
        swap_experiment(simulate(RANKERS, Q, PositionBased(), 50, np.random.default_rng(1), k=K))


def position_ratios(costs, power):
    """t⁺ and t⁻ of each place by alternating minimisation; places without a cost are interpolated (Hu et al. 2019)."""
    n = len(costs)
    plus, minus = [1.0] * n, [1.0] * n
    for _ in range(200):
        before = plus + minus
        plus = _relative([sum(costs[k][l] / minus[l] for l in range(n)) ** power for k in range(n)], costs)
        turned = [[costs[k][l] for k in range(n)] for l in range(n)]
        minus = _relative([sum(turned[l][k] / plus[k] for k in range(n)) ** power for l in range(n)], turned)
        if max(abs(a / b - 1) for a, b in zip(plus + minus, before, strict=True)) <= 1e-7:
            break
    return plus, minus


def _relative(t, costs):
    known = [k for k, row in enumerate(costs) if sum(row) > 0]
    if not known:
        return [1.0] * len(t)
    with np.errstate(over="ignore"):
        given = [min(t[k] / t[known[0]], 1e6) for k in known]
    return [max(float(x), 1e-6) for x in np.interp(range(len(t)), known, given)]


def unbiased(s, q, power, k):
    """λ and μ of unbiased LambdaRank: the ratios of the round, then the pairs divided by them."""
    place = np.maximum(q.required_position() - 1, 0)
    costs, queries = np.zeros((place.max() + 1, place.max() + 1)), []
    for rows, y in drawn.rows(q):
        gains, r = [naive.exponential(l) for l in y["relevance"]], naive.ranks(s[rows])
        pairs = naive.graded_pairs(y["relevance"])
        queries.append((rows, pairs, gains, r))
        for i, j in pairs:
            apart = s[rows][i] - s[rows][j]
            cost = np.log1p(np.exp(-abs(apart))) - min(apart, 0.0)
            costs[place[rows][i], place[rows][j]] += naive.swap_ndcg(gains, r, i, j, k) * cost
    plus, minus = position_ratios(costs, 1 / (1 + power))
    found = np.zeros((2, q.n_documents))
    for rows, pairs, gains, r in queries:
        at = place[rows]

        def weight(i, j, at=at, gains=gains, r=r):
            return naive.swap_ndcg(gains, r, i, j, k) / (plus[at[i]] * minus[at[j]])

        found[:, rows] = naive.pair_rule(s[rows], pairs, weight, naive.logistic)
    return found, np.array(plus), np.array(minus)


@pytest.mark.parametrize(
    ("power", "k"), [(1.0, 3), *(pytest.param(power, None, marks=pytest.mark.slow) for power in (0.0, 4.0))]
)
def test_unbiased_lambdarank_equals_its_reference(power, k):
    for scores, q in (drawn.make(4, [8] * 20), drawn.make(0, [1, 2, 5, 10, 40])):
        objective = UnbiasedLambdaRank(NDCG(k=k), regularization=power)
        (lam, mu), *ratios = unbiased(scores, q, power, k)
        for t, found in zip(ratios, objective.bias(scores, q), strict=True):
            np.testing.assert_allclose(found.values, t / t.max(), rtol=1e-4)
        grad, hess = objective.gradient(scores, q)
        np.testing.assert_allclose(-grad, lam, atol=1e-4 * np.abs(lam).max())
        np.testing.assert_allclose(hess, mu, atol=1e-4 * np.abs(mu).max())


def sessions(queries=4000, n=6, eta=1.0, seed=0):
    """Clicks of a position-based user on documents in random order, and what attracts."""
    rng = np.random.default_rng(seed)
    attraction = rng.choice([0.1, 0.3, 0.8], queries * n) * rng.uniform(0.95, 1.05, queries * n)
    position = np.concatenate([rng.permutation(n) + 1 for _ in range(queries)])
    clicks = rng.random(queries * n) < attraction / position**eta
    return np.log(attraction), Queries(clicks, sizes=[n] * queries, position=position)


def test_the_bias_of_simulated_clicks_is_found():
    scores, q = sessions()
    clicked, other = UnbiasedLambdaRank(regularization=0.0).bias(scores, q)
    np.testing.assert_allclose(clicked.values, 1 / np.arange(1.0, 7), rtol=0.25)
    assert (np.diff(other.values) > 0).all()  # what is not clicked at the top was seen and not liked
    near_one, _ = UnbiasedLambdaRank(regularization=1e6).bias(scores, q)
    np.testing.assert_allclose(near_one.values, 1, rtol=1e-4)


def gam(objective, regularization, s, q):
    """The bias by half Newton steps of all positions at once, one position after the other."""
    position = q.required_position()
    b, shown = np.zeros(position.max() + 1), np.bincount(position)
    for _ in range(position_gam.NEWTON_STEPS):
        grad, hess = objective.gradient(s + b[position], q)
        steps = np.zeros(b.size)
        for k in range(1, b.size):
            slope = -grad[position == k].sum(dtype=float) - regularization * shown[k] * b[k]
            curvature = hess[position == k].sum(dtype=float) + regularization * shown[k]
            steps[k] = 0.5 * slope / curvature if curvature > 0 else 0.0
        b += np.clip(steps, -1, 1)
        if abs(steps).max() < position_gam.SHORTEST_STEP:
            break
    return objective.gradient(s + b[position], q)


@pytest.mark.parametrize("regularization", [0.0, 0.1])
@pytest.mark.parametrize("objective", [LambdaRank(NDCG(k=5)), RankNet()], ids=repr)
def test_the_gam_equals_its_reference(objective, regularization):
    scores, q = drawn.make(3, [1, 2, 5, 10, 40, 41])
    scores = np.tanh(scores) + np.random.default_rng(0).random(scores.size)
    q = Queries(q.relevance, sizes=q.sizes, position=q.position)  # without weights
    found = PositionGAM(objective, regularization).gradient(scores, q)
    for one, other in zip(found, gam(objective, regularization, scores, q), strict=True):
        np.testing.assert_allclose(one, other, atol=5e-3 * np.abs(other).max())


@pytest.mark.parametrize(
    "objective",
    [UnbiasedLambdaRank(), PositionGAM(LambdaRank()), Blend(LambdaRank(), UnbiasedLambdaRank(), 0.5)],
    ids=repr,
)
def test_both_engines_train_by_the_callback_and_rank_better(objective):
    attracts, q = sessions(400)
    X = np.column_stack([attracts + np.random.default_rng(0).normal(size=attracts.size), np.zeros(2400)])
    truth = Queries(np.exp(attracts).round(1) * 10, sizes=q.sizes)
    data = Dataset(X, q.relevance, group=q.sizes, position=q.position)
    params = {"objective": objective, "metric": "None", "verbose": -1, "num_threads": 1}
    boosters = [lgb.train(params, data, 10).predict(X)]
    matrix = DMatrix(X, q.relevance, group=q.sizes, position=q.position)
    params = {"nthread": 1, "min_child_weight": 0, "disable_default_eval_metric": True}
    booster = xgb.train(params, matrix, 10, obj=objective)
    boosters.append(booster.predict(xgb.DMatrix(X), output_margin=True))
    for scores in boosters:
        assert NDCG(gain="linear")(scores, truth) > NDCG(gain="linear")(np.zeros(2400), truth) + 0.03


# The study


@pytest.mark.slow
def test_the_study_at_tiny_sizes(tmp_path):
    pytest.importorskip("matplotlib")
    import experiments.clicks.__main__ as command

    found = command.main(["--quick", "--queries", "60", "--workers", "1", "--out", str(tmp_path)])
    assert found.users == list(command.QUICK_USERS)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "| UnbiasedLambdaRank |" in text and "5 % of the grades, **pooled**" in text


def test_no_query_is_in_two_test_parts():
    data = one_fold(web_search_log(25, 10), (0.4, 0.2, 0.4), 0, "")
    folds = list(five_folds(data, 0))
    documents = sum(part.queries.n_documents for part in data.parts.values())
    assert sum(test.queries.n_documents for _, test in folds) == documents
    for training, test in folds:
        assert not set(map(bytes, training.features)) & set(map(bytes, test.features))


@pytest.mark.parametrize(
    "model", [Cascade(noise=0.2), Cascade(continuation=0.9, satisfaction=0.7, noise=0.2)], ids=repr
)
def test_cascade_users_read_until_satisfied(model):
    """Click rates within 4 standard errors of the chance to be read and clicked."""
    gain, n = np.array([1, 0, 1 / 3, 0]), 40_000
    q = Queries([2, 0, 1, 0], sizes=[4])
    log = simulate([4, 3, 2, 1], q, model, n, np.random.default_rng(1), k=4)
    attracts = 0.2 + 0.8 * gain
    satisfies = 1 if model.satisfaction is None else model.satisfaction * gain
    reads = np.cumprod([1, *(model.continuation * (1 - attracts * satisfies))[:-1]])
    wanted = attracts * reads
    error = 4 * np.sqrt(wanted * (1 - wanted) / n)
    assert (np.abs(log.labels(np.zeros(4, int), np.arange(4)) - wanted) <= error).all()
    if model.satisfaction is None:
        assert np.bincount(log.session_of_row(), log.clicked).max() == 1
