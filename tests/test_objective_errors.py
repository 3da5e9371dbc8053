"""Every way to get an objective wrong, once: a clear error before anything is trained."""

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from lambdaboost import (
    AUC,
    CNDCG,
    ERR,
    MAP,
    NDCG,
    XENDCG,
    ApproxNDCG,
    Blend,
    ClickTier,
    Exponential,
    GradientStep,
    InversePropensity,
    LambdaLoss,
    LambdaRank,
    Linear,
    ListNet,
    PairAccuracy,
    Propensities,
    Queries,
    RankNet,
    Scorecard,
    SigmoidLocal,
    YetiLoss,
    graded,
)
from lambdaboost.lightgbm import LambdaRanker
from lambdaboost.objectives import Needs, parse
from lambdaboost.objectives.kernels.pair_rule import PairRule

TWO = (LambdaRank(), ClickTier())
CURVE = Propensities((1.0, 0.5))
INVERSE = InversePropensity(LambdaRank(), CURVE)


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("sigma is 0.0: give a finite number > 0", lambda: RankNet(sigma=0)),
        ("sigma is 1e.200: give .* ≤ 1e.15", lambda: LambdaRank(sigma=1e200)),
        (r"metric is AUC\(\), .* one of NDCG, CNDCG, Precision, .*MAP", lambda: LambdaRank(AUC())),
        (r"metric is AUC\(\), .* one of NDCG", lambda: SigmoidLocal(AUC())),
        ("metric is <class .*expected a measure", lambda: LambdaRank(NDCG)),
        ("center is inf", lambda: SigmoidLocal(center=float("inf"))),
        ("metric is MAP.*, expected a measure of the DCG family", lambda: ClickTier(MAP())),
        (r"within is 'relevance': give a tuple such as \('relevance',\)", lambda: ClickTier(within="relevance")),
        ("is also in within", lambda: ClickTier(source="relevance")),
        ("not the source 'clicks': give source='buys', or", lambda: ClickTier(CNDCG(source="buys"))),
        (r"metric=CNDCG\(k=3, source='sales'\)", lambda: ClickTier(CNDCG(k=3), "sales")),
        ("reads 'relevance', not the source 'clicks': leave metric out", lambda: ClickTier(NDCG())),
        ("zeros is 'nan', expected one of label, missing", lambda: ClickTier(zeros="nan")),
        ("reads 'relevance', but pairs differ in 'clicks': give a measure", lambda: PairRule("clicks", NDCG())),
        ("counts all pairs of 'relevance'", lambda: PairRule("relevance", PairAccuracy(), within=("clicks",))),
        # Lists.
        ("scheme is '3', expected one of 1, 2, 2", lambda: LambdaLoss(scheme="3")),
        (r"distance_weight=1\.0 belongs to scheme='2\+\+'", lambda: LambdaLoss(scheme="2", distance_weight=1.0)),
        (r"metric is NDCG\(k=3\): scheme='1' has no cutoff", lambda: LambdaLoss(NDCG(k=3), "1")),
        (r"metric is NDCG\(k=3\): approximate ranks have no cutoff", lambda: ApproxNDCG(NDCG(k=3))),
        (r"metric is NDCG\(k=3\): shares of a softmax have no cutoff", lambda: XENDCG(NDCG(k=3))),
        ("seed is True: give a whole number", lambda: XENDCG(seed=True)),
        # Combinations.
        ("second is 3, expected an objective", lambda: Blend(LambdaRank(), 3, 0.1)),
        ("weight is -0.1", lambda: graded(-0.1)),
        ("start is -1", lambda: Linear(-1, 0.1)),
        ("rate is -3", lambda: Exponential(0.1, -3)),
        ("2 objectives but 1 weights", lambda: Scorecard(TWO, (1.0,))),
        (r"objectives is LambdaRank\(\): give a tuple", lambda: Scorecard(LambdaRank(), (1.0,))),
        ("weights is 0.5: give a tuple such as", lambda: Scorecard((LambdaRank(),), 0.5)),
        ("sources is 'clicks': give a tuple such as", lambda: Needs("clicks")),
        # Wrappers.
        ("normalize is 'row'", lambda: GradientStep(RankNet(), normalize="row")),
        ("whose swaps count all pairs alike", lambda: YetiLoss(PairAccuracy())),
        ("beta is -1.0: give a finite number ≥ 0 and ≤ 1e.15", lambda: YetiLoss(beta=-1)),
        ("beta is 1e.39", lambda: YetiLoss(beta=1e39)),  # whose noise would be infinite as float32
        ("draws is 0: give a whole number ≥ 1", lambda: YetiLoss(draws=0)),
        ("seed is 1099511627776: give a whole number from 0 to 2147483647$", lambda: YetiLoss(seed=2**40)),
        (r"ListNet\(\), whose pairs cannot be weighted", lambda: InversePropensity(ListNet(), CURVE)),
        ("weight the parts of a combination", lambda: InversePropensity(Blend(*TWO, 0.5), CURVE)),
        (r"expected Propensities\(\[1, 0.5, …\]\)", lambda: InversePropensity(LambdaRank(), [1, 0.5])),
        ("clip is 0.5: give a finite number ≥ 1", lambda: InversePropensity(LambdaRank(), CURVE, clip=0.5)),
        # Texts.
        (r"'Lambda' is unknown \(did you mean LambdaRank\?\); choose among", lambda: parse("Lambda()")),
        ("not an objective", lambda: parse("NDCG(k=3)")),
        ("cannot read", lambda: parse("__import__('os').system('true')")),
        ("the form is LambdaRank", lambda: parse("LambdaRank(speed=3)")),
    ],
)  # fmt: skip
def test_wrong_values(message, make):
    with pytest.raises((TypeError, ValueError), match=message):
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


