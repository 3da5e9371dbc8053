"""Objectives against position bias: their references, what they reduce to, what they refuse, and both engines' own."""

import copy
import json
import math
import pickle
import re

import drawn
import engine_positions
import lightgbm as lgb
import naive
import numpy as np
import pytest
from engine_rules import LightGBMRule

from lambdaboost import (
    CNDCG,
    NDCG,
    Blend,
    ClickTier,
    Constrained,
    GradientStep,
    InversePropensity,
    LambdaRank,
    ListNet,
    PairAccuracy,
    PositionGAM,
    Queries,
    RankNet,
    Scorecard,
    UnbiasedLambdaRank,
    graded,
)
from lambdaboost._threads import using
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import web_search_log
from lambdaboost.lightgbm import Dataset, train
from lambdaboost.objectives import parse, position_gam, unbiased_lambdarank

SIZES = [1, 2, 5, 10, 40, 41, 100, 300]
PAIRWISE = [RankNet(sigma=2.0), LambdaRank(), LambdaRank(NDCG(k=3)), LambdaRank(PairAccuracy()), ClickTier()]


def flat(value, n=400):
    return Propensities([value] * n)


@pytest.mark.parametrize("objective", PAIRWISE, ids=repr)
def test_propensity_1_is_the_objective_itself(objective):
    for scores, q in (drawn.make(0, SIZES, missing=True), drawn.make(1, [5000])):
        weighted = InversePropensity(objective, flat(1.0, 5000), clip=3.0, self_normalized=True)
        for one, other in zip(objective.gradient(scores, q), weighted.gradient(scores, q), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("spread", [1.0, 1e4], ids=["narrow", "wide"])
@pytest.mark.parametrize("objective", PAIRWISE, ids=repr)
def test_equal_propensities_scale_the_objective(objective, spread):
    scores, q = drawn.make(2, SIZES, spread)
    half = InversePropensity(objective, flat(0.5)).gradient(scores, q)
    for one, two in zip(objective.gradient(scores, q), half, strict=True):
        np.testing.assert_allclose(two, 2 * one, rtol=2e-6, atol=2e-6 * np.abs(one).max())
    normalized = InversePropensity(objective, flat(0.5), self_normalized=True).gradient(scores, q)
    np.testing.assert_array_equal(normalized, objective.gradient(scores, q))


def test_a_long_list_with_factors_is_the_sum_over_its_pairs():
    rng = np.random.default_rng(3)
    n = 3000
    relevance, scores = rng.integers(0, 3, n), rng.normal(size=n)
    position = rng.permutation(n) + 1
    q = Queries(relevance, sizes=[n], position=position)
    curve = Propensities.power(0.5, n)
    grad, _ = InversePropensity(RankNet(), curve).gradient(scores, q)
    better = relevance[:, None] > relevance[None, :]
    force = better * position[:, None] ** 0.5 / (1 + np.exp(scores[:, None] - scores[None, :]))
    np.testing.assert_allclose(-grad, force.sum(1) - force.sum(0), atol=1e-5 * np.abs(grad).max())


def test_clicks_alone_order_a_query_without_grades():
    nothing = [np.nan] * 3
    q = Queries(
        [2, 1, 0, *nothing, 1, np.nan, 1],
        sizes=[3, 3, 3],
        clicks=[0.1, 0.5, 0.2, 0.1, 0.5, 0.2, 0.1, 0.5, 0.2],
    )
    scores = np.arange(9.0)
    grad, _ = ClickTier().gradient(scores, q)
    alone, _ = ClickTier(within=()).gradient(scores, q)
    assert (grad[:3] == 0).all()  # no two grades tie
    np.testing.assert_array_equal(grad[3:6], alone[3:6])
    assert (grad[3:6] != 0).all()
    assert grad[7] == 0 and grad[6] != 0 and grad[8] != 0  # where others have grades, it has no tier
    both, _ = graded(0.5).gradient(scores, q)
    np.testing.assert_allclose(both[3:6], 0.5 * alone[3:6])
    third = ClickTier(source="fresh", within=("relevance", "clicks"))
    q = Queries(nothing, sizes=[3], clicks=[0.5, 0.5, 0.1], fresh=[0.2, 0.6, 0.9])
    assert (third.gradient(scores[:3], q)[0] != 0).tolist() == [True, True, False]


def test_graded_takes_propensities():
    p = Propensities((1.0, 0.5))
    assert graded(0.2, propensities=p) == Blend(LambdaRank(), InversePropensity(ClickTier(), p), 0.2)


# Unbiased LambdaRank


def ratios(scores, q, p, k=None):
    """t⁺ and t⁻ by the equations of the paper, in loops."""
    n = int(q.position.max())
    costs = np.zeros((n, n))
    for rows, labels in drawn.rows(q):
        s, y = scores[rows], labels["relevance"]
        gains, r = [naive.exponential(l) for l in y], naive.ranks(s)
        for i, j in naive.graded_pairs(y):
            cost = naive.swap_ndcg(gains, r, i, j, k) * math.log1p(math.exp(s[j] - s[i]))
            costs[int(labels["position"][i]) - 1, int(labels["position"][j]) - 1] += cost
    plus, minus = np.ones(n), np.ones(n)
    for _ in range(300):
        plus = (costs / minus).sum(axis=1) ** (1 / (1 + p))
        plus /= plus[0]
        minus = (costs.T / plus).sum(axis=1) ** (1 / (1 + p))
        minus /= minus[0]
    return plus, minus


@pytest.mark.parametrize("p", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("k", [None, 3])
def test_unbiased_lambdarank_equals_its_reference(p, k):
    scores, q = drawn.make(4, [8] * 60)
    objective = UnbiasedLambdaRank(NDCG(k=k), regularization=p)
    plus, minus = ratios(scores, q, p, k)
    for t, found in zip((plus, minus), objective.bias(scores, q), strict=True):
        np.testing.assert_allclose(found.values, t / t.max(), rtol=1e-4)
    grad, hess = objective.gradient(scores, q)
    for rows, labels in drawn.rows(q):
        s, y, place = scores[rows], labels["relevance"], labels["position"].astype(int) - 1
        gains, r = [naive.exponential(l) for l in y], naive.ranks(s)
        lam, mu = naive.pair_rule(
            s,
            naive.graded_pairs(y),
            lambda i, j: naive.swap_ndcg(gains, r, i, j, k) / (plus[place[i]] * minus[place[j]]),  # noqa: B023
            naive.logistic,
        )
        np.testing.assert_allclose(-grad[rows], lam, atol=1e-4 * max(np.abs(lam).max(), 1e-9))
        np.testing.assert_allclose(hess[rows], mu, atol=1e-4 * max(np.abs(mu).max(), 1e-9))


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


def test_a_sample_of_queries_gives_much_the_same_bias(monkeypatch):
    scores, q = sessions()
    whole = UnbiasedLambdaRank().bias(scores, q)
    monkeypatch.setattr(unbiased_lambdarank, "SAMPLED_PAIRS", 5000)
    again = Queries(q.relevance, sizes=q.sizes, position=q.position)
    for all_pairs, some in zip(whole, UnbiasedLambdaRank().bias(scores, again), strict=True):
        assert all_pairs != some
        np.testing.assert_allclose(some.values, all_pairs.values, rtol=0.2)


def test_positions_past_the_last_share_one_ratio_and_names_are_kept():
    q = Queries([1, 0, 0], sizes=[3], position=[1, 250, 300])
    assert len(UnbiasedLambdaRank().bias(np.zeros(3), q)[0]) == 200
    q = Queries([1, 0, 0, 1], sizes=[2, 2], position=["left", "top", "left", "top"])
    assert UnbiasedLambdaRank().bias(np.zeros(4), q)[0].names == ("left", "top")


# Position GAM


def test_the_gam_leaves_no_force_at_any_position():
    scores, q = sessions(1000)
    for objective in (LambdaRank(), RankNet()):
        gam = PositionGAM(objective)
        grad, hess = gam.gradient(scores, q)
        raw, _ = objective.gradient(scores, q)
        left, before = (np.abs(np.bincount(q.position, g)[1:]).max() for g in (grad, raw))
        assert left < 0.01 * before
        b = gam.bias(scores, q)
        assert b[0] == 0 and (np.diff(b) < 0).all()
        shifted = objective.gradient(scores + b[q.position - 1], q)
        np.testing.assert_allclose(shifted[0], grad, atol=1e-5)
        np.testing.assert_allclose(shifted[1], hess, atol=1e-5)


def test_the_gam_regularized_hard_is_the_objective():
    scores, q = sessions(100)
    np.testing.assert_allclose(
        PositionGAM(LambdaRank(), 1e9).gradient(scores, q), LambdaRank().gradient(scores, q), atol=1e-6
    )


def test_rounds_of_lightgbms_bias_at_fixed_scores_end_at_the_gams():
    scores, q = sessions(300)
    objective, bias = LightGBMRule(norm=False), engine_positions.lightgbm_start(q)
    for _ in range(150):
        _, bias = engine_positions.lightgbm_step(bias, scores, q, objective.gradient, 0.3, 0.01)
    np.testing.assert_allclose(PositionGAM(objective, 0.01).bias(scores, q), bias - bias[0], rtol=0.04)


def test_queries_of_weight_0_do_not_turn_the_bias():
    """XGBoost's own ignores weights; here a log of reversed clicks of weight 0 leaves the curve as it is."""
    scores, q = sessions(300)
    _, other = sessions(300, seed=1)
    turned = Queries(
        np.append(q.relevance, other.relevance),
        sizes=np.append(q.sizes, other.sizes),
        position=np.append(q.position, 7 - other.position),
        weight=np.repeat([1.0, 0.0], 300),
    )
    twice = np.append(scores, scores)
    for objective in (UnbiasedLambdaRank(), UnbiasedLambdaRank(regularization=0.0)):
        for one, two in zip(objective.bias(scores, q), objective.bias(twice, turned), strict=True):
            np.testing.assert_allclose(one.values, two.values, rtol=1e-6)
    gam = PositionGAM(LambdaRank(), 0.1)
    np.testing.assert_allclose(gam.bias(scores, q), gam.bias(twice, turned), atol=1e-6)


def test_documentation_names_the_sizes_of_the_samples():
    assert f"more than {unbiased_lambdarank.SAMPLED_PAIRS:,} pairs" in " ".join(
        UnbiasedLambdaRank.__doc__.split()
    )
    assert f"more than {position_gam.SAMPLED_DOCUMENTS:,} documents" in " ".join(PositionGAM.__doc__.split())


def test_the_gam_samples_long_logs():
    scores, q = sessions(10_000)
    few, _ = sessions(2000, seed=1), None
    whole = PositionGAM(RankNet()).bias(scores, q)
    np.testing.assert_allclose(PositionGAM(RankNet()).bias(*few), whole, atol=0.25)
    np.testing.assert_array_equal(PositionGAM(RankNet()).bias(scores, q), whole)


# What all of them share

CURVE = Propensities.power(1.0, 400)
ALL = [
    InversePropensity(LambdaRank(), CURVE, clip=5.0, self_normalized=True),
    graded(propensities=CURVE),
    UnbiasedLambdaRank(),
    UnbiasedLambdaRank(CNDCG(), regularization=0.5),
    PositionGAM(LambdaRank(NDCG(k=10)), 0.1),
    PositionGAM(graded()),
    Blend(LambdaRank(), UnbiasedLambdaRank(CNDCG()), 0.3),
    Scorecard((LambdaRank(), PositionGAM(ClickTier())), (1.0, 0.5)),
    GradientStep(UnbiasedLambdaRank()),
    Scorecard((LambdaRank(), InversePropensity(ClickTier(), CURVE)), (1.0, 0.5)),
]


@pytest.mark.parametrize("objective", ALL, ids=repr)
def test_is_a_value_with_the_same_bits_for_any_number_of_threads(objective):
    assert parse(objective.text) == objective
    assert pickle.loads(pickle.dumps(objective)) == objective
    assert copy.deepcopy(objective) is objective
    assert objective.reads_positions
    scores, q = drawn.make(6, [150] * 20)
    found = []
    for threads in (1, 2, 2):
        with using(threads):
            again = Queries(q.relevance, sizes=q.sizes, clicks=q.labels["clicks"], position=q.positions)
            found.append(objective.gradient(scores, again))
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])
    grad = found[0][0].astype(np.float64)
    assert abs(grad.sum()) < 1e-4 * np.abs(grad).sum() and np.abs(grad).max() > 0


