"""`read_letor`, `write_letor`: the LETOR / SVMLight text format of public ranking data sets."""

from __future__ import annotations

import io
import os
import re
from codecs import BOM_UTF8
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._files import SUFFIX, reading, replacing, without_compression_suffix
from lambdaboost._words import quote
from lambdaboost.datasets.arrays import FLOAT32_MAX, split_query
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries

EXPECTED = (
    "expected 'grade qid:Q 1:v 2:v … # comment' with grades from 0, whole qids on all lines or none, and feature "
    "indices rising from 1"
)
LINE = re.compile(rb"\s*(\S+)(?:\s+qid:(-?\d{1,18}))?((?:\s+\d{1,9}:\S+)*)\s*")  # without its comment
# Comments in LETOR 3 and 4 hold more than the name: "docid = GX008-86-4444840 inc = 1 prob = 0.086622".
DOCID = re.compile(rb"\s*docid\s*=\s*(\S+)")
BLOCK = 1 << 20  # bytes; text and numbers of a block stay in the processor's cache
# Below this share of stored values a matrix stays sparse: dense, it would take over five times the memory.
DENSE_SHARE = 0.1


def read_letor(path: str | os.PathLike[str], *, n_features: int | None = None) -> Collection:
    r"""Read LETOR / SVMLight text, lines ``grade qid:Q 1:v 2:v … # comment``, plain or as gzip, xz or bzip2.

    The format of LETOR 4.0 (Qin & Liu 2013), MSLR-WEB30K, Yahoo and Istella. LightGBM's variant has no qid; the
    query sizes are in a second file, ``rank.train.query`` for ``rank.train``, in the same folder.

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
        values. Absent values are 0. Values out of float32's range, such as the 1.797e308 that marks missing values in
        Istella, become ±3.4028235e38. Document names are the comments, or the word after ``docid =``.

    Raises
    ------
    ValueError
        If a line is wrong or a query's lines are apart, with file and line; if the file is empty, damaged or has more
        features than `n_features`, or query sizes are missing or wrong.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "train.txt")
    >>> _ = path.write_text("2 qid:10 1:0.5 2:1 # docid = a\n0 qid:10 1:0.1 # docid = b\n1 qid:11 2:4 # c\n")
    >>> train = read_letor(path)
    >>> train.queries.ids, train.documents, train.n_features
    (array([10, 11]), array(['a', 'b', 'c'], dtype='<U1'), 2)
    >>> folder.cleanup()

    """
    from lambdaboost.datasets.kernels.letor import NO_QID

    path, blocks, line = Path(path), [], 1
    least = 1 if n_features is None else check_whole("n_features", n_features)
    with reading(path) as file:
        while text := file.read(BLOCK) + file.readline():
            if line == 1:
                text = text.removeprefix(BOM_UTF8)
            blocks.append(_parse(path, text if text.endswith(b"\n") else text + b"\n", line))
            line += text.count(b"\n")
    if not sum(len(grades) for grades, *_ in blocks):
        raise ValueError(f"{path} has no rows; {EXPECTED}")
    grades, ids, names, lines = (np.concatenate([block[at] for block in blocks]) for at in range(4))
    parts = [block[4] for block in blocks]
    d = max(least, *(part.shape[1] for part in parts))
    if n_features is not None and n_features < d:
        raise ValueError(f"n_features is {n_features}, but {path} has a feature {d}: give at least {d}")
    without = ids == NO_QID
    if (unlike := without != without[0]).any():
        at = int(unlike.argmax())
        has = "no qid" if without[at] else "a qid"
        raise ValueError(f"{path}:{lines[at]}: the line has {has}, unlike those before it; {EXPECTED}")
    if not without[0] and (split := split_query(ids)):
        query, _, row = split
        raise ValueError(
            f"{path}:{lines[row]}: query {query} reappears here: sort the lines by qid, keeping their order; {EXPECTED}"
        )
    q = _in_sizes(grades, path) if without[0] else Queries(grades, ids=ids)
    stored = sum(block[5] for block in blocks)
    del blocks  # lets the parts go, one by one
    return Collection(_joined(parts, (grades.size, d), stored), q, names if (names != "").any() else None)


def _parse(path: Path, text: bytes, line: int) -> tuple[Any, ...]:
    """Of whole lines, `line` the first: the grades, ids, names and lines of rows, their features, and values stored."""
    from scipy.sparse import csr_matrix

    from lambdaboost.datasets.kernels.letor import Rows, parse_lines

    rows, letters, at, row, n = Rows.for_text(text), np.frombuffer(text, np.uint8), 0, 0, 0
    while True:
        at, row, n = parse_lines(letters, at, row, n, rows)
        if at == len(text):
            break
        end = text.index(b"\n", at)
        body = text[at:end].partition(b"#")[0]
        try:
            rows.grades[row], rows.ids[row], indices, values = _parse_line(body)
        except ValueError:
            number, what = line + text.count(b"\n", 0, at), quote(body.strip().decode(errors="replace"))
            raise ValueError(f"{path}:{number}: {what}; {EXPECTED}") from None
        stop = n + len(values)
        rows.indices[n:stop], rows.values[n:stop] = indices, np.clip(values, -FLOAT32_MAX, FLOAT32_MAX)
        rows.ends[row], rows.comments[row] = stop, at + len(body)
        at, row, n = end + 1, row + 1, stop
    comments = rows.comments[:row]
    names = np.zeros(row, "U1")
    if b"#" in text:
        names = np.array([_name(text[at + 1 : text.index(b"\n", at)]) for at in comments.tolist()], np.str_)
    lines = line + np.searchsorted(np.flatnonzero(letters == 10), comments)
    columns, ends = rows.indices[:n] - 1, np.append(0, rows.ends[:row])
    features = csr_matrix((rows.values[:n], columns, ends), (row, 1 + int(columns.max(initial=0))))
    if n >= DENSE_SHARE * row * features.shape[1]:
        features = features.toarray()
    else:
        features.eliminate_zeros()
        features = features.copy()  # lets go the arrays that would hold any text
    return rows.grades[:row], rows.ids[:row], names, lines, features, n


