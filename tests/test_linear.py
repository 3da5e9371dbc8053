"""`LinearRanker`: against a direct convex solve, its gap, and its ways to be used wrongly."""

import clarabel
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from experiments.chakrabarti2008.combo import Combo
from experiments.chakrabarti2008.cutting_plane import Cut, cutting_plane, simplex_weights
from experiments.chakrabarti2008.linear_ranker import LinearRanker
from experiments.chakrabarti2008.pairwise_hinge import PairwiseHinge
from experiments.chakrabarti2008.structured_hinge import StructuredHinge
from lambdaboost import AUC, MAP, MRR, NDCG, Queries
from lambdaboost.datasets import web_search_log


def drawn(seed=0, sizes=(12, 8, 10, 3), features=4):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.random((n, features))
    y = (X @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=n) * 0.3 > 0.4).astype(float)
    return X, y, np.repeat(np.arange(len(sizes)), sizes)


def pairs_program(X, y, qid, C, weigh, margin, pull):
    """½‖w‖² + C Σ_p weight_p max(0, margin − pull w·(x_i − x_j)) over all pairs, with a slack each, by clarabel."""
    differences, weights = [], []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        found = [X[i] - X[j] for i in rows for j in rows if y[i] > y[j]]
        differences += found
        weights += [weigh(found)] * len(found)
    D, n, d = np.array(differences), len(differences), X.shape[1]
    P = sparse.block_diag([sparse.eye(d), sparse.csc_matrix((n, n))], format="csc")
    A = sparse.vstack(
        [
            sparse.hstack([-pull * D, -sparse.eye(n)]),
            sparse.hstack([sparse.csc_matrix((n, d)), -sparse.eye(n)]),
        ],
        format="csc",
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    b = np.concatenate([np.full(n, -margin), np.zeros(n)])
    c = np.concatenate([np.zeros(d), C * np.array(weights)])
    found = clarabel.DefaultSolver(P, c, A, b, [clarabel.NonnegativeConeT(2 * n)], settings).solve()
    return np.array(found.x)[:d], found.obj_val


@pytest.mark.parametrize("C", [0.5, 10.0, 200.0])
def test_auc_against_a_direct_solve(C):
    """SVM-AUC is Σ over pairs of max(0, 1 − 2 w·(x_g − x_b)) / n⁺n⁻, one slack a pair."""
    X, y, qid = drawn()
    ranker = LinearRanker(StructuredHinge(AUC()), C=C, epsilon=1e-6).fit(X, y, qid)
    w, lowest = pairs_program(X, y, qid, C / 4, lambda pairs: 1 / len(pairs), 1.0, 2.0)
    assert ranker.objective_value_ == pytest.approx(lowest, rel=1e-4)
    assert_allclose(ranker.coef_, w, atol=5e-3)


def test_pairs_against_a_direct_solve():
    X, y, qid = drawn()
    y = y + (X[:, 0] > 0.7)  # three grades
    ranker = LinearRanker(PairwiseHinge(), C=3.0, epsilon=1e-5).fit(X, y, qid)
    w, lowest = pairs_program(X, y, qid, 3.0 / 4, lambda pairs: 1, 1.0, 1.0)
    assert ranker.objective_value_ == pytest.approx(lowest, rel=1e-4)
    assert_allclose(ranker.coef_, w, atol=5e-3)


HINGES = [
    StructuredHinge(AUC()),
    StructuredHinge(MAP()),
    StructuredHinge(NDCG(3)),
    StructuredHinge(NDCG()),
    StructuredHinge(MRR(3)),
    StructuredHinge(MRR(), feature_map="po"),
    Combo((StructuredHinge(MAP()), StructuredHinge(NDCG(3)), StructuredHinge(MRR()))),
    Combo((StructuredHinge(MAP()), StructuredHinge(NDCG(3))), slacks="shared"),
    PairwiseHinge(),
]


@pytest.mark.parametrize("hinge", HINGES, ids=repr)
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_gap_closes(hinge, C):
    X, y, qid = drawn(3)
    ranker = LinearRanker(hinge, C=C, epsilon=1e-4).fit(X, y, qid)
    q = Queries(y, ids=qid)
    risk = hinge.per_query(ranker.predict(X), q).mean()
    assert ranker.slack_ == pytest.approx(risk)
    assert ranker.objective_value_ == pytest.approx(0.5 * ranker.coef_ @ ranker.coef_ + C * risk)
    assert 0 <= ranker.gap_ + 1e-9 <= C * 1.1e-4
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):  # no w nearby is lower by more than the gap
        w = ranker.coef_ + scale * rng.normal(size=4)
        assert (
            0.5 * w @ w + C * hinge.per_query(X @ w, q).mean() >= ranker.objective_value_ - ranker.gap_ - 1e-9
        )


