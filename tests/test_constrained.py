"""`Constrained`: one measure is kept near that of its own model, others rise."""

import lightgbm as lgb
import numpy as np
import on_lightgbm
import on_xgboost
import pytest
from lightgbm_data import PARAMS, Q, X, dataset

from lambdaboost import (
    CNDCG,
    NDCG,
    Constrained,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    Scaled,
    Scorecard,
    SigmoidLocal,
)
from lambdaboost.datasets import web_search_log
from lambdaboost.traps import refuse_sums_over_all

GRADES, CLICKS = LambdaRank(NDCG(5)), LambdaRank(CNDCG(5))
KEPT = Constrained(GRADES, CLICKS, keep=0.02, reference=(0.5,) * 40)
XGB_PARAMS = {"max_depth": 3, "nthread": 1, "min_child_weight": 0}


def matrix(X, q):
    return on_xgboost.dataset(X, q.relevance, qid=q.query_of_row, sources={"clicks": q.labels["clicks"]})


ENGINE = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


def train(engine, objective, rounds=12, **more):
    if engine == "lightgbm":
        return on_lightgbm.train(PARAMS, dataset(), rounds, objective=objective, **more)
    return on_xgboost.train(XGB_PARAMS, matrix(X, Q), rounds, objective=objective, **more)


def own_curve(engine, rounds=12, **more):
    """The measure after each round of the grades alone, over queries with grades, by the engine's own record."""
    history, kept = {}, NDCG(5, empty=float("nan"))
    if engine == "lightgbm":
        data, record = dataset(), [lgb.record_evaluation(history)]
        on_lightgbm.train(
            PARAMS, data, rounds, objective=GRADES, valid_sets=[data], feval=kept, callbacks=record, **more
        )
    else:
        data = matrix(X, Q)
        on_xgboost.train(
            XGB_PARAMS, data, rounds, objective=GRADES, evals=[(data, "training")], custom_metric=kept,
            evals_result=history, verbose_eval=False, **more,
        )  # fmt: skip
    (curve,) = history["training"].values()
    return tuple(curve)


# The weight.


def test_the_weight_is_a_ramp_of_the_shortfall():
    q = Queries([0, 1], sizes=[2], clicks=[0.5, 0.0])
    low, high = np.array([1.0, 0.0]), np.array([0.0, 1.0])  # NDCG 1/log2(3) and 1
    z = 1 / np.log2(3)
    for shortfall, w in ((-0.1, 0.0), (0.0, 0.0), (0.005, 0.5), (0.0075, 0.75), (0.01, 1.0), (0.3, 1.0)):
        objective = Constrained(LambdaRank(), CLICKS, keep=0.02, reference=(z + shortfall,) * 5)
        assert objective.weight(low, q, 3) == pytest.approx(w, abs=1e-9)
        assert objective.weight(high, q, 3) == 0.0


def test_what_parts_are_flows_through():
    assert Constrained(GRADES, SigmoidLocal(), reference=(0.5,)).curvature_changes_sign
    assert KEPT.sources == ("relevance", "clicks") and KEPT.measure == NDCG(5)
    assert not KEPT.allows_negative and Constrained(RankNet(), RankNet(), reference=(0.5,)).allows_negative
    assert KEPT.kept == NDCG(5, empty=float("nan"))


# The reference.


def test_stock_engines_take_a_reference():
    data = dataset()
    params = {"metric": "None", "verbose": -1}
    params["objective"] = Constrained(GRADES, CLICKS, reference=own_curve("lightgbm"))
    assert lgb.train(params, data, 3).num_trees() == 3
    params["objective"] = Constrained(GRADES, CLICKS, reference=(0.5, 0.6))
    with pytest.raises(ValueError, match="after each of 2 rounds, and this training has more"):
        lgb.train(params, data, 3)


# It keeps what it promises.


