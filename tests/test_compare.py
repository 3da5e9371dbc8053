"""Comparisons of systems, in pairs: the tests against scipy, the tables, and what may not be compared."""

from fractions import Fraction
from math import inf, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ir_measures import Rprec
from scipy import stats
from threadpoolctl import threadpool_limits

from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import MAP, NDCG, ClickDCG, Spearman, compare, compare_values
from lambdaboost.evaluation.charts import on_front
from lambdaboost.evaluation.significance import holm, interval, mark, two_sided_p, weighted_mean


def drawn(n_queries=60, seed=0, **sources):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    return Queries(rng.integers(0, 4, sizes.sum()), sizes, **sources)


Q = drawn()
RNG = np.random.default_rng(5)
NOISE = RNG.normal(size=Q.n_documents)
SCORES = {"weak": 0.2 * Q.relevance + NOISE, "strong": Q.relevance + NOISE, "same": 0.2 * Q.relevance + NOISE}
MEASURES = (NDCG(1), NDCG(3), MAP())
M = NDCG(3)


def figures(before, after, weight=None):
    return compare_values({"a": {M: before}, "b": {M: after}}, weight)["b", M]


def test_the_frame_holds_means_tests_and_holms_correction():
    found = compare(SCORES, Q, MEASURES)
    assert [*found.frame.columns] == [
        *("system", "measure", "mean", "difference", "low", "high", "p", "p after Holm")
    ]
    assert found.systems == ("weak", "strong", "same") and len(found.frame) == 9
    values = {name: {m: m.per_query(s, Q) for m in MEASURES} for name, s in SCORES.items()}
    for row in found.frame.to_dict("records"):
        m = next(m for m in MEASURES if repr(m) == row["measure"])
        before, after = values["weak"][m], values[row["system"]][m]
        assert row["mean"] == pytest.approx(after.mean(), abs=1e-12)
        if row["system"] == "weak":
            assert np.isnan([row["difference"], row["low"], row["p"], row["p after Holm"]]).all()
        elif row["system"] == "strong":
            test = stats.ttest_rel(after, before)
            assert row["p"] == pytest.approx(test.pvalue, rel=1e-9)
            reference = test.confidence_interval(0.95)
            assert (row["low"], row["high"]) == pytest.approx((reference.low, reference.high))
    tested = found.frame[found.frame["system"] != "weak"]
    assert tested["p after Holm"].to_numpy() == pytest.approx(holm(tested["p"].to_numpy()))


@pytest.mark.parametrize(
    ("changes", "p"),
    [
        *(([change] * n, 2.0 ** (1 - n)) for change in (0.25, -0.1) for n in (1, 2, 3, 6, 100)),
        # Queries that do not differ add no evidence: t alone would give 0.083.
        ([0.5] * 3 + [0.0] * 997, 0.25),
        ([0.0, 0.0, 0.3 - 0.2 - 0.1], 1),  # the difference is one of rounding
        ([0.0, 0.0, 1e-9], 1),
    ],
)
def test_a_change_is_at_most_as_significant_as_its_signs(changes, p):
    before = np.linspace(0.2, 0.4, len(changes))
    assert figures(before, before + changes).p == p


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([-0.2, 0.0, 0.0, 0.1, 0.3]), min_size=1, max_size=30),
    st.booleans(),
    st.sampled_from([0.5, 0.1, 0.05]),
)
@example([0.3, -1e-9, 0.2, 0.0, 0.0, -0.3, -0.2], False, 0.05)  # p is just below 1
def test_the_interval_holds_0_exactly_where_p_says_so(differences, weighted, alpha):
    x = np.array(differences)
    weight = np.arange(1.0, x.size + 1) if weighted else np.ones(x.size)
    low, high = interval(x, weight, alpha)
    assert low <= weighted_mean(x, weight).mean <= high
    assert (low <= 0 <= high) == (two_sided_p(x, weight) >= alpha)


def test_few_queries_have_no_interval():
    few = figures([0.1] * 5, [0.2] * 5)
    assert (few.low, few.high) == (-inf, inf)


# Weights


