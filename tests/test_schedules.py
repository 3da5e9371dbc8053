"""Schedules against their definitions: the first rounds, the rounds at each clip, the last rounds."""

import naive
import pytest

from lambdaboost import Constant, Exponential, Linear

ROUNDS = range(1200)


@pytest.mark.parametrize(
    ("start", "rate", "first_clipped"),
    [
        (0.1, 0.001, 900),
        (0.0, 0.25, 4),
        (0.5, 0.5, 1),
        (1.0, 0.1, 0),
        (0.5, -0.125, 4),
        (1.0, -1.0, 1),
        (0.0, -0.1, 0),
    ],
)
def test_linear_reaches_its_end_in_the_round_of_the_formula(start, rate, first_clipped):
    end = 1.0 if rate > 0 else 0.0
    schedule = Linear(start, rate)
    for m in range(first_clipped):
        assert schedule(m) == pytest.approx(naive.linear_weight(start, rate, m), abs=1e-15), m
        assert abs(schedule(m) - end) > abs(rate) / 2, m
    for m in (first_clipped, first_clipped + 1, first_clipped + 1000):
        assert schedule(m) == pytest.approx(end, abs=1e-12)
        assert 0.0 <= schedule(m) <= 1.0


def test_linear_without_a_rate_is_constant():
    assert {Linear(0.3, 0.0)(m) for m in ROUNDS} == {0.3} == {Constant(0.3)(m) for m in ROUNDS}


@pytest.mark.parametrize(("start", "rate"), [(0.0, 100.0), (0.1, 100.0), (0.9, 10.0), (0.0, 0.0), (1.0, 5.0)])
def test_exponential_is_the_recursion(start, rate):
    schedule, before = Exponential(start, rate), -1.0
    assert schedule(0) == start
    for m in (*range(60), 100, 300, 1199):
        assert schedule(m) == pytest.approx(naive.exponential_weight(start, rate, m), abs=1e-12), m
        assert before <= schedule(m) <= 1.0
        before = schedule(m)
    last = next(m for m in ROUNDS if naive.exponential_weight(start, rate, m) >= 1.0)
    assert schedule(last) == 1.0 and (last == 0 or schedule(last - 1) < 1.0)