@pytest.mark.parametrize("objective", ALL, ids=repr)
def test_without_positions_it_says_so(objective):
    q = Queries([1, 0], sizes=[2], clicks=[0.5, 0.2])
    with pytest.raises(ValueError, match="no positions here: give the rank of each row"):
        objective.gradient([0.0, 1.0], q)


def test_documents_that_were_not_shown():
    q = Queries([1, 0, np.nan], sizes=[3], position=[1, 2, None])
    for objective in (
        InversePropensity(LambdaRank(), CURVE),
        UnbiasedLambdaRank(),
        PositionGAM(LambdaRank()),
    ):
        grad, _ = objective.gradient(np.zeros(3), q)
        assert grad[2] == 0 and grad[0] < 0 < grad[1]
    q = Queries([0, 1, 0], sizes=[3], position=[1, None, 2])
    for objective in (
        InversePropensity(LambdaRank(), CURVE),
        UnbiasedLambdaRank(),
        PositionGAM(LambdaRank()),
    ):
        with pytest.raises(ValueError, match=r"relevance\[1\] is 1: the row has no position"):
            objective.gradient(np.zeros(3), q)


def test_the_gam_of_an_objective_of_order_takes_labels_below_0():
    position = [1, 2, 1, 2]
    labels = np.array([-2.0, 1.0, 3.0, -1.0])
    returns, grades = (Queries(y, sizes=[2, 2], position=position) for y in (labels, labels + 2))
    gam = PositionGAM(RankNet())
    np.testing.assert_array_equal(gam.gradient(np.zeros(4), returns), gam.gradient(np.zeros(4), grades))
    with pytest.raises(ValueError, match=r"relevance\[0\] is -2: labels must be ≥ 0"):
        PositionGAM(LambdaRank()).gradient(np.zeros(4), returns)


