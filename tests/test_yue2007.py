"""Finite differences, SPSA and linear search (2007): slow references, expectations, engines, and the report."""

import re
from dataclasses import replace

import drawn
import lightgbm as lgb
import numpy as np
import on_lightgbm
import pytest
import xgboost as xgb
from hypothesis import given, settings
from lightgbm_data import PARAMS, Q_VALID, X_VALID, Q, X, dataset

from experiments.yue2007 import slopes
from experiments.yue2007.accuracy import LAMBDARANK, RANKNET, SPSA_4
from experiments.yue2007.convergence import FDSA
from experiments.yue2007.linear_search import (
    CrossEntropy,
    Gains,
    Shortfall,
    finite_difference,
    in_weights,
    spsa,
    weight_gradient,
)
from experiments.yue2007.report import Effort, findings
from experiments.yue2007.slopes import SPSA, FiniteDifference
from lambdaboost import (
    ERR,
    MAP,
    MRR,
    NDCG,
    GradientStep,
    GumbelRanks,
    LambdaRank,
    Precision,
    Queries,
    RankNet,
    Recall,
)
from lambdaboost.datasets import web_search_log
from lambdaboost.evaluation import MEASURES as KNOWN

# In the scores

MEASURES = [
    NDCG(k=3),
    MRR(k=5),
    *(cls(k=2) if cls in (Precision, Recall) else cls() for cls in KNOWN.values()),
]
STEPS = (1e-3, 0.3, 5.0)


def one_by_one(metric, scores, q, step):
    """[Z(s + c e_i) − Z(s − c e_i)] / 2c, one document after the other, all queries measured each time."""
    lam = np.zeros(q.n_documents)
    for i in range(q.n_documents):
        up, down = scores.copy(), scores.copy()
        up[i] += step
        down[i] -= step
        difference = np.nan_to_num(metric.per_query(up, q)) - np.nan_to_num(metric.per_query(down, q))
        lam[i] = difference.sum() / (2 * step)
    return lam


@pytest.mark.parametrize("metric", MEASURES, ids=repr)
@settings(deadline=None, max_examples=6)
@given(case=drawn.query_sets(max_queries=3, max_size=12))
def test_finite_difference_equals_one_document_after_the_other(metric, case):
    scores, q = case
    for step in STEPS:
        grad, hess = FiniteDifference(metric, step).gradient(scores, q)
        lam = one_by_one(metric, scores, q, step)
        np.testing.assert_allclose(grad, -lam, rtol=1e-5, atol=1e-9 / step)
        assert (hess == 1).all()


def test_finite_difference_in_pieces_is_the_same(monkeypatch):
    scores, q = drawn.make(0, [30, 1, 40, 7])
    whole = FiniteDifference(NDCG(k=5), 0.5).gradient(scores, q)[0]
    monkeypatch.setattr(slopes, "MEASURED_DOCUMENTS", 100)
    np.testing.assert_array_equal(FiniteDifference(NDCG(k=5), 0.5).gradient(scores, q)[0], whole)


def test_golden_values():
    q = Queries([0, 1, 0], sizes=[3])
    # Scores 0.2, 0.1, 0: a step of 0.15 swaps each document with the next one up and the next one down.
    d = 1 / np.log2(1 + np.arange(1, 4))
    lam = -FiniteDifference(NDCG(), 0.15).gradient([0.2, 0.1, 0.0], q)[0]
    np.testing.assert_allclose(lam, np.array([d[1] - d[0], d[0] - d[2], d[2] - d[1]]) / (2 * 0.15), rtol=1e-6)


def smooth(scores, q):
    """−Σ (s − y)³ of each query, whose slope is −3(s − y)²."""
    return np.add.reduceat(-((scores - q.relevance) ** 3), q.offsets[:-1])


def test_a_function_of_the_users_own():
    scores, q = drawn.make(3, [8, 5, 1])
    slope = -3 * (scores - q.relevance) ** 2
    grad, _ = FiniteDifference(smooth, 1e-4).gradient(scores, q)
    np.testing.assert_allclose(-grad, slope, rtol=1e-4, atol=1e-6)
    # A bound method of a measure is a function too, and gives what the measure gives.
    same = FiniteDifference(NDCG(k=3).per_query, 0.5).gradient(scores, q)[0]
    np.testing.assert_array_equal(same, FiniteDifference(NDCG(k=3), 0.5).gradient(scores, q)[0])


