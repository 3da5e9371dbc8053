"""Schedules against their definitions in every round: the first ones, those at each clip, the last ones."""

import naive
import pytest

from lambdaboost import Constant, Exponential, Linear

LINEAR = [
    (0.1, 0.001),
    (0.0, 0.25),
    (0.5, 0.5),
    (1.0, 0.1),
    (0.5, -0.125),
    (1.0, -1.0),
    (0.0, -0.1),
    (0.3, 0.0),
]
EXPONENTIAL = [(0.0, 100.0), (0.1, 100.0), (0.9, 10.0), (0.0, 0.0), (1.0, 5.0)]
CASES = [(Linear(*given), naive.linear_weight, given) for given in LINEAR]
CASES += [(Exponential(*given), naive.exponential_weight, given) for given in EXPONENTIAL]
CASES += [(Constant(0.3), naive.linear_weight, (0.3, 0.0))]


@pytest.mark.parametrize(
    ("schedule", "definition", "given"), CASES, ids=[repr(schedule) for schedule, *_ in CASES]
)
def test_every_round(schedule, definition, given):
    for m in (*range(60), 100, 300, 899, 900, 901, 1199):
        assert schedule(m) == pytest.approx(definition(*given, m), abs=1e-12) and 0 <= schedule(m) <= 1
