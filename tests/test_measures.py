"""Measures: golden values, the naive reference, and what every measure has in common."""

import copy
import pickle
from dataclasses import replace
from math import nan, sqrt

import naive_measures as naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from lambdaboost import LambdaRank
from lambdaboost._jit import using
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import (
    AUC,
    CNDCG,
    ERR,
    MAP,
    MEASURES,
    MRR,
    NDCG,
    BPref,
    ClickDCG,
    KendallTau,
    PairAccuracy,
    Pearson,
    Precision,
    Recall,
    Spearman,
    compare,
    parse,
)
from lambdaboost.evaluation.lanes import LONGEST_IN_LANES
from lambdaboost.evaluation.measure import Measure, check_measure
from lambdaboost.objectives.swaps import SWAPS

# One row a form of a measure.
ALL = [
    NDCG(),
    NDCG(3),
    NDCG(gain="linear"),
    NDCG(5, gain=(0, 1, 3.5, 4, 10), empty=1),
    CNDCG(),
    CNDCG(2, scale=2.5),
    MAP(),
    MAP(5, threshold=2),
    MRR(),
    MRR(2, threshold=3),
    ERR(),
    ERR(3, max_grade=6),
    Precision(1, threshold=4, empty=nan),
    Precision(5, threshold=2),
    Recall(5, threshold=2),
    PairAccuracy(),
    AUC(threshold=3),
    BPref(threshold=2),
    KendallTau(),
    Spearman(),
    Pearson(),
    Pearson("clicks", empty=nan),
    ClickDCG(),
    ClickDCG(k=5, clip=2),
    naive.ReadingDepth(persistence=0.5, threshold=2),
]
every_measure = pytest.mark.parametrize("measure", ALL, ids=repr)


def one_query(*labels, **sources):
    return Queries(labels, sizes=[len(labels)], **sources)


