"""`read_letor`, `write_letor`: the LETOR / SVMLight text format of public ranking data sets."""

from __future__ import annotations

import io
import os
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole
from lambdaboost._files import SUFFIX, reading, replacing, without_compression_suffix
from lambdaboost._warn import warn
from lambdaboost._words import quote
from lambdaboost.datasets.arrays import FLOAT32_MAX, split_query
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries

EXPECTED = "expected 'grade qid:Q 1:v 2:v … # comment'"
LINE = re.compile(rb"\s*(\S+)(?:\s+qid:(\S*))?((?:\s+\S+)*)\s*")  # without its comment
WHOLE = re.compile(rb"-?\d{1,20}")
# Comments in LETOR 3 and 4 hold more than the name: "docid = GX008-86-4444840 inc = 1 prob = 0.086622".
DOCID = re.compile(rb"\s*docid\s*=\s*(\S+)")
LOWEST_ID, HIGHEST_ID = -(1 << 63), (1 << 64) - 1  # of int64 and uint64
LARGEST_INDEX = 999_999_999
BLOCK = 1 << 20  # bytes; text and numbers of a block stay in the processor's cache
# Below this share of stored values a matrix stays sparse: dense, it would take over five times the memory.
DENSE_SHARE = 0.1


def read_letor(
    path: str | os.PathLike[str], *, n_features: int | None = None, absent: float = 0.0
) -> Collection:
    r"""Read LETOR / SVMLight text, lines ``grade qid:Q 1:v 2:v … # comment``, plain or as gzip, xz or bzip2.

    The format of LETOR 4.0 (Qin & Liu 2013), MSLR-WEB30K, Yahoo and Istella. LightGBM's variant has no qid; the
    query sizes are in a second file, ``rank.train.query`` for ``rank.train``, in the same folder.

    Parameters
    ----------
    path : path
        The file. Compression is recognised by its first bytes, not by its name.
    n_features : int, optional
        Number of columns, for a part in which the last features never occur; by default the highest index.
    absent : float
        The value of a feature that a line does not have: 0, as LETOR means it, or NaN, as XGBoost's own reader takes
        it. With NaN features are dense.

    Returns
    -------
    Collection
        Features as float32, feature ``1:`` in column 0: dense, or CSR if the text holds less than a tenth of the
        values. Values out of float32's range, such as the 1.797e308 that marks missing values in
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
    (array([10, 11]), array(['a', 'b', 'c'], dtype=object), 2)
    >>> folder.cleanup()

    """
    from lambdaboost.datasets.kernels.letor import NO_QID

    path, blocks, line = Path(path), [], 1
    least = 1
    if n_features is not None:
        least = check_whole("n_features", n_features)
    with reading(path) as file:
        while text := file.read(BLOCK) + file.readline():
            if line == 1:
                text = text.removeprefix(BOM_UTF8)
            if not text.endswith(b"\n"):
                text += b"\n"
            blocks.append(_parse(path, text, line, absent))
            line += text.count(b"\n")
    if not sum(block.grades.size for block in blocks):
        raise ValueError(f"{path} has no rows; {EXPECTED}")
    stored = sum(block.stored for block in blocks)
    if not stored and n_features is None:
        raise ValueError(f"{path} has no features: a model of it would have nothing to split by; {EXPECTED}")
    grades, ids = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("grades", "ids"))
    lines = [(block.line, block.lines) for block in blocks]
    names: list[str] = []
    if any(block.names for block in blocks):
        for block in blocks:
            names += block.names or [""] * block.grades.size
    has_id = ids != NO_QID

    # Ids that the kernel does not read: those of more than 64 bits with a sign make all ids unsigned, or objects.
    starts = np.cumsum([0] + [block.grades.size for block in blocks]).tolist()
    long_ids = {
        first + row: query
        for first, block in zip(starts, blocks, strict=False)
        for row, query in block.long_ids.items()
    }
    if long_ids:
        has_id[list(long_ids)] = True
        whole = [long_ids.get(row, query) for row, query in enumerate(ids.tolist())]
        kind: Any = np.int64
        if max(whole) >= 1 << 63:
            kind = np.uint64 if min(whole) >= 0 else object
        ids = np.array(whole, dtype=kind)

    # Features.
    parts = [block.features for block in blocks]
    d = max(least, *(part.shape[1] for part in parts))
    if n_features is not None and n_features < d:
        raise ValueError(f"n_features is {n_features}, but {path} has a feature {d}: give at least {d}")
    blocks.clear()  # lets the parts go, one by one
    if stored < DENSE_SHARE * grades.size * d and not np.isnan(absent):
        from scipy.sparse import csr_matrix

        # Part by part, each of which is then let go: two copies of all values would be in memory otherwise.
        kept = sum(np.count_nonzero(part) if isinstance(part, np.ndarray) else part.nnz for part in parts)
        values, columns = np.empty(kept, np.float32), np.empty(kept, np.int32)
        ends, row, first = np.zeros(grades.size + 1, np.int64), 0, 0
        while parts:
            part = csr_matrix(parts.pop(0))
            last, last_row = first + part.nnz, row + part.shape[0]
            values[first:last], columns[first:last] = part.data, part.indices
            ends[row + 1 : last_row + 1] = first + part.indptr[1:]
            first, row = last, last_row
        features: Any = csr_matrix((values, columns, ends), (grades.size, d))
    else:
        features, row = np.full((grades.size, d), absent, np.float32), 0
        while parts:
            part = parts.pop(0)
            if not isinstance(part, np.ndarray):
                part = part.toarray()
            features[row : row + part.shape[0], : part.shape[1]] = part
            row += part.shape[0]

    def line_of(row: int) -> int:
        """The line of a row, for errors."""
        block = int(np.searchsorted(starts, row, side="right")) - 1
        first_line, of_rows = lines[block]
        return first_line + int(of_rows[row - starts[block]])

    # Queries.
    if (unlike := has_id != has_id[0]).any():
        at = int(unlike.argmax())
        has = "a qid" if has_id[at] else "no qid"
        raise ValueError(f"{path}:{line_of(at)}: the line has {has}, unlike those before it; {EXPECTED}")
    if has_id[0]:
        if split := split_query(ids):
            query, _, row = split
            raise ValueError(
                f"{path}:{line_of(row)}: query {query} reappears here: sort the lines by qid, keeping their order"
            )
        q = Queries(grades, ids=ids)
    else:
        # LightGBM's form has the sizes in ``<data>.query``, compressed as the data are.
        plain = without_compression_suffix(path)
        sizes_file = path.with_name(f"{plain.name}.query{path.name.removeprefix(plain.name)}")
        if not sizes_file.exists():
            raise ValueError(f"{path} has no qid on its lines, and there is no {sizes_file.name}; {EXPECTED}")
        with reading(sizes_file) as file:
            sizes = file.read().split()
        try:
            q = Queries(grades, sizes=[int(size) for size in sizes])
        except ValueError as error:
            raise ValueError(
                f"{sizes_file}: {error}; expected the number of documents of each query"
            ) from None
    documents = None
    if any(names):  # as objects, since the longest would take its width in every row
        documents = np.array(names, dtype=object)
    return Collection(features, q, documents)


