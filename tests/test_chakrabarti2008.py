"""The structured hinges against enumeration of all orders, on engines and in linear rankers."""

from functools import cache
from itertools import permutations
from math import sqrt

import naive
import naive_measures
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from experiments.chakrabarti2008.combo import Combo
from experiments.chakrabarti2008.cutting_plane import linear_ranker
from experiments.chakrabarti2008.pairwise_hinge import PairwiseHinge
from experiments.chakrabarti2008.preparation import prepared
from experiments.chakrabarti2008.structured_hinge import StructuredHinge
from lambdaboost import AUC, MAP, MRR, NDCG, Queries
from lambdaboost.datasets import Collection

pytestmark = pytest.mark.slow
HINGES = [
    *map(
        StructuredHinge, (AUC(), MAP(), NDCG(), NDCG(1), NDCG(3), NDCG(10), MRR())
    ),  # lists are shorter than 10
    StructuredHinge(MRR(1), feature_map="mrr"),
    *(StructuredHinge(MRR(k), feature_map="po") for k in (None, 2)),
    *(StructuredHinge(NDCG(k), feature_map="dorm") for k in (None, 3, 10)),
]
EACH = pytest.mark.parametrize("hinge", HINGES, ids=repr)


def feature_map(hinge, order, good):
    """φ of an order of documents, as a vector over documents: eqs. 3, 5 and 6."""
    n = len(order)
    phi = np.zeros(n)
    by = hinge.feature_map or ("mrr" if isinstance(hinge.metric, MRR) else "po")
    if by == "dorm":
        for r, i in enumerate(order):
            phi[i] = 1 / sqrt(1 + r)
    elif by == "mrr":
        first = next(r for r, i in enumerate(order) if good[i])
        for i in order[:first]:
            phi[i] += 1
        phi[order[first]] -= first
    else:
        for a in range(n):
            for b in range(a + 1, n):
                # y_gb (x_g − x_b) puts the upper one's vector in with +1.
                if good[order[a]] != good[order[b]]:
                    phi[order[a]] += 1
                    phi[order[b]] -= 1
        phi /= sum(good) * (n - sum(good))
    return phi


@cache
def orders(hinge, good):
    """Δ of all orders, which is what the measure lacks of 1, their φ, and which are ideal."""
    every = list(permutations(range(len(good))))
    labels = np.array(good)[np.array(every)]
    phis = np.array([feature_map(hinge, y, good) for y in every])
    return 1 - naive_measures.of_ranking(hinge.metric, labels), phis, labels[:, : sum(good)].all(axis=1)


def drawn_cases():
    rng = np.random.default_rng(0)
    for n, times in ((2, 3), (3, 4), (4, 4), (5, 3), (6, 3)):
        for _ in range(times):
            labels = tuple(int(l) for l in rng.integers(0, 2, n))
            if 0 < sum(labels) < n:
                for spread in (0.0, 0.01, 0.1, 0.3, 1.0, 5.0):
                    s = rng.normal(size=n) * spread
                    yield labels, s
                    yield labels, np.round(s + (np.array(labels) - 0.5) * spread, 1)


CASES = list(drawn_cases())
ALL = Queries(np.concatenate([y for y, _ in CASES]), sizes=[len(y) for y, _ in CASES])
SCORES = np.concatenate([s for _, s in CASES])


@EACH
def test_inference_is_exact(hinge):
    """The maximum over all orders, and a direction and Δ of an order that attains it."""
    found = hinge.violators(SCORES, ALL)
    slacks, grad = hinge.per_query(SCORES, ALL), hinge.gradient(SCORES, ALL)[0]
    for query, (labels, s) in enumerate(CASES):
        deltas, phis, ideal = orders(hinge, tuple(bool(l) for l in labels))
        # y*, where φ tells ideal orders apart: the one that the scores are nearest to, ties in input order.
        directions = phis - phis[ideal][np.argmax(np.round(phis[ideal] @ s, 12))]
        values = deltas + directions @ s
        assert slacks[query] == pytest.approx(values.max(), abs=1e-12)
        rows = slice(ALL.offsets[query], ALL.offsets[query + 1])
        apart = np.abs(directions - found.direction[rows]).max(axis=1) + np.abs(deltas - found.loss[query])
        assert apart.min() < 1e-9
        assert_allclose(grad[rows], found.direction[rows], rtol=1e-6)


def big():
    rng = np.random.default_rng(1)
    labels = (rng.random(640) < 0.2).astype(float)
    return rng.normal(size=640) * 0.5 + 0.3 * labels, Queries(labels, sizes=[400, 150, 90])


@EACH
def test_subgradient_on_long_lists(hinge):
    """The slack agrees with its tangent nearby and, being convex, is nowhere below it."""
    s, q = big()
    rng = np.random.default_rng(2)
    found, here = hinge.violators(s, q), hinge.per_query(s, q)
    for step in (1e-7, 0.1, 2.0):
        d = rng.normal(size=s.size) * step
        tangent = here + np.add.reduceat(found.direction * d, q.offsets[:-1])
        there = hinge.per_query(s + d, q)
        if hinge.convex:
            assert (there >= tangent - 1e-9 * (1 + np.abs(tangent))).all()
        if step == 1e-7:
            assert_allclose(there, tangent, rtol=1e-6, atol=1e-6)


