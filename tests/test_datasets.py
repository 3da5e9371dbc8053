"""Collections, click rates and rows that are apart."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lambdaboost.datasets import Collection, Columns, Queries, click_rate


def small(**parts):
    """Five documents in two queries; features count 0, 1, … by rows."""
    queries = Queries([2, 0, 1, 1, 0], ids=["a", "a", "a", "b", "b"], clicks=[0.5, 0, 0.1, np.nan, 0])
    given = {"documents": list("vwxyz"), "feature_names": ("f", "g", "h")} | parts
    return Collection(np.arange(15.0).reshape(5, 3), queries, **given)


def test_unpacks_and_tells_itself():
    c = small()
    X, q = c
    assert X is c.features and q is c.queries
    assert repr(c) == "Collection(5 documents × 3 features in 2 queries; relevance, clicks)"
    one = Collection(np.zeros((1, 1)), Queries([1], sizes=[1]))
    assert repr(one) == "Collection(1 document × 1 feature in 1 query; relevance)"
    assert repr(pickle.loads(pickle.dumps(c))) == repr(c)
    with pytest.raises(AttributeError):
        c.features = X


def test_shuffled_keeps_rows_together():
    c = small()
    shuffled = c.shuffled(seed=1)
    rows = (shuffled.features[:, 0] / 3).astype(int)
    assert sorted(rows[:3]) == [0, 1, 2] and sorted(rows[3:]) == [3, 4]
    np.testing.assert_array_equal(shuffled.queries.relevance, c.queries.relevance[rows])
    np.testing.assert_array_equal(shuffled.queries.labels["clicks"], c.queries.labels["clicks"][rows])
    np.testing.assert_array_equal(shuffled.documents, c.documents[rows])
    assert any(not np.array_equal(c.shuffled(seed=s).features, shuffled.features) for s in range(2, 5))


def test_without_features():
    c = small().without_features(["h", 0])
    assert c.features.tolist() == [[1], [4], [7], [10], [13]] and c.feature_names == ("g",)
    assert small(feature_names=None).without_features([2]).feature_names is None


def part(ids, features=None, **given):
    n = len(ids)
    return Collection(
        np.full((n, 2), float(n)) if features is None else features, Queries([1] * n, ids=ids, **given)
    )


def test_concat():
    weighted = Queries([1, 0, 2], sizes=[2, 1], weight=[2, 3])
    one = Collection(sparse.csr_matrix(np.eye(3)), weighted, list("abc"))
    mixed = Collection.concat([one, Collection(np.eye(3), Queries([1, 0, 2], sizes=[1, 2]))])
    assert sparse.issparse(mixed.features) and mixed.documents is None and mixed.queries.ids is None
    assert mixed.queries.weight.tolist() == [2, 2, 3, 1, 1, 1]
    joined = Collection.concat([part([1]), part([1, 1])], keep_ids=False).queries
    assert joined.ids is None and joined.sizes.tolist() == [1, 2]
    both = Collection.concat([small().take([1]), small().take([0])])
    assert both.features[:, 0].tolist() == [9, 12, 0, 3, 6]
    assert both.queries.ids.tolist() == ["b", "a"] and both.queries.sizes.tolist() == [2, 3]
    np.testing.assert_array_equal(both.queries.labels["clicks"], np.float32([np.nan, 0, 0.5, 0, 0.1]))
    assert both.documents.tolist() == list("yzvwx") and both.feature_names == ("f", "g", "h")


def with_features(features):
    return Collection(features, Queries([1], sizes=[1]))


TWO = Queries([0, 0], sizes=[2])
OTHER = small(feature_names=("f", "g", "i"))
REFUSED = [
    (lambda: small().without_features("f"), TypeError, "give a list"),
    (lambda: small().without_features([3]), ValueError, "no feature is called 3: give a name or an index from 0 to 2"),
    (lambda: small().without_features([-1]), ValueError, "no feature is called -1"),
    (lambda: small().without_features([True, False, False]), ValueError, "no feature is called True"),
    (lambda: small().queries.with_source("clicks", [0] * 5), ValueError, "already"),
    (lambda: small().queries.with_source(3, [0] * 5), TypeError, "needs a name"),
    (lambda: Collection(np.eye(1), [1]), TypeError, "queries must be Queries, got list"),
    (lambda: small(categories={"k": ["a"]}), ValueError, "categories has 'k', which is none of the feature_names"),
    (lambda: small(documents=["a"]), ValueError, "documents has shape"),
    (lambda: small(feature_names=["a"]), ValueError, "feature_names has 1 names, of which 1 differ"),
    (lambda: small(feature_names=["a", "b", "a"]), ValueError, "feature_names has 3 names, of which 2 differ"),
    (lambda: with_features([[1.0]]), TypeError, "give an array or scipy CSR"),
    (lambda: with_features(sparse.coo_matrix(np.eye(1))), TypeError, "give an array or scipy CSR"),
    (lambda: with_features(np.array([[1]])), TypeError, "is a ndarray of int64"),
    (lambda: with_features(np.array([1.0])), ValueError, r"shape \(1,\)"),
    (lambda: with_features(np.eye(2)), ValueError, r"shape \(2, 2\), queries has 1 documents"),
    (lambda: Collection.concat([]), ValueError, "empty"),
    (lambda: Collection.concat([part([1]), part([2]), part([2, 3])]), ValueError, "query 2 is in part 1 and part 2"),
    (lambda: Collection.concat([part([1]), part([2], np.ones((1, 3)))]), ValueError, "differ in n_features"),
    (lambda: Collection.concat([part([1]), part([2], clicks=[1])]), ValueError, "sources"),
    (lambda: Collection.concat([part([1]), with_features(np.ones((1, 2)))]), ValueError, "query ids"),
    (lambda: Collection.concat([small().take([0]), OTHER.take([1])]), ValueError, "feature_names"),
    (lambda: with_features(np.ma.array([[1.0]], mask=True)), TypeError, "features is a MaskedArray of float64: give"),
    (lambda: click_rate([1], TWO), ValueError, "counts has shape"),
    (lambda: click_rate(["many", 1], TWO), TypeError, "counts must be numbers"),
    (lambda: click_rate([1, -1], TWO), ValueError, r"counts\[1\] is -1: counts must be finite"),
    (lambda: click_rate([1, np.inf], TWO), ValueError, r"counts\[1\] is inf: counts must be finite"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "problem"), REFUSED)
def test_what_does_not_fit_is_refused(call, error, problem):
    with pytest.raises(error, match=problem):
        call()


def test_click_rates():
    q = Queries([0, 0, 0, 0], sizes=[3, 1])
    for counts in ([np.nan, 1, 3, np.nan], np.ma.masked_equal([9, 1, 3, 9], 9)):
        np.testing.assert_allclose(click_rate(counts, q), [np.nan, 0.5, 1, np.nan])


def test_rows_that_are_apart_come_together_with_their_rows():
    rows = [(2, 1.0, 0, 1, "a"), (1, 2.0, 1, 5, "b"), (2, 3.0, 2, 2, "c")]
    df = pd.DataFrame(rows, columns=list("qxywd")).astype({"x": np.float32})
    c = Columns(query="q", label="y", weight="w", document="d").read(df)
    assert c.features.dtype == np.float32 and c.features.ravel().tolist() == [1, 3, 2]
    assert c.queries.ids.tolist() == [2, 1]
    assert c.queries.relevance.tolist() == [0, 2, 1] and c.queries.weight.tolist() == [1, 2, 5]
    assert c.rows.tolist() == [0, 2, 1] and c.documents.tolist() == ["a", "c", "b"]
    assert c.take([1]).rows.tolist() == [1]
