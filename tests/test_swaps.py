"""|ΔZ| of every measure that weights pairs: some documents against rankings that are swapped and measured."""

from functools import partial

import naive
import numpy as np
import pytest
from drawn import SHARES
from naive_measures import instance

from lambdaboost import (
    ERR,
    MAP,
    MRR,
    NDCG,
    ClickTier,
    LambdaRank,
    PairAccuracy,
    Precision,
    Queries,
    Recall,
    SigmoidLocal,
    YetiLoss,
)
from lambdaboost.evaluation.levels import levels_of
from lambdaboost.objectives.kernels import sweep as _sweep
from lambdaboost.objectives.kernels.prepared import BY_SWEEP, BY_TILES
from lambdaboost.objectives.swaps import SWAPS, gains_and_swap
from lambdaboost.tuning.tune import searched_with

pytestmark = pytest.mark.slow  # every measure has kernels of its own
N = 131  # tiles, and not a multiple of anything
EACH = [instance(cls) for cls in SWAPS]
QUERY = Queries([1, 0], sizes=[2], clicks=[1, 0])
SWEPT = [metric for metric in EACH if gains_and_swap(metric)[1](metric, QUERY).is_sum]
CUT = [MAP(k=12), MAP(k=70, threshold=2), MRR(k=40, threshold=4), ERR(k=10), Precision(k=50), NDCG(k=9)]


def check(objective, scores, relevance):
    """Some documents; clicks are the grades, at most 1."""
    q = Queries(relevance, sizes=[scores.size], clicks=np.clip(relevance, 0, 1))
    naive.check_documents(objective, scores, q, np.random.default_rng(1).integers(0, scores.size, 3))


@pytest.mark.parametrize("spread", [1.0, 1e4])
@pytest.mark.parametrize("metric", [*EACH, *CUT], ids=repr)
def test_a_list_of_tiles(metric, spread):
    rng = np.random.default_rng(0)
    relevance = rng.choice(5, p=SHARES, size=N) * 1.0
    relevance[rng.random(N) < 0.1] = np.nan
    check(LambdaRank(metric), np.round(rng.normal(size=N), 2) * spread, relevance)
    check(SigmoidLocal(metric, center=0.3), np.round(rng.normal(size=N), 2), relevance)


@pytest.mark.parametrize("missing", [0.0, 0.1], ids=["all labels", "missing labels"])
@pytest.mark.parametrize("metric", [*SWEPT, MAP(k=300), ERR(k=9)], ids=repr)
def test_the_sweep_sums_what_all_pairs_sum(metric, missing):
    rng = np.random.default_rng(4)
    scores, relevance = rng.normal(size=1_501), rng.choice(5, p=SHARES, size=1_501) * 1.0
    relevance[rng.random(1_501) < missing] = np.nan
    q = Queries(relevance, [1_501], clicks=relevance / 4)
    by_sweep, by_pairs = (
        naive.gradient_by(way, LambdaRank(metric), scores, q)[0] for way in (BY_SWEEP, BY_TILES)
    )
    np.testing.assert_allclose(by_sweep, by_pairs, atol=1e-5 * np.abs(by_pairs).max())


@pytest.mark.parametrize("grade", [4.0, 52.0, 60.0, 1000.0])
def test_a_document_that_surely_satisfies(grade):
    """1 − R is 0 in float64 from 54 on; what follows counts once it is swapped away."""
    metric, scores, relevance = ERR(max_grade=grade), [2.0, 1.0, 0.0], [grade, 0, grade - 1]
    lam, mu = naive.by_swap(metric, scores, relevance)
    found = LambdaRank(metric).gradient(scores, Queries(relevance, sizes=[3]))
    np.testing.assert_allclose(found, [-lam, mu], atol=1e-6)


@pytest.mark.parametrize("grade", [30.0, 50.0, 1000.0])
def test_a_document_that_surely_satisfies_in_a_long_list(grade):
    scores = np.random.default_rng(5).normal(size=1_501)
    relevance = np.arange(1_501) % 5 * 1.0
    relevance[np.argsort(-scores)[700]] = grade
    objective, q = LambdaRank(ERR(max_grade=grade)), Queries(relevance, [1_501])
    results = [naive.gradient_by(way, objective, scores, q)[0] for way in (BY_SWEEP, BY_TILES)]
    np.testing.assert_allclose(*results, rtol=0, atol=1e-5 * np.abs(results[1]).max())


@pytest.mark.parametrize("metric", [each for each in EACH if each != PairAccuracy()], ids=repr)
def test_the_grades_of_near_linear_time(metric):
    """By the sweep; the pairs of Precision, Recall and MRR are those above a cutoff or the first relevant document."""
    n = 6_000
    most = {MRR: 0, Precision: 0, Recall: 0}.get(type(metric), 16)
    for grades in (2, 8, 9, 16, 17):
        labels = np.arange(n) % grades / grades
        q = Queries(labels, sizes=[n], clicks=labels)
        _, swap_of = gains_and_swap(metric)
        worth = _sweep.is_sweep_faster(q, levels_of(q, metric.source), swap_of(metric, q))
        assert worth.tolist() == [grades <= most]


def test_the_swap_of_a_subclass_goes_first(monkeypatch):
    """A subclass without a swap of its own has that of its nearest base class, unless its values are others."""

    class Halved(NDCG, registered=False):
        pass

    class Same(NDCG, registered=False):
        pass

    class Reversed(NDCG, registered=False):
        def values(self, scores, q):
            return super().values(-scores, q)

    class StillReversed(Reversed, registered=False):
        pass

    gains, whole_swap = SWAPS[NDCG]

    def halved(metric, q):
        swap = whole_swap(metric, q)
        return swap._replace(discounts=swap.discounts / 2)

    scores, q = [0.2, 0.1, 0.0], Queries([0, 1, 2], sizes=[3])
    whole = LambdaRank().gradient(scores, q)[0]
    monkeypatch.setitem(SWAPS, Halved, (gains, halved))
    np.testing.assert_allclose(LambdaRank(Halved()).gradient(scores, q)[0], whole / 2, rtol=1e-6)
    np.testing.assert_array_equal(LambdaRank(Same()).gradient(scores, q)[0], whole)
    for metric in (Reversed(), StillReversed()):
        for make in (LambdaRank, partial(ClickTier, source="relevance", within=("clicks",))):
            with pytest.raises(TypeError, match="which has values of its own"):
                make(metric)
        assert searched_with(metric, q) == YetiLoss()
    monkeypatch.setitem(SWAPS, Reversed, SWAPS[NDCG])
    LambdaRank(StillReversed())
