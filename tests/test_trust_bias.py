"""Trust bias is recovered from logs of simulated users, and refused where a log does not determine it."""

import numpy as np
import pytest

from lambdaboost import Queries
from lambdaboost.clicks import (
    AffineBias,
    ClickLog,
    PositionBased,
    Propensities,
    TrustBias,
    intervention_harvesting,
    simulate,
    trust_harvesting,
)
from lambdaboost.clicks.trust_bias import _least_squares

RNG = np.random.default_rng(7)
K = 6
Q = Queries(RNG.integers(0, 3, 150 * 8), sizes=[8] * 150)
SCORE = 0.5 * Q.relevance + RNG.normal(size=1200)  # better than chance, so relevance differs by position
RANKERS = np.array([SCORE, SCORE + RNG.normal(size=1200), SCORE + RNG.normal(size=1200)])
BIAS = AffineBias([1, 0.5], [0, -0.1])


def rates(log, *given):
    """The rate of each of the log's documents."""
    return log.labels(*log.documents, *given)


def true_bias(users):
    """α and β of simulated users, by the definition, as the estimator normalises them."""
    k = np.arange(1, K + 1)
    if isinstance(users, PositionBased):
        return k ** -float(users.eta), np.zeros(K)
    wrong = users.wrong / k
    alpha, beta = (1 - (k + 1) / 100 - wrong) / k**users.eta, wrong / k**users.eta
    ratio = alpha / alpha[0]
    return ratio, beta - ratio * beta[0]


@pytest.mark.parametrize("users", [TrustBias(0.0), TrustBias(1.0), PositionBased(1.0)], ids=repr)
def test_bias_is_recovered(users):
    """Within 5 % of α, or 0.05 of β; without trust bias there is none."""
    bias = trust_harvesting(simulate(RANKERS, Q, users, 1500, np.random.default_rng(1), k=K))
    alpha, beta = true_bias(users)
    np.testing.assert_allclose(bias.alpha, alpha, rtol=0.05)
    np.testing.assert_allclose(bias.beta, beta, atol=0.05)


def test_few_impressions_of_each_document_do_not_bias_alpha():
    """Squares of noisy rates would make slopes too flat: the mean error over 20 logs is near 0."""
    users, found = TrustBias(1.0), []
    q = Queries(np.tile(Q.relevance, 4), sizes=np.tile(Q.sizes, 4))
    for seed in range(20):
        log = simulate(np.tile(RANKERS, 4), q, users, 40, np.random.default_rng(seed), k=3)
        found.append(trust_harvesting(log).alpha)
    true = true_bias(users)[0][:3]
    assert np.abs(np.mean(found, axis=0) / true - 1).max() < 0.06


def test_corrected_rates_are_clicks_at_the_best_position():
    users = TrustBias(1.0)
    log = simulate(RANKERS, Q, users, 1000, np.random.default_rng(1), k=K)
    rows = Q.query_of_row, np.arange(Q.n_documents)
    gain = (2.0**Q.relevance - 1) / 3
    true = 0.98 * gain + 0.65 * (1 - gain)  # P(click at position 1)
    shown = np.bincount(log.document, minlength=Q.n_documents) > 500

    def error(**how):
        return np.abs(log.labels(*rows, **how) - true)[shown].mean()

    affine, curve = (
        error(propensities=trust_harvesting(log)),
        error(propensities=intervention_harvesting(log)),
    )
    assert affine < 0.05 < 0.1 < min(curve, error())


def test_corrected_clicks_and_rates_agree_with_the_definition():
    log = ClickLog([0] * 4, [1, 1, 2, 2], [1, 2, 1, 2], [1, 0, 0, 1], [3.0, 1.0, 2.0, 5.0])
    # (clicks − Σ β) / Σ α, with (1, 9) added
    np.testing.assert_allclose(
        rates(log, (1, 9), BIAS), [(3 + 0.1 + 1) / (3.5 + 10), (5 + 0.5 + 1) / (2 + 2.5 + 10)]
    )
    free = AffineBias([1, 0.5], [0, 0])
    np.testing.assert_array_equal(rates(log, (1, 9), free), rates(log, (1, 9), Propensities(free.alpha)))
    bounded = rates(log, (0, 0), AffineBias([1, 1], [0, 0.9]))
    assert bounded.min() >= 0 and bounded.max() <= 1
    named = AffineBias([1, 0.5], [0, 0.1], names=["side", "top"])
    shown = ClickLog([0, 0], [1, 2], ["top", "side"], [1, 1])
    np.testing.assert_allclose(rates(shown, (1, 9), named), [(1 - 0.1 + 1) / 10.5, 2 / 11])
    assert eval(BIAS.text) == BIAS


