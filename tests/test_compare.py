"""Comparisons of systems, in pairs: the tests against scipy, the tables, and what may not be compared."""

from math import inf, nan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, MAP, NDCG, WTA, Figures, System, compare
from lambdaboost.evaluation.comparison.significance import holm, significances, weighted_mean
from lambdaboost.evaluation.comparison.table import Bold, Table
from lambdaboost.evaluation.reports.tables import findings


def drawn(n_queries=60, seed=0, **sources):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    return Queries(rng.integers(0, 4, sizes.sum()), sizes, **sources)


Q = drawn()
RNG = np.random.default_rng(5)
NOISE = RNG.normal(size=Q.n_documents)
WEAK = System("weak", 0.2 * Q.relevance + NOISE, Q)
STRONG = System("strong", 1.0 * Q.relevance + NOISE, Q)
SAME = System("same", 0.2 * Q.relevance + NOISE, Q)
MEASURES = (NDCG(1), NDCG(3), MAP())

M = NDCG(3)


def figures(before, after, weight=None):
    return compare(Figures("a", {M: before}, weight), Figures("b", {M: after}), measures=M)["b", M]


def test_the_t_test_by_hand():
    d = figures([0.0, 0.5, 0.25, 1.0], [0.5, 0.75, 0.5, 0.5])
    differences = np.array([0.5, 0.25, 0.25, -0.5])
    t = differences.mean() / (differences.std(ddof=1) / sqrt(4))
    assert d.mean == pytest.approx(differences.mean())
    assert d.p_value == pytest.approx(2 * stats.t.sf(abs(t), df=3))


def test_wins_ties_and_losses():
    d = figures([0.0, 0.5, nan, 1.0, 0.2], [0.3, 0.5, nan, 0.0, 0.1 + 0.1])
    assert (d.wins, d.ties, d.losses) == (1, 2, 1)
    assert d.queries.tolist() == [0, 1, 3, 4]


def test_per_query_figures_are_the_measures_own():
    d = compare(WEAK, STRONG, measures=MEASURES)["strong", MAP()]
    assert np.array_equal(d.before, MAP().per_query(WEAK.scores, Q))
    assert np.array_equal(d.after, MAP().per_query(STRONG.scores, Q))
    assert d.p_value == pytest.approx(stats.ttest_rel(d.after, d.before).pvalue)


def test_the_interval_and_the_randomisation_test():
    d = compare(WEAK, STRONG, measures=M)["strong", M]
    reference = stats.ttest_rel(d.after, d.before).confidence_interval(0.95)
    assert d.interval() == pytest.approx((reference.low, reference.high))
    assert d.interval()[0] < d.interval(level=0.5)[0] < d.mean < d.interval(level=0.5)[1] < d.interval()[1]
    # No flip of signs comes near; each side counts the result itself.
    assert d.randomisation(resamples=500) == pytest.approx(2 / 501)


def test_randomisation_of_few_queries_is_exact():
    d = figures([0.0, 0.0, 0.0], [0.1, 0.2, 0.4])
    assert d.randomisation() == pytest.approx(2 / 2**3)


@pytest.mark.parametrize(("n", "p"), [(1, 1), (2, 0.5), (3, 0.25), (6, 2 / 64), (100, 2.0**-99)])
@pytest.mark.parametrize("change", [0.25, -0.1])
def test_the_same_change_on_every_query_is_as_significant_as_its_signs(n, p, change):
    before = np.linspace(0.2, 0.4, n)
    d = figures(before, before + change)
    assert d.p_value == p
    if n <= 10:
        assert d.randomisation() == pytest.approx(p)


def test_p_is_1_where_nothing_differs_and_only_there():
    same = figures([0.5, 0.25, 0.1], [0.5, 0.25, 0.3 - 0.2])
    assert same.p_value == same.randomisation() == 1
    assert figures([0.5, 0.25, 0.1], [0.5, 0.25, 0.1 + 1e-9]).p_value == 1  # one sign alone shows nothing
    assert figures([0.5, 0.25, 0.1, 0.2], [0.5, 0.3, 0.15, 0.25]).p_value < 1


def test_queries_that_do_not_differ_add_no_evidence():
    """Three improvements among a thousand queries: t gives p = 0.083, signs cannot give less than 0.25."""
    after = np.zeros(1_000)
    after[:3] = 0.5
    assert figures(np.zeros(1_000), after).p_value == 0.25


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([-0.2, 0.0, 0.0, 0.1, 0.3]), min_size=1, max_size=30),
    st.booleans(),
    st.sampled_from([0.5, 0.9, 0.95]),
)
def test_the_interval_holds_0_exactly_where_p_says_so(differences, weighted, level):
    weight = np.arange(1.0, len(differences) + 1) if weighted else None
    d = figures(np.zeros(len(differences)), differences, weight)
    low, high = d.interval(level)
    assert low <= d.mean <= high
    assert (low <= 0 <= high) == (d.p_value >= 1 - level)


