"""Every objective against its slow reference, and the properties that all of them share."""

import copy
import pickle

import drawn
import naive
import numpy as np
import pytest
from hypothesis import given, settings
from rules import RULES, named

from lambdaboost import (
    MRR,
    NDCG,
    XENDCG,
    Blend,
    ClickTier,
    GradientStep,
    LambdaRank,
    Queries,
    RankNet,
    SigmoidLocal,
)
from lambdaboost._jit import using
from lambdaboost.datasets.arrays import Positions
from lambdaboost.objectives import OBJECTIVES, Objective, parse
from lambdaboost.objectives.swaps import SWAPS

EACH = pytest.mark.parametrize("rule", RULES, ids=named)


def reference(rule, scores, q, iteration):
    grad, hess = np.empty(q.n_documents), np.empty(q.n_documents)
    for rows, labels in drawn.rows(q):
        lam, mu = rule.reference(scores[rows], labels, iteration)
        grad[rows], hess[rows] = -lam, mu
    return grad, hess


def assert_close(got, expected, q, tolerance, force=None):
    """Within `tolerance` of the largest figure of each query (tiny figures of a query are sums of larger ones).

    A curvature that changes sign is a small part of the `force` where scores are almost equal, and where forces cancel
    rounding errors of them are left.
    """
    for rows, _ in drawn.rows(q):
        scale = max(np.abs(expected[rows]).max(), 1e-30, 0 if force is None else np.abs(force[rows]).max())
        np.testing.assert_allclose(got[rows], expected[rows], rtol=0, atol=tolerance * scale)


@EACH
@settings(deadline=None, max_examples=25)
@given(case=drawn.query_sets())
def test_equals_the_reference(rule, case):
    scores, q = case
    iteration = int(scores.size * 37 % 450)
    expected = reference(rule, scores, q, iteration)
    got = rule.objective.gradient(scores, q, iteration=iteration)
    for g, e in zip(got, expected, strict=True):
        assert g.dtype == np.float32
        assert g.shape == (q.n_documents,)
        assert np.isfinite(g).all()
        assert g is got[0] or rule.objective.needs.sign_changes or (g >= 0).all()
        force = expected[0] if "SigmoidLocal" in rule.objective.text else 1e-9 * expected[1]
        assert_close(g, e, q, rule.tolerance, force=force)


@EACH
@pytest.mark.parametrize("missing", [False, True], ids=["all labels", "missing labels"])
def test_a_query_of_weight_2_counts_twice(rule, missing):
    if "twice" in rule.skips:
        pytest.skip("draws by place")
    scores, q = drawn.make(8, [30, 8, 20], missing=missing)
    rows = np.append(np.arange(58), np.arange(30, 38))
    weighted = rule.objective.gradient(scores, with_weights(q, [1.0, 2.0, 1.0]), 3)
    repeated = rule.objective.gradient(scores[rows], q.take([0, 1, 2, 1]), 3)
    for once, twice in zip(weighted, repeated, strict=True):
        summed = np.bincount(rows, twice.astype(np.float64))
        assert_close(once, summed, q, 1e-5)


@EACH
@pytest.mark.parametrize("missing", [False, True], ids=["all labels", "missing labels"])
def test_a_query_of_weight_0_is_absent(rule, missing):
    scores, q = drawn.make(8, [30, 5, 20, 25, 3], missing=missing)
    weighted = with_weights(q, [1.0, 2.0, 1.0, 0.0, 0.0])
    there = weighted.take(np.arange(3))
    n = there.n_documents
    for got, alone in zip(
        rule.objective.gradient(scores, weighted, 3),
        rule.objective.gradient(scores[:n], there, 3),
        strict=True,
    ):
        assert (got[n:] == 0).all()
        assert_close(got[:n], alone.astype(np.float64), there, 1e-5)


def with_weights(q, weight):
    return Queries(
        q.relevance,
        sizes=q.sizes,
        weight=weight,
        position=Positions(q.position),
        **{name: labels for name, labels in q.labels.items() if name != "relevance"},
    )


