"""What the experiments say of a claim: every verdict, by figures made for it."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.common.verdicts import compared, unchanged, verdict
from lambdaboost import NDCG
from lambdaboost.evaluation import Figures, Significance

QUERIES = 200
MEASURES = [NDCG(k) for k in range(1, 11)]
NOISE = np.random.default_rng(0).normal(size=(10, QUERIES)) / 100


def changed(*gains):
    """A system against a baseline, the mean difference at each cutoff given in points."""
    before = np.full((10, QUERIES), 0.5)
    shifts = np.array(gains)[:, None] / 100
    noise = NOISE - NOISE.mean(axis=1, keepdims=True)
    after = before + shifts + noise
    one, other = (
        Figures(name, dict(zip(MEASURES, rows, strict=True)))
        for name, rows in (("before", before), ("after", after))
    )
    return compared(one, other, MEASURES)


@pytest.mark.parametrize(
    ("gains", "said", "equal"),
    [
        ([1] * 10, "yes", "no, 10 of 10 differ (10 better)"),
        ([-1] * 10, "no, the opposite", "no, 10 of 10 differ (10 worse)"),
        (
            [1] * 4 + [0.01] * 6,
            "better at 4 of 10, no significant difference elsewhere",
            "no, 4 of 10 differ (4 better)",
        ),
        (
            [-1] * 2 + [0.01] * 8,
            "worse at 2 of 10, no significant difference elsewhere",
            "no, 2 of 10 differ (2 worse)",
        ),
        (
            [1, -1] + [0.0] * 8,
            "better at 1 of 10, worse at 1 of 10, no significant difference elsewhere",
            "no, 2 of 10 differ (1 better, 1 worse)",
        ),
        (
            [0.01] * 7 + [-0.01] * 3,
            "no significant difference, higher at 7 of 10",
            "no significant difference anywhere",
        ),
    ],
    ids=["better", "worse", "better in part", "worse in part", "mixed", "level"],
)
def test_verdicts(gains, said, equal):
    tested = [c.significance for c in changed(*gains)]
    assert verdict(tested) == said
    assert unchanged(tested) == equal


def test_one_comparison_is_not_counted():
    assert verdict([Significance(0.1, 0.2, 0.2)]) == "no significant difference"
    assert verdict([Significance(0.1, 0.01, 0.01)]) == "yes"


def test_no_difference_is_called_equality():
    """An interval of -10 to +48 points says nothing of equality."""
    rng = np.random.default_rng(1)
    measure = NDCG(3)
    wide = compared(
        Figures("a", {measure: rng.random(12)}), Figures("b", {measure: rng.random(12)}), [measure]
    )[0]
    low, high = wide.difference.interval()
    assert high - low > 0.3
    assert unchanged([wide.significance]) == "no significant difference anywhere"


def test_ten_cutoffs_are_corrected_for_their_number():
    """Of comparisons that are significant alone at p = 0.02, none is among ten."""
    tested = [c.significance for c in changed(*[0.165] * 10)]
    assert all(0.005 < s.p < 0.05 for s in tested)
    assert verdict(tested) == "no significant difference, higher at 10 of 10"


def test_marks_are_those_of_the_verdict():
    for change, gain in zip(changed(1, -1, *[0.01] * 8), (1, -1, *[0] * 8), strict=True):
        cell = change.cell()
        assert cell.startswith("**▲ ") == (gain > 0)
        assert cell.startswith("▼ ") == (gain < 0)
        assert f"{50 + (gain or 0.01):.2f}" in cell