class _Block(NamedTuple):
    """What a part of a text holds; arrays have an entry for each of its rows."""

    grades: NDArray[np.float64]
    ids: NDArray[np.int64]  # `NO_QID` where there is none, or one that the kernel does not read
    long_ids: dict[int, int]  # by row: those
    names: list[str]  # empty texts where a document has none; no text at all where all have none
    line: int  # the first line of the text
    lines: NDArray[np.int32]  # of each row, counted from there
    features: Any  # dense, or CSR where most values are absent
    stored: int  # values that the text holds


def _parse(path: Path, text: bytes, line: int, absent: float) -> _Block:
    """What whole lines hold, of which `line` is the first: by the kernel, and line by line what it finds not plain."""
    from scipy.sparse import csr_matrix

    from lambdaboost.datasets.kernels.letor import NO_QID, Rows, parse_lines

    if (alone := re.search(rb"\r(?!\n)", text)) is not None:
        number = line + text.count(b"\n", 0, alone.start())
        raise ValueError(
            f"{path}:{number}: a carriage return stands alone, which ends no line here: end lines with a line feed"
        )

    # Arrays for any rows of the text; a value takes four bytes (" 1:2").
    most_values, n_lines = len(text) // 4 + 1, text.count(b"\n")
    ends, row_ids, comments = np.empty((3, n_lines), np.int64)
    rows = Rows(
        values=np.empty(most_values, np.float32),
        indices=np.empty(most_values, np.int32),
        ends=ends,
        grades=np.empty(n_lines),
        ids=row_ids,
        comments=comments,
    )

    # Runs of plain lines, and between them lines that are not.
    long_ids: dict[int, int] = {}
    letters, at, row, n = np.frombuffer(text, np.uint8), 0, 0, 0
    while True:
        at, row, n = parse_lines(letters, at, row, n, rows)
        if at == len(text):
            break
        end = text.index(b"\n", at)
        body = text[at:end].partition(b"#")[0]
        try:
            rows.grades[row], query, indices, values = _parse_line(body)
        except ValueError as error:
            number, what = line + text.count(b"\n", 0, at), quote(body.strip().decode(errors="replace"))
            raise ValueError(f"{path}:{number}: {what}: {error}") from None
        rows.ids[row] = NO_QID
        if query is not None:
            long_ids[row] = query
        stop = n + len(values)
        rows.indices[n:stop], rows.values[n:stop] = indices, np.clip(values, -FLOAT32_MAX, FLOAT32_MAX)
        rows.ends[row], rows.comments[row] = stop, at + len(body)
        at, row, n = end + 1, row + 1, stop

    # Names.
    comments, names = rows.comments[:row], []
    if b"#" in text:
        names = [""] * row
        for at, comment in enumerate(comments.tolist()):
            inside = text[comment + 1 : text.index(b"\n", comment)]
            if found := DOCID.match(inside):
                inside = found[1]
            names[at] = inside.strip().decode(errors="replace")
    lines = np.searchsorted(np.flatnonzero(letters == 10), comments).astype(np.int32)

    # Features.
    columns, ends = rows.indices[:n] - 1, np.append(0, rows.ends[:row])
    features = csr_matrix((rows.values[:n], columns, ends), (row, 1 + int(columns.max(initial=0))))
    if np.isnan(absent):
        features = np.full(features.shape, absent, np.float32)
        features[np.repeat(np.arange(row), np.diff(ends)), columns] = rows.values[:n]
    elif n >= DENSE_SHARE * row * features.shape[1]:
        features = features.toarray()
    else:
        features.eliminate_zeros()
        features = features.copy()  # lets go the arrays that would hold any text
    ids = rows.ids[:row].copy()  # a view would keep the ends and comments too
    return _Block(rows.grades[:row], ids, long_ids, names, line, lines, features, n)