def test_dorm_lowers_its_slack():
    X, y, qid = drawn(3)
    hinge = StructuredHinge(NDCG(3), feature_map="dorm")
    ranker = LinearRanker(hinge, C=30.0).fit(X, y, qid)
    assert ranker.slack_ < 0.7 * hinge.per_query(np.zeros(y.size), Queries(y, ids=qid)).mean()
    assert np.isnan(ranker.gap_)


@pytest.mark.filterwarnings("ignore:.*queries have not both")
@pytest.mark.parametrize("hinge", [*HINGES, StructuredHinge(NDCG(10), feature_map="dorm")], ids=repr)
def test_beats_random_order_on_held_out_data(hinge):
    train, test = (web_search_log(queries=40, documents=25, seed=seed) for seed in (0, 1))
    unit = train.features.std(axis=0)
    y, test_q = train.queries.relevance >= 2, Queries(test.queries.relevance >= 2, sizes=test.queries.sizes)
    ranker = LinearRanker(hinge, C=1.0, epsilon=1e-2).fit(
        train.features / unit, y, train.queries.query_of_row
    )
    rng = np.random.default_rng(0)
    chance = max(MAP()(rng.random(test_q.n_documents), test_q) for _ in range(20))
    assert MAP()(ranker.predict(test.features / unit), test_q) > chance + 0.1


def test_queries_without_both_classes_change_nothing():
    X, y, qid = drawn()
    alone = LinearRanker(StructuredHinge(MAP()), C=5.0).fit(X, y, qid)
    with pytest.warns(UserWarning, match="2 of 6 queries have not both"):
        more = LinearRanker(StructuredHinge(MAP()), C=5.0).fit(
            np.vstack([X, X[:5]]), np.append(y, [0, 0, 1, 1, 1]), np.append(qid, [7, 7, 8, 8, 8])
        )
    assert_allclose(more.coef_, alone.coef_, rtol=1e-9)


X, Y, QID = drawn()


def test_too_few_cuts_are_told():
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=3 cuts with a gap of"):
        LinearRanker(StructuredHinge(MAP()), C=100.0, max_iter=3).fit(X, Y, QID)


def test_quadratic_program():
    """max v·β − ½ βᵀGβ: the constraint binds, or it does not."""
    assert_allclose(simplex_weights(np.eye(2), np.array([0.2, 0.1])), [0.2, 0.1], atol=1e-6)
    assert_allclose(simplex_weights(np.eye(2), np.array([2.0, 1.8])), [0.6, 0.4], atol=1e-6)
    assert_allclose(simplex_weights(np.zeros((2, 2)), np.array([1.0, 2.0])), [0.0, 1.0], atol=1e-6)


def test_cutting_plane_of_a_risk_by_hand():
    """½w² + C |w − 1|: 1 where C ≥ 1, C below."""
    for C, expected in ((0.5, 0.5), (4.0, 1.0)):

        def cut_at(w):
            slope = np.sign(w - 1)
            return Cut(float(-slope[0]), slope)

        found = cutting_plane(cut_at, 1, C, 1e-8, 100)
        assert found.converged
        assert_allclose(found.w, [expected], atol=1e-4)
        assert found.gap == pytest.approx(0, abs=1e-6)
