"""A hundred queries of odd shapes against float64 sums over their pairs; benchmarks/odd_queries.py draws more."""

import numpy as np
import odd
import pytest
from rules import named

from lambdaboost import GradientStep, LambdaRank, Queries, Spearman


@pytest.fixture(scope="module")
def queries():
    return odd.thousand(np.random.default_rng(20061122))[:100]


@pytest.mark.parametrize("rule", odd.CHECKED, ids=named)
def test_none_wrong_and_none_not_finite(rule, queries):
    checked = odd.Checked()
    odd.check_queries(rule, queries, checked)
    assert checked.queries > 60
    assert (checked.wrong, checked.not_finite) == (0, 0), checked


@pytest.mark.slow
@pytest.mark.parametrize("objective", odd.LONG_OBJECTIVES, ids=repr)
def test_lists_of_a_hundred_thousand(objective):
    checked = odd.Checked()
    for seed in (0, 1, 5, 7, 9):  # 1 draws a list of one grade, 0 and 9 draw missing grades
        odd.check_long(objective, odd.long_list(seed, odd.LONG_OBJECTIVES[objective]), checked)
    assert (checked.queries, checked.wrong, checked.not_finite) == (5, 0, 0), checked
    assert checked.worst > 0  # there were pairs: sums in float32 and float64 differ in their last digits


def test_a_query_in_the_right_order_by_far_is_not_blown_up():
    """λ of 1e-43 have no digits left in float32: dividing by their spread would make forces of the noise."""
    grades = np.array([2.0, 2, 1, 1, 0, 0])
    for apart in (100.0, 103.0, 1e6):
        grad, _ = GradientStep(LambdaRank()).gradient(
            grades * apart + np.arange(6), Queries(grades, sizes=[6])
        )
        assert np.abs(grad).max() < 1e-38


def test_spearman_where_no_query_has_a_label():
    assert Spearman(empty=0.5)([0.1, 0.2], Queries([np.nan, np.nan], sizes=[2])) == 0.5