def _parse_line(body: bytes) -> tuple[float, int | None, list[int], list[float]]:
    """Grade, query, indices and values of a line that is not plain; raises ValueError that says what is wrong."""
    if b"_" in body:
        raise ValueError("numbers have no underscores")
    if not (found := LINE.fullmatch(body)):
        raise ValueError(EXPECTED)
    try:
        grade = float(found[1])
    except ValueError:
        raise ValueError(f"the grade is no number; {EXPECTED}") from None
    if grade < 0:
        raise ValueError("the grade is below 0: grades count from 0; leave out lines that were not judged")
    if not grade < np.inf:
        raise ValueError("the grade is not finite: leave out lines without a grade")

    query = None
    if found[2] is not None:
        if not WHOLE.fullmatch(found[2]) or not LOWEST_ID <= int(found[2]) <= HIGHEST_ID:
            raise ValueError("the qid is no whole number of 64 bits: number the queries")
        query = int(found[2])

    indices, values = [0], []
    for word in found[3].split():
        name, colon, value = word.partition(b":")
        if not colon or not name.isdigit():
            such_as = quote(word.decode(errors="replace"))
            raise ValueError(f"{such_as} is no feature 'index:value'; {EXPECTED}")
        index = int(name)
        if index == 0:
            raise ValueError(
                "feature indices count from 1, and the line has 0: raise all by 1; the engines' own readers count "
                "from 0"
            )
        if index > LARGEST_INDEX:
            raise ValueError(f"feature indices are at most {LARGEST_INDEX}: number the features anew")
        if index == indices[-1]:
            raise ValueError(f"feature {index} stands twice: leave one out")
        if index < indices[-1]:
            raise ValueError(f"feature {index} follows {indices[-1]}: sort the features of a line by index")
        indices.append(index)
        try:
            values.append(float(value))
        except ValueError:
            raise ValueError(f"the value of feature {index} is no number") from None
    return grade, query, indices[1:], values


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
    names = [""] * q.n_documents
    if collection.documents is not None:
        names = collection.documents.tolist()
    if broken := [row for row, name in enumerate(names) if "\n" in name or "\r" in name]:
        raise ValueError(
            f"documents[{broken[0]}] is {names[broken[0]]!r}: LETOR names hold no line breaks; rename the document"
        )
    ids: Any = np.arange(1, q.n_queries + 1)
    if q.ids is not None and all(
        isinstance(one, int) and not isinstance(one, bool) for one in q.ids.tolist()
    ):
        ids = q.ids
    ids = np.repeat(ids, q.sizes).tolist()
    text = io.BytesIO()
    with config_context(assume_finite=True):  # scikit-learn would refuse NaN features, which trees accept
        grades = q.relevance.astype(np.float64)
        dump_svmlight_file(collection.features, grades, text, zero_based=False)
    with replacing(path) as raw, SUFFIX.get(path.suffix, lambda file, mode: file)(raw, "wb") as file:
        for line, query, name in zip(text.getvalue().splitlines(), ids, names, strict=True):
            grade, _, features = line.decode().rstrip().partition(" ")
            parts = [grade, f"qid:{query}", *filter(None, [features]), *filter(None, [name and f"# {name}"])]
            file.write((" ".join(parts) + "\n").encode())