@EACH
def test_reads_the_sources_that_it_names(rule):
    """No other needs to be there, and its own count; positions in the same way."""
    objective = rule.objective
    scores, q = drawn.make(10, [40, 25, 30])
    first = objective.gradient(scores, q)
    labels = {name: of for name, of in q.labels.items() if name in objective.sources}
    given = {"relevance": np.full(scores.size, np.nan), "sizes": q.sizes} | labels
    alone = Queries(**given, position=Positions(q.position) if objective.needs.positions else None)
    np.testing.assert_array_equal(objective.gradient(scores, alone), first)
    rows = q.shuffled_rows(seed=3)
    for name in objective.sources:
        changed = Queries(**given | {name: q.labels[name][rows]}, position=Positions(q.position))
        assert not np.array_equal(objective.gradient(scores, changed), first), name
    if objective.needs.positions:
        changed = q.with_positions(Positions(q.position[rows]))
        assert not np.array_equal(objective.gradient(scores, changed), first)


LENGTHS = [1, 2, 3, 5, 12, 39, 40, 41, 64, 65, 120, 300, 7, 7]  # of vector lanes, of tiles, and beside both


@EACH
def test_a_query_has_the_same_bits_whatever_stands_beside_it(rule):
    if "twice" in rule.skips:
        pytest.skip("draws by place")
    scores, q = drawn.make(2, LENGTHS * 3, 4.0)
    scores[q.offsets[[3, 17, 31]]] += 180.0  # lists that go another way than those beside them
    whole = rule.objective.gradient(scores, q, 3)
    for chosen in (np.random.default_rng(3).permutation(q.n_queries), [4], [11, 2, 20]):
        rows = q.rows_of(chosen)
        part = rule.objective.gradient(scores[rows], q.take(chosen), 3)
        for of_whole, of_part in zip(whole, part, strict=True):
            np.testing.assert_array_equal(of_whole[rows], of_part)


@EACH
def test_same_bits_at_every_number_of_threads_and_in_every_run(rule):
    scores, q = drawn.make(6, [150] * 40)
    results = []
    for threads in (1, 4, 2, 1):
        with using(threads):
            results.append(np.array(rule.objective.gradient(scores, q, iteration=2)).tobytes())
            rule.objective.gradient(scores[::-1].copy(), q, iteration=3)  # leaves another order behind
    assert len(set(results)) == 1


@EACH
def test_is_a_value(rule):
    objective = rule.objective
    assert parse(objective.text) == objective
    assert hash(parse(objective.text)) == hash(objective)
    assert pickle.loads(pickle.dumps(objective)) == objective
    assert copy.deepcopy(objective) is objective
    with pytest.raises(AttributeError):
        objective.sigma = 3.0


@EACH
def test_odd_queries(rule):

    def gradient(scores, relevance, clicks, position):
        q = Queries(relevance, [len(scores)], clicks=clicks, fresh=clicks[::-1], position=position)
        found = rule.objective.gradient(scores, q)
        assert np.isfinite(found).all()
        return found[0]

    gradient([0.7], [3.0], [0.5], [1])
    high = np.minimum([35.5, 0, 100.25], rule.highest)
    gradient([0.0, 1.0, 2.0], high, [0.1, 0.2, 0.3], [3, 1, 2])
    none = gradient(np.arange(5.0), np.zeros(5), np.zeros(5), np.arange(1, 6))
    assert (none == 0).all() or "nothing" in rule.skips
    nothing = [np.nan] * 4
    assert (gradient(np.zeros(4), nothing, nothing, nothing) == 0).all()


def test_every_objective_has_a_row_in_rules():
    rows = {type(rule.objective) for rule in RULES}
    assert {cls.__name__ for cls in OBJECTIVES.values() if cls not in rows} == set(), "add a row to rules.py"
    swapped = {type(rule.objective.metric) for rule in RULES if isinstance(rule.objective, LambdaRank)}
    assert swapped == set(SWAPS), "add a row of LambdaRank"


