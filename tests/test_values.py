"""Objectives, schedules and measures are values: equal where their fields are, on every Python."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from lambdaboost import NDCG, Blend, Exponential, LambdaRank, RankNet
from lambdaboost._value import Value

MADE = [
    lambda: NDCG(empty=float("nan")),
    lambda: NDCG(empty=np.float64("nan")),
    lambda: LambdaRank(NDCG(empty=float("nan"))),
    lambda: Blend(LambdaRank(NDCG(empty=float("nan"))), RankNet(), Exponential(0.5, rate=0.1)),
]


@pytest.mark.parametrize("make", MADE)
def test_nan_fields_are_equal(make):
    assert make() == make()
    assert hash(make()) == hash(make())
    assert len({make(), make()}) == 1


@dataclass(frozen=True, repr=False)
class Pair(Value):
    items: tuple = (0.0, math.nan)
    free: float = 0.0


@dataclass(frozen=True, repr=False)
class OtherPair(Pair):
    pass


def test_values_with_other_fields_or_classes_differ():
    assert NDCG(empty=float("nan")) != NDCG()
    assert NDCG(3) != NDCG(5)
    assert Pair() != OtherPair() and Pair() != (0.0, math.nan)
    assert Pair() != Pair(free=math.nan)


def test_nan_inside_a_tuple_is_equal_and_left_out_of_the_text():
    again = Pair((0.0, float("nan")))
    assert again == Pair() and hash(again) == hash(Pair())
    assert repr(again) == "Pair()"