def _parse_line(body: bytes) -> tuple[float, int, list[int], list[float]]:
    """Grade, query, indices and values of a line that is not plain; raises ValueError if it is wrong."""
    from lambdaboost.datasets.kernels.letor import NO_QID

    if not (found := LINE.fullmatch(body)):
        raise ValueError
    pairs = [word.split(b":") for word in found[3].split()]
    grade, indices = float(found[1]), [int(index) for index, _ in pairs]
    if not 0 <= grade < np.inf or any(a >= b for a, b in pairwise([0, *indices])):
        raise ValueError
    return grade, int(found[2] or NO_QID), indices, [float(value) for _, value in pairs]


def _name(comment: bytes) -> str:
    """The name of a document in its comment."""
    found = DOCID.match(comment)
    return (found[1] if found else comment.strip()).decode(errors="replace")


def _joined(parts: list[Any], shape: tuple[int, int], stored: int) -> Any:
    """The features of all parts, dense or CSR without zeros; each part is let go once it is copied."""
    from scipy.sparse import csr_matrix, vstack

    if stored < DENSE_SHARE * shape[0] * shape[1]:
        wide = [csr_matrix(part) for part in parts]
        for part in wide:
            part.resize(part.shape[0], shape[1])
        return vstack(wide, format="csr")
    dense, row = np.zeros(shape, np.float32), 0
    while parts:
        part = parts.pop(0)
        rows = dense[row : row + part.shape[0], : part.shape[1]]
        rows[:] = part if isinstance(part, np.ndarray) else part.toarray()
        row += part.shape[0]
    return dense


def _in_sizes(grades: NDArray[np.float64], path: Path) -> Queries:
    """Queries of the sizes in LightGBM's ``<data>.query``, compressed as the data are."""
    plain = without_compression_suffix(path)
    sizes_file = path.with_name(f"{plain.name}.query{path.name.removeprefix(plain.name)}")
    if not sizes_file.exists():
        raise ValueError(f"{path} has no qid on its lines, and there is no {sizes_file.name}; {EXPECTED}")
    with reading(sizes_file) as file:
        sizes = file.read().split()
    try:
        return Queries(grades, sizes=[int(size) for size in sizes])
    except ValueError as error:
        raise ValueError(f"{sizes_file}: {error}; expected the number of documents of each query") from None


def write_letor(path: str | os.PathLike[str], collection: Collection) -> None:
    """Write lines ``grade qid:Q 1:v … # document``, as `read_letor` reads them; ``.gz``, ``.xz`` and ``.bz2`` compress.

    The format holds grades, ids, non-zero features and document names, nothing else. Ids that are not whole numbers are
    replaced by 1, 2, … An existing file is replaced once the new one is complete.

    Raises
    ------
    ValueError
        If a grade is missing (NaN) or a document name contains a line break.

    Examples
    --------
    >>> import pathlib, tempfile
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

    path, q = Path(path), collection.queries
    if (missing := np.isnan(q.relevance)).any():
        raise ValueError(
            f"relevance[{missing.argmax()}] is missing (NaN), which LETOR cannot represent: remove the document"
        )
    names = [""] * q.n_documents if collection.documents is None else collection.documents.tolist()
    if broken := [row for row, name in enumerate(names) if "\n" in name or "\r" in name]:
        raise ValueError(
            f"documents[{broken[0]}] is {names[broken[0]]!r}: LETOR names hold no line breaks; rename the document"
        )
    whole = q.ids is not None and np.issubdtype(q.ids.dtype, np.integer)
    ids = np.repeat(np.asarray(q.ids) if whole else np.arange(1, q.n_queries + 1), q.sizes)
    text = io.BytesIO()
    with config_context(assume_finite=True):  # scikit-learn would refuse NaN features, which trees accept
        grades = q.relevance.astype(np.float64)
        dump_svmlight_file(collection.features, grades, text, zero_based=False, query_id=ids)
    lines = zip(text.getvalue().splitlines(), names, strict=True)
    with replacing(path) as raw, SUFFIX.get(path.suffix, lambda file, mode: file)(raw, "wb") as file:
        file.writelines(line.rstrip() + (f" # {name}\n" if name else "\n").encode() for line, name in lines)
