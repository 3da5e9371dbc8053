"""Figures 2 to 6 of the 2011 paper: the arrays against slow references and by hand, the recorder, the plots."""

import math

import drawn
import naive
import numpy as np
import pytest
from hypothesis import given, settings

from experiments.svore2011.lambdas import cost_derivatives, lambda_agreement, lambda_share_by_grade
from experiments.svore2011.recorder import Recorder, agreement_column
from experiments.svore2011.top_ranks import rank_changes, top_grades
from lambdaboost import (
    CNDCG,
    NDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Linear,
    ListNet,
    Queries,
    RankNet,
    Scaled,
    Scorecard,
    SigmoidLocal,
    graded,
    iteration_dependent,
)
from lambdaboost.datasets import web_search_log
from lambdaboost.objectives import Objective

# Agreement


def test_agreement_by_hand():
    # Grades push up, down, down; clicks push nothing, up, down: the second document disagrees.
    q = Queries([1, 0, 0], sizes=[3], clicks=[0.0, 0.5, 0.25])
    tie = [0.0, 0.0, 0.0]
    assert lambda_agreement(LambdaRank(), ClickTier(), tie, q) == pytest.approx(2 / 3)
    # The other way round the first document disagrees too: one says nothing, the other does not.
    assert lambda_agreement(ClickTier(), LambdaRank(), tie, q) == pytest.approx(1 / 3)
    assert lambda_agreement(RankNet(), LambdaRank(), tie, q) == 1


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


def test_agreement_at_a_round():
    q = Queries([1, 0], sizes=[2], clicks=[0.25, 0.5])
    turning = Blend(LambdaRank(), LambdaRank(CNDCG()), Linear(0.0, 0.5))
    agreements = [lambda_agreement(LambdaRank(), turning, [0.0, 0.0], q, m) for m in (0, 2)]
    assert agreements == [1, 0]


# Shares of λ by the partner's grade


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


def lam_l(s, labels, k=None, force=naive.logistic):
    l = labels["relevance"]
    r, gains = naive.ranks(s), [naive.exponential(x) for x in l]
    return matrix_of(naive.graded_pairs(l), lambda i, j: naive.swap_ndcg(gains, r, i, j, k), force, s)


def lam_click(s, labels, within):
    c, l = labels["clicks"], labels["relevance"]
    r, gains = naive.ranks(s), [naive.click_gain(x) for x in c]
    pairs = [(i, j) for i, j in naive.graded_pairs(c) if not within or l[i] == l[j]]
    return matrix_of(pairs, lambda i, j: naive.swap_ndcg(gains, r, i, j), naive.logistic, s)


def unit(s, labels):
    return matrix_of(naive.graded_pairs(labels["relevance"]), lambda i, j: 1.0, naive.logistic, s)


SHARES = [
    (RankNet(), unit),
    (LambdaRank(), lam_l),
    (LambdaRank(NDCG(3)), lambda s, y: lam_l(s, y, 3)),
    (SigmoidLocal(), lambda s, y: lam_l(s, y, force=naive.local)),
    (GradientStep(SigmoidLocal(NDCG(5))), lambda s, y: lam_l(s, y, 5, naive.local)),
    (LambdaRank(CNDCG()), lambda s, y: lam_click(s, y, within=False)),
    (graded(0.3), lambda s, y: 0.7 * lam_l(s, y) + 0.3 * lam_click(s, y, within=True)),
    (
        Scorecard((RankNet(), ClickTier(), RankNet()), (0.5, Linear(0.0, 0.1), 0.0)),
        lambda s, y: 0.5 * unit(s, y) + 0.4 * lam_click(s, y, within=True),
    ),
    (
        iteration_dependent(Linear(0.1, 0.1)),
        lambda s, y: 0.5 * lam_l(s, y) + 0.5 * lam_l(s, y, force=naive.local),
    ),
]


@pytest.mark.parametrize(("objective", "reference"), SHARES, ids=[repr(row[0]) for row in SHARES])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("grades", [(3, 4), (0, 2), (2,)], ids=str)
def test_shares_equal_the_reference(objective, reference, seed, grades):
    scores, q = drawn.make(seed, [40, 1, 25, 7, 60], spread=2.0, decimals=[None, 1][seed], missing=seed == 1)
    got = lambda_share_by_grade(objective, scores, q, grades, iteration=4)
    expected = shares_of(reference, scores, q, grades)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, expected, atol=2e-6)
    assert got.sum() == pytest.approx(1)


