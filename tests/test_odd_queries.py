"""Some thousand queries of odd shapes against float64 sums over their pairs; benchmarks/odd_queries.py draws more."""

import time

import numpy as np
import odd
import pytest
from rules import RULES

from lambdaboost import GradientStep, LambdaRank, Queries

pytestmark = pytest.mark.filterwarnings("ignore:.*queries have not both")  # drawn ones often have not

REFERENCES = {rule.objective: rule.reference for rule in RULES}


@pytest.fixture(scope="module")
def thousands():
    return list(odd.thousands(20061122, 3000))


@pytest.mark.parametrize("objective", odd.OBJECTIVES, ids=repr)
def test_none_wrong_and_none_not_finite(objective, thousands):
    checked = odd.Checked()
    for batches in thousands:
        odd.check_thousand(objective, batches, checked)
    assert checked.queries > 2500
    assert (checked.wrong, checked.not_finite) == (0, 0), checked


@pytest.mark.parametrize("objective", odd.LONG_OBJECTIVES, ids=repr)
def test_lists_of_a_hundred_thousand(objective):
    checked = odd.Checked()
    for seed in (0, 1, 5, 7, 9):  # 1 draws a list of one grade, 0 and 9 draw missing grades
        odd.check_long(objective, odd.long_list(seed, odd.LONG_OBJECTIVES[objective]), checked)
    assert (checked.queries, checked.wrong, checked.not_finite) == (5, 0, 0), checked
    assert checked.worst > 0  # there were pairs: sums in float32 and float64 differ in their last digits


@pytest.mark.parametrize("objective", odd.OBJECTIVES, ids=repr)
def test_the_reference_in_arrays_is_the_one_in_loops(objective):
    if objective not in REFERENCES:
        pytest.skip("no row in rules.py")
    rng = np.random.default_rng(1)
    for n in (1, 2, 7):
        batch = odd.drawn(rng, 25, n)
        lam, mu = odd.reference(objective, batch)
        for query in range(25):
            labels = {name: l[query] for name, l in batch.labels.items()}
            expected = REFERENCES[objective](batch.scores[query], labels, 0)
            largest = max(np.abs(figure).max() for figure in expected)
            for got, e in zip((lam[query], mu[query]), expected, strict=True):
                np.testing.assert_allclose(got, e, rtol=1e-9, atol=1e-12 * largest + 1e-15)


@pytest.mark.parametrize("objective", odd.LONG_OBJECTIVES, ids=repr)
def test_the_reference_of_some_documents_is_the_one_of_all(objective):
    for seed in range(20):
        batch = odd.long_list(seed, 30)
        for some, whole in zip(
            odd.reference_of(objective, batch, np.arange(30)), odd.reference(objective, batch), strict=True
        ):
            np.testing.assert_allclose(some, whole[0], rtol=1e-9, atol=1e-15)


def test_every_odd_shape_is_drawn(thousands):
    batches = [batch for batches in thousands for batch in batches if batch.scores.shape[1] > 1]
    seen = dict.fromkeys(
        ("tied", "1e6", "1e-30", "both", "no gain", "one grade", "some missing", "all missing"), 0
    )
    for batch in batches:
        s, l = np.abs(batch.scores), batch.labels["relevance"]
        tiny = ((s > 0) & (s < 1e-28)).any(axis=1)
        seen["tied"] += (np.ptp(s, axis=1) == 0).sum()
        seen["1e6"] += (s >= 1e6).any(axis=1).sum()
        seen["1e-30"] += tiny.sum()
        seen["both"] += (tiny & (s >= 1e6).any(axis=1)).sum()
        seen["no gain"] += (l == 0).all(axis=1).sum()
        seen["one grade"] += ((l == l[:, :1]).all(axis=1) & (l[:, 0] > 0)).sum()
        seen["some missing"] += (np.isnan(l).any(axis=1) & ~np.isnan(l).all(axis=1)).sum()
        seen["all missing"] += np.isnan(l).all(axis=1).sum()
    assert min(seen.values()) > 50, seen


def test_a_query_in_the_right_order_by_far_is_not_blown_up():
    """λ of 1e-43 have no digits left in float32: dividing by their spread would make forces of the noise."""
    grades = np.array([2.0, 2, 1, 1, 0, 0])
    for apart in (100.0, 103.0, 1e6):
        grad, _ = GradientStep(LambdaRank()).gradient(
            grades * apart + np.arange(6), Queries(grades, sizes=[6])
        )
        assert np.abs(grad).max() < 1e-38


@pytest.mark.parametrize(("queries", "documents"), [(2000, 10), (200, 120), (20, 1200)])
def test_an_outlier_in_each_query_costs_a_little_more(queries, documents):
    """Scores too far apart for float32 took an exponential a pair, 6 to 12 times as long; now about 1.5 times."""
    rng = np.random.default_rng(7)
    n = queries * documents
    q = Queries(rng.choice(5, p=odd.SHARES, size=n) * 1.0, sizes=[documents] * queries)
    usual = rng.normal(size=n)
    far = usual.copy()
    far[::documents] += 80
    in_turn = [(_seconds(usual, q), _seconds(far, q)) for _ in range(16)]  # other processes slow down both
    of_usual, of_far = np.min(in_turn[1:], axis=0)
    assert of_far < 3 * of_usual


def _seconds(scores, q):
    start = time.process_time()
    LambdaRank().gradient(scores, q)
    return time.process_time() - start


def test_spearman_where_no_query_has_a_label():
    from lambdaboost import Queries, Spearman

    assert Spearman(empty=0.5)([0.1, 0.2], Queries([np.nan, np.nan], sizes=[2])) == 0.5
