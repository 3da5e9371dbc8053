"""Every way to get an objective wrong, once: a clear error before anything is trained."""

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from lambdaboost import (
    AUC,
    CNDCG,
    ERR,
    MAP,
    NDCG,
    ApproxNDCG,
    Blend,
    BPref,
    ClickTier,
    Constant,
    Exponential,
    GradientStep,
    GumbelRanks,
    KendallTau,
    LambdaRank,
    Linear,
    Queries,
    RankNet,
    Recall,
    Scorecard,
    SigmoidLocal,
    graded,
)
from lambdaboost.objectives import parse
from lambdaboost.objectives.kernels.pair_rule import PairRule

Q = Queries([0, 1, 2], sizes=[3], clicks=[0.0, 0.5, 1.0], raw=[0, 7, 3])


@pytest.mark.parametrize(
    ("error", "message", "make"),
    [
        (ValueError, "sigma is 0: give a finite number > 0", lambda: RankNet(sigma=0)),
        (ValueError, "sigma is nan", lambda: LambdaRank(sigma=float("nan"))),
        (TypeError, "sigma is '1': give a number", lambda: LambdaRank(sigma="1")),
        (ValueError, "sigma is 1e.200: give .* ≤ 1e.15", lambda: LambdaRank(sigma=1e200)),
        (ValueError, "alpha is 1e.200: give .* ≤ 1e.15", lambda: ApproxNDCG(alpha=1e200)),
        (
            TypeError,
            r"metric is Recall\(k=3\), .* one of NDCG, CNDCG, WTA, Precision, MAP, MRR, ERR, PairAccuracy",
            lambda: LambdaRank(Recall(3)),
        ),
        (TypeError, r"metric is BPref\(\), .* one of NDCG", lambda: LambdaRank(BPref())),
        (TypeError, r"metric is AUC\(\), .* one of NDCG", lambda: LambdaRank(AUC())),
        (TypeError, r"metric is KendallTau\(\), .* one of NDCG", lambda: SigmoidLocal(KendallTau())),
        (TypeError, "metric is 'NDCG', expected a measure", lambda: SigmoidLocal("NDCG")),
        (TypeError, "expected a measure of the DCG family", lambda: ClickTier(MAP())),
        (ValueError, "k is 0", lambda: LambdaRank(NDCG(k=0))),
        (ValueError, "center is inf", lambda: SigmoidLocal(center=float("inf"))),
        (TypeError, "within is 'relevance': give a tuple", lambda: ClickTier(within="relevance")),
        (ValueError, "is also in within", lambda: ClickTier(source="relevance")),
        (ValueError, "zeros is 'nan', expected one of label, missing", lambda: ClickTier(zeros="nan")),
        (ValueError, "zeros is 0, expected one of label, missing", lambda: graded(zeros=0)),
        (TypeError, "second is 3, expected an objective", lambda: Blend(LambdaRank(), 3, 0.1)),
        (ValueError, "weight is 1.5", lambda: Blend(LambdaRank(), RankNet(), 1.5)),
        (ValueError, "weight is -0.1", lambda: graded(-0.1)),
        (TypeError, "objective is None", lambda: GradientStep(None)),
        (ValueError, "normalize is 'row'", lambda: GradientStep(RankNet(), normalize="row")),
        (ValueError, "2 objectives but 1 weights", lambda: Scorecard((RankNet(), LambdaRank()), (1.0,))),
        (ValueError, "objectives is empty", lambda: Scorecard((), ())),
        (TypeError, r"objectives is LambdaRank\(\): give a tuple", lambda: Scorecard(LambdaRank(), (1.0,))),
        (
            TypeError,
            "weights is 0.5: give a tuple such as .*Scaled",
            lambda: Scorecard((LambdaRank(),), 0.5),
        ),
        (TypeError, r"within is None: give a tuple such as \('relevance',\)", lambda: ClickTier(within=None)),
        (TypeError, "within is 3: give a tuple", lambda: ClickTier(within=3)),
        (
            TypeError,
            r"objective is RankNet\(\), expected one whose pair weights depend on ranks",
            lambda: GumbelRanks(RankNet()),
        ),
        (ValueError, r"weights\[0\] is -1", lambda: Scorecard((RankNet(),), (-1,))),
        (TypeError, r"objectives\[0\] is 'x'", lambda: Scorecard(("x",), (1,))),
        (ValueError, "w is 2", lambda: Constant(2)),
        (ValueError, "start is -1", lambda: Linear(-1, 0.1)),
        (ValueError, "rate is nan", lambda: Linear(0.1, float("nan"))),
        (ValueError, "rate is -3", lambda: Exponential(0.1, -3)),
        (
            ValueError,
            r"'Lambda' is unknown \(did you mean LambdaRank\?\); choose among",
            lambda: parse("Lambda()"),
        ),
        (ValueError, "not an objective", lambda: parse("NDCG(k=3)")),
        (ValueError, "cannot read", lambda: parse("LambdaRank(")),
        (ValueError, "cannot read", lambda: parse("__import__('os').system('true')")),
        (ValueError, "the form is LambdaRank", lambda: parse("LambdaRank(speed=3)")),
        (
            ValueError,
            "reads 'relevance', but pairs differ in 'clicks': give a measure of that source",
            lambda: PairRule("clicks", NDCG()),
        ),
    ],
)
def test_wrong_values(error, message, make):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "LambdaRank(" + "9" * 10_000_000 + ")",
        "\x1b[31mred",
        "LambdaRank(k={0})",
        " \u2003 ",
    ],
    ids=["long name", "long value", "escapes", "braces", "blanks"],
)
def test_a_text_that_is_no_objective_is_shown_safely_and_shortly(text):
    with pytest.raises(ValueError) as error:
        parse(text)
    assert str(error.value).isprintable() and len(str(error.value)) < 500


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ValueError, r"scores has shape \(2,\), expected \(3,\)", lambda: LambdaRank().gradient([0, 1], Q)),
        (ValueError, r"scores\[1\] is nan", lambda: LambdaRank().gradient([0, np.nan, 1], Q)),
        (ValueError, r"scores\[2\] is inf", lambda: LambdaRank().gradient([0, 1, np.inf], Q)),
        (ValueError, "iteration is -1", lambda: LambdaRank().gradient([0, 1, 2], Q, iteration=-1)),
        (ValueError, "iteration is 1.5", lambda: LambdaRank().gradient([0, 1, 2], Q, iteration=1.5)),
        (TypeError, "q is list", lambda: LambdaRank().gradient([0, 1, 2], [0, 1, 2])),
        (ValueError, "no label source 'fresh'", lambda: ClickTier(source="fresh").gradient([0, 1, 2], Q)),
        (ValueError, r"must lie in \[0, 1\]", lambda: ClickTier(source="raw").gradient([0, 1, 2], Q)),
        (
            ValueError,
            r"relevance\[2\] is 2: above max_grade=1",
            lambda: LambdaRank(ERR(max_grade=1)).gradient([0, 1, 2], Q),
        ),
        (ValueError, r"must lie in \[0, 1\]", lambda: LambdaRank(CNDCG(source="raw")).gradient([0, 1, 2], Q)),
        (
            ValueError,
            "gives nan at round 4",
            lambda: Blend(RankNet(), LambdaRank(), lambda m: float("nan")).gradient(
                [0, 1, 2], Q, iteration=4
            ),
        ),
        (
            ValueError,
            r"expected a number in \[0, 1\]",
            lambda: Blend(RankNet(), LambdaRank(), lambda m: 1.1).gradient([0, 1, 2], Q),
        ),
        (
            ValueError,
            "gains? .* overflows|its gain 2",
            lambda: LambdaRank().gradient([0, 1], Queries([0, 1024], sizes=[2])),
        ),
    ],
)
def test_wrong_calls(error, message, call):
    with pytest.raises(error, match=message):
        call()


