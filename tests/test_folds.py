"""Cross-validation holds out the same queries on both engines, and never part of one."""

import numpy as np
import pytest
from lightgbm_data import PARAMS, Q, X, dataset

from lambdaboost import NDCG, RankNet
from lambdaboost.engines.folds import checked, drawn
from lambdaboost.lightgbm import cv as cv_lightgbm
from lambdaboost.xgboost import DMatrix
from lambdaboost.xgboost import cv as cv_xgboost

QUERY = Q.query_of_row


class Seen(RankNet, registered=False):
    """RankNet that notes the labels of each fold it is trained on."""

    def __call__(self, scores, data):
        SEEN.append(tuple(data.get_label()))
        return super().__call__(scores, data)


SEEN = []


def folds_of(cv, params, data, **more):
    SEEN.clear()
    cv(params, data, 1, objective=Seen(), **more)
    return list(SEEN)


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("nfold", [2, 4])
def test_a_seed_draws_the_same_folds_on_both_engines(seed, nfold):
    of_lightgbm = folds_of(cv_lightgbm, PARAMS, dataset(), seed=seed, nfold=nfold)
    matrix = DMatrix(X, Q.relevance, qid=Q.query_of_row)
    of_xgboost = folds_of(
        cv_xgboost,
        {"nthread": 1, "min_child_weight": 0},
        matrix,
        seed=seed,
        nfold=nfold,
        custom_metric=NDCG(3),
    )
    assert of_lightgbm == of_xgboost and len(set(of_lightgbm)) == nfold


def test_each_query_is_held_out_once():
    folds = list(drawn(Q, 4, seed=3))
    held_out = np.concatenate([test for _, test in folds])
    assert sorted(held_out) == list(range(Q.n_documents))
    counts = [np.unique(QUERY[test]).size for _, test in folds]
    assert max(counts) - min(counts) <= 1
    for train, test in folds:
        assert not set(QUERY[train]) & set(QUERY[test])
        assert train.size + test.size == Q.n_documents


def test_given_rows_come_sorted():
    rows = Q.rows_of([4, 1])
    ((train, test),) = checked([(rows[::-1], Q.rows_of([2]))], Q)
    np.testing.assert_array_equal(train, np.sort(rows))
    np.testing.assert_array_equal(test, Q.rows_of([2]))


@pytest.mark.parametrize(
    ("folds", "error", "words"),
    [
        (5, TypeError, "folds is 5, expected a list"),
        ([(Q.rows_of([1]), Q.rows_of([3])[:-1])], ValueError, r"\(test\) holds \d+ of the \d+ rows of query 3"),
        ([([0, 0], [1])], ValueError, r"\(train\) holds a row twice"),
        ([([-1], [1])], ValueError, r"\(train\) has rows -1 to -1, data has rows 0 to"),
    ],
)  # fmt: skip
def test_folds_that_are_refused(folds, error, words):
    with pytest.raises(error, match=words):
        list(checked(folds, Q))