def test_few_queries_have_no_interval():
    assert figures([0.1] * 5, [0.2] * 5).interval() == (-inf, inf)
    assert figures([0.1] * 6, [0.2] * 6).interval() == pytest.approx((0.1, 0.1))


# Weights


def test_weights_count_as_in_the_measure():
    q = drawn(weight=np.linspace(0.0, 3.0, 60))
    a, b = System("a", WEAK.scores, q), System("b", STRONG.scores, q)
    d = compare(a, b, measures=M)["b", M]
    assert d.mean_before == pytest.approx(M(WEAK.scores, q))
    assert d.mean_after == pytest.approx(M(STRONG.scores, q))
    assert d.mean == pytest.approx(d.mean_after - d.mean_before)
    assert d.queries.tolist() == list(range(1, 60))  # query 0 weighs nothing
    assert compare(a, b, measures=M).table().caption.startswith("Weighted means over 59 of 60 queries")


def test_the_weighted_variance_by_hand():
    """Bell and McCaffrey (2002) by matrices: V = Σ aᵢ eᵢ², and 2 E(V)² / Var(V) degrees of freedom."""
    x, w = np.array([0.3, -0.1, 0.2, 0.25, 0.0]), np.array([1.0, 4.0, 2.0, 0.5, 1.5])
    h = w / w.sum()
    residuals = np.eye(5) - np.outer(np.ones(5), h)
    of_e = residuals @ residuals.T
    a = np.diag(h**2 / np.diag(of_e))
    form = residuals.T @ a @ residuals
    found = weighted_mean(x, w)
    assert found.mean == pytest.approx(h @ x)
    assert found.error**2 == pytest.approx(x @ form @ x)
    assert np.trace(form) == pytest.approx(h @ h)  # unbiased
    assert found.df == pytest.approx(np.trace(form) ** 2 / np.trace(form @ form))


def test_equal_weights_give_the_paired_t_test():
    x = np.random.default_rng(3).normal(0.1, 1, 40)
    d = figures(np.zeros(40), x, np.full(40, 7.0))
    assert d.p_value == pytest.approx(stats.ttest_1samp(x, 0).pvalue)
    assert weighted_mean(x, d.weight).df == pytest.approx(39)


def test_figures_take_the_weights_of_the_systems_they_are_compared_with():
    q = drawn(weight=np.linspace(1.0, 3.0, 60))
    published = Figures("published", {M: M.per_query(WEAK.scores, q)})
    for pair in ((published, System("b", STRONG.scores, q)), (System("b", STRONG.scores, q), published)):
        d = compare(*pair, measures=M)[pair[1].name, M]
        assert abs(d.mean) == pytest.approx(M(STRONG.scores, q) - M(WEAK.scores, q))


# The queries that are compared


def test_figures_of_a_column_are_means_over_the_same_queries():
    """Each of three systems is undefined somewhere else; baseline and both others are compared where all are not."""
    a = Figures("a", {M: [0.1, 0.2, 0.3, nan, 0.9]})
    b = Figures("b", {M: [0.2, nan, 0.5, 0.6, 1.0]})
    c = Figures("c", {M: [0.4, 0.2, 0.1, 0.3, 0.8]})
    comparison = compare(a, b, c, measures=M)
    for d in comparison.differences:
        assert d.queries.tolist() == [0, 2, 4]
        assert d.mean_before == pytest.approx(1.3 / 3)
    rows = [list(row) for row in comparison.table().rows]
    assert rows == [["a", "43.33"], ["b", "56.67"], ["c", "43.33"]]
    assert comparison.table().caption.startswith("Means over 3 of 5 queries, times 100.")


def test_captions_count_the_queries_where_a_measure_is_defined():
    relevance = np.zeros(200)
    relevance[[0, 7, 30]] = 1
    q = Queries(relevance, np.full(100, 2))
    systems = System("a", -np.arange(200.0), q), System("b", np.arange(200.0), q)
    once = compare(*systems, measures=NDCG(empty=nan)).table().caption
    assert once.startswith("Means over 3 of 100 queries")
    both = compare(*systems, measures=(NDCG(empty=nan), NDCG(2))).table().caption
    assert "(3 for NDCG(empty=float('nan')), 100 for NDCG(k=2); of 100)" in both


