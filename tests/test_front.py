"""The Pareto front, against its definition."""

import numpy as np
import pytest

from lambdaboost.evaluation import (
    CNDCG,
    MRR,
    NDCG,
    Figures,
    best_without_loss,
    compare,
    non_dominated,
)
from lambdaboost.evaluation.comparison.trade_off import loss_of

EACH_SIZE = pytest.mark.parametrize(("n", "m"), [(1, 2), (7, 2), (30, 2), (9, 3), (12, 4)])


def slow_front(points):
    """Plain loops over all pairs."""
    return [
        not any(
            all(b >= a for a, b in zip(one, other, strict=True))
            and any(b > a for a, b in zip(one, other, strict=True))
            for other in points
        )
        for one in points
    ]


def drawn(n, m, seed):
    """Points with ties, some below the reference 0."""
    return np.random.default_rng(seed).integers(-1, 5, (n, m)) / 4


@EACH_SIZE
def test_front_against_its_definition(n, m):
    for seed in range(5):
        points = drawn(n, m, seed)
        assert non_dominated(points).tolist() == slow_front(points.tolist())


def test_front_of_equal_points_holds_all():
    assert non_dominated([[0.5, 0.5]] * 3).all()
    assert non_dominated(np.empty((0, 2))).size == 0


@pytest.mark.parametrize("points", [[1.0, 2.0], [[1.0], [2.0]]])
def test_points_without_two_measures_are_refused(points):
    with pytest.raises(ValueError, match=r"points has shape .*: give one row for each system"):
        non_dominated(points)


def test_points_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match=r"points\[1\] is \[0\.1, nan\]: give finite numbers"):
        non_dominated([[0.2, 0.3], [0.1, np.nan]])


def figures(name, kept=0.0, raised=0.0, seed=0):
    """200 queries with these changes of both measures, and noise."""
    noise = np.random.default_rng(seed).normal(0, 0.01, (2, 200))
    noise -= noise.mean(axis=1, keepdims=True)
    return Figures(name, {NDCG(3): 0.5 + kept + noise[0], CNDCG(3): 0.5 + raised + noise[1]})


@pytest.mark.parametrize(("raised", "chosen"), [(0.1, "kept"), (-0.1, "base")])
def test_the_best_without_a_loss_is_not_significantly_worse(raised, chosen):
    lost, kept = figures("lost", -0.05, 0.3, seed=1), figures("kept", 0.0, raised, seed=2)
    found = compare(figures("base"), lost, kept, measures=(NDCG(3), CNDCG(3)))
    assert found.significance["lost", NDCG(3)].is_worse
    assert best_without_loss(found, NDCG(3), CNDCG(3)) == chosen
    assert best_without_loss(found, CNDCG(3), NDCG(3)) in (
        "base",
        "kept",
    )  # "lost" has the lowest mean of NDCG


def test_many_systems_do_not_hide_a_loss():
    """Holm's correction for 41 systems and 2 measures hides the loss, which is significant alone."""
    rng = np.random.default_rng(5)
    many = [figures(f"other {at}", 0.001 * rng.normal(), -0.1, seed=10 + at) for at in range(40)]
    lost = figures("lost", -0.0032, 0.1, seed=1)
    found = compare(figures("base"), lost, *many, measures=(NDCG(3), CNDCG(3)))
    assert found["lost", NDCG(3)].p_value < 0.05
    assert not found.significance["lost", NDCG(3)].is_worse
    assert best_without_loss(found, NDCG(3), CNDCG(3)) == "base"


@pytest.mark.parametrize(
    ("arguments", "name"), [((MRR(), CNDCG(3)), "primary"), ((NDCG(3), MRR()), "raised")]
)
def test_a_measure_that_was_not_compared_is_refused(arguments, name):
    found = compare(figures("base"), figures("other", seed=1), measures=(NDCG(3), CNDCG(3)))
    with pytest.raises(
        ValueError, match=rf"{name} is MRR\(\), which was not compared: choose among NDCG\(k=3\), CNDCG"
    ):
        best_without_loss(found, *arguments)


def test_the_loss_has_an_interval():
    found = compare(figures("base"), figures("lost", -0.05, seed=1), measures=(NDCG(3), CNDCG(3)))
    low, high = found["lost", NDCG(3)].interval()
    said = loss_of(found, "lost", NDCG(3))
    assert said == (
        f"lost changes NDCG(k=3) by -5.00 points from base (95% interval {100 * low:+.2f} to {100 * high:+.2f})."
    )
    assert loss_of(found, "base", NDCG(3)) == ""