Q = Queries([0, 1, 2], sizes=[3], clicks=[0.0, 0.5, 1.0], raw=[0, 7, 3])
S = [0.0, 1.0, 2.0]


def test_rows_without_a_click_need_no_position_on_the_curve():
    grad, _ = INVERSE.gradient(np.zeros(4), Queries([1, 0, np.nan, 0], sizes=[4], position=[1, 2, None, 3]))
    assert grad[2] == 0 and grad[0] < 0 < grad[1]


def blend(weight):
    return Blend(RankNet(), LambdaRank(), lambda m: weight)


@pytest.mark.parametrize(
    ("message", "objective", "q", "call"),
    [
        ("scores has the rows of relevance in another order", LambdaRank(),
         Queries(pd.Series([1, 0], index=["a", "b"]), sizes=[2]), {"scores": pd.Series([0, 1], index=["b", "a"])}),
        ("q is list", LambdaRank(), [0, 1, 2], {}),
        ("no label source 'fresh'", ClickTier(source="fresh"), Q, {}),
        (r"must lie in \[0, 1\]", ClickTier(source="raw"), Q, {}),
        (r"must lie in \[0, 1\]", LambdaRank(CNDCG(source="raw")), Q, {}),
        (r"relevance\[2\] is 2: above max_grade=1", LambdaRank(ERR(max_grade=1)), Q, {}),
        (r"gives nan at round 4, expected a number in \[0, 1\]", blend(float("nan")), Q, {"iteration": 4}),
        ("its gain 2", LambdaRank(), Queries([0, 1001, 0], sizes=[3]), {}),
        (r"relevance\[1\] is 1023: its gain 2\^l − 1 is too", XENDCG(), Queries([1, 1023, 1023], [1, 2]), {}),
        (r"relevance\[1\] is 1: the row has no position", INVERSE, Queries([0, 1, 0], [3], position=[1, None, 2]), {}),
    ],
)  # fmt: skip
def test_wrong_calls(message, objective, q, call):
    with pytest.raises((TypeError, ValueError), match=message):
        objective.gradient(**{"scores": S, "q": q} | call)


def test_the_class_in_place_of_an_object():
    """An engine calls it with scores and data, which are no arguments of an objective or a measure."""
    X, y = np.arange(120.0).reshape(-1, 1), np.arange(120) % 3
    data, matrix = lgb.Dataset(X, y, group=[60, 60]), xgb.DMatrix(X, y, group=[60, 60])
    own, named = (
        {"objective": YetiLoss(), "metric": "None", "verbose": -1},
        {"objective": YetiLoss, "verbose": -1},
    )
    measured = {"evals": [(matrix, "valid")], "custom_metric": NDCG}
    for name, call in (
        ("NDCG", lambda: lgb.train(own, data, 1, valid_sets=[data], feval=NDCG)),
        ("NDCG", lambda: xgb.train({}, matrix, 1, obj=YetiLoss(), **measured)),
        ("YetiLoss", lambda: lgb.LGBMRanker(objective=YetiLoss).fit(X, y, group=[60, 60])),
        ("YetiLoss", lambda: lgb.train(named, lgb.Dataset(X, y, group=[60, 60]), 1)),
        ("YetiLoss", lambda: xgb.train({}, matrix, 1, obj=YetiLoss)),
        ("YetiLoss", lambda: LambdaRanker(objective=YetiLoss).fit(X, y, group=[60, 60])),
    ):
        with pytest.raises(TypeError, match=rf"the class {name}: give an object of it, such as {name}\(\)"):
            call()


def test_a_stock_ranker_without_groups():
    with pytest.raises(ValueError, match=r"group is missing: give fit\(group="):
        LambdaRank()(np.zeros(3), np.zeros(3), None, None)
