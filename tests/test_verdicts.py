"""What the experiments say of a claim: every verdict, by figures made for it."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.common.verdicts import cell as cell_of
from experiments.common.verdicts import compared, of_p_alone, unchanged, verdict
from experiments.several_goals.pictures import best_without_loss
from lambdaboost import NDCG
from lambdaboost.evaluation import compare_values

QUERIES = 200
MEASURES = [NDCG(k) for k in range(1, 11)]
NOISE = np.random.default_rng(0).normal(size=(10, QUERIES)) / 100


def changed(*gains):
    """A system against a baseline, the mean difference at each cutoff given in points."""
    before = np.full((10, QUERIES), 0.5)
    shifts = np.array(gains)[:, None] / 100
    noise = NOISE - NOISE.mean(axis=1, keepdims=True)
    after = before + shifts + noise
    one, other = (dict(zip(MEASURES, rows, strict=True)) for rows in (before, after))
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
    assert verdict(changed(*gains)) == said
    assert unchanged(changed(*gains)) == equal


def test_one_comparison_is_not_counted():
    assert verdict([of_p_alone(0.1, 0.2)]) == "no significant difference"
    assert verdict([of_p_alone(0.1, 0.01)]) == "yes"


def test_no_difference_is_called_equality():
    """An interval of -10 to +48 points says nothing of equality."""
    rng = np.random.default_rng(1)
    measure = NDCG(3)
    wide = compared({measure: rng.random(12)}, {measure: rng.random(12)}, [measure])[0]
    assert wide.high - wide.low > 0.3
    assert unchanged([wide]) == "no significant difference anywhere"


def test_ten_cutoffs_are_corrected_for_their_number():
    """Of comparisons that are significant alone at p = 0.02, none is among ten."""
    found = changed(*[0.165] * 10)
    assert all(0.005 < d.p < 0.05 for d in found)
    assert verdict(found) == "no significant difference, higher at 10 of 10"


def test_marks_are_those_of_the_verdict():
    for change, gain in zip(changed(1, -1, *[0.01] * 8), (1, -1, *[0] * 8), strict=True):
        cell = cell_of(change)
        assert cell.startswith("**▲ ") == (gain > 0)
        assert cell.startswith("▼ ") == (gain < 0)
        assert f"{50 + (gain or 0.01):.2f}" in cell


def test_many_systems_do_not_hide_a_loss():
    """Holm's correction for 41 systems and 2 measures hides a loss that is significant alone."""
    rng = np.random.default_rng(5)

    def figures(kept, raised):
        noise = rng.normal(0, 0.01, (2, QUERIES))
        noise -= noise.mean(axis=1, keepdims=True)
        return {NDCG(3): 0.5 + kept + noise[0], NDCG(1): 0.5 + raised + noise[1]}

    many = {f"other {at}": figures(0.001 * rng.normal(), -0.1) for at in range(40)}
    found = compare_values({"base": figures(0, 0), "lost": figures(-0.0032, 0.1)} | many)
    assert found["lost", NDCG(3)].p < 0.05 and not found["lost", NDCG(3)].mark
    assert best_without_loss(found, NDCG(3), NDCG(1)) == "base"
    kept = compare_values({"base": figures(0, 0), "lost": figures(-0.05, 0.3), "kept": figures(0, 0.1)})
    assert best_without_loss(kept, NDCG(3), NDCG(1)) == "kept"