@st.composite
def drawn_queries(draw):
    """Some queries with grades 0 to 4 and clicks, some or all of either missing, and scores with ties.

    Lists are short, or on both sides of the length from which they are sorted.
    """
    longer = st.sampled_from([LONGEST_IN_LANES - 1, LONGEST_IN_LANES, LONGEST_IN_LANES + 1, 150])
    sizes = draw(st.lists(st.integers(1, 40) | longer, min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = sum(sizes)
    missing = rng.random((2, n)) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    relevance = np.where(missing[0], np.nan, rng.integers(0, draw(st.integers(1, 5)), n))
    clicks = np.where(missing[1], np.nan, rng.random(n) * (rng.random(n) < draw(st.sampled_from([0.5, 1.0]))))
    n_distinct = draw(st.sampled_from([1, 2, 18, 1_000_000]))
    scores = (rng.integers(0, n_distinct, n) - 9) * rng.random()
    return scores, Queries(relevance, sizes, clicks=clicks)


def drawn(n_queries=30):
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, n_queries)
    n = sizes.sum()
    return rng.permutation(n) / n, Queries(rng.integers(0, 5, n), sizes, clicks=rng.random(n))


# Golden values


def test_the_names_of_ir_measures_are_understood():
    names = ["nDCG", "RR@3", "P@5", "AP", " R@20 ", "pre@5", "clickdcg@10"]
    found = [NDCG(), MRR(3), Precision(5), MAP(), Recall(20), Precision(5), ClickDCG(10)]
    assert [parse(name) for name in names] == found


def test_every_measure_is_in_the_table():
    assert {type(m) for m in ALL} == set(MEASURES.values()) == set(naive.NAIVE)


# The naive reference


@every_measure
@settings(max_examples=40, deadline=None)
@given(drawn_queries())
def test_agrees_with_the_definition(measure, case):
    scores, q = case
    assert_allclose(measure.per_query(scores, q), naive.per_query(measure, scores, q), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n_labels", [2, 5, 100_000])
def test_pairs_of_a_hundred_thousand_documents(n_labels):
    """On distinct scores, for which scipy counts the same pairs; looking at every pair would take minutes."""
    rng = np.random.default_rng(n_labels)
    n = 100_000
    scores, labels = rng.permutation(n) * 1.0, rng.integers(0, n_labels, n)
    q = one_query(*labels)
    tau_b = stats.kendalltau(scores, labels, variant="b").statistic
    ties = np.bincount(labels) / n
    share = (1 - (ties**2).sum()) / (1 - 1 / n)  # of the pairs that are untied
    tau = tau_b / sqrt(share)
    assert KendallTau("relevance")(scores, q) == pytest.approx(tau, rel=1e-9)
    assert PairAccuracy()(scores, q) == pytest.approx((1 + tau) / 2, rel=1e-9)


def test_spearman_ranks_what_was_not_retrieved_last():
    q = one_query(nan, 2, 0, 1, nan)
    assert Spearman()([9.0, 3.0, -np.inf, 2.0, -np.inf], q) == 1.0
    assert Spearman()([9.0, -np.inf, -np.inf, 2.0, 1.0], q) == pytest.approx(0.0, abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(drawn_queries(), st.integers(0, 2**32 - 1))
def test_the_order_of_rows_says_nothing_of_documents_that_were_not_retrieved(case, seed):
    """A pair of them is in the wrong order, as in bpref, so a query of which nothing was retrieved has the least."""
    rng, (_, q) = np.random.default_rng(seed), case
    scores = np.where(rng.random(q.n_documents) < rng.random(), -np.inf, rng.permutation(q.n_documents))
    rows = np.lexsort((rng.random(q.n_documents), q.query_of_row))
    for measure in [m for m in ALL if not isinstance(m, Pearson)]:
        values = measure.per_query(scores, q)
        assert_allclose(measure.per_query(scores[rows], q.reordered(rows)), values, rtol=1e-12, atol=1e-14)
    worst = np.where(np.isneginf(scores), -1.0 - np.nan_to_num(q.relevance), scores)
    for measure in (PairAccuracy(), KendallTau("relevance"), AUC(), AUC(threshold=3)):
        assert_array_equal(measure.per_query(scores, q), measure.per_query(worst, q))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_pearson_of_scores_whose_squares_no_float_holds(scale):
    q = one_query(3, 0, 1, 7)
    expected = stats.pearsonr([-1, 1.5, 0.5, -1.7], q.relevance).statistic
    assert Pearson()(scale * np.array([-1, 1.5, 0.5, -1.7]), q) == pytest.approx(expected, abs=1e-14)
    assert Pearson(empty=nan)(np.array([1.7, -1.7, 1.7, -1.7]) * 1e308, q) < 1


# What all measures have in common


@every_measure
def test_measures_are_values(measure):
    for again in (parse(repr(measure)), pickle.loads(pickle.dumps(measure))):
        assert again == measure and repr(again) == repr(measure) and hash(again) == hash(measure)
    assert copy.copy(measure) is measure and copy.deepcopy(measure) is measure
    with pytest.raises(AttributeError):
        measure.empty = 0.5


@every_measure
def test_the_same_bits_whatever_the_threads(measure):
    scores, q = drawn(300)
    with using(1):
        alone = measure.per_query(scores, q)
    with using(4):
        assert_array_equal(measure.per_query(scores, q), alone)


def test_real_valued_and_high_grades():
    q = one_query(0.5, 40.25, 700.0)
    down = [3.0, 2.0, 1.0]
    assert_allclose(NDCG().per_query(down, q), naive.per_query(NDCG(), down, q), rtol=1e-14)
    assert MAP(threshold=0.7)(down[:2], one_query(0.1, 0.7)) == 1 / 2  # 0.7 as a float32 is below 0.7


def test_mean_is_weighted_and_leaves_nan_out():
    q = Queries([1, 0, 0, 1, 0, 0], sizes=[2, 2, 2], weight=[1.0, 3.0, 4.0])
    scores = [2.0, 1.0, 2.0, 1.0, 2.0, 1.0]
    assert Precision(1)(scores, q) == 1 / 8
    assert Precision(1, empty=nan)(scores, q) == 1 / 4
    assert Precision(1, empty=1)(scores, q) == 5 / 8
    assert isinstance(Precision(1)(scores, q), float)
    nobody = Queries([1, 0], sizes=[2], weight=[0.0])
    assert np.isnan(Precision(1)([2.0, 1.0], nobody))


# Wrong use


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: NDCG(0), "k is 0"),
        (lambda: NDCG(np.arange(10_000.0)), "k is (0.0, 1.0, 2.0"),
        (lambda: NDCG(gain="exp"), "gain is 'exp'"),
        (lambda: NDCG(gain=(0, -1)), "gain is (0.0, -1.0)"),
        (lambda: NDCG(gain=(0, 3, 1)), "the gain of grade 2 is less than that of grade 1"),
        (lambda: NDCG(empty="skip"), "empty is 'skip'"),
        (lambda: CNDCG(scale=1024), "scale is 1024"),
        (lambda: MAP(threshold=nan), "threshold is nan"),
        (lambda: ERR(max_grade=2000), "max_grade is 2000"),
        (lambda: Precision(None), "k is None"),
        (lambda: NDCG().per_query([1.0], [1.0]), "q is of type list"),
        (lambda: NDCG()([1.0], one_query(1), [2.0]), "weights are those of the queries"),
        (lambda: NDCG()([1.0], [1.0]), "a measure cannot be called with scores and an object of type list"),
        (lambda: NDCG()([1.0, 1.0], one_query(3, 1024)), "relevance[1] is 1024"),
        (lambda: NDCG(gain=(0, 1))([1.0, 1.0], one_query(1, 2)), "relevance[1] is 2"),
        (lambda: CNDCG()([1.0, 1.0], one_query(1, 0, clicks=[0.0, 1.5])), "clicks[1] is 1.5"),
        (lambda: Pearson()([1.0, -np.inf], one_query(1, 0)), "scores[1] is -inf"),
        (lambda: ERR()([1.0, 1.0], one_query(4, 5)), "relevance[1] is 5"),
        (lambda: parse("NDCG(k=3"), "cannot read 'NDCG(k=3'"),
        (lambda: parse("nDGC"), "'nDGC' is unknown (did you mean NDCG?); choose among AUC, BPref, CNDCG"),
        (lambda: parse("Rprec"), "PairAccuracy, Pearson, Precision, Re"),  # and no curve among them
        (lambda: parse("NDCG(kk=3)"), "the form is NDCG(k=None, gain='exponential', source='relevance', *"),
        (lambda: parse("Precision"), "missing a required argument: 'k'"),
        (lambda: parse("NDCG(**{})"), "only known values"),
        (lambda: parse("__import__('os').getcwd()"), "only known values"),
        (lambda: parse("-" * 100_000 + "1"), "cannot read"),
        (lambda: parse("ndcg@10, map"), "'ndcg@10, map' is more than one measure: give one text for each"),
        (lambda: parse("auc@5"), "AUC has no cutoff; write AUC, without @5"),
        (lambda: parse(3), "expected text"),
    ],
)
def test_wrong_use_is_refused_in_words(make, says):
    with pytest.raises((ValueError, TypeError)) as refusal:
        make()
    assert says in str(refusal.value) and len(str(refusal.value)) < 500


