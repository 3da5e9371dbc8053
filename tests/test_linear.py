"""`LinearRanker`: against a direct convex solve, its gap, and its ways to be used wrongly."""

import pickle
import sys

import clarabel
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from lambdaboost import AUC, MAP, MRR, NDCG, Combo, LambdaRank, PairwiseHinge, Queries, StructuredHinge
from lambdaboost.datasets import web_search_log
from lambdaboost.linear import LinearRanker
from lambdaboost.linear._cutting_plane import Cut, cutting_plane, simplex_weights


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


def test_sparse_features_and_texts_and_lists():
    X, y, qid = drawn()
    dense = LinearRanker(StructuredHinge(MAP()), C=5.0).fit(X, y, qid)
    thin = LinearRanker("StructuredHinge(MAP())", C=5.0).fit(sparse.csr_matrix(X), y, qid)
    listed = LinearRanker(C=5).fit(X.tolist(), y.tolist(), qid=[f"q{i}" for i in qid])
    for other in (thin, listed):
        assert_allclose(other.coef_, dense.coef_, rtol=1e-6)
    assert_allclose(thin.predict(sparse.csr_matrix(X)), dense.predict(X), rtol=1e-6)


def test_is_an_estimator():
    ranker = LinearRanker(StructuredHinge(AUC()), C=2.0)
    assert clone(ranker).get_params() == ranker.get_params()
    assert "C=2.0" in repr(ranker)
    with pytest.raises(NotFittedError):
        ranker.predict([[1.0]])
    before = ranker.get_params()
    assert ranker.fit(*drawn()) is ranker
    assert ranker.get_params() == before
    assert ranker.n_features_in_ == 4


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame])
def test_frames_bring_names_and_queries(table):
    X, y, qid = drawn()
    plain = LinearRanker(StructuredHinge(MAP()), C=5.0).fit(X, y, qid)
    columns = dict(zip("abcd", X.T, strict=True))
    ranker = clone(plain).fit(table({"qid": qid, **columns}), y)
    assert_allclose(ranker.coef_, plain.coef_, rtol=1e-9)
    assert list(ranker.feature_names_in_) == list("abcd")
    for rows in (table(columns), table({"qid": qid, **columns})):
        assert_allclose(ranker.predict(rows), plain.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        ranker.predict(table({name: columns[name] for name in "bacd"}))
    with pytest.raises(ValueError, match="X has a column 'qid', and group or qid is also given"):
        ranker.fit(table({"qid": qid, **columns}), y, qid)


def test_tells_scikit_learn_that_sparse_features_will_do():
    utils = pytest.importorskip("sklearn.utils", minversion="1.6")
    assert utils.get_tags(LinearRanker()).input_tags.sparse


class OneQuery(LinearRanker):
    """scikit-learn's checks know no queries: all rows are one."""

    def fit(self, X, y):
        # Their targets may be negative.
        grades = y if y is None or not np.size(y) else np.asarray(y, dtype=float) - np.min(y)
        return super().fit(X, grades, np.zeros(np.shape(X)[0]))

    @classmethod
    def _get_param_names(cls):
        return LinearRanker._get_param_names()


@pytest.mark.filterwarnings("ignore")  # of fits that do not converge
def test_passes_scikit_learns_checks():
    pytest.importorskip("sklearn", minversion="1.6")  # before, check_estimator stops at the first
    results = check_estimator(OneQuery(PairwiseHinge(), epsilon=1.0), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    # One row is one document, which nothing can be learnt from; the message says that, and not "1 sample".
    assert failed <= {"check_fit2d_1sample", "check_requires_y_none"}
    assert len(results) > 40


@pytest.mark.parametrize("features", [lambda X: X, sparse.csr_matrix], ids=["dense", "sparse"])
def test_pickle_and_joblib_predict_the_same_bits(tmp_path, features):
    X, y, qid = drawn()
    ranker = LinearRanker(StructuredHinge(MAP(), clip=None), C=np.float64(5)).fit(features(X), y, qid)
    joblib.dump(ranker, tmp_path / "ranker")
    for copy in (pickle.loads(pickle.dumps(ranker)), joblib.load(tmp_path / "ranker")):
        np.testing.assert_array_equal(copy.predict(features(X)), ranker.predict(features(X)))
        assert copy.objective == ranker.objective and repr(copy) == repr(ranker)


def test_queries_without_both_classes_change_nothing():
    X, y, qid = drawn()
    alone = LinearRanker(StructuredHinge(MAP()), C=5.0).fit(X, y, qid)
    with pytest.warns(UserWarning, match="2 of 6 queries have not both"):
        more = LinearRanker(StructuredHinge(MAP()), C=5.0).fit(
            np.vstack([X, X[:5]]), np.append(y, [0, 0, 1, 1, 1]), np.append(qid, [7, 7, 8, 8, 8])
        )
    assert_allclose(more.coef_, alone.coef_, rtol=1e-9)


X, Y, QID = drawn()


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (
            TypeError,
            r"objective is LambdaRank\(\), expected a hinge",
            lambda: LinearRanker(LambdaRank()).fit(X, Y, QID),
        ),
        (ValueError, "cannot read", lambda: LinearRanker("hinge(").fit(X, Y, QID)),
        (ValueError, "C is 0: give a finite number > 0", lambda: LinearRanker(C=0).fit(X, Y, QID)),
        (TypeError, "C is '1'", lambda: LinearRanker(C="1").fit(X, Y, QID)),
        (ValueError, "epsilon is -1", lambda: LinearRanker(epsilon=-1).fit(X, Y, QID)),
        (ValueError, "max_iter is 0", lambda: LinearRanker(max_iter=0).fit(X, Y, QID)),
        (ValueError, r"qid is missing: give qid=", lambda: LinearRanker().fit(X, Y)),
        (
            ValueError,
            "ids has query 0 in two places",
            lambda: LinearRanker().fit(X, Y, np.append(QID[1:], 0)),
        ),
        (ValueError, "y has 3 grades, X has 33 rows", lambda: LinearRanker().fit(X, Y[:3], QID[:3])),
        (ValueError, "relevance.*-1", lambda: LinearRanker().fit(X, -Y, QID)),
        (ValueError, "contains NaN", lambda: LinearRanker().fit(np.where(X > 0.9, np.nan, X), Y, QID)),
        (ValueError, "Expected 2D array", lambda: LinearRanker().fit(X[:, 0], Y, QID)),
        (ValueError, "has no threshold", lambda: LinearRanker(StructuredHinge(NDCG())).fit(X, 2 * Y, QID)),
        (
            ValueError,
            "no query has documents that .* distinguishes",
            lambda: LinearRanker(PairwiseHinge()).fit(X, 0 * Y, QID),
        ),
        (
            ValueError,
            "X has 2 features, but LinearRanker is expecting 4 features as input",
            lambda: LinearRanker().fit(X, Y, QID).predict(X[:, :2]),
        ),
    ],
)
def test_wrong_input(error, message, call):
    with pytest.raises(error, match=message):
        call()


def test_too_few_cuts_are_told():
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=3 cuts with a gap of"):
        LinearRanker(C=100.0, max_iter=3).fit(X, Y, QID)


def test_without_the_solver(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match="clarabel is not installed: pip install 'clarabel>="):
        LinearRanker().fit(X, Y, QID)


# The method and its program by themselves.


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