def test_exact_rates_give_the_exact_bias():
    """The least squares of noiseless rates, against α and β drawn at random."""
    rng, k = np.random.default_rng(0), 4
    alpha, beta = rng.uniform(0.2, 1, k), rng.uniform(0, 0.2, k)
    low, high = np.array([(i, j) for i in range(k) for j in range(i + 1, k)]).T
    r, moments = rng.random((low.size, 30)), []
    for i, j, of_set in zip(low, high, r, strict=True):
        p, q = alpha[i] * of_set + beta[i], alpha[j] * of_set + beta[j]
        moments.append([30, p.sum(), q.sum(), (p * p).sum(), (q * q).sum(), (p * q).sum()])
    moments[0] = np.multiply(moments[0], 2)  # the first position is the known one
    found_alpha, found_beta = np.split(_least_squares(low, high, np.array(moments), k), 2)
    ratio = found_alpha / alpha
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
    # One shift of r explains β at all positions.
    shift = (found_beta - beta) / alpha
    np.testing.assert_allclose(shift, shift[0], atol=1e-6)


def of_grades(grades, rankers=RANKERS, sessions=30):
    q = Queries(grades, sizes=Q.sizes)
    return simulate(rankers, q, TrustBias(1.0), sessions, np.random.default_rng(1), k=K)


ONE = ClickLog([0, 0], [1, 2], [1, 2], [1, 0])
APART = ClickLog([0] * 8, np.repeat([1, 2], 4), [1, 1, 2, 2, 3, 3, 4, 4], [0, 1] * 4)


def test_positions_that_the_log_does_not_connect_are_left_out():
    """The bias of the others is that of their rows alone."""
    log = simulate(RANKERS, Q, TrustBias(1.0), 300, np.random.default_rng(1), k=3)
    alone = {"query": [0, 0], "document": [7, 8], "position": [5, 6], "clicked": [1, 0]}
    more = ClickLog(**{name: np.append(getattr(log, name), rows) for name, rows in alone.items()})
    with pytest.warns(UserWarning, match="^positions 4, 5, 6: left out, since the log does not determine"):
        bias = trust_harvesting(more)
    whole = trust_harvesting(log)
    for field in ("alpha", "beta"):
        assert getattr(bias, field)[3:] == (None,) * 3
        np.testing.assert_allclose(getattr(bias, field)[:3], getattr(whole, field), rtol=1e-9)
    assert eval(bias.text) == bias


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (of_grades(Q.relevance, SCORE), "no document was shown more than once at two positions"),
        (
            ClickLog([0] * 4, [1, 2] * 2, [1, 2, 2, 1], [1, 0, 1, 0]),
            "no document was shown more than once at two",
        ),
        (APART, "the log does not distinguish false clicks from examination"),
        (of_grades(np.zeros(1200)), "the log does not distinguish false clicks from examination"),
    ],
)
def test_logs_that_do_not_determine_it(log, message):
    with pytest.raises(ValueError, match=message) as raised:
        trust_harvesting(log)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AffineBias([1, 0.5], [0]), "beta must be finite numbers"),
        (lambda: AffineBias([1, 0], [0, 0]), "alpha is .*: give finite numbers above 0"),
        (lambda: AffineBias([1, 0.5], [0, 0], names=["a"]), "names has 1 different names"),
        (lambda: rates(ONE, (0, 0), AffineBias([1], [0])), "position 2 is past the curve"),
    ],
)
def test_wrong_arguments_are_one_line(make, message):
    with pytest.raises((TypeError, ValueError), match=message) as raised:
        make()
    assert "\n" not in str(raised.value)
