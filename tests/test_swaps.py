"""What a swap is worth, on long lists: a few documents against float64 sums over measures of swapped rankings."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from lambdaboost import (
    ERR,
    MAP,
    MRR,
    NDCG,
    WTA,
    GradientStep,
    LambdaRank,
    PairAccuracy,
    Precision,
    Queries,
    SigmoidLocal,
    Spearman,
)
from lambdaboost.evaluation import MEASURES
from lambdaboost.objectives.kernels import tree as _tree
from lambdaboost.objectives.kernels.levels import levels_of
from lambdaboost.objectives.swaps.registry import SWAPS, pair_weights

SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]
N = 3_001  # not a multiple of anything


def satisfaction(metric, labels):
    return (2.0 ** np.nan_to_num(labels) - 1) / 2**metric.max_grade


def err(metric, labels):
    chance = satisfaction(metric, labels)
    reading = np.append(1, np.cumprod(1 - chance)[:-1])
    return (reading * chance / np.arange(1, labels.size + 1))[: metric.k].sum()


def average_precision(metric, labels):
    hits = labels >= metric.threshold
    precisions = hits * hits.cumsum() / np.arange(1, labels.size + 1)
    return precisions[: metric.k].sum() / min(hits.sum(), metric.k or hits.sum())


def reciprocal_rank(metric, labels):
    rank = 1 + (labels >= metric.threshold).argmax()
    return 1 / rank if rank <= (metric.k or rank) else 0.0


def precision(metric, labels):
    return (labels >= metric.threshold)[: metric.k].sum() / metric.k


def winner(metric, labels):
    return float(labels[0] >= metric.threshold)


def spearman(metric, labels):
    known = labels[~np.isnan(labels)]
    return spearmanr(-np.arange(known.size), known).statistic


VALUE = {
    ERR: err,
    MAP: average_precision,
    MRR: reciprocal_rank,
    Precision: precision,
    WTA: winner,
    Spearman: spearman,
}


def n_right(labels, p, r):
    """Right pairs with a document at rank p or r."""
    ranks = np.arange(labels.size)
    return sum(
        ((labels[x] > labels) & (x < ranks) | (labels[x] < labels) & (x > ranks)).sum() for x in (p, r)
    ) - (labels[p] > labels[r])


def swap(metric, labels, now, p, r):
    """What swapping two ranks does to the measure, labels given by rank."""
    swapped = labels.copy()
    swapped[[p, r]] = labels[[r, p]]
    if isinstance(metric, PairAccuracy):
        _, counts = np.unique(labels[~np.isnan(labels)], return_counts=True)
        pairs = (counts.sum() ** 2 - (counts**2).sum()) / 2
        return abs(int(n_right(swapped, p, r)) - int(n_right(labels, p, r))) / pairs
    return abs(VALUE[type(metric)](metric, swapped) - now)


def lambdas_of(objective, scores, relevance, row):
    """λ and μ of one document."""
    order = np.argsort(-scores, kind="stable")
    labels, rank = relevance[order], np.empty(scores.size, dtype=int)
    rank[order] = np.arange(scores.size)
    metric = objective.metric
    now = None if isinstance(metric, PairAccuracy) else VALUE[type(metric)](metric, labels)
    side = np.nan_to_num(np.sign(relevance[row] - relevance))
    w = np.zeros(scores.size)
    for j in np.flatnonzero(side):
        w[j] = swap(metric, labels, now, *sorted((rank[row], rank[j])))
    with np.errstate(over="ignore"):
        x = side * (scores[row] - scores) + getattr(objective, "center", 0.0)
        rho, rest = 1 / (1 + np.exp(x)), 1 / (1 + np.exp(-x))
    if isinstance(objective, SigmoidLocal):
        return (side * w * rho * rest).sum(), (w * rho * rest * (rest - rho)).sum()
    return (side * w * rho).sum(), (w * rho * rest).sum()


def check(objective, scores, relevance, rows=3):
    grad, hess = objective.gradient(scores, Queries(relevance, sizes=[scores.size]))
    largest = np.abs(grad).max()
    watched = np.append(np.random.default_rng(1).integers(0, scores.size, rows), np.abs(grad).argmax())
    for row in watched:
        lam, mu = lambdas_of(objective, scores, relevance, row)
        assert abs(-grad[row] - lam) <= 1e-5 * largest
        assert abs(hess[row] - mu) <= 1e-5 * max(largest, np.abs(hess).max())


METRICS = [MAP(), MAP(threshold=4), MAP(k=12), MAP(k=700, threshold=2), MRR(), MRR(k=40, threshold=4)]
METRICS += [ERR(), ERR(k=100), WTA(), Precision(k=50)]
METRICS += [PairAccuracy(), Spearman()]


@pytest.mark.parametrize("spread", [1.0, 1e4])
@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_a_long_list(metric, spread):
    rng = np.random.default_rng(0)
    relevance = rng.choice(5, p=SHARES, size=N) * 1.0
    relevance[rng.random(N) < 0.1] = np.nan
    check(LambdaRank(metric), np.round(rng.normal(size=N), 2) * spread, relevance)


@pytest.mark.parametrize("metric", [MAP(), ERR(), PairAccuracy()], ids=repr)
def test_a_long_list_that_is_almost_sorted(metric):
    """Where most swaps that matter are of neighbours, and differences of figures small."""
    rng = np.random.default_rng(2)
    relevance = np.sort(rng.choice(5, p=SHARES, size=N))[::-1] * 1.0
    check(LambdaRank(metric), -np.arange(N) * 0.05 + rng.normal(size=N), relevance)


def test_average_precision_at_a_cutoff_by_hand():
    """AP@2 of a list of which the second and third are relevant: (1/2)/2; after a swap with the first, 1/2 and 1."""
    grad, hess = LambdaRank(MAP(k=2)).gradient([3.0, 2.0, 1.0], Queries([0, 1, 1], sizes=[3]))
    second, third = 1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-2))
    lam = [-0.25 * second - 0.75 * third, 0.25 * second, 0.75 * third]
    mu = [0.25 * second * (1 - second), 0.75 * third * (1 - third)]
    np.testing.assert_allclose(-grad, lam, rtol=1e-6)
    np.testing.assert_allclose(hess, [sum(mu), *mu], rtol=1e-6)


@pytest.mark.parametrize("k", [1, 31, 32, 33, 64, 65, 5_000])
def test_average_precision_at_each_cutoff(k):
    """Most relevant documents stand low, where a cutoff leaves them out, and some stand before it."""
    rng = np.random.default_rng(6)
    scores = -np.arange(200) * 0.05 + rng.normal(size=200) * 0.1
    relevance = (rng.random(200) < np.linspace(0.05, 0.4, 200)) * 1.0
    relevance[scores.argmax()] = 1
    check(LambdaRank(MAP(k=k)), scores, relevance)


@pytest.mark.parametrize("levels", [2, 40, 5_000])
def test_pair_accuracy_at_each_number_of_levels(levels):
    rng = np.random.default_rng(3)
    relevance = rng.integers(0, levels, 1_000) * 1.0
    check(LambdaRank(PairAccuracy()), rng.normal(size=1_000), relevance)


@pytest.mark.parametrize("share_missing", [0.0, 0.1])
@pytest.mark.parametrize("levels", [2, 40, 1_000_000])
def test_spearman_at_each_number_of_levels(levels, share_missing):
    """Neighbours in the order of labels weigh least: their ranks are whole numbers, and differ by no more than one."""
    rng = np.random.default_rng(3)
    relevance = rng.integers(0, levels, 1_000) * 1.0
    relevance[rng.random(1_000) < share_missing] = np.nan
    check(LambdaRank(Spearman()), rng.normal(size=1_000), relevance)


def test_spearman_of_a_list_by_the_tree(monkeypatch):
    """Long lists of few levels; here also with missing labels."""
    monkeypatch.setattr(_tree, "PAIRS_A_DOCUMENT", 0)
    rng = np.random.default_rng(5)
    relevance = rng.integers(0, 5, N) * 1.0
    relevance[rng.random(N) < 0.1] = np.nan
    check(LambdaRank(Spearman()), rng.normal(size=N), relevance)


def test_spearman_by_hand():
    """Ranks 1, 3, 4 from the top less their mean, of labels 2, 0.5, 0.5 and one missing: B² = 3/2, A² = 2."""
    grad, _ = LambdaRank(Spearman()).gradient(
        [2.0, 1.0, 3.0, 0.0], Queries([0.5, np.nan, 0.5, 2.0], sizes=[4])
    )
    w = 1.5 / np.sqrt(1.5 * 2)  # of labels 2 and 0.5, one rank apart
    near, far = w / (1 + np.exp(-2.0)), 2 * w / (1 + np.exp(-3.0))
    np.testing.assert_allclose(-grad, [-near, 0, -far, near + far], rtol=1e-6)


def test_spearman_reads_its_source():
    scores, labels = np.array([0.3, 0.1, 0.2]), [1, 3, 2]
    of_clicks, _ = LambdaRank(Spearman("clicks")).gradient(
        scores, Queries([0, 0, 1], sizes=[3], clicks=labels)
    )
    np.testing.assert_array_equal(
        of_clicks, LambdaRank(Spearman()).gradient(scores, Queries(labels, sizes=[3]))[0]
    )


@pytest.mark.parametrize("grade", [4.0, 52.0, 60.0, 1000.0])
def test_a_document_that_surely_satisfies(grade):
    """1 − R is 0 in float64 from 54 on; what follows counts once it is swapped away."""
    q = Queries([grade, 0, grade - 1], sizes=[3])
    grad, _ = LambdaRank(ERR(max_grade=grade)).gradient([2.0, 1.0, 0.0], q)
    top, half = 1 - 0.5**grade, 0.5 - 0.5**grade
    down, second = np.array([1, 2, 3]), 1 / (1 + np.exp(1.0))

    def value(*chances):
        return (np.append(1, np.cumprod(1 - np.array(chances))[:-1]) * chances / down).sum()

    now = value(top, 0, half)
    first_second = (now - value(0, top, half)) * second
    first_third = (now - value(half, 0, top)) / (1 + np.exp(2.0))
    third_second = (value(top, half, 0) - now) * (1 - second)
    np.testing.assert_allclose(
        -grad,
        [first_second + first_third, -first_second - third_second, third_second - first_third],
        atol=1e-6,
    )


def test_the_tree_is_for_swaps_that_are_sums_of_terms(monkeypatch):
    """On lists that it takes, all measures except MRR go by the tree."""
    rng = np.random.default_rng(4)
    scores, relevance = rng.normal(size=1_500), rng.choice(5, p=SHARES, size=1_500) * 1.0
    for metric in (Precision(k=700), Spearman(), MAP(), MAP(k=300), ERR(), ERR(k=9), MRR(), PairAccuracy()):
        results = []
        for pairs_a_document in (0, 1e18):
            monkeypatch.setattr(_tree, "PAIRS_A_DOCUMENT", pairs_a_document)
            results.append(LambdaRank(metric).gradient(scores, Queries(relevance, sizes=[1_500]))[0])
        by_tree, by_pairs = results
        assert (by_tree.tobytes() == by_pairs.tobytes()) == isinstance(metric, MRR)
        np.testing.assert_allclose(by_tree, by_pairs, atol=1e-5 * np.abs(by_pairs).max())


@pytest.mark.parametrize("metric", [cls() for cls in SWAPS if cls is not Precision], ids=repr)
def test_the_benchmarks_name_the_grades_of_near_linear_time(metric):
    """By the tree; the pairs of WTA and MRR are those above its cutoff and above the first relevant document."""
    n = 6_000
    most = {PairAccuracy: 8, MRR: 0, WTA: 0}.get(type(metric), 16)
    for grades in (2, 8, 9, 16, 17):
        labels = np.arange(n) % grades / grades
        q = Queries(labels, sizes=[n], **({} if metric.source == "relevance" else {metric.source: labels}))
        worth = _tree.worth_a_tree(q, levels_of(q, metric.source), pair_weights(metric, q))
        assert worth.tolist() == [grades <= most]
    page = Path(__file__).parents[1].joinpath("docs", "benchmarks.md").read_text(encoding="utf-8")
    assert "near-linear for up to 16 grades (8 with `PairAccuracy`)" in page


def test_every_measure_that_weighs_pairs_is_in_the_docstring():
    for measure in SWAPS:  # other objectives refer to LambdaRank
        assert measure.__name__ in LambdaRank.__doc__
    assert set(SWAPS) < set(MEASURES.values())


def test_trains_on_an_engine():
    import lightgbm as lgb

    rng = np.random.default_rng(6)
    x = rng.normal(size=(600, 3))
    relevance = np.clip(np.round(x[:, 0] + rng.normal(size=600) * 0.5), 0, 4)
    q = Queries(relevance, sizes=[30] * 20)
    for metric in (MAP(), MRR(), ERR(), WTA(), Precision(k=3), PairAccuracy(), Spearman()):
        data = lgb.Dataset(x, relevance, group=[30] * 20)
        model = lgb.train(
            {
                "objective": GradientStep(LambdaRank(metric)),
                "verbose": -1,
                "num_threads": 1,
                "min_data_in_leaf": 30,
            },
            data,
            20,
        )
        assert metric(model.predict(x), q) > metric(np.zeros(600), q)


@pytest.mark.parametrize("objective", [LambdaRank(NDCG(k=60)), LambdaRank(MRR())], ids=repr)
def test_a_list_has_the_same_bits_beside_lists_that_meet_the_cutoff_and_alone(objective):
    rng = np.random.default_rng(5)
    q = Queries(rng.integers(0, 3, 415), sizes=[45, 50, 120, 200])
    scores = rng.normal(size=q.n_documents)
    together = objective.gradient(scores, q)
    for first, last in pairwise(q.offsets):
        alone = objective.gradient(scores[first:last], Queries(q.relevance[first:last], sizes=[last - first]))
        for t, a in zip(together, alone, strict=True):
            np.testing.assert_array_equal(t[first:last], a)