def test_the_gam_where_no_row_was_shown_has_no_bias():
    q = Queries([np.nan, np.nan], sizes=[2], position=[None, None])
    assert PositionGAM(LambdaRank()).bias(np.zeros(2), q).size == 0


def test_positions_past_the_curve():
    q = Queries([0, 0, 1], sizes=[3], position=[1, 2, 3])
    with pytest.raises(ValueError, match="position 3 is past the curve, whose last position is 2"):
        InversePropensity(LambdaRank(), Propensities((1.0, 0.5))).gradient(np.zeros(3), q)
    InversePropensity(LambdaRank(), Propensities((1.0, 0.5, 0.2))).gradient(np.zeros(3), q)
    nobody_clicked = Queries([1, 0, 0], sizes=[3], position=[1, 2, 3])
    InversePropensity(LambdaRank(), Propensities((1.0, 0.5))).gradient(np.zeros(3), nobody_clicked)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: InversePropensity(ListNet(), CURVE), TypeError, "ListNet(), whose pairs cannot be weighted"),
        (
            lambda: InversePropensity(Blend(LambdaRank(), ClickTier(), 0.5), CURVE),
            TypeError,
            "weight the parts of a combination",
        ),
        (lambda: InversePropensity(UnbiasedLambdaRank(), CURVE), TypeError, "UnbiasedLambdaRank(), whose"),
        (lambda: InversePropensity(LambdaRank, CURVE), TypeError, "expected an objective"),
        (lambda: InversePropensity(LambdaRank(), [1, 0.5]), TypeError, "expected Propensities([1, 0.5, …])"),
        (
            lambda: InversePropensity(LambdaRank(), CURVE, clip=0.5),
            ValueError,
            "clip is 0.5: give a finite number ≥ 1",
        ),
        (
            lambda: InversePropensity(LambdaRank(), CURVE, self_normalized=1),
            TypeError,
            "expected True or False",
        ),
        (lambda: UnbiasedLambdaRank(PairAccuracy()), TypeError, "choose another measure"),
        (lambda: UnbiasedLambdaRank("ndcg"), TypeError, "metric is 'ndcg'"),
        (lambda: UnbiasedLambdaRank(regularization=-1), ValueError, "regularization is -1"),
        (lambda: PositionGAM(UnbiasedLambdaRank()), TypeError, "corrects for positions itself"),
        (lambda: PositionGAM(LambdaRank(), -1), ValueError, "regularization is -1"),
        (
            lambda: PositionGAM(Constrained(LambdaRank(), ClickTier(), reference=(0.5,))),
            ValueError,
            "cannot be a part of another objective: give its parts, and constrain the whole",
        ),
        (lambda: PositionGAM("lambdarank"), TypeError, "expected an objective"),
    ],
)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make()