def letor_features(
    there: Sequence[str], n_model: int, first_unused: bool, file: str, model: str
) -> tuple[str, ...]:
    """The features of LETOR text that the columns of a model without names are; absent ones count as 0.

    There are two conventions: here, as in the text, the first column is feature 1. The engines' own readers count from
    0, so that a model that they trained on text has a column 0, which is empty, and one column more than the text.

    Parameters
    ----------
    there : list of str
        The features of the file, without columns that are labels.
    n_model : int
        The number of features of the model.
    first_unused : bool
        Whether the model does not use its first column.
    file, model : str
        What messages call them.

    Raises
    ------
    ValueError
        If the file has too few features to know; names the two remedies.

    Examples
    --------
    >>> letor_features(["1", "2"], 3, False, "test.txt", "model.txt")
    ('1', '2', '3')

    """
    more = n_model - len(there)
    if first_unused and more > 1:
        raise ValueError(
            f"{file} has {len(there)} features, {model} has {n_model} and does not use its first one, so that it may "
            f"count features from 0, as the engines' own readers of text do, or from 1: add {n_model - 1}:0 to a line "
            f"of {file} in the first case, {n_model}:0 in the second"
        )
    if first_unused and more == 1:
        warn(
            f"{model} does not use its first feature and has one more than {file}: it is read as trained by the "
            f"engine's own reader of text, which counts features from 0; otherwise add {n_model}:0 to a line"
        )
        return ("0", *there)
    last = int(there[-1])
    return (*there, *map(str, range(last + 1, last + 1 + max(0, more))))