def test_weights_count_as_in_the_measure():
    q = drawn(weight=np.linspace(0.0, 3.0, 60))
    found = compare(SCORES, q, M)
    for name, scores in SCORES.items():
        assert found[name, M].mean == pytest.approx(M(scores, q))
    d = found["strong", "NDCG(k=3)"]
    assert d.difference == pytest.approx(d.mean - found["weak", M].mean)
    assert found.caption.startswith("Weighted means over 59 of 60 queries")  # query 0 weighs nothing


@pytest.mark.parametrize(
    "w",
    [
        (1.0, 4.0, 2.0, 0.5, 1.5, 1.0),
        *((1, 1, largest, 1, 1, 1) for largest in (1e4, 1e8, 1e16, 1e60, 1e300)),
    ],
)
def test_the_weighted_variance_by_matrices(w):
    """Bell and McCaffrey (2002): V = Σ aᵢ eᵢ², and 2 E(V)² / Var(V) degrees of freedom.

    In rational numbers, for where one query has nearly all the weight, 1 − h of floats is 0.
    """
    given = np.array([0.3, -0.1, 0.2, 0.25, 0.0, 0.3])
    x, h = (np.array([Fraction(one) for one in values]) for values in (given, w))
    h /= h.sum()
    residuals = np.eye(6, dtype=int) - np.outer(np.ones(6, dtype=int), h)
    a = np.diag(h**2 / np.diag(residuals @ residuals.T))
    form = residuals.T @ a @ residuals
    assert np.trace(form) == h @ h  # unbiased
    df = np.trace(form) ** 2 / np.trace(form @ form)
    weight = np.array(w)
    expected = (float(h @ x), sqrt(x @ form @ x), float(df))
    assert weighted_mean(given, weight) == pytest.approx(expected, rel=1e-9)
    assert 0.05 < two_sided_p(given, weight) <= 1 and np.isfinite(interval(given, weight)).all()


def test_p_has_the_same_bits_whatever_the_threads():
    rng = np.random.default_rng(0)
    x, w = rng.normal(0.005, 1, 50_000), rng.random(50_000)
    found = set()
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            found.add((*weighted_mean(x, w), two_sided_p(x, w), *interval(x, w)))
    assert len(found) == 1


# The queries that are compared


def test_means_of_a_measure_are_over_the_same_queries():
    """Each of three systems is undefined somewhere else; baseline and both others are compared where all are not."""
    values = {"a": [0.1, 0.2, 0.3, nan, 0.9], "b": [0.2, nan, 0.5, 0.6, 1.0], "c": [0.4, 0.2, 0.1, 0.3, 0.8]}
    comparison = compare_values({name: {M: of} for name, of in values.items()})
    assert comparison["a", M].mean == pytest.approx(1.3 / 3)
    assert comparison.means_table.to_numpy().tolist() == [["a", "43.33"], ["b", "56.67"], ["c", "43.33"]]
    assert comparison.caption.startswith("Means over 3 of 5 queries, times 100.")
    both = compare_values({"a": {M: [0.1, 0.2, 0.3], MAP(): [nan, 0.2, nan]}})
    assert both.caption.startswith("Means over 1 to 3 of 3 queries")


# Ties


@pytest.mark.parametrize("direction", [1, -1])
def test_ties_of_sorted_rows_are_said(direction):
    """Not those of other rows, of a measure that averages them, nor of scores that differ."""
    rows = np.lexsort((-direction * Q.relevance, Q.query_of_row))
    ordered, flat = Q.reordered(rows), np.zeros(Q.n_documents)
    said = r"scores tie in \d\d of 60 queries, and rows stand in the order of relevance: NDCG\(k=3\) is "
    with pytest.warns(UserWarning, match=said):
        value = M(flat, ordered)
    assert (value > 0.9) == (direction == 1)
    with pytest.warns(UserWarning, match=f"'flat': {said}"):
        compare({"noise": NOISE, "flat": flat}, ordered, [Spearman(), M])
    for silent in (lambda: M(flat, Q), lambda: M(NOISE, ordered), lambda: Spearman()(flat, ordered)):
        silent()  # warnings are errors


# What is significant