# What is significant


def test_holm_by_its_definition():
    """Reject p(1) … p(i) where each p(j) ≤ α / (m − j + 1); the adjusted p is the lowest such α."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(rng.integers(1, 9)) ** 3
        adjusted = holm(p)
        for alpha in (0.01, 0.05, 0.3):
            rejected = set()
            for j, at in enumerate(np.argsort(p)):
                if p[at] > alpha / (p.size - j):
                    break
                rejected.add(int(at))
            assert rejected == set(np.flatnonzero(adjusted <= alpha).tolist())
        assert (adjusted >= stats.false_discovery_control(p) - 1e-15).all()  # at least as strict


def test_one_adjusted_p_decides_marks_bold_and_words():
    comparison = styled()
    assert [d.p_value < 0.05 for d in comparison.differences] == [False, True, True, True]
    found = comparison.significance
    assert [s.adjusted for s in found.values()] == pytest.approx(holm([s.p for s in found.values()]))
    assert [s.mark for s in found.values()] == ["", "", "▲", "▼"]
    assert [s.verdict for s in found.values()] == [*["no significant difference"] * 2, "better", "worse"]
    for table, column in ((comparison.table(), 1), (comparison.details(resamples=50), 2)):
        cells = [row[column] for row in table.rows[-4:]]
        assert [cell[:2] for cell in cells if cell[0] in "▲▼"] == ["▲ ", "▼ "]
        assert [isinstance(cell, Bold) for cell in cells] == [False, False, True, False]
    sentences = dict(findings(comparison))
    assert sentences["likely_"] == "shows no significant difference from base in NDCG(k=3)."
    assert sentences["sure & |safe|"].startswith("is better in NDCG(k=3) (+10.00, adjusted p")
    assert sentences["lost"].startswith("is worse in NDCG(k=3) (-10.00, adjusted p")
    assert found["lost", M].verdict == "worse"


# Error rates, by simulation: 2,000 comparisons without a difference, bounds at 1 in 10,000


def rate_is(count, n, rate):
    low, high = stats.binom.ppf([5e-5, 1 - 5e-5], n, rate)
    return low <= count <= high


def null_p_values(n_comparisons, n_queries, weight=None, seed=0):
    """Two systems with the same distribution of NDCG, correlated, skewed, and often equal."""
    rng = np.random.default_rng(seed)
    shape = (n_comparisons, n_queries)
    hard, same = rng.beta(2, 2, shape), rng.random(shape) < 0.3
    a, b = (np.clip(hard + 0.3 * rng.standard_gamma(1, shape) - 0.3, 0, 1) for _ in range(2))
    b = np.where(same, a, b)
    return [figures(x, y, weight) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("n_queries", [30, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_five_percent_of_comparisons_without_a_difference_are_significant(n_queries, weighted):
    weight = np.linspace(1, 3, n_queries) if weighted else None
    found = null_p_values(2_000, n_queries, weight)
    assert rate_is(sum(d.p_value < 0.05 for d in found), 2_000, 0.05)


@pytest.mark.parametrize("n_queries", [10, 30, 200])
def test_no_more_than_five_percent_are_where_few_queries_carry_most_of_the_weight(n_queries):
    weight = np.random.default_rng(9).lognormal(0, 1, n_queries)
    found = null_p_values(2_000, n_queries, weight)
    assert sum(d.p_value < 0.05 for d in found) <= stats.binom.ppf(1 - 5e-5, 2_000, 0.05)


def test_few_queries_are_never_too_often_significant():
    """Values as coarse as WTA's on 5 to 12 queries, where a t-test alone goes wrong."""
    rng = np.random.default_rng(0)
    for n in (5, 8, 12):
        x = rng.choice([-1.0, 0.0, 0.0, 1.0], (2_000, n))
        wrong = sum(figures(np.zeros(n), of_one).p_value < 0.05 for of_one in x)
        assert wrong <= stats.binom.ppf(1 - 5e-5, 2_000, 0.05)


