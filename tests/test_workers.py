"""Shares of rows for the workers of a cluster."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdaboost.datasets import rows_of_worker


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(1, 8))
def test_every_row_is_one_workers_and_every_query_whole(sizes, workers):
    workers = min(workers, len(sizes))
    qid = np.repeat(np.arange(len(sizes)), sizes)
    shares = [rows_of_worker(qid, worker, workers) for worker in range(workers)]
    np.testing.assert_array_equal(np.concatenate(shares), np.arange(qid.size))
    held = [set(qid[rows]) for rows in shares]
    assert all(held) and sum(map(len, held)) == len(sizes)


def test_workers_have_about_as_many_documents_each():
    sizes = np.random.default_rng(0).integers(5, 60, 200)
    qid = np.repeat(np.arange(sizes.size), sizes)
    shares = [rows_of_worker(qid, worker, 3).size for worker in range(3)]
    assert max(shares) - min(shares) < 2 * sizes.max()


@pytest.mark.parametrize(
    ("qid", "worker", "workers", "message"),
    [
        ([1, 1, 2], 2, 2, "worker is 2 of 2: give its number, from 0 to 1"),
        ([1, 1, 2], 0, 3, "qid has 2 queries, fewer than 3 workers: use fewer workers"),
        ([1, 2, 1], 0, 2, "qid has query 1 in two places, row 0 and row 2"),
        ([1, np.nan], 0, 2, "qid is missing in row 1"),
        ([], 0, 1, "qid is empty: there must be at least one document"),
    ],
)
def test_errors(qid, worker, workers, message):
    with pytest.raises(ValueError, match=message):
        rows_of_worker(qid, worker, workers)
