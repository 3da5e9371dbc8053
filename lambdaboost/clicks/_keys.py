"""Numbers for keys of any type, and for the documents of a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


def codes_of(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each key from 0, in order of first appearance, and the first row of each.

    >>> codes_of(np.array(["b", "a", "b"]))
    (array([0, 1, 0]), array([0, 1]))
    """
    import pandas as pd

    code = pd.factorize(keys)[0].astype(np.int64)
    # A code larger than all before it is new.
    largest = np.maximum.accumulate(code)
    new = np.empty(code.size, dtype=np.bool_)
    new[:1] = True
    new[1:] = largest[1:] > largest[:-1]
    return code, np.flatnonzero(new)


@dataclass(frozen=True, eq=False)
class Keys:
    """The documents of a log, numbered by first appearance.

    Attributes
    ----------
    of_row, query_of_row : int64 (n_rows,)
        The number of each row's document, and that of its query.
    first_row : int64 (n_documents,)
        The first row of each document.
    query : int64 (n_documents,)
        The number of each document's query.
    n_queries : int

    """

    of_row: NDArray[np.int64]
    query_of_row: NDArray[np.int64]
    first_row: NDArray[np.int64]
    query: NDArray[np.int64]
    n_queries: int

    @classmethod
    def of(cls, query: NDArray[Any], document: NDArray[Any]) -> Keys:
        """Number the documents; one document of two queries counts twice."""
        query_of_row, first_of_query = codes_of(query)
        document_of_row, first = codes_of(document)
        of_row, first_row = codes_of(query_of_row * first.size + document_of_row)
        return cls(of_row, query_of_row, first_row, query_of_row[first_row], first_of_query.size)


def index_of(
    known: tuple[NDArray[Any], NDArray[Any]], query: NDArray[Any], document: NDArray[Any]
) -> NDArray[np.int64]:
    """The index of each (query, document) among the known ones; −1 where it is not known."""
    import pandas as pd

    queries, documents = pd.Index(known[0]).unique(), pd.Index(known[1]).unique()
    pairs = queries.get_indexer(known[0]) * len(documents) + documents.get_indexer(known[1])
    q, d = queries.get_indexer(query), documents.get_indexer(document)
    sought = np.where((q >= 0) & (d >= 0), q * len(documents) + d, -1)
    return np.asarray(pd.Index(pairs).get_indexer(sought), dtype=np.int64)
