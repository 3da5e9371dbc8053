"""`Kept`: what is proven of a sequence of trade-offs, on drawn tables."""

import numpy as np
import pytest
from scipy import stats

from lambdaboost import CNDCG, NDCG
from lambdaboost.tuning.keep import WEIGHTS, Kept

MEASURES, KEEP = (NDCG(10), CNDCG(10)), 0.005
NAN = np.full(2, np.nan)


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
    return Kept(MEASURES, keep, weights or WEIGHTS[: len(values)], values, weight)


@pytest.mark.parametrize("boundary", [1, 4])
def test_no_more_than_one_sequence_in_twenty_proves_too_much(boundary):
    rng = np.random.default_rng(boundary)
    # Losses rise to the tolerance exactly, which no proof should cover, and beyond it.
    losses = [0.0, 0.0005, 0.001, 0.0015, 0.005, 0.006][-boundary - 2 :] if boundary < 4 else None
    losses = [0.0, KEEP, KEEP, KEEP] if boundary == 1 else [0.0, 0.0, 0.0, 0.0, KEEP, 0.006]
    gains = np.linspace(0, 0.1, len(losses))
    wrong = sum(
        any(step.is_proven for step in kept(drawn(losses, gains, 300, rng)).steps[boundary - 1 :])
        for _ in range(1000)
    )
    assert stats.binomtest(wrong, 1000, 0.05, alternative="greater").pvalue > 0.01
    assert wrong > 0


def test_the_number_of_queries_for_a_proof_gives_it_four_times_of_five():
    rng = np.random.default_rng(1)
    needed = int(kept(drawn([0, 0], [0, 0.1], 20_000, rng)).queries_needed)
    proven = sum(kept(drawn([0, 0], [0, 0.1], needed, rng)).steps[0].is_proven for _ in range(1000))
    assert 0.76 < proven / 1000 < 0.84