def test_shares_of_the_papers_example():
    # §5.1: a perfect document at rank 1, bad ones at ranks 4 and 50; here the lists are 50 long, all else ungraded.
    grades = np.full(50, np.nan)
    grades[[0, 3, 49]] = 4, 0, 0
    scores = -np.arange(50.0)
    share = lambda_share_by_grade(LambdaRank(), scores, Queries(grades, sizes=[50]))
    np.testing.assert_allclose(share, [1, 0, 0, 0, 0])
    # With the nearer one graded 1: |ΔNDCG| is as 14 (1 − 1/log2 5) to 15 (1 − 1/log2 51), ρ 1/(1 + e³) to 1/(1 + e⁴⁹).
    grades[3] = 1
    near = 14 * (1 - 1 / math.log2(5)) / (1 + math.exp(3))
    far = 15 * (1 - 1 / math.log2(51)) / (1 + math.exp(49))
    share = lambda_share_by_grade(LambdaRank(), scores, Queries(grades, sizes=[50]))
    np.testing.assert_allclose(
        share, [far / (near + far), near / (near + far), 0, 0, 0], rtol=1e-5, atol=1e-20
    )


def test_shares_again_with_other_scores_are_not_remembered():
    scores, q = drawn.make(3, [40, 30], spread=2.0)
    first = lambda_share_by_grade(LambdaRank(), scores, q, (2,))
    lambda_share_by_grade(LambdaRank(), -scores, q, (2,))
    assert lambda_share_by_grade(LambdaRank(), scores, q, (2,)).tobytes() == first.tobytes()


def test_shares_leave_the_queries_as_they_are():
    scores, q = drawn.make(3, [40, 30], spread=2.0)
    before = [a.copy() for a in LambdaRank().gradient(scores, q)]
    lambda_share_by_grade(graded(), scores, q, (2,))
    for a, b in zip(LambdaRank().gradient(scores, q), before, strict=True):
        assert a.tobytes() == b.tobytes()


def test_no_shares_where_nothing_pulls():
    assert np.isnan(lambda_share_by_grade(LambdaRank(), [1.0, 0.0], Queries([3, 3], sizes=[2]))).all()


# Grades at the top


def test_top_grades_by_hand():
    q = Queries([0, 4, 1, 1, 2], sizes=[4, 1])
    # Ranks of the first query hold 4, 1, 1, 0; the second has one document, and counts as much.
    np.testing.assert_allclose(
        top_grades([0.0, 9.0, 5.0, 4.0, 0.0], q), [0, (2 / 3) / 2, 1 / 2, 0, (1 / 3) / 2]
    )
    np.testing.assert_allclose(top_grades([0.0, 9.0, 5.0, 4.0, 0.0], q, k=1), [0, 0, 0.5, 0, 0.5])


def test_top_grades_leave_out_what_is_not_graded():
    nan = float("nan")
    q = Queries([nan, 1, 0, nan, nan], sizes=[3, 2])
    np.testing.assert_allclose(top_grades([3.0, 2.0, 1.0, 0.0, 0.0], q, k=2), [0, 1])
    assert np.isnan(top_grades([0.0, 0.0], Queries([nan, nan], sizes=[2]))).all()


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


# Rank changes


def test_rank_changes_by_hand():
    q = Queries(np.zeros(7), sizes=[5, 2])
    before = [5.0, 4.0, 3.0, 2.0, 1.0, 2.0, 1.0]
    after = [5.0, 4.0, 2.0, 3.0, 1.0, 1.0, 2.0]  # ranks 3 and 4 change hands, and both of the second query
    assert rank_changes(before, after, q) == pytest.approx(((1 / 3 + 1) / 2, (2 / 5 + 1) / 2))
    assert rank_changes(before, after, q, k=2)[0] == pytest.approx((0 + 1) / 2)
    assert rank_changes(before, before, q) == (0, 0)


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


# Cost derivatives and schedules

O = np.array([-300.0, -5.0, -0.5, 0.0, 0.5, 5.0, 30.0])


@pytest.mark.parametrize(
    ("objective", "force"),
    [
        (RankNet(), naive.logistic),
        (RankNet(sigma=2.0), lambda o: naive.logistic(o, 2.0)),
        (LambdaRank(), naive.logistic),
        (LambdaRank(NDCG(1)), naive.logistic),
        (ClickTier(sigma=0.5), lambda o: naive.logistic(o, 0.5)),
        (SigmoidLocal(), naive.local),
        (GradientStep(SigmoidLocal(NDCG(3), center=1.5)), lambda o: naive.local(o, 1.5)),
    ],
    ids=lambda part: repr(part) if isinstance(part, Objective) else "",
)
def test_cost_derivatives(objective, force):
    expected = [force(o)[0] for o in O]
    np.testing.assert_allclose(cost_derivatives(O, objective), expected, rtol=1e-5, atol=1e-12)


