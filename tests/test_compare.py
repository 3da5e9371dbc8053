"""Comparisons of systems, in pairs: the tests against scipy, the tables, and what may not be compared."""

from math import nan, sqrt

import numpy as np
import pytest
from scipy import stats

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import CNDCG, MAP, NDCG, WTA, Figures, System, compare


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


def figures(before, after):
    return compare(Figures("a", {M: before}), Figures("b", {M: after}), measures=M)["b", M]


def test_the_t_test_by_hand():
    d = figures([0.0, 0.5, 0.25, 1.0], [0.5, 0.75, 0.5, 0.5])
    differences = np.array([0.5, 0.25, 0.25, -0.5])
    t = differences.mean() / (differences.std(ddof=1) / sqrt(4))
    assert d.mean == pytest.approx(differences.mean())
    assert d.p_value == pytest.approx(2 * stats.t.sf(abs(t), df=3))


def test_wins_ties_losses_and_what_changed_most():
    d = figures([0.0, 0.5, nan, 1.0, 0.2], [0.3, 0.5, nan, 0.0, 0.1 + 0.1])
    assert (d.wins, d.ties, d.losses) == (1, 2, 1)
    assert d.changed_most(2).tolist() == [3, 0]
    assert d.queries.tolist() == [0, 1, 3, 4]


def test_per_query_figures_are_the_measures_own():
    d = compare(WEAK, STRONG, measures=MEASURES)["strong", MAP()]
    assert np.array_equal(d.before, MAP().per_query(WEAK.scores, Q))
    assert np.array_equal(d.after, MAP().per_query(STRONG.scores, Q))
    assert d.p_value == pytest.approx(stats.ttest_rel(d.after, d.before).pvalue)


def test_interval_and_randomisation():
    d = compare(WEAK, STRONG, measures=M)["strong", M]
    low, high = d.interval(resamples=500)
    assert low < d.mean < high and low > 0
    assert d.interval(resamples=500) == (low, high)  # seeded
    narrow = d.interval(level=0.5, resamples=500)
    assert low < narrow[0] < narrow[1] < high
    assert d.randomisation(resamples=500) == pytest.approx(
        2 / 501
    )  # no flip comes near, counted on both sides


def test_randomisation_of_few_queries_is_exact():
    d = figures([0.0, 0.0, 0.0], [0.1, 0.2, 0.4])
    assert d.randomisation() == pytest.approx(2 / 2**3)


@pytest.mark.parametrize(
    ("before", "after"),
    [([0.5, 0.25], [0.5, 0.25]), ([0.0, 0.5], [0.25, 0.75]), ([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])],
)
def test_constant_differences_prove_nothing(before, after):
    d = figures(before, after)
    assert d.p_value == 1.0
    assert d.interval() == (d.mean, d.mean)
    assert 0 < d.randomisation() <= 1


def test_one_query_proves_nothing():
    d = figures([0.25], [0.5])
    assert d.p_value == d.randomisation() == 1.0
    assert d.interval() == (0.25, 0.25)


def test_correction_for_many_comparisons():
    comparison = compare(WEAK, STRONG, SAME, measures=MEASURES)
    ps = [d.p_value for d in comparison.differences]
    assert comparison.adjusted == pytest.approx(stats.false_discovery_control(ps))
    assert len(ps) == 6 and comparison["same", M].p_value == 1.0


def test_names():
    comparison = compare(WEAK, STRONG, SAME, measures=MEASURES)
    assert comparison.systems == ("strong", "same") and comparison.measures == MEASURES
    assert repr(comparison) == "Comparison('strong', 'same' with 'weak' on 60 queries)"
    assert repr(WEAK) == "System('weak', 60 queries)"
    assert repr(comparison["same", M]) == "Difference('same' to 'weak', NDCG(k=3): +0.0000, p=1)"
    with pytest.raises(KeyError, match="no \\('stronger', NDCG\\(k=3\\)\\) here, only"):
        comparison["stronger", M]


# Folds


def test_folds_together_are_the_whole():
    folds = [
        System("f", WEAK.scores[Q.rows_of(part)], Q.take(part)) for part in np.array_split(np.arange(60), 5)
    ]
    together = System.concat("weak", *folds)
    assert np.array_equal(together.per_query(M), WEAK.per_query(M))
    assert compare(together, STRONG, measures=M)["strong", M].mean > 0


def test_folds_keep_sources_and_weights():
    q = Queries([1, 0], sizes=[2], clicks=[0.5, 0.0], weight=[2.0])
    plain = Queries([1, 0], sizes=[2], clicks=[0.5, 0.0])
    together = System.concat("both", System("a", [1, 0], q), System("b", [0, 1], plain)).queries
    assert together.labels["clicks"].tolist() == [0.5, 0.0, 0.5, 0.0]
    assert together.query_weight.tolist() == [2.0, 1.0]