@pytest.fixture(scope="module")
def log():
    X, q = web_search_log(queries=60, documents=20, features=16, seed=3)
    rng = np.random.default_rng(5)
    position = np.concatenate([rng.permutation(n) + 1 for n in q.sizes])
    clicks = rng.random(q.n_documents) < (0.1 + 0.2 * q.relevance) / position**0.7
    return X, Queries(clicks, sizes=q.sizes, position=position)


@pytest.mark.parametrize(
    "objective",
    [InversePropensity(LambdaRank(), CURVE), UnbiasedLambdaRank(), PositionGAM(LambdaRank())],
    ids=repr,
)
def test_trains_with_positions_of_the_data_set(log, objective):
    X, q = log
    data = Dataset(X, q.relevance, group=q.sizes, position=q.position)
    booster = train({"verbose": -1, "num_leaves": 7, "num_threads": 1}, data, 5, objective=objective)
    assert np.ptp(booster.predict(X)) > 0


# The engines' own

NATIVE = {"verbose": -1, "num_leaves": 7, "min_data_in_leaf": 5, "num_threads": 1, "deterministic": True}


@pytest.mark.parametrize("regularization", [0.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_of_lightgbms_position_training(log, regularization, weighted):
    X, q = log
    weight = np.random.default_rng(0).uniform(0.1, 3.0, q.n_documents) if weighted else None
    q = Queries(q.relevance, sizes=q.sizes, weight=weight, position=q.position)
    params = NATIVE | {"lambdarank_position_bias_regularization": regularization, "learning_rate": 0.2}
    data = lgb.Dataset(X, q.relevance, group=q.sizes, weight=weight, position=q.position)
    native = lgb.train(params | {"objective": "lambdarank"}, data, 20)
    bias = engine_positions.lightgbm_start(q)

    def replayed(scores, _):
        nonlocal bias
        objective = LightGBMRule()
        derivatives, bias = engine_positions.lightgbm_step(
            bias, scores, q, objective.gradient, 0.2, regularization
        )
        return derivatives

    plain = lgb.Dataset(X, q.relevance, group=q.sizes)
    own = lgb.train(params | {"objective": replayed}, plain, 20)
    assert np.abs(bias).max() > 0.01
    native_trees, own_trees = (b.dump_model()["tree_info"] for b in (native, own))
    assert json.dumps(own_trees) == json.dumps(native_trees)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, {}),
        ({"norm": False, "score_norm": False}, {}),
        ({"bias_norm": 0.5}, {"lambdarank_bias_norm": 0.5}),
    ],
    ids=str,
)
@pytest.mark.parametrize("truncation", [6, 32])
def test_rounds_of_xgboosts_unbiased_training(log, options, names, truncation):
    xgb = pytest.importorskip("xgboost", minversion="3")
    X, q = log
    order = np.lexsort((q.position, q.query_of_row))  # rows as they were shown
    X, q = X[order], Queries(q.relevance[order], sizes=q.sizes)
    data = xgb.DMatrix(X, q.relevance, qid=q.query_of_row)
    params = {"nthread": 1, "base_score": 0.0, "max_depth": 3, "eta": 0.3}
    native = xgb.train(
        {
            **params,
            "objective": "rank:ndcg",
            "lambdarank_pair_method": "topk",
            "lambdarank_num_pair_per_sample": truncation,
            "lambdarank_unbiased": True,
            "lambdarank_normalization": options.get("norm", True),
            "lambdarank_score_normalization": options.get("score_norm", True),
            **names,
        },
        data,
        15,
    )
    found = engine_positions.xgboost_start(truncation)

    def replayed(scores, _):
        nonlocal found
        derivatives, found = engine_positions.xgboost_step(found, scores, q, **options)
        return derivatives

    own = xgb.train({**params, "objective": "rank:ndcg"}, data, 15, obj=replayed)
    theirs = native.predict(data)
    assert np.abs(own.predict(data) - theirs).max() < 1e-6 * np.ptp(theirs)
    config = json.loads(native.save_config())["learner"]["objective"]
    n = min(truncation, int(q.sizes.max()))
    np.testing.assert_allclose(found[0][:n], np.ravel(config["ti+"])[:n].astype(float), rtol=1e-4)
    np.testing.assert_allclose(found[1][:n], np.ravel(config["tj-"])[:n].astype(float), rtol=1e-4)
    assert np.ptp(found[0][:n]) > 0.1
