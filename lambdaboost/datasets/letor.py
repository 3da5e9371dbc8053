"""`read_letor`, `write_letor`: the LETOR / SVMLight text format of public ranking data sets."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._files import SUFFIX, reading, replacing, without_compression_suffix
from lambdaboost.datasets._letor_text import EXPECTED, Parsed, parse
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries


def read_letor(path: str | os.PathLike[str], *, n_features: int | None = None) -> Collection:
    r"""Read LETOR / SVMLight text, lines ``grade qid:Q 1:v 2:v … # comment``, plain or as gzip, xz or bzip2.

    The format of LETOR 4.0 (Qin & Liu 2013), MSLR-WEB30K, Yahoo and Istella. LightGBM's variant has no qid; the
    query sizes are in a second file, ``rank.train.query`` for ``rank.train``, which is found in the same folder,
    compressed or not.

    Parameters
    ----------
    path : path
        The file. Compression is recognised by its first bytes, not by its name.
    n_features : int, optional
        Number of columns, for a part in which the last features never occur; by default the highest index.

    Returns
    -------
    Collection
        Features as float32, feature ``1:`` in column 0: dense, or CSR if the text holds less than a tenth of the
        values. Absent values are 0. Infinities and values out of float32's range, such as the 1.797e308 that
        marks missing values in Istella, become ±3.4028235e38. Ids are the qids. Document names are the comments,
        or the word after ``docid =`` in LETOR's comments; None if there are no comments.

    Raises
    ------
    ValueError
        If a line does not parse or a query's lines are not adjacent (names file and line); if the file is empty,
        damaged or a folder, or has more features than `n_features`; if query sizes are missing or wrong.
    FileNotFoundError
        If `path` does not exist.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "train.txt")
    >>> _ = path.write_text("2 qid:10 1:0.5 2:1 # docid = a\n0 qid:10 1:0.1 # docid = b\n1 qid:11 2:4 # c\n")
    >>> train = read_letor(path)
    >>> train
    Collection(3 documents × 2 features in 2 queries; relevance)
    >>> train.queries.ids, train.documents
    (array([10, 11]), array(['a', 'b', 'c'], dtype='<U1'))
    >>> folder.cleanup()

    """
    path = Path(path)
    if n_features is not None:
        check_whole("n_features", n_features)
    parsed = parse(path, n_features)
    q = Queries(parsed.relevance, ids=parsed.ids) if parsed.ids.size else _in_sizes(parsed, path)
    return Collection(parsed.features, q, parsed.documents)


def _in_sizes(parsed: Parsed, path: Path) -> Queries:
    """Queries of the sizes in LightGBM's ``<data>.query``, compressed or not."""
    plain = without_compression_suffix(path)
    names = (plain.with_name(f"{plain.name}.query{suffix}") for suffix in ("", *SUFFIX))
    beside = next((name for name in names if name.exists()), None)
    if beside is None:
        raise ValueError(f"{path} has no qid on its lines, and no {plain.name}.query beside it; {EXPECTED}")
    try:
        return Queries(parsed.relevance, sizes=_sizes(beside))
    except ValueError as error:
        raise ValueError(f"{path} and {beside}: {error}") from None


def _sizes(path: Path) -> list[int]:
    """The number of documents of each query, one per line."""
    sizes = []
    with reading(path) as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text.isdigit():
                shown = text[:60].decode(errors="replace")
                raise ValueError(f"{path}:{number}: {shown!r}; expected the number of documents of one query")
            sizes.append(int(text))
    return sizes


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
    if (missing := np.isnan(q.relevance)).any():
        raise ValueError(
            f"relevance[{missing.argmax()}] is missing (NaN), which LETOR cannot represent: remove the document"
        )
    names = _comments(collection.documents, q.n_documents)
    whole = q.ids is not None and np.issubdtype(q.ids.dtype, np.integer)
    ids = np.repeat(np.asarray(q.ids) if whole else np.arange(1, q.n_queries + 1), q.sizes)
    text = io.BytesIO()
    with config_context(assume_finite=True):  # scikit-learn would refuse NaN features, which trees accept
        grades = q.relevance.astype(np.float64)
        dump_svmlight_file(collection.features, grades, text, zero_based=False, query_id=ids)
    text.seek(0)
    with replacing(path) as raw, SUFFIX.get(path.suffix, lambda file, mode: file)(raw, "wb") as file:
        file.writelines(line.rstrip() + name for line, name in zip(text, names, strict=True))


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