def test_the_primary_measure_stays_and_the_other_rises():
    """On held-out queries; protocol and sizes were settled before the first run."""
    log, held_out = web_search_log(200, 30, seed=11).shuffled(0), web_search_log(400, 30, seed=12)
    q, found = log.queries, {}
    grades, clicks = NDCG(10), CNDCG(10)
    history = {}
    for constrained in (False, True):
        objective = LambdaRank(grades)
        if constrained:
            (reference,) = history["training"].values()
            objective = Constrained(objective, LambdaRank(clicks), keep=0.01, reference=reference)
        data = on_lightgbm.dataset(
            log.features, q.relevance, group=q.sizes, sources={"clicks": q.labels["clicks"]}
        )
        params = {"num_leaves": 15, "verbose": -1, "num_threads": 1, "min_data_in_leaf": 100}
        booster = on_lightgbm.train(
            params, data, 60, objective=GradientStep(objective), valid_sets=[data],
            feval=NDCG(10, empty=float("nan")), callbacks=[lgb.record_evaluation(history)],
        )  # fmt: skip
        scores = booster.predict(held_out.features)
        found[type(objective)] = [measure(scores, held_out.queries) for measure in (grades, clicks)]
    (ndcg, cndcg), (kept, raised) = found.values()
    assert kept >= ndcg - 0.01 and raised >= cndcg + 0.005, found


# Newton steps and queries without labels.


def test_steps_towards_the_others_do_not_undo_the_primary():
    """Conflicting sources; a tree after a round without weight on the primary cost up to 0.18 of NDCG."""
    rng = np.random.default_rng(0)
    sizes, rows = np.full(300, 12), 3600
    features = rng.normal(size=(rows, 6))
    grades = np.clip(np.round(1 + features[:, 0] + 0.6 * features[:, 1] + 0.7 * rng.normal(size=rows)), 0, 4)
    clicks = 1 / (1 + np.exp(-(1.5 * features[:, 2] - 0.4 * features[:, 0] + 0.5 * rng.normal(size=rows))))
    data = on_xgboost.dataset(features, grades, group=sizes, sources={"clicks": clicks})
    curves = []
    for objective in (GRADES, None):
        objective = objective or Constrained(GRADES, CLICKS, keep=0.005, reference=curves[0])
        history = {}
        on_xgboost.train(
            {"max_depth": 4, "eta": 0.3, "nthread": 1}, data, 60, objective=objective,
            evals=[(data, "training")], custom_metric=NDCG(5), evals_result=history, verbose_eval=False,
        )  # fmt: skip
        curves.append(np.array(history["training"]["ndcg@5"]))
    shortfall = (curves[0] - curves[1])[20:]
    assert shortfall.max() < 0.02, shortfall


def test_queries_without_labels_do_not_dilute():
    """Two queries of grades among eight: the ramp is that of the two alone."""
    labels, clicks = [0, 1] * 2 + [np.nan] * 12, [0.5, 0.0] * 8
    q, few = (
        Queries(labels, sizes=[2] * 8, clicks=clicks),
        Queries(labels[:4], sizes=[2] * 2, clicks=clicks[:4]),
    )
    low, z = np.array([1.0, 0.0] * 8), 1 / np.log2(3)
    objective = Constrained(LambdaRank(), CLICKS, keep=0.02, reference=(z + 0.005,) * 3)
    assert objective.weight(low, q, 2) == objective.weight(low[:4], few, 2) == pytest.approx(0.5)
    assert objective.kept(low, q) == pytest.approx(z)


# What is refused.


@ENGINE
def test_a_primary_without_labels_is_refused_before_the_training(engine):
    zeros = Queries(0 * Q.relevance, Q.sizes, clicks=Q.labels["clicks"])
    message = r"primary: NDCG\(k=5\) is defined on no query of the training data"
    with pytest.raises(ValueError, match=message):
        if engine == "lightgbm":
            sources = {"clicks": zeros.labels["clicks"]}
            data = on_lightgbm.dataset(X, zeros.relevance, group=zeros.sizes, sources=sources)
            on_lightgbm.train(PARAMS, data, 3, objective=KEPT)
        else:
            on_xgboost.train(XGB_PARAMS, matrix(X, zeros), 3, objective=KEPT)


@pytest.mark.parametrize("objective", [KEPT, GradientStep(KEPT), Scorecard((GRADES, CLICKS), Scaled((1, 1)))])
def test_clusters_refuse_weights_from_all_queries(objective):
    with pytest.raises(ValueError, match="no worker has all of them: give fixed weights"):
        refuse_sums_over_all(objective)
