"""`write_letor`: write a collection as LETOR text."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets._files import SUFFIX, replacing
from lambdaboost.datasets.collection import Collection


def write_letor(path: str | os.PathLike[str], collection: Collection) -> None:
    """Write lines ``grade qid:Q 1:v … # document``, as `read_letor` reads them.

    The format holds grades, ids, non-zero features and document names; other label sources, weights and
    feature names are not written. Ids that are not whole numbers are replaced by 1, 2, …

    Parameters
    ----------
    path : path
        Where to write; ``.gz``, ``.xz`` and ``.bz2`` compress. An existing file is replaced once the new one is
        complete.
    collection : Collection
        What to write.

    Raises
    ------
    ValueError
        If a grade is missing (NaN) or a document name contains a line break.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaboost.datasets import Queries
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "two.txt")
    >>> write_letor(path, Collection(np.array([[0.5, 0], [0, 3]]), Queries([2, 0], ids=[7, 7]), ["a", "b"]))
    >>> print(path.read_text(), end="")
    2 qid:7 1:0.5 # a
    0 qid:7 2:3 # b
    >>> folder.cleanup()

    """
    from sklearn import config_context
    from sklearn.datasets import dump_svmlight_file

    path = Path(path)
    q = collection.queries
    _check_grades(q.relevance)
    names = _comments(collection.documents, q.n_documents)
    ids = np.repeat(_whole_ids(q.ids, q.n_queries), q.sizes)
    text = io.BytesIO()
    with config_context(assume_finite=True):  # scikit-learn would refuse NaN features, which trees accept
        grades = q.relevance.astype(np.float64)
        dump_svmlight_file(collection.features, grades, text, zero_based=False, query_id=ids)
    text.seek(0)
    with replacing(path) as raw, SUFFIX.get(path.suffix, lambda file, mode: file)(raw, "wb") as file:
        file.writelines(line.rstrip() + name for line, name in zip(text, names, strict=True))


def _check_grades(relevance: NDArray[np.float32]) -> None:
    if np.isnan(relevance).any():
        row = int(np.flatnonzero(np.isnan(relevance))[0])
        raise ValueError(
            f"relevance[{row}] is missing (NaN), which LETOR cannot represent: remove the document"
        )


def _comments(documents: NDArray[np.str_] | None, n: int) -> Iterator[bytes]:
    """The end of each line; checked before anything is written."""
    if documents is None:
        return iter([b"\n"] * n)
    names = documents.tolist()
    for row, name in enumerate(names):
        if "\n" in name or "\r" in name:
            raise ValueError(
                f"documents[{row}] is {name!r}: LETOR names hold no line breaks; rename the document"
            )
    return (f" # {name}\n".encode() if name else b"\n" for name in names)


def _whole_ids(ids: NDArray[np.int64] | None, n_queries: int) -> NDArray[np.int64]:
    if ids is not None and np.issubdtype(ids.dtype, np.integer):
        return ids
    return np.arange(1, n_queries + 1)