@pytest.mark.parametrize("objective", [LambdaRank(), LambdaRank(MRR())], ids=repr)
def test_scores_whose_differences_overflow_are_refused(objective):
    q = Queries([0, 1, 2, 1], sizes=[1, 3])
    with pytest.raises(ValueError, match=r"scores of query 1 are inf apart, expected at most 1e\+290"):
        objective.gradient([0.0, 1e308, -1e308, 0.0], q)
    apart, _ = objective.gradient([1.5e308, 1e289, -1e289, 0.0], q)  # within each query they are near enough
    assert np.isfinite(apart).all()
    long = Queries(np.arange(6000) % 3, sizes=[6000])
    with pytest.raises(ValueError, match="scores of query 0"):
        objective.gradient(np.where(np.arange(6000) % 2, 1.2e308, -1.2e308), long)


@pytest.mark.parametrize("n", [200, 256, 257, 6_000, 200_000])
@pytest.mark.parametrize("apart", [0.001, 0.3, 3.0])
def test_forces_between_deep_ranks_keep_their_digits(n, apart):
    """Where only documents far down have a force, and their discounts are almost equal."""
    relevance = np.zeros(n)
    relevance[[n // 2, n // 2 + 7, n - 30, n - 5, n - 2]] = 1
    scores = -apart * np.arange(n)
    q, middle = Queries(relevance, sizes=[n]), range(n // 2 - 5, n // 2 + 10)
    naive.check_documents(SigmoidLocal(), scores, q, [*middle, *range(n - 35, n)])


@pytest.mark.parametrize("n", [30, 120, 200, 256, 2_000])
def test_the_only_pair_stands_at_the_last_ranks(n):
    """Its two discounts are almost equal, so a shift of all discounts would cost digits."""
    relevance = np.append(np.full(n - 2, np.nan), [0.0, 1.0])
    grad, _ = LambdaRank().gradient(-np.linspace(0, 1, n), Queries(relevance, sizes=[n]))
    swap = 1 / np.log2(n) - 1 / np.log2(n + 1)  # ranks n − 1 and n; the ideal DCG is 1
    lam = swap / (1 + np.exp(-1 / (n - 1)))
    np.testing.assert_allclose(grad[-2:], [lam, -lam], rtol=1e-5)


@pytest.mark.parametrize("others", [1, 60])
@pytest.mark.parametrize("apart", [-80.0, -65.5, 65.5, 80.0])
def test_the_curvature_of_a_pair_far_apart(others, apart):
    """ρ(1 − ρ) is e^−|o|, however little that is."""
    scores = np.append([0.0, -apart], np.full(others, -apart / 2))
    q = Queries(np.append([1.0, 0.0], np.full(others, np.nan)), sizes=[scores.size])
    _, hess = RankNet().gradient(scores, q)
    np.testing.assert_allclose(hess[:2], np.exp(-abs(apart)), rtol=1e-5)


SHORT = [1, 2, 3, 5, 10, 30, 38, 39, 40, 41, 42]  # one list a vector lane, and a little longer
BY_PAIRS = [
    rule for rule in RULES if isinstance(rule.objective, RankNet | LambdaRank | SigmoidLocal | ClickTier)
]


@pytest.mark.parametrize("rule", BY_PAIRS, ids=named)
@pytest.mark.parametrize(("spread", "decimals"), [(1.0, None), (1.0, 0), (60.0, 1)])
def test_every_figure_of_short_lists_is_right_to_a_millionth_of_the_largest(rule, spread, decimals):
    scores, q = drawn.make(1, SHORT * 3, spread, decimals, missing=True)
    for got, expected in zip(rule.objective.gradient(scores, q), reference(rule, scores, q, 0), strict=True):
        assert_close(got, expected, q, 1e-6)


@pytest.mark.parametrize("rule", [rule for rule in RULES if isinstance(rule.objective, XENDCG)], ids=named)
@pytest.mark.parametrize("spread", [0.0, 1.0, 60.0, 1e6])
def test_xendcg_of_lists_shorter_and_longer_than_those_that_share_one_pass(rule, spread):
    for seed, missing in enumerate((False, True)):
        scores, q = drawn.make(seed, [1, 2, 3, 5, 17, 40, 300, 250, 530, 8, 2], spread, missing=missing)
        found, expected = rule.objective.gradient(scores, q, 3), reference(rule, scores, q, 3)
        for got, right in zip(found, expected, strict=True):
            assert_close(got, right, q, 1e-6)
        again = rule.objective.gradient(scores, q, 2**64 + 3)  # numbers repeat after 2^32 rounds
        np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize("n", [30, 130])
def test_figures_of_lists_as_wide_as_a_float32_holds(n):
    """Where many documents tie 110 below others, E is e^−55: its reciprocal has no square in float32."""
    scores, relevance = np.where(np.arange(n) % 3 == 0, 110.0, 0.0), np.arange(n) % 2
    found = RankNet().gradient(scores, Queries(relevance, sizes=[n]))
    lam, mu = naive.by_swap(None, scores, relevance)
    np.testing.assert_allclose(found, [-lam, mu], rtol=1e-6, atol=1e-5)


@pytest.mark.slow
def test_millions_of_short_lists():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 4, 5_000_000)
    scores = rng.normal(size=sizes.sum())
    q = Queries(rng.integers(0, 3, scores.size).astype(np.float32), sizes=sizes)
    ends = np.r_[0:500, q.n_queries - 500 : q.n_queries]
    some, rows = q.take(ends), q.rows_of(ends)
    together, alone = LambdaRank().gradient(scores, q), LambdaRank().gradient(scores[rows], some)
    np.testing.assert_array_equal([each[rows] for each in together], alone)
    np.testing.assert_array_equal(NDCG(2).per_query(scores, q)[ends], NDCG(2).per_query(scores[rows], some))


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (None, TypeError, "it returned NoneType"),
        (np.ones(2), TypeError, "it returned ndarray"),
        ((np.ones(2),), ValueError, "it returned 1 values"),
        ((np.ones(3), np.ones(2)), ValueError, r"its λ has shape \(3,\)"),
        ((np.ones(2), np.ones((2, 1))), ValueError, r"its μ has shape \(2, 1\)"),
        ((np.ones(2), 1.0), ValueError, r"its μ has shape \(\)"),
        ((np.ones(2), np.array(["a", "b"])), TypeError, "its μ is of type <U1"),
    ],
    ids=repr,
)
def test_what_lambdas_of_the_users_own_returns_is_checked(returned, error, message):
    class Wrong(Objective, registered=False):
        def lambdas(self, scores, q, iteration):
            return returned

    for objective in (Wrong(), GradientStep(Wrong()), Blend(RankNet(), Wrong(), 0.5)):
        with pytest.raises(error, match=message):
            objective.gradient([0.0, 0.0], Queries([0, 1], sizes=[2]))


