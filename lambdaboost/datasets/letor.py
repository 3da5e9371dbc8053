"""`read_letor`, `write_letor`: the LETOR / SVMLight text format of public ranking data sets."""

from __future__ import annotations

import io
import os
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_whole, naming_rows, refuse_labels
from lambdaboost._files import SUFFIX, reading, replacing
from lambdaboost._warn import warn
from lambdaboost._words import quote
from lambdaboost.datasets.arrays import FLOAT32_MAX
from lambdaboost.datasets.collection import Collection
from lambdaboost.datasets.queries import Queries

EXPECTED = "expected 'grade qid:Q 1:v 2:v … # comment', features numbered from 1 in ascending order"
NUMBER = rb"[0-9A-Za-z.+-]+"  # which `float` reads; without underscores, of which it would read 1_0 as 10
# A line, which may be blank: grade, query, features, comment. `_fault` says what is wrong with any other.
LINE = re.compile(
    rb"\s*(?:(%b)(?:\s+qid:(-?\d+))?((?:\s+\d+:%b)*))?\s*(?:#([^\r\n\0]*))?\r?\n?" % (NUMBER, NUMBER)
)
# Comments in LETOR 3 and 4 hold more than the name: "docid = GX008-86-4444840 inc = 1 prob = 0.086622".
DOCID = re.compile(rb"^\s*docid\s*=\s*(\S+).*", re.DOTALL)
NO_NAME = {"\n", "\r", "\0"}  # what no comment holds
HIGHEST_FEATURE = (1 << 31) - 1
PART = 1 << 10  # lines that are parsed at once, which take many times the memory of their values
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
        it. With another value than 0 features are dense.

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
    path, width = Path(path), 1
    if n_features is not None:
        width = check_whole("n_features", n_features)

    # Of each row its line, query, name and grade; of each part of the file the features.
    numbers: list[int] = []
    queries: list[int] = []
    names: list[str] = []
    grades: list[float] = []
    parts: list[Features] = []
    with reading(path) as file:
        lines = enumerate(file, 1)
        while part := list(islice(lines, PART)):
            if part[0][0] == 1:
                part[0] = 1, part[0][1].removeprefix(BOM_UTF8)
            found = [(number, LINE.fullmatch(line)) for number, line in part]
            rows: list[Any] = [(number, *row.groups(b"")) for number, row in found if row and row[1]]
            try:
                grades += [float(grade) for _, grade, *_ in rows]
                of_part = _parse([features for *_, features, _ in rows])
            except ValueError:
                of_part = None
            if of_part is None or any(row is None for _, row in found):
                number, line, fault = next((*one, fault) for one in part if (fault := _fault(one[1])))
                text = quote(line.partition(b"#")[0].strip().decode(errors="replace"))
                raise ValueError(f"{path}:{number}: {text}: {fault}; {EXPECTED}")
            parts.append(of_part)
            for number, _, query, _, comment in rows:
                numbers.append(number)
                queries += [int(query)] if query else []
                if len(queries) not in (0, len(numbers)):
                    raise ValueError(f"{path}:{number}: some lines have a qid, others none; {EXPECTED}")
                names.append(DOCID.sub(rb"\1", comment).strip().decode(errors="replace"))
    n = len(numbers)
    if not n:
        raise ValueError(f"{path} has no rows; {EXPECTED}")

    # Features: dense, or sparse if few are stored.
    stored = sum(part.values.size for part in parts)
    highest = 1 + max(int(part.columns.max(initial=0)) for part in parts)
    if n_features is None:
        width = highest
        if not stored:
            raise ValueError(
                f"{path} has no features: a model of it would have nothing to split by; {EXPECTED}"
            )
    if width < highest:
        raise ValueError(
            f"n_features is {width}, but {path} has a feature {highest}: give at least {highest}"
        )
    features: Any
    if stored < DENSE_SHARE * n * width and absent == 0:
        from scipy import sparse

        counts, columns, values = map(np.concatenate, zip(*parts, strict=True))
        features = sparse.csr_matrix((values, columns, np.append(0, np.cumsum(counts))), (n, width))
        features.eliminate_zeros()
    else:
        features, start = np.full((n, width), absent, np.float32), 0
        while parts:  # each of which is let go, since two copies of all values would be in memory otherwise
            of_part = parts.pop(0)
            of_rows = start + np.repeat(np.arange(of_part.counts.size), of_part.counts)
            features[of_rows, of_part.columns] = of_part.values
            start += of_part.counts.size

    # Queries.
    given = np.array(grades)
    with naming_rows(lambda row: f"line {numbers[row]} of {path}"):
        remedy = "grades are float32, not below 0: leave out lines that were not judged"
        refuse_labels("the grade", given, ~((given >= 0) & (given <= FLOAT32_MAX)), remedy)
        if queries:
            q = Queries(grades, ids=queries)
    if not queries:
        # LightGBM's form has the sizes in ``<data>.query``, compressed as the data are, and reads two further files.
        plain = path
        if path.suffix in SUFFIX:
            plain = path.with_suffix("")
        sizes_file, *others = (
            path.with_name(f"{plain.name}.{what}{path.name.removeprefix(plain.name)}")
            for what in ("query", "weight", "position")
        )
        for unread, field in zip(others, ("weight", "position"), strict=True):
            if unread.exists():
                warn(f"{unread} is not read: give its values to Queries as {field}=")
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