def test_dorm_decays_to_rank_30():
    n = 40
    q = Queries([0] * 10 + [1] * 30, sizes=[n])
    direction = StructuredHinge(NDCG(), feature_map="dorm").violators(np.linspace(500, 0, n), q).direction
    a = np.where(np.arange(n) < 30, 1 / np.sqrt(1 + np.arange(n)), 0)
    assert_allclose(direction, a - np.concatenate([a[30:], a[:30]]), atol=1e-12)


def test_documents_without_a_label_are_left_out():
    s, q = big()
    missing = np.random.default_rng(0).random(s.size) < 0.3
    labels = np.where(missing, np.nan, q.relevance)
    of_query = q.query_of_row[~missing]
    only = Queries(q.relevance[~missing], sizes=np.bincount(of_query))
    for hinge in [*HINGES, PairwiseHinge()]:
        grad, hess = hinge.gradient(s, Queries(labels, sizes=q.sizes))
        expected = hinge.gradient(s[~missing], only)
        assert (grad[missing] == 0).all()
        assert_allclose(grad[~missing], expected[0], rtol=1e-6)
        assert_allclose(hess[~missing], expected[1])


PARTS = (*map(StructuredHinge, (MAP(), NDCG(3))), StructuredHinge(MRR(), feature_map="po"), PairwiseHinge())


def test_combo():
    each = np.array([hinge.per_query(SCORES, ALL) for hinge in PARTS])
    directions = np.array([hinge.violators(SCORES, ALL).direction for hinge in PARTS])
    separate, shared = Combo(PARTS), Combo(PARTS, slacks="shared")
    assert_allclose(separate.per_query(SCORES, ALL), each.sum(axis=0), atol=1e-12)
    assert_allclose(separate.violators(SCORES, ALL).direction, directions.sum(axis=0), atol=1e-12)
    assert_allclose(shared.per_query(SCORES, ALL), each.max(axis=0), atol=1e-12)
    most = np.repeat(each.argmax(axis=0), ALL.sizes)
    assert_allclose(shared.violators(SCORES, ALL).direction, directions[most, np.arange(SCORES.size)])


@pytest.mark.filterwarnings("ignore:.*queries have not both")
def test_pairwise_hinge():
    rng = np.random.default_rng(0)
    sizes = [60, 1, 2, 35]
    y = rng.integers(0, 2, sum(sizes)).astype(float)
    y[rng.random(y.size) < 0.1] = np.nan
    for s in (np.zeros(y.size), rng.normal(size=y.size), np.round(rng.normal(size=y.size)) * 3):
        q = Queries(y, sizes=sizes)
        grad, _ = PairwiseHinge().gradient(s, q)
        each = np.split(np.arange(y.size), q.offsets[1:-1])
        for rows, slack in zip(each, PairwiseHinge().per_query(s, q), strict=True):
            pairs = naive.graded_pairs(y[rows])
            lam, _ = naive.pair_rule(s[rows], pairs, lambda i, j: 1, lambda o: (o < 1, 1))
            assert slack == pytest.approx(sum(max(0, 1 - s[rows][i] + s[rows][j]) for i, j in pairs))
            assert_allclose(-grad[rows], lam, atol=1e-5)


def test_queries_without_both_classes_contribute_nothing_and_it_is_said_once():
    q = Queries([0, 0, 1, 1, 1, 0], sizes=[2, 2, 2])
    with pytest.warns(UserWarning, match="2 of 3 queries have not both") as said:
        for hinge in HINGES:
            grad, _ = hinge.gradient(np.zeros(6), q)
            assert (grad[:4] == 0).all()
            assert (grad[4:] != 0).all()
            assert hinge.counted(q).tolist() == [False, False, True]
    assert len(said) == 1
    assert PairwiseHinge().counted(q).tolist() == [False, False, True]


# As a support vector machine.

CONVEX = [
    hinge for hinge in (*HINGES, PairwiseHinge(), Combo(PARTS), Combo(PARTS, slacks="shared")) if hinge.convex
]


def random_rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((33, 4))
    y = (X @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=33) * 0.3 > 0.4).astype(float)
    return X, Queries(y, sizes=[12, 8, 10, 3])


@pytest.mark.parametrize("hinge", CONVEX, ids=repr)
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_gap_closes(hinge, C):
    X, q = random_rows(3)
    found = linear_ranker(hinge, X, q, C, epsilon=1e-4)
    risk = hinge.per_query(X @ found.w, q).mean()
    assert found.converged and found.risk == pytest.approx(risk)
    assert found.objective == pytest.approx(0.5 * found.w @ found.w + C * risk)
    assert 0 <= found.gap + 1e-9 <= C * 1.1e-4
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):  # no w nearby is lower by more than the gap
        w = found.w + scale * rng.normal(size=4)
        value = 0.5 * w @ w + C * hinge.per_query(X @ w, q).mean()
        assert value >= found.objective - found.gap - 1e-9


def test_too_few_cuts_are_told():
    assert not linear_ranker(StructuredHinge(MAP()), *random_rows(), 100.0, max_iter=3).converged


def test_preparation():
    """Unit range within each query, grades by threshold, queries without both left out, sparse or not."""
    x = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0], [9.0, 0.0], [4.0, 1.0]], dtype=np.float32)
    q = Queries([2, 1, float("nan"), 0, 1], sizes=[3, 2])
    for features in (x, sparse.csr_matrix(x)):
        unit, binary = prepared(Collection(features, q), 2.0)
        np.testing.assert_array_equal(unit, [[0, 0], [1, 0], [0.5, 0]])
        np.testing.assert_array_equal(binary.relevance, [1, 0, np.nan])
