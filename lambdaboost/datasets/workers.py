"""`rows_of_worker`: whole queries for each worker of a cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets.arrays import query_ids, query_starts


def rows_of_worker(qid: ArrayLike, worker: int, workers: int) -> NDArray[np.int64]:
    """The rows of one of `workers` workers: whole queries, about as many documents as each other worker has.

    Every worker that calls it with the same `qid` gets its own rows; each row belongs to one worker. Splits by rows,
    such as those of Ray Data, cut queries, and an engine trains on the halves as if they were queries.

    Parameters
    ----------
    qid : array of shape (n_documents,)
        The query of each row, of all rows; the rows of a query adjacent.
    worker, workers : int
        The number of this worker, from 0, and how many there are.

    Returns
    -------
    int64 array
        Row numbers, ascending.

    Raises
    ------
    ValueError
        Where there are fewer queries than workers, `worker` is none of them, or a query's rows are not adjacent.

    Examples
    --------
    >>> qid = [7, 7, 7, 8, 9, 9]
    >>> rows_of_worker(qid, 0, 2), rows_of_worker(qid, 1, 2)
    (array([0, 1, 2]), array([3, 4, 5]))

    """
    ids = query_ids("qid", qid)
    starts = query_starts("qid", ids)
    if not 0 <= worker < workers:
        raise ValueError(f"worker is {worker} of {workers}: give its number, from 0 to {workers - 1}")
    if starts.size < workers:
        raise ValueError(f"qid has {starts.size} queries, fewer than {workers} workers: use fewer workers")
    # Each worker begins at the query that is nearest to its share, and has one at least.
    shares = np.searchsorted(starts, ids.size * np.arange(workers) / workers)
    least, most = np.arange(workers), starts.size - workers + np.arange(workers)
    shares = np.clip(np.maximum.accumulate(shares - least) + least, least, most)
    bounds = np.append(starts[shares], ids.size)
    return np.arange(bounds[worker], bounds[worker + 1])
