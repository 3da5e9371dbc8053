"""`read_letor`, `write_letor`: the LETOR / SVMLight text format of public ranking data sets."""

from __future__ import annotations

import io
import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._files import SUFFIX, reading, replacing, without_compression_suffix
from lambdaboost.datasets.arrays import split_query
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries

EXPECTED = (
    "expected 'grade qid:Q 1:v 2:v … # comment' with grades from 0, whole qids on all lines or none, and feature "
    "indices rising from 1"
)
# Comments in LETOR 3 and 4 hold more than the name: "docid = GX008-86-4444840 inc = 1 prob = 0.086622".
DOCID = re.compile(rb"\s*docid\s*=\s*(\S+)")
NUMBER, NEWLINE = re.compile(rb"[^\s#]*"), b"\n"
BLOCK = 1 << 20  # bytes; text and numbers of a block stay in the processor's cache
FLOAT32_MAX = float(np.finfo(np.float32).max)
# Below this share of stored values a matrix stays sparse: dense, it would take over five times the memory.
DENSE_SHARE = 0.1


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
    labels, stored, d = [], 0, 1
    for block in _blocks(path):
        *of_block, matrix = _parse(path, *block)
        labels.append(of_block)
        stored, d = stored + matrix.nnz, max(d, matrix.shape[1])
    grades, ids, names = map(np.concatenate, zip(*labels, strict=True))
    if n_features is not None and n_features < d:
        raise ValueError(f"n_features is {n_features}, but {path} has a feature {d}: give at least {d}")
    features = _features(path, grades.size, n_features or d, stored)
    q = Queries(grades, ids=_unsplit(path, ids)) if ids.size else _in_sizes(grades, path)
    return Collection(features, q, names if (names != "").any() else None)


def _body(line: bytes) -> bytes:
    """A line without its comment."""
    return line.partition(b"#")[0].strip()


def rows_of(file: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines that hold a document, without comments, with their numbers."""
    return (
        (number, body) for number, line in enumerate(file, 1) if (body := _body(line.removeprefix(BOM_UTF8)))
    )


def _blocks(path: Path) -> Iterator[tuple[bytes, int, bool]]:
    """Blocks of whole lines with a newline each, the number of their first line, and whether rows have a qid."""
    with reading(path) as file:
        _, first = next(rows_of(file), (0, b""))
        if not first:
            raise ValueError(f"{path} has no rows; {EXPECTED}")
        with_qid = re.match(rb"\S+\s+qid:", first) is not None
        file.seek(0)
        file.seek(len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0)
        line = 1
        while block := file.read(BLOCK) + file.readline():
            block += b"" if block.endswith(b"\n") else b"\n"
            yield block, line, with_qid
            line += block.count(b"\n")


def _parse(path: Path, block: bytes, line: int, with_qid: bool) -> tuple[Any, ...]:
    """Grades, ids and names of the rows of a block, whose first line is `line`, and their features as CSR."""
    from scipy.sparse import csr_matrix

    from lambdaboost.datasets.kernels.letor import Rows, parse_lines

    rows = Rows.for_text(len(block), block.count(b"\n"))
    n, n_values, unclear, end = parse_lines(np.frombuffer(block, np.uint8), with_qid, rows)
    wrong = [end] if end < len(block) else []
    for at, place in zip(rows.unclear[:unclear].tolist(), rows.places[:unclear].tolist(), strict=True):
        try:
            value = float(NUMBER.match(block, at)[0])  # type: ignore[index]
        except ValueError:
            wrong.append(at)
            continue
        if place < 0:
            rows.grades[-1 - place] = value
        else:
            rows.values[place] = np.clip(value, -FLOAT32_MAX, FLOAT32_MAX)  # XGBoost refuses infinities
    grades, comments, ids = rows.grades[:n], rows.comments[:n], rows.ids[: n if with_qid else 0]
    wrong += comments[~(np.isfinite(grades) & (grades >= 0))].tolist()
    if wrong:
        at = block.rfind(b"\n", 0, min(wrong)) + 1
        body = _body(block[at : block.index(b"\n", at)])[:60].decode(errors="replace")
        # repr escapes control characters that a terminal would execute.
        raise ValueError(f"{path}:{line + block[:at].count(NEWLINE)}: {body!r}; {EXPECTED}")
    values, indices, ends = rows.values[:n_values], rows.indices[:n_values], rows.ends[:n]
    shape = n, int(indices.max(initial=1))
    names = _names(block, comments) if b"#" in block else np.zeros(n, "U1")
    return grades.copy(), ids.copy(), names, csr_matrix((values, indices - 1, np.append(0, ends)), shape)


def _names(block: bytes, comments: NDArray[np.int64]) -> NDArray[np.str_]:
    """The name of each document: the word after ``docid =`` of its comment, else the whole comment."""
    texts = (block[at + 1 : block.index(NEWLINE, at)] for at in comments.tolist())
    found = (match[1] if (match := DOCID.match(text)) else text.strip() for text in texts)
    return np.array([name.decode(errors="replace") for name in found], dtype=np.str_)


def _features(path: Path, n: int, d: int, stored: int) -> Any:
    """Features of n rows and d columns with this number of stored values, dense or CSR.

    The text is parsed a second time, into arrays of the right size, so that nothing else needs memory.
    """
    from scipy.sparse import csr_matrix

    row = at = 0
    if stored >= DENSE_SHARE * n * d:
        features = np.zeros((n, d), np.float32)
        for block in _blocks(path):
            *_, matrix = _parse(path, *block)
            matrix.resize(matrix.shape[0], d)
            matrix.toarray(out=features[row : row + matrix.shape[0]])
            row += matrix.shape[0]
        return features
    kind = np.int32 if stored < 2**31 else np.int64  # scipy uses one type for both
    values, indices, starts = np.empty(stored, np.float32), np.empty(stored, kind), np.zeros(n + 1, kind)
    for block in _blocks(path):
        *_, matrix = _parse(path, *block)
        end, last = at + matrix.nnz, row + matrix.shape[0]
        values[at:end], indices[at:end], starts[row + 1 : last + 1] = (
            matrix.data,
            matrix.indices,
            at + matrix.indptr[1:],
        )
        at, row = end, last
    return csr_matrix((values, indices, starts), (n, d))


def _unsplit(path: Path, ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The query of each row; raises if the rows of one are apart."""
    if split := split_query(ids):
        query, _, row = split
        with reading(path) as file:
            line, _ = next(islice(rows_of(file), row, None))
        raise ValueError(
            f"{path}:{line}: query {query} reappears here: sort the lines by qid, keeping their order; {EXPECTED}"
        )
    return ids


def _in_sizes(grades: NDArray[np.float64], path: Path) -> Queries:
    """Queries of the sizes in LightGBM's ``<data>.query``, compressed or not."""
    plain = without_compression_suffix(path)
    names = (plain.with_name(f"{plain.name}.query{suffix}") for suffix in ("", *SUFFIX))
    sizes = next((name for name in names if name.exists()), None)
    if sizes is None:
        raise ValueError(f"{path} has no qid on its lines, and there is no {plain.name}.query; {EXPECTED}")
    try:
        return Queries(grades, sizes=_sizes(sizes))
    except ValueError as error:
        raise ValueError(f"{path} and {sizes}: {error}") from None


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
