"""Objectives, schedules and measures are values: equal ones have equal texts, and every text reads back."""

import math

import numpy as np
import pytest

from lambdaboost import (
    CNDCG,
    NDCG,
    Blend,
    ClickTier,
    Exponential,
    LambdaRank,
    Linear,
    RankNet,
    Scorecard,
    SigmoidLocal,
    objectives,
)
from lambdaboost import evaluation as measures
from lambdaboost._value import Value

# The same value in NumPy's numbers or whole ones, and in Python's own.
TWINS = [
    (LambdaRank(sigma=np.float64(2)), LambdaRank(sigma=2.0), "LambdaRank(sigma=2.0)"),
    (LambdaRank(sigma=1), LambdaRank(), "LambdaRank()"),
    (LambdaRank(NDCG(np.int64(3))), LambdaRank(NDCG(3)), "LambdaRank(metric=NDCG(k=3))"),
    (SigmoidLocal(center=-0.0), SigmoidLocal(), "SigmoidLocal()"),
    (ClickTier(within=[np.str_("relevance")], sigma=np.int8(3)), ClickTier(sigma=3.0), "ClickTier(sigma=3.0)"),
    (
        ClickTier(CNDCG(), "sales"),
        ClickTier(source="sales"),
        "ClickTier(metric=CNDCG(source='sales'), source='sales')",
    ),
    (
        Blend(RankNet(), LambdaRank(), Linear(0, np.float64(0.5))),
        Blend(RankNet(), LambdaRank(), Linear(0.0, 0.5)),
        "Blend(first=RankNet(), second=LambdaRank(), weight=Linear(start=0.0, rate=0.5))",
    ),
    (
        Scorecard([RankNet(), RankNet(1)], [1, np.float64(2)]),
        Scorecard((RankNet(), RankNet()), (1.0, 2.0)),
        "Scorecard(objectives=(RankNet(), RankNet()), weights=(1.0, 2.0))",
    ),
    (CNDCG(source=np.str_("clicks"), scale=np.int64(3)), CNDCG(scale=3.0), "CNDCG(scale=3.0)"),
    (NDCG(gain=(0, np.float64(1), 3)), NDCG(gain=[0.0, 1, 3.0]), "NDCG(gain=(0.0, 1.0, 3.0))"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "text"), TWINS, ids=repr)
def test_equal_values_have_equal_texts(one, other, text):
    assert one == other and hash(one) == hash(other) and repr(other) == repr(one)
    assert repr(one) == text


def test_lists_in_texts_are_tuples():
    """Messages and examples give a curve as a list."""
    text = "InversePropensity(LambdaRank(), Propensities([1, 0.5]))"
    assert objectives.parse(text) == objectives.parse(text.replace("[", "(").replace("]", ")"))
    assert measures.parse("NDCG(gain=[0, 1, 3])") == NDCG(gain=(0, 1, 3))


@pytest.mark.parametrize("value", [True, np.bool_(True), "2", None, np.array([2.0])], ids=repr)
def test_what_is_no_number_is_not_made_one(value):
    with pytest.raises(TypeError, match=r"sigma is .*: give a number"):
        LambdaRank(sigma=value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: NDCG(empty=float("nan")),
        lambda: Blend(LambdaRank(NDCG(empty=float("nan"))), RankNet(), Exponential(0.5, rate=0.1)),
        lambda: Pair((0.0, float("nan"))),
    ],
)
def test_values_with_nan_are_equal(make):
    assert make() == make() and len({make(), make()}) == 1
    assert repr(Pair((0.0, float("nan")))) == "Pair()"


class Pair(Value):
    items: tuple = (0.0, math.nan)
    free: float = 0.0