def test_a_curvature_below_0_is_for_gradient_steps():
    """Newton steps would divide by sums of either sign: scores of 1e30 after some rounds."""

    class Concave(Objective, registered=False):
        def lambdas(self, scores, q, iteration):
            return [-1.0, 1.0], [1.0, -0.5]

    q = Queries([0, 1], sizes=[2])
    with pytest.raises(
        ValueError, match=r"hess\[1\] of Concave.* is -0\.5 in round 0: .* GradientStep\(Concave"
    ):
        Concave().gradient([0.0, 0.0], q)
    np.testing.assert_array_equal(GradientStep(Concave()).gradient([0.0, 0.0], q), [[1, -1], [1, 1]])
    assert Blend(RankNet(), Concave(), 0.1).gradient([0.0, 0.0], q)[1].min() > 0


def test_lambdas_may_write_to_the_scores_and_keep_what_it_returns():
    """Neither the caller's scores nor those of the next part change, nor what is kept."""

    class Careless(Objective, registered=False):
        kept = np.array([1.0, -1.0], np.float32)

        def lambdas(self, scores, q, iteration):
            scores[:] = 0
            return self.kept, [1, 1]

    scores, q, expected = np.array([0.7, -0.4]), Queries([0, 1], sizes=[2]), [[-1, 1], [1, 1]]
    alone = RankNet().gradient(scores, q)
    for _ in range(2):
        np.testing.assert_array_equal(Careless().gradient(scores, q), expected)
        blended = Blend(Careless(), RankNet(), 0.5).gradient(scores, q)
        np.testing.assert_allclose(np.multiply(blended, 2) - expected, alone, rtol=1e-6)
    np.testing.assert_array_equal(scores, [0.7, -0.4])