def test_spsa_is_the_slope_in_expectation():
    scores, q = drawn.make(4, [6, 4])
    slope = -3 * (scores - q.relevance) ** 2
    draws = np.array([-SPSA(smooth, 1e-4, 1, seed=7).gradient(scores, q, m)[0] for m in range(4000)])
    error = (draws.mean(axis=0) - slope) / (draws.std(axis=0, ddof=1) / np.sqrt(len(draws)))
    assert np.abs(error).max() < 4  # of ten standard normals, once in 1,600 seeds
    # The mean of so many draws in one call is no worse than that.
    many = -SPSA(smooth, 1e-4, draws=4000, seed=8).gradient(scores, q)[0]
    np.testing.assert_allclose(many, slope, atol=4 * (draws.std(axis=0) / np.sqrt(4000)).max())


@pytest.mark.parametrize("metric", [NDCG(k=3), MAP(), ERR(max_grade=4)], ids=repr)
@pytest.mark.parametrize("draws", [1, 3])
def test_spsa_equals_the_same_draws_by_hand(metric, draws):
    scores, q = drawn.make(5, [12, 1, 20])
    lam = np.zeros(q.n_documents)
    rng = np.random.default_rng((11, 6))
    for _ in range(draws):
        delta = np.where(rng.integers(0, 2, q.n_documents) == 1, 1.0, -1.0)
        up, down = metric.per_query(scores + 0.3 * delta, q), metric.per_query(scores - 0.3 * delta, q)
        for i, query in enumerate(q.query_of_row):
            lam[i] += (up[query] - down[query]) / (2 * 0.3) / delta[i] / draws
    grad, hess = SPSA(metric, 0.3, draws, seed=11).gradient(scores, q, iteration=6)
    np.testing.assert_allclose(grad, -lam, rtol=1e-5, atol=1e-8)
    assert (hess == 1).all()


def test_draws_follow_from_seed_and_round_alone():
    scores, q = drawn.make(6, [30])
    first = SPSA(seed=1).gradient(scores, q, 3)[0]
    np.testing.assert_array_equal(SPSA(seed=1).gradient(scores, q, 3)[0], first)
    assert (SPSA(seed=1).gradient(scores, q, 4)[0] != first).any()
    assert (SPSA(seed=2).gradient(scores, q, 3)[0] != first).any()


def test_weights_and_queries_without_anything_to_gain():
    scores, q = drawn.make(7, [9, 6])
    weighted = Queries(q.relevance, q.sizes, weight=[2.0, 0.5])
    for objective in (FiniteDifference(step=0.5), SPSA(step=0.5)):
        one, two = objective.gradient(scores, q), objective.gradient(scores, weighted)
        factor = np.repeat([2.0, 0.5], q.sizes)
        np.testing.assert_allclose(two[0], factor * one[0], rtol=1e-6)
        np.testing.assert_allclose(two[1], factor)
        left_out = type(objective)(NDCG(empty=float("nan")), 0.5)
        assert (left_out.gradient(np.arange(4.0), Queries(np.zeros(4), sizes=[4]))[0] == 0).all()


@pytest.mark.parametrize("rule", [FiniteDifference, SPSA])
@pytest.mark.parametrize("given", [0.5, np.full(2, np.nan), np.zeros((2, 1))], ids=["one", "NaN", "shape"])
def test_functions_that_misbehave(rule, given):
    with pytest.raises(ValueError, match=r"expected . finite numbers, one a query"):
        rule(lambda scores, q: given, 0.5).gradient(np.arange(4.0), Queries([0, 1, 0, 1], sizes=[2, 2]))


# On the engines


def top_heavy(scores, q):
    """A measure of a user's own: the mean grade of the three best documents."""
    ranks = np.lexsort((-scores, q.query_of_row))
    place = np.arange(q.n_documents) - np.repeat(q.offsets[:-1], q.sizes)
    return np.add.reduceat(np.where(place < 3, q.relevance[ranks], 0.0), q.offsets[:-1]) / 3


OBJECTIVES = [
    GradientStep(FiniteDifference(NDCG(k=10), step=0.5)),
    GradientStep(FiniteDifference(top_heavy, step=0.5)),
    GradientStep(SPSA(NDCG(k=10), step=0.5, draws=8)),
    FiniteDifference(NDCG(), step=1.0),
    GumbelRanks(LambdaRank(), beta=0.5),
]
EACH = pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda o: re.sub(r" at 0x\w+", "", repr(o)))
CHANCE = np.mean([NDCG()(np.random.default_rng(i).random(Q_VALID.n_documents), Q_VALID) for i in range(20)])


