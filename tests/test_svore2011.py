"""The 2011 paper: its figures against slow references, MART's trees worked by hand, the protocol on tiny data."""

from dataclasses import replace

import drawn
import lightgbm as lgb
import naive
import numpy as np
import pytest
from hypothesis import given, settings

pytest.importorskip("matplotlib")

from experiments.common.data import synthetic
from experiments.svore2011.lambdas import lambda_agreement, lambda_share_by_grade
from experiments.svore2011.mart import train_mart
from experiments.svore2011.protocol import run_protocol
from experiments.svore2011.recorder import agreement_column, record, sampled
from experiments.svore2011.report import write_report
from experiments.svore2011.settings import NEWTON, Grid, Setting
from experiments.svore2011.top_ranks import rank_changes, top_grades
from lambdaboost import (
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    graded,
)
from lambdaboost.datasets import web_search_log

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(3))
def test_agreement_equals_the_reference(seed):
    scores, q = drawn.make(seed, [40, 1, 25, 60], missing=seed == 1)
    same = []
    for rows, labels in drawn.rows(q):
        one, _ = naive.lambdarank(scores[rows], labels["relevance"])
        two, _ = naive.click_tier(scores[rows], labels["clicks"], [labels["relevance"]])
        same += [np.sign(a) == np.sign(b) or b == 0 for a, b in zip(one, two, strict=True)]
    assert lambda_agreement(LambdaRank(), ClickTier(), scores, q) == np.mean(same)
    assert 0.3 < np.mean(same) < 1


def shares_of(pair_lambda, scores, q, grades):
    """Eq. 11 as it stands: one loop over all ordered pairs."""
    highest = int(np.nanmax(q.relevance))
    shares = []
    for rows, labels in drawn.rows(q):
        s, l = scores[rows], labels["relevance"]
        matrix = pair_lambda(s, labels)
        for j in range(len(s)):
            if l[j] not in grades:
                continue
            by_grade = [
                abs(sum(matrix[j, k] for k in range(len(s)) if l[k] == v)) for v in range(highest + 1)
            ]
            if sum(by_grade) > 0:
                shares.append(np.array(by_grade) / sum(by_grade))
    return np.mean(shares, axis=0) if shares else np.full(highest + 1, np.nan)


def matrix_of(pairs, weight, force, s):
    """λ_jk of every ordered pair."""
    matrix = np.zeros((len(s), len(s)))
    for i, j in pairs:
        lam = weight(i, j) * force(s[i] - s[j])[0]
        matrix[i, j] += lam
        matrix[j, i] -= lam
    return matrix


def lam_l(s, labels):
    l = labels["relevance"]
    r, gains = naive.ranks(s), [naive.exponential(x) for x in l]
    swap = lambda i, j: naive.swap_ndcg(gains, r, i, j)  # noqa: E731
    return matrix_of(naive.graded_pairs(l), swap, naive.logistic, s)


@pytest.mark.parametrize(("seed", "grades"), [(0, (3, 4)), (1, (0, 2)), (1, (2,))], ids=str)
def test_shares_equal_the_reference(seed, grades):
    scores, q = drawn.make(seed, [40, 1, 25, 7, 60], spread=2.0, decimals=[None, 1][seed], missing=seed == 1)
    got = lambda_share_by_grade(scores, q, grades)
    np.testing.assert_allclose(got, shares_of(lam_l, scores, q, grades), rtol=1e-9)
    assert got.sum() == pytest.approx(1)


@settings(deadline=None, max_examples=30)
@given(case=drawn.query_sets())
def test_top_grades_equal_the_reference(case):
    scores, q = case
    q = Queries(np.round(q.relevance), q.sizes)
    n = 1 + int(np.nan_to_num(q.relevance).max())
    for k in (1, 3, 50):
        parts = []
        for rows, labels in drawn.rows(q):
            r = naive.ranks(scores[rows])
            held = [l for l, rank in zip(labels["relevance"], r, strict=True) if rank <= k and l == l]
            if held:
                parts.append([held.count(v) / len(held) for v in range(n)])
        expected = np.mean(parts, axis=0) if parts else np.full(n, np.nan)
        np.testing.assert_allclose(top_grades(scores, q, k), expected, atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(case=drawn.query_sets())
def test_rank_changes_equal_the_reference(case):
    before, q = case
    after = before + np.random.default_rng(0).normal(size=before.size).round(1)
    tops, fulls = [], []
    for rows, _ in drawn.rows(q):
        one, two = naive.ranks(before[rows]), naive.ranks(after[rows])
        holder = [(one.index(r), two.index(r)) for r in range(1, len(one) + 1)]
        tops.append(np.mean([a != b for a, b in holder[:3]]))
        fulls.append(np.mean([a != b for a, b in holder]))
    assert rank_changes(before, after, q) == pytest.approx((np.mean(tops), np.mean(fulls)))


X, Q = web_search_log(queries=40, documents=20, seed=2)


# The recorder and the plots


def test_every_round_is_recorded_and_drawn():
    params = {"objective": LambdaRank(), "num_leaves": 6, "verbose": -1, "num_threads": 1}
    booster, other = lgb.train(params, data(Q), 6), ClickTier()
    features, q = sampled(X, Q, 15, 1)
    frame = record(booster, features, q, [other], (3, 4))
    assert q.n_queries == 15 and frame.index.tolist() == list(range(6)) and frame.index.name == "round"
    for m, row in frame.iterrows():
        before = booster.predict(features, num_iteration=m) if m else np.zeros(q.n_documents)
        after = booster.predict(features, num_iteration=m + 1)
        agreement = lambda_agreement(LambdaRank(), other, before, q)
        assert row[agreement_column(other)] == pytest.approx(agreement, abs=0.02)
        shares = lambda_share_by_grade(before, q)
        np.testing.assert_allclose([row[f"share_{v}"] for v in range(5)], shares, atol=0.01)
        np.testing.assert_allclose([row[f"top_{v}"] for v in range(5)], top_grades(after, q), atol=0.03)
        changes = rank_changes(before, after, q)
        assert (row["changed_top"], row["changed_full"]) == pytest.approx(changes, abs=0.03)
        assert row["NDCG(k=3)"] == pytest.approx(NDCG(3)(after, q), abs=0.02)
    some = record(booster, features, q, [other], (3, 4), every=3)
    np.testing.assert_array_equal(some, frame.loc[[0, 3]])
    from matplotlib.figure import Figure

    from experiments.svore2011 import plots

    for prefix in plots.RECORDED:
        axes = Figure().subplots()
        plots.plot_recorded(axes, prefix, frame)
        names = [name for name in frame if name.startswith(prefix)]
        np.testing.assert_allclose([line.get_ydata() for line in axes.lines], 100 * frame[names].T)


# MART

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
    pytest.importorskip("matplotlib")
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