def test_figures_of_folds():
    folds = [Figures("f", {M: [0.1, 0.2], WTA(): [1, 0]}), Figures("f", {M: [0.3]})]
    together = Figures.concat("all", *folds)
    assert together.per_query(M).tolist() == [0.1, 0.2, 0.3]
    assert repr(together) == "Figures('all', 3 queries)"
    with pytest.raises(ValueError, match=r"no figures of WTA\(\), only of NDCG\(k=3\)"):
        together.per_query(WTA())


# Tables


def styled(n=40):
    """A comparison of which one difference is certain, one likely and one nothing."""
    wave = np.tile([0.1, -0.1], n // 2)
    base = np.full(n, 0.5)
    by = {"none": 0.0, "likely_": 0.1 * 1.8 / sqrt(n), "sure & |safe|": 0.1}
    return compare(
        Figures("base", {M: base}),
        *(Figures(name, {M: base + wave + d}) for name, d in by.items()),
        measures=M,
    )


def test_markdown_is_bold_and_italic_as_in_the_papers_tables():
    assert styled().markdown().splitlines() == [
        "| System | NDCG(k=3) |",
        "|:---|---:|",
        "| base | 50.00 |",
        "| none | 50.00 |",
        "| likely_ | *52.85* |",
        r"| sure & \|safe\| | **60.00** |",
        "",
        "Means over 40 queries, times 100. Paired t-test to base: bold at the 95% level, italic at 90%.",
    ]


def test_latex():
    text = styled().latex()
    assert r"\begin{tabular}{lr}" in text and r"bold at the 95\% level" in text
    assert r"likely\_ & \textit{52.85} \\" in text and r"sure \& |safe| & \textbf{60.00} \\" in text


def test_html():
    text = styled().html()
    assert "<td>sure &amp; |safe|</td><td><b>60.00</b></td>" in text and "<i>52.85</i>" in text
    assert styled()._repr_html_() == styled().table()._repr_html_() == text


def test_prints_in_plain_text_and_with_rich():
    from rich.console import Console

    text = str(styled())
    assert "**60.00**" in text and "*52.85*" in text and "\x1b" not in text
    console = Console(width=80, force_terminal=True, color_system="truecolor", _environ={})
    with console.capture() as captured:
        console.print(styled())
    assert "\x1b[1m60.00" in captured.get() and "\x1b[3m52.85" in captured.get()


def test_names_are_no_markup():
    a, b = Figures("[bold]a", {M: [0.1, 0.2]}), Figures("[/x]b", {M: [0.2, 0.1]})
    assert "[bold]a" in str(compare(a, b, measures=M)) and "[/x]b" in str(compare(a, b, measures=M))


def test_details():
    table = compare(WEAK, STRONG, measures=MEASURES).details(resamples=200)
    assert len(table.rows) == 3 and len(table.header) == len(table.rows[0]) == 10
    assert "randomisation test (200 resamples)" in table.caption
    assert table.rows[1][1].text == "NDCG(k=3)" and table.rows[1][2].style == "bold"
    assert sum(int(cell.text) for cell in table.rows[0][-3:]) == 60


# Wrong use


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: System("", [1.0], Queries([1], [1])), "name is ''"),
        (lambda: System(None, [1.0], Queries([1], [1])), "name is None"),
        (lambda: System("a", [1.0], [1.0]), "queries of 'a' is a list"),
        (lambda: System("a", [nan], Queries([1], [1])), "system 'a': scores[0] is nan"),
        (lambda: System("a", [1.0, 2.0], Queries([1], [1])), "system 'a': scores has shape (2,)"),
        (lambda: System.concat("a"), "nothing to concatenate as 'a'"),
        (
            lambda: System.concat("a", WEAK, System("b", [1.0], Queries([1], [1], clicks=[1]))),
            "parts have sources ['relevance'] and ['relevance', 'clicks']",
        ),
        (lambda: Figures("a", {}), "values of 'a' is empty"),
        (lambda: Figures("a", {M: []}), "NDCG(k=3) of 'a'"),
        (lambda: Figures("a", {M: [float("inf")]}), "NDCG(k=3) of 'a'"),
        (lambda: Figures("a", {M: [0.5], MAP(): [0.5, 0.5]}), "measures of 'a' have [1, 2] figures"),
        (lambda: compare(WEAK, measures=M), "only 'weak' is given"),
        (lambda: compare(WEAK, WEAK, measures=M), "systems are named ['weak', 'weak']"),
        (lambda: compare(WEAK, STRONG, measures=()), "measures is ()"),
        (lambda: compare(WEAK, STRONG, measures=["NDCG"]), "measures is ['NDCG']"),
        (lambda: compare(WEAK, [1.0], measures=M), "cannot compare a list"),
        (lambda: compare(WEAK, Figures("b", {M: [1.0]}), measures=M), "60 and 1 queries"),
        (lambda: compare(WEAK, STRONG, measures=CNDCG()), "no label source 'clicks'"),
        (lambda: figures([nan, nan], [nan, nan]), "NDCG(k=3) is undefined on every query"),
        (lambda: figures([0.1, 0.2], [0.2, 0.2]).interval(level=95), "level is 95"),
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
