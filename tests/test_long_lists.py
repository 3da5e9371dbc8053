"""Long lists: the sweep against float64 sums over all pairs, whatever the scores, on both sides of the switch."""

import naive
import numpy as np
import pytest
from drawn import SHARES

from lambdaboost import (
    MAP,
    NDCG,
    ClickTier,
    LambdaRank,
    Queries,
    RankNet,
    SigmoidLocal,
    graded,
)
from lambdaboost.objectives.kernels.prepared import BY_SWEEP, BY_TILES


def grades(rng, n):
    return rng.choice(5, p=SHARES, size=n) * 1.0


OBJECTIVES = [
    LambdaRank(),
    LambdaRank(sigma=30.0),
    LambdaRank(NDCG(k=500)),
    RankNet(),
    SigmoidLocal(),
    SigmoidLocal(NDCG(k=900), center=-1.5),
]


def normal(rng, n):
    return rng.normal(size=n)


def outliers(spread):
    """Scores of any range, some of them far out."""
    return lambda rng, n: rng.standard_t(2, size=n) * spread


def levels(count):
    """So many grades."""
    return lambda rng, n: rng.integers(0, count, n) * (4.0 / (count - 1))


CASES = {
    **{repr(objective): (objective, 2_100, normal, grades) for objective in OBJECTIVES},
    **{
        f"spread {spread}": (LambdaRank(), 1_300, outliers(spread), grades)
        for spread in (0.0, 1e-30, 1e-3, 3.0, 12.0, 100.0, 1e6)
    },
    "a large sigma leaves differences their digits": (
        RankNet(sigma=1e6), 1_300, lambda rng, n: 1e6 * rng.integers(0, 4, n) + 1e-6 * rng.normal(size=n), grades,
    ),
    **{
        f"{count} grades": (LambdaRank(), 1_000, lambda rng, n: np.round(rng.normal(size=n), 1), levels(count))
        for count in (2, 16, 17, 1000)
    },
    "missing labels keep their ranks": (
        LambdaRank(), 1_500, normal, lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, grades(rng, n)),
    ),
    "a swap with a second term": (LambdaRank(MAP()), 200, normal, grades),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", [BY_SWEEP, BY_TILES], ids=["sweep", "pairs"])
def test_every_document(case, way):
    objective, n, draw_scores, draw_labels = CASES[case]
    rng = np.random.default_rng(0)
    scores, q = draw_scores(rng, n), Queries(draw_labels(rng, n), sizes=[n])
    naive.check_documents(objective, scores, q, gradient=naive.gradient_by(way, objective, scores, q))


@pytest.mark.slow
@pytest.mark.parametrize(
    "objective",
    [*OBJECTIVES, LambdaRank(NDCG(k=10)), ClickTier(), ClickTier(zeros="missing"), graded()],
    ids=repr,
)
@pytest.mark.parametrize("spread", [1.0, 1e-30, 1e6])
def test_some_documents_of_a_long_list(objective, spread):
    rng = np.random.default_rng(5)
    # Where more than 700/σ lie between scores, time grows as the square of the length.
    n = 6_000 if spread > 1 else 200_000 if objective == LambdaRank() else 20_000
    q = Queries(grades(rng, n), sizes=[n], clicks=rng.choice([0, 0, 0.5, 1, np.nan], n))
    scores = np.round(rng.normal(size=n), 2) * spread
    naive.check_documents(objective, scores, q, [0, n - 1, *rng.integers(0, n, 9)])
