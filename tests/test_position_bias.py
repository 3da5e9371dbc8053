"""Estimators of position bias recover the true curve of simulated users, and refuse logs that do not tell it."""

import numpy as np
import pytest

from lambdaboost import Queries
from lambdaboost.clicks import (
    ClickLog,
    PositionBased,
    Propensities,
    intervention_harvesting,
    regression_em,
    simulate,
)

RNG = np.random.default_rng(7)
K = 6
Q = Queries(RNG.integers(0, 3, 150 * 8), sizes=[8] * 150)
# The features tell relevance with an error; the rankers are better than chance, so relevance differs by position.
X = np.column_stack([Q.relevance + 0.5 * RNG.normal(size=1200), RNG.normal(size=(1200, 2))])
SCORE = 0.5 * X[:, 0] + RNG.normal(size=1200)
RANKERS = np.array([SCORE, SCORE + RNG.normal(size=1200), SCORE + RNG.normal(size=1200)])
etas = pytest.mark.parametrize("eta", [0.0, 1.0, 2.0])


def log_of(eta, sessions=300, seed=1, rankers=RANKERS):
    return simulate(rankers, Q, PositionBased(eta), sessions, np.random.default_rng(seed), k=K)


def covered(curve, eta):
    """Whether each interval holds the true value, relative to the best position of the estimate."""
    true = np.array(Propensities.power(eta, len(curve)).values)
    value, low, high = (np.array(part, dtype=float) for part in (curve.values, curve.low, curve.high))
    true /= true[np.nanargmax(value)]
    return (low - 1e-9 <= true) & (true <= high + 1e-9)


def largest_error(curve, eta):
    """The largest relative error, both relative to the best position of the estimate."""
    true, best = np.array(Propensities.power(eta, K).values), np.argmax(curve.values)
    return np.abs(np.array(curve.values) / (true / true[best]) - 1).max()


@etas
def test_the_true_curve_is_in_the_intervals(eta):
    """Five of six positions at least; and the intervals are not so wide that they would hold any curve."""
    curve = intervention_harvesting(log_of(eta))
    assert covered(curve, eta).sum() >= K - 1
    assert covered(curve, eta + 1).sum() <= 2
    assert largest_error(curve, eta) < {0.0: 0.06, 1.0: 0.15, 2.0: 0.3}[eta]
    assert len(curve) == K
    assert max(curve.values) == 1


@pytest.mark.slow
def test_features_tell_the_curve_from_one_ranker(capsys, eta=1.0):
    log = log_of(eta, 200, rankers=SCORE)
    features = X[log.rows_of(Q.query_of_row, np.arange(Q.n_documents))]
    curve = regression_em(log, np.insert(features, 0, np.nan, axis=1))  # one says nothing
    assert "regression_em: step 1 of at most" in capsys.readouterr().err
    assert curve.low is None
    counts = log.counts()
    rate = counts.by_position(counts.clicks) / counts.by_position(counts.impressions)
    naive = Propensities(rate / rate.max())
    assert largest_error(curve, eta) < 0.15 < largest_error(naive, eta)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    """95 % intervals of the positions below the best, over 30 logs: 150 of them, correlated within a log."""
    held = [
        covered(intervention_harvesting(log_of(1.0, 40, seed), intervals=60), 1.0)[1:] for seed in range(30)
    ]
    assert 0.86 < np.mean(held) < 0.99


def test_all_pairs_is_the_largest_likelihood():
    """The likelihood of the docstring, over p and r, by a general optimizer."""
    from scipy.optimize import minimize

    from lambdaboost.clicks.harvesting import fit_all_pairs

    low, high = np.array([0, 0, 1]), np.array([1, 2, 2])
    sums = np.array([[30.0, 12.0, 60.0], [20.0, 9.0, 50.0], [14.0, 13.0, 80.0]])

    def cost(x):
        p, r = np.exp(np.concatenate([[0], x[:2]])), np.exp(x[2:])
        total = 0.0
        for k, c in ((low, sums[:, 0]), (high, sums[:, 1])):
            rate = np.minimum(p[k] * r, 1 - 1e-9)
            total += (c * np.log(rate) + (sums[:, 2] - c) * np.log(1 - rate)).sum()
        return -total

    sharp = {"maxiter": 20_000, "xatol": 1e-9, "fatol": 1e-12}
    best = minimize(cost, np.full(5, -1.0), method="Nelder-Mead", options=sharp)
    np.testing.assert_allclose(fit_all_pairs(low, high, sums, 3), np.exp([0, *best.x[:2]]), rtol=1e-5)


def counted(rows):
    """A log of (document, position, clicks, impressions)."""
    document, position, clicks, impressions = (np.array(column) for column in zip(*rows, strict=True))
    clicked = np.repeat([True, False], len(rows))
    return ClickLog(
        np.zeros(2 * len(rows)), np.tile(document, 2), np.tile(position, 2), clicked,
        np.concatenate([clicks, impressions - clicks]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ([("y", 3, 1, 10), ("y", 4, 1, 10)], "positions 3, 4"),  # a part with fewer clicks
        ([("z", 5, 3, 10)], "positions 3, 4, 5"),  # never shown; shown where nothing else is
        ([("x", 3, 0, 10)], "position 3"),  # no click: its propensity has no largest likelihood above 0
        ([("z", 3, 0, 10), ("z", 4, 2, 10), ("x", 3, 0, 10)], "positions 3, 4"),
        ([("z", 9999, 1, 2), ("z", 9998, 1, 2)], "positions 3, 4, 5, 6, 7, 8, 9, 10 and 9989 more"),
    ],
)
def test_the_connected_part_of_the_positions_is_used(more, left):
    rows = [("x", 1, 8, 10), ("x", 2, 4, 10)]
    with pytest.warns(UserWarning, match=f"^{left}: left out, since .* extended"):
        curve = intervention_harvesting(counted(rows + more), intervals=0)
    whole = intervention_harvesting(counted(rows), intervals=0)
    assert curve.values[:2] == pytest.approx(whole.values) and set(curve.values[2:]) == {None}


LOG = log_of(1.0, 5)
REFUSED = [
    (lambda: regression_em(LOG, [[1], [2], [3]]), r"features has shape \(3, 1\), expected"),
    (lambda: regression_em(LOG, np.ones((LOG.n_documents, 0))), r"features has shape \(\d+, 0\), expected"),
    (lambda: intervention_harvesting(counted([("x", 1, 5, 10), ("x", 2, 4, 10)])), ".* one query: give intervals=0"),
    (lambda: intervention_harvesting(counted([("x", 1, 5, 10), ("x", 2, 0, 10)]), intervals=0), "too few clicks"),
    (lambda: intervention_harvesting(log_of(1.0, 5, rankers=SCORE)), ".* or use regression_em with features"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_each_fault_is_a_sentence(call, words):
    with pytest.raises(ValueError, match=f"^{words}") as raised:
        call()
    assert "\n" not in str(raised.value)