@EACH
def test_beats_random_order_on_lightgbm(objective):
    booster = lgb.train({**PARAMS, "objective": objective}, dataset(), 25)
    assert NDCG()(booster.predict(X_VALID), Q_VALID) > CHANCE + 0.05


@EACH
def test_beats_random_order_on_xgboost(objective):
    data = xgb.DMatrix(X, Q.relevance, qid=Q.query_of_row)
    params = {
        "max_depth": 3,
        "nthread": 1,
        "base_score": 0.0,
        "min_child_weight": 0,
        "disable_default_eval_metric": 1,
    }
    booster = xgb.train(params, data, 25, obj=objective)
    assert NDCG()(booster.predict(xgb.DMatrix(X_VALID)), Q_VALID) > CHANCE + 0.05


@pytest.mark.parametrize("objective", [SPSA(step=0.5), GumbelRanks(LambdaRank())], ids=repr)
def test_a_continued_training_goes_on_with_the_same_draws(objective):
    whole = on_lightgbm.train(PARAMS, dataset(), 8, objective=objective)
    half = on_lightgbm.train(PARAMS, dataset(), 4, objective=objective)
    rest = on_lightgbm.train(PARAMS, dataset(), 4, objective=objective, init_model=half)
    np.testing.assert_allclose(rest.predict(X_VALID), whole.predict(X_VALID), rtol=1e-6, atol=1e-9)


# In the weights

X_LOG, Q_LOG = web_search_log(queries=12, documents=10, features=16, seed=1)
X_LOG = ((X_LOG - X_LOG.mean(axis=0)) / X_LOG.std(axis=0)).astype(np.float64)
W = np.random.default_rng(0).normal(size=X_LOG.shape[1]) / 4


def entropy_by_hand(scores, q):
    terms = [
        np.log1p(np.exp(-(scores[i] - scores[j])))
        for a, b in zip(q.offsets, q.offsets[1:], strict=False)
        for i in range(a, b)
        for j in range(a, b)
        if q.relevance[i] > q.relevance[j]
    ]
    return np.mean(terms)


def test_cross_entropy_equals_the_sum_over_pairs():
    for scale in (1.0, 100.0):
        assert CrossEntropy(Q_LOG)(scale * (X_LOG @ W)) == pytest.approx(
            entropy_by_hand(scale * (X_LOG @ W), Q_LOG), rel=1e-9
        )
    assert CrossEntropy(Q_LOG)(np.array([1e4, *np.zeros(Q_LOG.n_documents - 1)])) >= 0
    two = CrossEntropy(Q_LOG)(np.column_stack([X_LOG @ W, -(X_LOG @ W)]))
    np.testing.assert_allclose(two, [entropy_by_hand(X_LOG @ W, Q_LOG), entropy_by_hand(-(X_LOG @ W), Q_LOG)])


def test_finite_difference_is_the_closed_form_of_ranknet():
    cost = in_weights(CrossEntropy(Q_LOG), X_LOG)
    closed = weight_gradient(RankNet(), X_LOG, Q_LOG, W) * Q_LOG.n_queries / CrossEntropy(Q_LOG).n_pairs
    np.testing.assert_allclose(finite_difference(cost, W, 1e-3), closed, rtol=1e-4, atol=1e-6)


def test_spsa_in_the_weights_is_the_slope_in_expectation():
    cost, rng = in_weights(CrossEntropy(Q_LOG), X_LOG), np.random.default_rng(1)
    slope = finite_difference(cost, W, 1e-4)
    draws = spsa(cost, np.repeat(W[:, None], 6000, axis=1), 1e-4, 1, rng)
    error = (draws.mean(axis=1) - slope) / (draws.std(axis=1, ddof=1) / np.sqrt(6000))
    assert np.abs(error).max() < 4  # of 16 standard normals, once in 1,000 seeds
    averaged = spsa(cost, np.repeat(W[:, None], 500, axis=1), 1e-4, 4, rng)
    ratio = averaged.std(axis=1) / draws.std(axis=1)  # four draws halve the spread
    np.testing.assert_allclose(ratio, 0.5, atol=0.1)