def test_holm_by_its_definition():
    """The highest of (m − j + 1) p(j) over the p-values that are not larger, at most 1."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(rng.integers(1, 9)) ** 3
        expected = [max(min(1.0, (p >= other).sum() * other) for other in p[p <= one]) for one in p]
        assert holm(p) == pytest.approx(expected, rel=1e-12)


# Error rates, by simulation: 2,000 comparisons, bounds at 1 in 10,000


def without_a_difference(rng, shape):
    """Two systems with the same distribution of NDCG, correlated, skewed, and often equal."""
    hard, same = rng.beta(2, 2, shape), rng.random(shape) < 0.3
    a, b = (np.clip(hard + 0.3 * rng.standard_gamma(1, shape) - 0.3, 0, 1) for _ in range(2))
    return np.where(same, 0, b - a)


def coarse(rng, shape):
    """As Precision(1) gives them, where a t-test alone goes wrong."""
    return rng.choice([-1.0, 0.0, 0.0, 1.0], shape)


EVEN, LINEAR = np.ones, lambda n: np.linspace(1, 3, n)
FEW_HEAVY = lambda n: np.random.default_rng(9).lognormal(0, 1, n)  # noqa: E731


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "weigh", "n", "at_most"),
    [
        *((without_a_difference, weigh, n, False) for weigh in (EVEN, LINEAR) for n in (30, 200)),
        *((without_a_difference, FEW_HEAVY, n, True) for n in (10, 30, 200)),
        *((coarse, EVEN, n, True) for n in (5, 8, 12)),
    ],
)
def test_five_percent_of_comparisons_without_a_difference_are_significant(draw, weigh, n, at_most):
    """No more where few queries carry most of the weight, or where values are few and coarse."""
    x, w = draw(np.random.default_rng(0), (2_000, n)), weigh(n)
    found = sum(two_sided_p(of_one, w) < 0.05 for of_one in x)
    low, high = stats.binom.ppf([5e-5, 1 - 5e-5], 2_000, 0.05)
    assert (at_most or low <= found) and found <= high


# Tables


def styled(n=40):
    """No difference, one that is significant alone but not among four, a sure gain, a sure loss."""
    wave = np.tile([0.1, -0.1], n // 2)
    base = np.full(n, 0.5)
    by = {"none": 0.0, "likely": 0.1 * 2.2 / sqrt(n), "sure & |safe|": 0.1, "lost": -0.1}
    return compare_values({"base": {M: base}} | {name: {M: base + wave + d} for name, d in by.items()})


def test_tables():
    assert str(styled()).splitlines() == [
        "       System NDCG(k=3)",
        "         base     50.00",
        "         none     50.00",
        "       likely     53.48",
        "sure & |safe|   ▲ 60.00",
        "         lost   ▼ 40.00",
        "",
        "Means over 40 queries, times 100. ▲ better, ▼ worse than base (paired t-test, p < 0.05 after Holm's "
        "correction for 4 comparisons).",
    ]
    shown = styled()._repr_html_()
    assert shown.count("<table") == 2 and "<td>sure &amp; |safe|</td>" in shown
    alone = compare({"weak": SCORES["weak"]}, Q, M)
    one = compare({"a": [1.0]}, Queries([1], sizes=[1]), M)
    assert one.caption == "Means over 1 query, times 100."
    assert alone.caption == "Means over 60 queries, times 100." and alone.differences_table.empty


@pytest.mark.parametrize("n", [1, 7, 30])
def test_the_pareto_front_against_its_definition(n):
    for seed in range(5):
        points = np.random.default_rng(seed).integers(-1, 5, (n, 2)) / 4  # with ties
        slow = [not any((o >= p).all() and (o > p).any() for o in points) for p in points]
        assert on_front(points).tolist() == slow


# Wrong use


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: compare({"": SCORES["weak"], "b": SCORES["weak"]}, Q, M), "scores has the name ''"),
        (lambda: compare(SCORES, [1.0], M), "queries is of type list"),
        (lambda: compare({"a": [1.0], "b": [1.0]}, Q, M), "scores of 'a': scores has shape (1,)"),
        (lambda: compare({}, Q, M), "scores is of type dict, expected a dict of at least one"),
        (lambda: compare(SCORES, Q, NDCG), "measures is (<class"),
        (lambda: compare_values({"a": {M: []}, "b": {M: []}}), "NDCG(k=3) of 'a' has shape (0,)"),
        (lambda: figures([inf], [0.1]), "NDCG(k=3) of 'a'"),
        (lambda: figures([0.1, 0.2], [0.1]), "of 'b' has shape (1,): give one finite value, or NaN, for each"),
        (lambda: compare_values({name: {M: [0.5], MAP(): [1, 1]} for name in "ab"}), "MAP() of 'a' has shape (2,)"),
        (lambda: figures([nan, nan], [nan, nan]), "NDCG(k=3) is undefined on every query"),
        (lambda: figures([0.5, 0.5], [0.5, 0.5], [1, -2]), "weight is '[ 1. -2.]': give one weight per query"),
        (lambda: figures([0.5, 0.5], [0.5, 0.5], [0, 0]), "weight is 0 for every query"),
        (lambda: figures([0.5], [0.5], ["much"]), "weight: could not convert string to float: 'much'"),
        (lambda: figures(["high"], [0.5]), "NDCG(k=3) of 'a': could not convert string to float"),
        (lambda: compare_values({"a": {M: [0.5]}, "b": {M: [0.5], "AP": [1.0]}}),
         "values of 'b' has the measures NDCG(k=3), 'AP', those of 'a' NDCG(k=3): give every system the same"),
        (lambda: compare_values({"a": [0.5]}), "values of 'a' is of type list: give a dict of the values of each"),
        *((lambda key=key: styled()[key], "give a system and a measure, such as comparison['lost', 'NDCG(k=3)']")
          for key in ("lost", "ab", 0, ("lost", M, 3))),
    ],
)  # fmt: skip
def test_wrong_use_is_refused_in_words(make, says):
    with pytest.raises((ValueError, TypeError)) as refusal:
        make()
    assert says in str(refusal.value)


def test_two_measures_of_one_text_are_refused():
    """Of two long curves that differ in the middle, of which the table would show the first alone."""
    first = Propensities.power(1.0, 100)
    second = Propensities((*first.values[:50], 0.5, *first.values[51:]))
    values = {ClickDCG(propensities=curve): [0.5, 0.25] for curve in (first, second)}
    with pytest.raises(
        ValueError, match=r"two measures shown as ClickDCG\(propensities=Propensities\(100 pos"
    ):
        compare_values({"a": values})


def test_what_was_not_compared_is_named():
    found = compare(SCORES, Q, M)
    for key in (("stronger", M), ("strong", "top"), (["weak", "strong"], M)):
        with pytest.raises(KeyError, match="was not compared: choose among 'weak', 'strong'"):
            found[key]
    assert found["strong", M.name] == found["strong", M]
    assert mark(0.0, p=0.0) == mark(1.0, p=nan) == ""


def test_measures_of_other_libraries_have_any_name():
    of_a, of_b = ({Rprec: [0.5, x], "ndcg@10": [x, 1]} for x in (0.25, 0.75))
    found = compare_values({"a": of_a, "b": of_b})
    assert found.measures == ("Rprec", "ndcg@10")
    assert found["b", Rprec] == found["b", "Rprec"] and found["b", "ndcg@10"].difference == 0.25
    assert "times 100. No difference from a is significant (paired t-test, p <" in found.caption


def test_series_of_other_queries_are_refused():
    """By their index, unless it counts the rows of a table, as of one in long form."""
    one = pd.Series([0.5, 0.25], index=["q1", "q2"])
    for other, says in (
        (one[::-1], r"has the rows of values\['a'\]\['AP'\] in another order"),
        (one.rename({"q2": "q3"}), r"is of other queries than values\['a'\]\['AP'\], by their index"),
    ):
        with pytest.raises(ValueError, match=rf"^values\['b'\]\['AP'\] {says}"):
            compare_values({"a": {"AP": one}, "b": {"AP": other}})
    long = pd.Series([0.5, 0.25, 0.75], index=[1, 3, 5])
    compare_values({"a": {"AP": one}, "b": {"AP": long[:2]}, "c": {"AP": long[1:]}})
    compare_values({"a": {"AP": long[:2]}, "b": {"AP": long[1:]}})
