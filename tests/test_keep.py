"""`NonInferiority`: what is proven of a sequence of trade-offs, on drawn tables."""

import numpy as np
import pytest
from scipy import stats

from lambdaboost import CNDCG, NDCG
from lambdaboost.tuning.keep import WEIGHTS, NonInferiority

MEASURES, KEEP = (NDCG(10), CNDCG(10)), 0.005


def drawn(losses, gains, n, rng, spread=0.05):
    """A table of trade-offs: half of the queries keep their value exactly, and the others move by skewed amounts."""
    values = np.empty((len(losses), 2, n))
    alone = rng.beta(4, 2, (2, n))
    for at, (loss, gain) in enumerate(zip(losses, gains, strict=True)):
        moved = (rng.random((2, n)) < 0.5) * (rng.exponential(1.0, (2, n)) - 1.0) * spread * np.sqrt(2)
        values[at] = alone + (moved + np.array([[-loss], [gain]]) if at else 0.0)
    return values


def kept(values, keep=KEEP, query_weight=None, weights=None):
    weight = np.ones(values.shape[2]) if query_weight is None else query_weight
    return NonInferiority(MEASURES, keep, weights or WEIGHTS[: len(values)], values, weight)


@pytest.mark.parametrize("losses", [(0, KEEP, KEEP, KEEP), (0, 0, 0, 0, KEEP, 0.006)])
def test_no_more_than_one_sequence_in_twenty_proves_too_much(losses):
    rng = np.random.default_rng(0)
    allowed = sum(loss < KEEP for loss in losses) - 1
    proven = [
        sum(step.is_proven for step in kept(drawn(losses, np.zeros(len(losses)), 300, rng)).steps)
        for _ in range(1000)
    ]
    wrong = sum(steps > allowed for steps in proven)
    assert wrong > 0 and stats.binomtest(wrong, 1000, 0.05, alternative="greater").pvalue > 0.01


def naive_steps(values, keep):
    """The p-value of each tested step."""
    p = []
    for at in range(1, len(values)):
        lost = values[0, 0] - values[at, 0]
        p.append(stats.ttest_1samp(lost[~np.isnan(lost)], keep, alternative="less").pvalue)
        if p[-1] >= 0.05:
            break
    return p


@pytest.mark.parametrize("seed", range(10))
def test_steps_against_scipys_test(seed):
    rng = np.random.default_rng(seed)
    values = drawn(np.arange(6) * 0.0007, np.arange(6) * 0.01, 500, rng)
    values[:, 0, :20], values[:, 1, 10:30] = np.nan, np.nan
    values[2, 0, 40] = np.nan
    found = kept(values)
    assert [step.p for step in found.steps] == pytest.approx(naive_steps(values, KEEP), rel=1e-9)
    proven = 1 + sum(p < 0.05 for p in naive_steps(values, KEEP))
    assert found.chosen == int(np.nanmean(values[:proven, 1], axis=1).argmax())
    step = found.steps[0]
    lost = (values[0, 0] - values[1, 0])[20:]
    assert step.loss == pytest.approx(lost.mean()) and step.gain == pytest.approx(
        np.nanmean(values[1, 1] - values[0, 1])
    )
    assert step.loss_upper == pytest.approx(
        stats.ttest_1samp(lost, 0, alternative="less").confidence_interval(0.95).high
    )


def test_nothing_after_the_first_step_without_a_proof_is_tested():
    rng = np.random.default_rng(2)
    found = kept(drawn([0, 0, 0.05, 0, 0], [0, 0.1, 0.2, 0.3, 0.4], 1000, rng))
    assert [step.is_proven for step in found.steps] == [True, False] and found.chosen == 1
    said = (
        "CNDCG(k=10) rises by 0.0987 with a weight of 0.02, and NDCG(k=10) is proven to lose less than 0.005: "
        "it changes by +0.0017, at worst by -0.0010 (one-sided 95% interval, 1,000 held-out queries)."
    )
    assert found.verdict == said


def test_a_trade_off_that_raises_nothing_is_not_chosen():
    found = kept(drawn([0, 0, 0], [0, -0.01, -0.02], 1000, np.random.default_rng(3)))
    assert found.chosen == 0 and all(step.is_proven for step in found.steps)
    assert found.verdict.startswith(
        "No trade-off that is proven to keep NDCG(k=10) within 0.005 raises CNDCG"
    )


def test_queries_without_weight_or_value_do_not_count():
    values = drawn([0, 0.001, 0.002], [0, 0.1, 0.2], 400, np.random.default_rng(5))
    weight = np.repeat([1.0, 0.0], 200)
    half, all_of_it = kept(values[:, :, :200]), kept(values, query_weight=weight)
    assert [step.p for step in half.steps] == [step.p for step in all_of_it.steps]
    assert half.means == all_of_it.means
    values[:, 0] = np.nan
    assert kept(values).chosen == 0
    assert kept(values).verdict.endswith(
        "changes by an amount that cannot be estimated from 0 held-out queries."
    )


@pytest.mark.parametrize(("n", "said"), [(1, "1 held-out query"), (4, "4 held-out queries")])
def test_too_few_queries_prove_nothing(n, said):
    found = kept(np.zeros((2, 2, n)) + np.array([0.5, 0.6])[:, None], weights=(0.0, 0.1))
    assert not found.steps[0].is_proven and found.chosen == 0  # five signs are significant at least
    assert found.verdict.startswith(
        "No trade-off is proven to keep NDCG(k=10) within 0.005: the model is that"
    )
    assert found.verdict.endswith(f"changes by an amount that cannot be estimated from {said}.")