@pytest.mark.parametrize("measure", [m for m in ALL if m.source == "relevance"], ids=repr)
def test_the_labels_of_any_source(measure):
    """As those of relevance, in the objective of the measure too."""
    scores, q = drawn()
    stars = Queries(np.zeros(q.n_documents), q.sizes, stars=q.relevance)
    of_stars = replace(measure, source="stars")
    assert_array_equal(of_stars.per_query(scores, stars), measure.per_query(scores, q))
    with pytest.raises(ValueError, match="no label source 'stars' here"):
        of_stars.per_query(scores, q)
    if type(measure) in SWAPS:
        for found, expected in zip(
            LambdaRank(of_stars).gradient(scores, stars), LambdaRank(measure).gradient(scores, q), strict=True
        ):
            assert_array_equal(found, expected)
        assert LambdaRank(of_stars).why_no_pair(stars) == {repr(LambdaRank(of_stars)): ""}


RETURNED = {
    "too few": [0.5],
    "infinite": np.array([1.0, np.inf]),
    "text": ["a", "b"],
    "two results of unequal length": (np.ones(2), np.ones(3)),
}


class Returning(Measure, registered=False):
    """Sorts what it is given, and returns what a key of RETURNED says."""

    what: str = "NaN"

    def values(self, scores, q):
        scores.sort()
        return RETURNED.get(self.what, np.full(q.n_queries, nan))


def test_a_measure_of_ones_own_cannot_harm_its_callers():
    q = Queries([0, 1, 1, 0], [2, 2])
    scores = np.array([2.0, 1.0, 4.0, 3.0])
    for what in RETURNED:
        says = rf"^values of Returning\(what='{what}'\) returns .*: return one number for each query, \(2,\), NaN"
        with pytest.raises(ValueError, match=says):
            Returning(what).per_query(scores, q)
    assert Returning(empty=0.25)(scores, q) == 0.25
    assert scores.tolist() == [2.0, 1.0, 4.0, 3.0]
    with pytest.raises(ValueError, match="is undefined on every query of valid"):
        check_measure(Returning(), q, "valid")


def test_scores_with_the_index_of_the_rows_in_another_order_are_refused():
    frame = pd.DataFrame({"qid": [1, 1, 2, 2], "grade": [0, 1, 1, 0]}, index=list("abcd"))
    q = Queries(frame["grade"], ids=frame["qid"])
    scores = pd.Series([0.0, 1.0, 1.0, 0.0], index=frame.index)
    assert MRR()(scores, q) == MRR()(scores.rename({"a": "z"}), q) == 1.0
    for other in (
        q,
        q.with_positions([1, 2, 1, 2]),
        q.with_source("clicks", frame["grade"]),
        pickle.loads(pickle.dumps(q)),
    ):
        with pytest.raises(
            ValueError, match=r"scores has the rows of relevance in .*: give scores\.loc\[relevance"
        ):
            MRR()(scores.sort_values(), other)
    assert MRR()(scores.loc[["c", "d"]], q.take([1])) == 1.0
    with pytest.raises(
        ValueError, match=r"^scores of 'b': scores has the rows of relevance in another order"
    ):
        compare({"a": scores, "b": scores[::-1]}, q, MRR())
    assert MRR()((1 - scores).sort_values().to_numpy(), q) == 0.75  # an array is taken by place