def test_shortfall_and_gradients_of_many_models():
    pair = np.column_stack([W, -W])
    cost = in_weights(Shortfall(NDCG(k=5), Q_LOG), X_LOG)
    np.testing.assert_allclose(
        cost(pair), [1 - NDCG(k=5)(X_LOG @ W, Q_LOG), 1 - NDCG(k=5)(-(X_LOG @ W), Q_LOG)]
    )
    both = weight_gradient(LambdaRank(), X_LOG, Q_LOG, pair)
    np.testing.assert_allclose(both[:, 1], weight_gradient(LambdaRank(), X_LOG, Q_LOG, -W), rtol=1e-6)
    np.testing.assert_allclose(
        both[:, 0], X_LOG.T @ LambdaRank().gradient(X_LOG @ W, Q_LOG)[0] / Q_LOG.n_queries, rtol=1e-6
    )


def test_spalls_gains():
    gains = Gains(rate=2.0, step=0.1, after=9)
    assert gains.rates(0) == 2.0 / 10**0.602
    assert gains.steps(3) == 0.1 / 4**0.101


# The report


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("yue2007")


@pytest.fixture(scope="module")
def made(out):
    pytest.importorskip("matplotlib")
    import experiments.yue2007.__main__ as command

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "FEATURES", 16)
        patch.setattr(command, "QUICK", Effort(queries=5, iterations=2, runs=3, share=0.03, swept=20))
        return command.main(["--quick", "--queries", "20", "--documents", "8", "--out", str(out)])


@pytest.mark.slow
def test_everything_is_written(made, out):
    assert sorted(path.name for path in out.iterdir()) == ["figure_1.png", "figure_2.png", "report.md"]
    text = (out / "report.md").read_text(encoding="utf-8")
    assert "| FDSA |" in text
    assert "| LambdaRank | 0." in text
    assert "0.721 / 0.713 / 0.707" in text
    assert "virtually identical to the closed form: **yes**" in text


def said(made, claim):
    """The verdict on a claim."""
    (line,) = (line for line in findings(made) if line.startswith(f"- {claim}: "))
    return line.split("**")[1]


def with_tests(made, **test):
    """The same with other test figures: those given by method, 0.5 for every query of the rest."""
    rows = [replace(r, test=test.get(r.method.name.replace(":", ""), np.full(100, 0.5))) for r in made.rows]
    return replace(made, rows=tuple(rows))


@pytest.mark.slow
def test_verdicts_on_accuracy(made):
    noise = np.random.default_rng(0).normal(size=100) / 100
    middle = np.full(100, 0.5)
    low, high = middle - 0.1 + noise, middle + 0.1 - noise
    clear = with_tests(made, LambdaRank=high, SPSA4=low)
    assert said(clear, f"{LAMBDARANK} beats {SPSA_4}") == "yes"
    turned = with_tests(made, LambdaRank=low, SPSA4=high)
    assert said(turned, f"{LAMBDARANK} beats {SPSA_4}") == "no, the opposite"
    equal = with_tests(made, LambdaRank=middle, SPSA4=middle + noise)
    assert said(equal, f"{LAMBDARANK} beats {SPSA_4}") == "no significant difference"
    assert said(equal, f"{RANKNET} beats {SPSA_4}") == "no significant difference"


@pytest.mark.slow
def test_a_constant_gain_is_a_gain(made):
    """Every query improves by the same amount: no variance is no reason to see nothing."""
    middle = np.full(100, 0.5)
    constant = with_tests(made, LambdaRank=middle + 0.125, SPSA4=middle)
    assert said(constant, f"{LAMBDARANK} beats {SPSA_4}") == "yes"


@pytest.mark.slow
def test_verdicts_on_convergence(made):
    costs = {m: c.copy() for m, c in made.convergence.costs.items()}
    spread = np.array([-0.01, 0.0, 0.01])
    for method, cost in costs.items():
        cost[:] = (1.0 if method == FDSA else 0.5) + spread
    fast = replace(made, convergence=replace(made.convergence, costs=costs, likeness=0.1))
    assert said(fast, "SPSA:2 converges faster than FDSA") == "yes"
    assert said(fast, "All variants of SPSA converge about equally fast") == "yes"
    assert said(fast, "The FDSA gradient is virtually identical to the closed form") == "no"
    costs[FDSA][:] = 0.5 + spread
    even = replace(fast, convergence=replace(fast.convergence, costs=costs))
    assert said(even, "SPSA:2 converges faster than FDSA") == "no significant difference"