X = np.random.default_rng(0).normal(size=(90, 2))
GRADES = [0, 1, 2] * 30


@pytest.mark.parametrize("objective", [SigmoidLocal(), Blend(LambdaRank(), SigmoidLocal(), 0.1)], ids=repr)
def test_a_curvature_that_changes_sign_is_refused_on_both_engines(objective):
    with pytest.raises(ValueError, match="train with GradientStep"):
        lgb.train({"objective": objective, "verbose": -1}, lgb.Dataset(X, GRADES, group=[45, 45]))
    with pytest.raises(ValueError, match="train with GradientStep"):
        xgb.train({}, xgb.DMatrix(X, GRADES, qid=[1] * 45 + [2] * 45), obj=objective)


def test_data_sets_without_groups():
    with pytest.raises(ValueError, match=r"lightgbm\.Dataset has no groups"):
        lgb.train({"objective": LambdaRank(), "verbose": -1}, lgb.Dataset(X, GRADES))
    with pytest.raises(ValueError, match=r"xgboost\.DMatrix has no groups"):
        xgb.train({}, xgb.DMatrix(X, GRADES), obj=LambdaRank())
    with pytest.raises(ValueError, match="group is missing: pass group="):
        LambdaRank()(np.zeros(3), np.zeros(3), None, None)


def test_data_sets_without_the_source():
    with pytest.raises(ValueError, match="reads the label source 'clicks'"):
        lgb.train({"objective": graded(), "verbose": -1}, lgb.Dataset(X, GRADES, group=[45, 45]))
    with pytest.raises(ValueError, match="reads the label source 'clicks'"):
        xgb.train({}, xgb.DMatrix(X, GRADES, qid=[1] * 45 + [2] * 45), obj=graded())