class Features(NamedTuple):
    """The features of some rows."""

    counts: NDArray[np.int64]  # of each row
    columns: NDArray[np.int32]  # from 0
    values: NDArray[np.float32]


def _parse(rows: list[bytes]) -> Features | None:
    """The features of rows such as ``1:0.5 3:2``, read at once; None, or a ValueError, if some are wrong."""
    counts = np.array([text.count(b":") for text in rows], dtype=np.int64)
    pairs = np.fromstring(b" ".join(rows).replace(b":", b" ").strip(), sep=" ")
    if pairs.size != 2 * counts.sum():
        return None
    columns, values = pairs[::2] - 1, pairs[1::2]
    ascends = np.diff(columns, prepend=-1) > 0
    ascends[(np.cumsum(counts) - counts)[counts > 0]] = True  # the first one of each row
    if not ascends.all() or columns.min(initial=0) < 0 or columns.max(initial=0) >= HIGHEST_FEATURE:
        return None
    narrow = np.clip(values, -FLOAT32_MAX, FLOAT32_MAX).astype(np.float32)
    return Features(counts, columns.astype(np.int32), narrow)


def _fault(line: bytes) -> str:
    """What is wrong with a line; an empty text if nothing is."""

    def is_number(text: bytes) -> bool:
        try:
            float(text)
        except ValueError:
            return False
        return re.fullmatch(NUMBER, text) is not None

    if b"\0" in line:
        return "there are bytes of 0: save the text as UTF-8"
    if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r"):
        return "a carriage return stands alone: end lines with a line feed"
    grade, *words = line.partition(b"#")[0].split() or [b"0"]
    if not is_number(grade):
        return f"the grade {quote(grade.decode(errors='replace'))} is no number"
    if words and words[0].startswith(b"qid") and not re.fullmatch(rb"qid:-?\d+", words.pop(0)):
        return "a line has one qid, behind the grade, a whole number: number the queries"
    last = 0
    for word in words:
        index, _, value = word.partition(b":")
        text = quote(word.decode(errors="replace"))
        if not index.isdigit() or not 0 < int(index) <= HIGHEST_FEATURE or not is_number(value):
            return f"{text}: expected a feature, a whole number from 1 to {HIGHEST_FEATURE:,}, and its value"
        if int(index) <= last:
            return f"{text}: features ascend, and each stands once"
        last = int(index)
    return ""


def write_letor(path: str | os.PathLike[str], collection: Collection) -> None:
    """Write lines ``grade qid:Q 1:v … # document``, as `read_letor` reads them; ``.gz``, ``.xz`` and ``.bz2`` compress.

    The format holds grades, ids, non-zero features and document names, nothing else. Ids that are not whole numbers are
    replaced by 1, 2, … An existing file is replaced once the new one is complete.

    Raises
    ------
    ValueError
        If a grade is missing (NaN) or a document name is no text or contains a line break.

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
    for row, name in enumerate(names):
        if not isinstance(name, str) or not NO_NAME.isdisjoint(name):
            raise ValueError(
                f"documents[{row}] is {name!r}: LETOR names are text without line breaks; rename the document"
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