def test_cost_derivatives_of_a_blend_at_a_round():
    blend = Blend(LambdaRank(), SigmoidLocal(), Linear(0.25, 0.25))
    expected = [0.25 * naive.logistic(o)[0] + 0.75 * naive.local(o)[0] for o in O]
    np.testing.assert_allclose(cost_derivatives(O, blend, iteration=2), expected, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    "objective", [ListNet(), Scorecard((RankNet(), LambdaRank()), Scaled((0.5, 0.5)))], ids=repr
)
def test_what_is_no_sum_over_pairs(objective):
    with pytest.raises(TypeError, match="not a plain sum over pairs"):
        lambda_share_by_grade(objective, [0.0, 0.0], Queries([3, 0], sizes=[2]))


# The recorder and the plots

X, Q = web_search_log(queries=40, documents=20, seed=2)
OBJECTIVE = Blend(LambdaRank(), RankNet(), Linear(0.1, 0.1))
PAIR = (LambdaRank(), ClickTier())
ROUNDS = 6


def recorder(**more):
    return Recorder(X, Q, OBJECTIVE, compare=[PAIR], sample=15, seed=1, **more)


def lightgbm():
    lgb = pytest.importorskip("lightgbm")
    params = {"objective": OBJECTIVE, "num_leaves": 6, "verbose": -1, "num_threads": 1}
    booster = lgb.train(params, lgb.Dataset(X, Q.relevance, group=Q.sizes, params={"verbose": -1}), ROUNDS)
    return booster, lambda rows, m: booster.predict(rows, num_iteration=m)


def xgboost():
    xgb = pytest.importorskip("xgboost")
    params = {"max_depth": 3, "nthread": 1, "disable_default_eval_metric": 1}
    booster = xgb.train(params, xgb.DMatrix(X, Q.relevance, group=Q.sizes), ROUNDS, obj=OBJECTIVE)
    return booster, lambda rows, m: booster.predict(xgb.DMatrix(rows), iteration_range=(0, m))


@pytest.mark.parametrize("train", [lightgbm, xgboost])
def test_every_round_is_recorded(train):
    booster, predict = train()
    r = recorder().replay(booster)
    q, frame = r.queries, r.frame()
    assert q.n_queries == 15 and frame.index.tolist() == list(range(ROUNDS)) and frame.index.name == "round"
    for m, row in frame.iterrows():
        before = predict(r.features, m) if m else np.zeros(q.n_documents)
        after = predict(r.features, m + 1)
        assert row[agreement_column(*PAIR)] == pytest.approx(lambda_agreement(*PAIR, before, q, m), abs=0.02)
        shares = lambda_share_by_grade(OBJECTIVE, before, q, iteration=m)
        np.testing.assert_allclose([row[f"share_{v}"] for v in range(5)], shares, atol=0.01)
        np.testing.assert_allclose([row[f"top_{v}"] for v in range(5)], top_grades(after, q), atol=0.03)
        changes = rank_changes(before, after, q)
        assert (row["changed_top"], row["changed_full"]) == pytest.approx(changes, abs=0.03)
        assert row["NDCG(k=3)"] == pytest.approx(NDCG(3)(after, q), abs=0.02)
    some = recorder(every=3).replay(booster).frame()
    np.testing.assert_array_equal(some, frame.loc[[0, 3]])
    np.testing.assert_array_equal(r.replay(booster).frame(), frame)


@pytest.fixture
def plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from experiments.svore2011 import plots

    yield plots
    plt.close("all")


def test_plots_of_what_was_recorded(plots):
    frame = recorder().replay(lightgbm()[0]).frame()
    for plot, prefix, labels in (
        (plots.plot_agreement, "agreement of ", [agreement_column(*PAIR)]),
        (plots.plot_lambda_shares, "share_", [f"partners of grade {v}" for v in range(5)]),
        (plots.plot_top_grades, "top_", [f"grade {v}" for v in range(5)]),
        (plots.plot_rank_changes, "changed_", ["top ranks", "all ranks"]),
    ):
        ax = plot(frame)
        assert [text.get_text() for text in ax.get_legend().get_texts()] == labels
        assert ax.get_xlabel() == "Boosting round" and "(%)" in ax.get_ylabel() and ax.get_ylim()[0] == 0
        names = [name for name in frame if name.startswith(prefix)]
        drawn = [line.get_ydata() for line in ax.lines]
        np.testing.assert_allclose(np.transpose(drawn), 100 * frame[names])
    assert len(plots.pictures(frame, "a")) == 4


def test_plots_of_objectives_and_schedules(plots):
    costs = plots.plot_cost_derivatives({"L": RankNet(), "λ^S": iteration_dependent(0.99)})
    assert len(costs.lines) == 2 and costs.lines[0].get_ydata()[120] == 0.5
    weights = plots.plot_schedules({"linear": Linear(0.1, 0.1)}, 4).lines[0].get_ydata()
    assert weights.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
