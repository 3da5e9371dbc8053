"""The 2011 paper: MART's trees worked by hand, and the protocol on tiny data."""

from dataclasses import replace

import lightgbm as lgb
import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.common.data import synthetic
from experiments.svore2011.mart import train_mart
from experiments.svore2011.protocol import run_protocol
from experiments.svore2011.report import write_report
from experiments.svore2011.settings import NEWTON, Grid, Setting
from lambdaboost import NDCG, Blend, GradientStep, LambdaRank, Queries, RankNet, graded
from lambdaboost.datasets import web_search_log

pytestmark = pytest.mark.slow


# MART

X, Q = web_search_log(queries=40, documents=20, seed=2)

TREES = {"num_leaves": 7, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1}


def data(q):
    return lgb.Dataset(X, q.relevance, group=q.sizes, weight=q.weight, params={"verbose": -1})


def structure(booster):
    """The splits of the first tree."""
    text = booster.model_to_string(num_iteration=1)
    kept = ("split_feature=", "threshold=", "left_child=", "right_child=", "leaf_count=")
    return [line for line in text.splitlines() if line.startswith(kept)]


@pytest.mark.parametrize("objective", [graded(0.3), Blend(LambdaRank(), RankNet(2.0), lambda m: m / 6)])
@pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2.0, 40)], ids=["even", "weighted"])
def test_every_leaf_is_newtons_at_the_scores_of_its_round(objective, weight):
    q = Queries(Q.relevance, Q.sizes, weight=weight, clicks=Q.labels["clicks"])
    booster = train_mart(TREES, data(q), X, q, objective, 6, 0.3, 0.01)
    before = np.zeros(len(X))
    for m, leaf in enumerate(booster.predict(X, pred_leaf=True).T):
        after = booster.predict(X, num_iteration=m + 1)
        grad, hess = objective.gradient(before, q, m)
        expected = -0.3 * np.bincount(leaf, grad) / (np.maximum(np.bincount(leaf, hess), 1e-300) + 0.01)
        np.testing.assert_allclose(after - before, expected[leaf], rtol=1e-4, atol=1e-5)
        before = after


def test_splits_are_least_squares():
    """The first tree has the splits of a stock training whose hessian is 1."""
    step = GradientStep(LambdaRank(), normalize="none")
    plain = lgb.train(TREES | {"objective": step, "lambda_l2": 0.01}, data(Q), 1)
    ours, other = (train_mart(TREES, data(Q), X, Q, one, 1, 0.3, 0.01) for one in (LambdaRank(), RankNet()))
    assert structure(ours) == structure(plain) != structure(other)


# The protocol

TINY = Grid((0.1, 0.3), (5, 15), (0.3,), (0.25,), (100.0,), (0.01,), reused=1)


SETTING = Setting(8, 3, 4, 0)


@pytest.fixture(scope="module")
def log():
    return synthetic(40, 15)


@pytest.fixture(scope="module")
def results(log):
    return run_protocol(log, SETTING, TINY, 1)


def test_everything_is_written(results, tmp_path):
    write_report(results, tmp_path)
    figures = {f"figure_{n}.png" for n in range(2, 8)}
    assert {path.name for path in tmp_path.iterdir()} == {"report.md", *figures}
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    for said in ("## Table 1", "## Table 2", "## What holds here", "cascade", "16 test queries"):
        assert said in report


def test_two_workers_give_the_same_bits_and_selection_sees_no_test_label(results, log):
    test, q = log.parts["test"], log.parts["test"].queries
    others = {name: labels[::-1] for name, labels in q.labels.items() if name != "relevance"}
    turned = replace(test, queries=Queries(q.relevance[::-1], q.sizes, **others))
    found = run_protocol(replace(log, parts={**log.parts, "test": turned}), SETTING, TINY, 2)
    for system in results.systems:
        (trial, one), (same, two) = (r.selected(system.name, log.folds[0]) for r in (results, found))
        assert trial == same
        np.testing.assert_array_equal(one.valid, two.valid)
        np.testing.assert_array_equal(one.test_scores, two.test_scores)
    assert found.figures[NEWTON][NDCG(3)].mean() != results.figures[NEWTON][NDCG(3)].mean()