def test_five_percent_of_families_have_a_false_mark():
    """Four systems like the baseline: Holm's correction keeps the chance of any mark to 5%."""
    rng = np.random.default_rng(2)
    marked = 0
    for _ in range(1_000):
        base = rng.random(40)
        tests = [figures(base, base + rng.normal(0, 0.1, 40)) for _ in range(4)]
        found = significances((d.mean, d.p_value) for d in tests)
        marked += any(s.mark for s in found)
    assert rate_is(marked, 1_000, 0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_95_percent_of_intervals_hold_the_true_difference(weighted):
    rng = np.random.default_rng(4)
    weight = np.linspace(1, 3, 50) if weighted else None
    x = 0.02 + rng.normal(0, 0.1, (2_000, 50))
    intervals = [figures(np.zeros(50), of_one, weight).interval() for of_one in x]
    assert rate_is(sum(low <= 0.02 <= high for low, high in intervals), 2_000, 0.95)


def test_names():
    comparison = compare(WEAK, STRONG, SAME, measures=MEASURES)
    assert comparison.systems == ("strong", "same") and comparison.measures == MEASURES
    assert repr(comparison) == "Comparison('strong', 'same' with 'weak' on 60 queries)"
    assert repr(WEAK) == "System('weak', 60 queries)"
    assert repr(comparison["same", M]) == "Difference('same' to 'weak', NDCG(k=3): +0.0000, p=1)"
    with pytest.raises(KeyError, match="\\('stronger', NDCG\\(k=3\\)\\) was not compared: choose among"):
        comparison["stronger", M]


# Folds


def test_figures_of_folds():
    folds = [Figures("f", {M: [0.1, 0.2], WTA(): [1, 0]}), Figures("f", {M: [0.3]})]
    together = Figures.concat("all", *folds)
    assert together.per_query(M).tolist() == [0.1, 0.2, 0.3]
    assert repr(together) == "Figures('all', 3 queries)" and together.weight is None
    weighted = Figures.concat("all", Figures("f", {M: [0.1, 0.2]}, weight=[2, 3]), folds[1])
    assert weighted.weight.tolist() == [2, 3, 1]
    with pytest.raises(ValueError, match=r"no values of WTA\(\), only of NDCG\(k=3\)"):
        together.per_query(WTA())


# Tables


def styled(n=40):
    """No difference, one that is significant alone but not among four, a sure gain, a sure loss."""
    wave = np.tile([0.1, -0.1], n // 2)
    base = np.full(n, 0.5)
    by = {"none": 0.0, "likely_": 0.1 * 2.2 / sqrt(n), "sure & |safe|": 0.1, "lost": -0.1}
    return compare(
        Figures("base", {M: base}),
        *(Figures(name, {M: base + wave + d}) for name, d in by.items()),
        measures=M,
    )


def test_markdown():
    assert styled().markdown().splitlines() == [
        "| System | NDCG(k=3) |",
        "|:---|---:|",
        "| base | 50.00 |",
        "| none | 50.00 |",
        r"| likely\_ | 53.48 |",
        r"| sure & \|safe\| | **▲ 60.00** |",
        "| lost | ▼ 40.00 |",
        "",
        "Means over 40 queries, times 100. ▲ better, ▼ worse than base (paired t-test, p < 0.05 after Holm's "
        "correction for 4 comparisons).",
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("<b>x</b>", "&lt;b>x&lt;/b>"),
        ("a < b", "a < b"),
        ("&lt;", "&amp;lt;"),
        ("a_b _c_", r"a_b \_c\_"),
        ("*x* `y` [z](w)", r"\*x\* \`y\` \[z\](w)"),
        ("a|b\\c", r"a\|b\\c"),
        ("two\nlines", r"two\\nlines"),
    ],
)
def test_markdown_shows_texts_as_they_are(name, shown):
    table = Table(("System", name), ((name, "1.00"),), name)
    assert table.markdown().splitlines() == [
        f"| System | {shown} |",
        "|:---|---:|",
        f"| {shown} | 1.00 |",
        "",
        shown,
    ]


def test_html():
    text = styled().html()
    assert "<td>sure &amp; |safe|</td><td><b>▲ 60.00</b></td>" in text and "<td>▼ 40.00</td>" in text
    assert styled()._repr_html_() == styled().table()._repr_html_() == text


def test_prints_in_plain_text_and_with_rich():
    from rich.console import Console

    text = str(styled())
    assert "**▲ 60.00**" in text and " ▼ 40.00" in text and "\x1b" not in text
    console = Console(width=80, force_terminal=True, color_system="truecolor", _environ={})
    with console.capture() as captured:
        console.print(styled())
    assert "\x1b[1m▲ 60.00" in captured.get() and "\x1b[1m▼" not in captured.get()


def test_names_are_no_markup():
    a, b = Figures("[bold]a", {M: [0.1, 0.2]}), Figures("[/x]b", {M: [0.2, 0.1]})
    assert "[bold]a" in str(compare(a, b, measures=M)) and "[/x]b" in str(compare(a, b, measures=M))


def test_details():
    table = compare(WEAK, STRONG, measures=MEASURES).details(resamples=200)
    assert len(table.rows) == 3 and len(table.header) == len(table.rows[0]) == 10
    assert "randomisation test (200 resamples)" in table.caption
    assert table.rows[1][1] == "NDCG(k=3)" and isinstance(table.rows[1][2], Bold)
    assert sum(int(cell) for cell in table.rows[0][-3:]) == 60


# Wrong use


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: System("", [1.0], Queries([1], [1])), "name is ''"),
        (lambda: System(None, [1.0], Queries([1], [1])), "name is None"),
        (lambda: System("a", [1.0], [1.0]), "queries of 'a' is a list"),
        (lambda: System("a", [nan], Queries([1], [1])), "system 'a': scores[0] is nan"),
        (lambda: System("a", [1.0, 2.0], Queries([1], [1])), "system 'a': scores has shape (2,)"),
        (lambda: Figures.concat("a"), "nothing to concatenate as 'a'"),
        (lambda: Figures("a", {}), "values of 'a' is empty"),
        (lambda: Figures("a", {M: []}), "NDCG(k=3) of 'a'"),
        (lambda: Figures("a", {M: [float("inf")]}), "NDCG(k=3) of 'a'"),
        (lambda: Figures("a", {M: [0.5], MAP(): [0.5, 0.5]}), "measures of 'a' have [1, 2] values"),
        (lambda: compare(WEAK, measures=M), "only 'weak' is given"),
        (lambda: compare(WEAK, WEAK, measures=M), "systems are named 'weak', 'weak'"),
        (lambda: compare(WEAK, STRONG, measures=()), "measures is ()"),
        (lambda: compare(WEAK, STRONG, measures=[NDCG]), "measures is [<class"),
        (lambda: compare(WEAK, [1.0], measures=M), "cannot compare a list"),
        (lambda: compare(WEAK, Figures("b", {M: [1.0]}), measures=M), "60 and 1 queries"),
        (lambda: compare(WEAK, STRONG, measures=CNDCG()), "no label source 'clicks'"),
        (lambda: figures([nan, nan], [nan, nan]), "NDCG(k=3) is undefined on every query"),
        (lambda: figures([0.1, 0.2], [0.2, 0.2]).interval(level=95), "level is 95"),
        (lambda: Figures("a", {M: [0.5]}, weight=[1, 2]), "weight of 'a' has shape (2,)"),
        (lambda: Figures("a", {M: [0.5, 0.5]}, weight=[1, -2]), "weight[1] of 'a' is -2"),
        (lambda: figures([0.1], [0.2], [0.0]), "NDCG(k=3) is undefined on every query"),
    ],
)
def test_wrong_use_is_refused_in_words(make, says):
    with pytest.raises((ValueError, TypeError)) as refusal:
        make()
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("queries", "says"),
    [
        (Queries([1, 0, 1], [1, 2]), "query 0 has 2 and 1 documents"),
        (Queries([1, 0, 0], [2, 1]), "relevance[2] is 1 and 0"),
        (Queries([1, nan, 1], [2, 1]), "relevance[1] is 0 and nan"),
        (Queries([1, 0, 1], [2, 1], clicks=[0, 0, 0]), "sources ['relevance'] and ['relevance', 'clicks']"),
        (Queries([1, 0, 1], [2, 1], weight=[1, 2]), "query 1 weighs 1 and 2"),
    ],
)
def test_different_queries_cannot_be_compared(queries, says):
    a, b = System("a", [1, 2, 3], Queries([1, 0, 1], [2, 1])), System("b", [1, 2, 3], queries)
    with pytest.raises(ValueError) as refusal:
        compare(a, b, measures=M)
    assert "'a' and 'b' rank different queries" in str(refusal.value) and says in str(refusal.value)


def test_equal_queries_may_be_two_objects():
    again = System("again", STRONG.scores, drawn())
    assert compare(WEAK, again, measures=M)["again", M].mean > 0


@pytest.mark.parametrize(
    "text",
    ["x" * 10_000_000, "NDCG(" + "9" * 10_000_000 + ")", "ndcg@" + "9" * 9_999, "\x1b[31m", "NDCG(k={0})"],
)
def test_measures_that_cannot_be_read_are_named_shortly(text):
    for name in (text, [text]):
        with pytest.raises(ValueError) as error:
            compare(WEAK, STRONG, measures=name)
        assert len(str(error.value)) < 500 and str(error.value).isprintable()
