"""Parsing of LETOR text: blocks of lines on several threads, odd lines in Python."""

from __future__ import annotations

import mmap
import re
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._files import reading
from lambdaboost.datasets.arrays import split_query

EXPECTED = "expected 'grade qid:Q 1:v 2:v … # comment' with feature indices rising from 1"
# Comments in LETOR 3 and 4 hold more than the name: "docid = GX008-86-4444840 inc = 1 prob = 0.086622".
DOCID = re.compile(rb"\s*docid\s*=\s*(\S+)")
BLOCK = 1 << 20  # bytes; text and numbers of a block stay in the processor's cache
BYTES_PER_THREAD, MOST_THREADS = 1 << 24, 8  # more threads would wait for the file
FLOAT32_MAX = float(np.finfo(np.float32).max)
INT32_MAX = 2**31 - 1
# Below this share of stored values a matrix stays sparse: dense, it would take over five times the memory.
DENSE_SHARE = 0.1


class Parsed(NamedTuple):
    """The contents of a LETOR text; `ids` is empty if its lines have no qid.

    `features` are dense if the text holds at least a tenth of the values, otherwise CSR.
    """

    features: Any
    relevance: NDArray[np.float64]
    ids: NDArray[np.int64]
    documents: NDArray[np.str_] | None


class Piece(NamedTuple):
    """The rows of a block, as in the kernel's `Rows`."""

    values: NDArray[np.float32]
    indices: NDArray[np.uint16] | NDArray[np.int32]
    ends: NDArray[np.int64]
    grades: NDArray[np.float64]
    ids: NDArray[np.int64]
    names: NDArray[np.str_]


def parse(path: Path, n_features: int | None = None) -> Parsed:
    """Parse a LETOR file; a ValueError names the file and the line."""
    pieces = [*_pieces(path)]
    relevance, ids, documents = (
        np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("grades", "ids", "names")
    )
    if ids.size and (split := split_query(ids)):
        query, _, row = split
        with reading(path) as file:
            rows = (number for number, line in enumerate(file, 1) if _body(line).strip())
            line = next(islice(rows, row, None))
        raise _at(path, line, f"query {query} reappears here: sort the lines by qid, keeping their order")
    d = max(1, *(int(piece.indices.max(initial=1)) for piece in pieces))
    if n_features is not None and n_features < d:
        raise ValueError(f"n_features is {n_features}, but {path} has a feature {d}: give at least {d}")
    features = _features(pieces, relevance.size, n_features or d)
    return Parsed(features, relevance, ids, documents if (documents != "").any() else None)


def _at(path: Path, line: int, problem: str) -> ValueError:
    return ValueError(f"{path}:{line}: {problem}; {EXPECTED}")


def _body(line: bytes) -> bytes:
    """A line without its comment."""
    return line.removeprefix(BOM_UTF8).partition(b"#")[0]


def rows_of(file: Iterable[bytes]) -> Iterator[bytes]:
    """The lines that hold a document, without comments."""
    return (body for line in file if (body := _body(line).strip()))


def _pieces(path: Path) -> Iterator[Piece]:
    """The parsed blocks of a file, in order: whole lines, each of which ends with a newline."""
    from lambdaboost._threads import threads

    n_threads = min(threads(), MOST_THREADS, 1 + path.stat().st_size // BYTES_PER_THREAD)
    with reading(path) as file, ThreadPoolExecutor(n_threads, "lambdaboost-reader") as pool:
        first = next(rows_of(file), None)
        if first is None:
            raise ValueError(f"{path} has no rows; {EXPECTED}")
        parse_block = partial(_piece, path, re.match(rb"\S+\s+qid:", first) is not None)
        file.seek(0)
        file.seek(len(BOM_UTF8) if file.read(len(BOM_UTF8)) == BOM_UTF8 else 0)
        waiting, line = deque[Future[Piece]](), 1
        while block := file.read(BLOCK):
            block += file.readline()
            block += b"" if block.endswith(b"\n") else b"\n"
            lines = block.count(b"\n")
            waiting.append(pool.submit(parse_block, block, line, lines))
            line += lines
            if len(waiting) > n_threads:  # so that blocks do not fill memory
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _piece(path: Path, with_qid: bool, block: bytes, line: int, lines: int) -> Piece:
    """Parse a block of so many lines, the first of which is the file's `line`."""
    from lambdaboost.datasets.kernels import letor as kernel

    text, problem = np.frombuffer(block, np.uint8), ""
    rows = kernel.Rows.for_text(len(block), lines)
    at, row, n = kernel.parse_lines(text, with_qid, rows, 0, 0, 0)
    while at < len(block):
        end = block.index(b"\n", at)
        body = _body(block[at:end])
        try:
            grade, query, indices, values = _parse_row(body, with_qid)
        except ValueError as error:
            # repr escapes control characters that a terminal would execute.
            problem = f"{error} in {body.strip()[:60].decode(errors='replace').strip()!r}"
            break
        last = n + len(values)
        rows.values[n:last] = np.clip(values, -FLOAT32_MAX, FLOAT32_MAX)  # XGBoost refuses infinities
        rows.indices[n:last], rows.ends[row], rows.comments[row] = indices, last, at + len(body)
        rows.grades[row], rows.ids[row] = grade, query
        at, row, n = kernel.parse_lines(text, with_qid, rows, end + 1, row + 1, last)
    grades = rows.grades[:row].copy()
    if (bad := ~(np.isfinite(grades) & (grades >= 0))).any():
        at = rows.comments[bad.argmax()]
        problem = f"the grade is {grades[bad][0]:g}: grades must be finite and ≥ 0"
    if problem:
        raise _at(path, line + block.count(b"\n", 0, at), problem)
    narrow = np.uint16 if rows.indices[:n].max(initial=0) <= np.iinfo(np.uint16).max else np.int32
    return Piece(
        _returned_copy(rows.values[:n]),
        _returned_copy(rows.indices[:n], narrow),
        rows.ends[:row].copy(),
        grades,
        rows.ids[: row if with_qid else 0].copy(),
        _names(block, text, rows.comments[:row]),
    )


def _parse_row(body: bytes, with_qid: bool) -> tuple[float, int, list[int], list[float]]:
    """Grade, query, indices and values of a row, with all that Python takes for a number."""
    grade, *words = body.split()
    has_qid = bool(words) and words[0].startswith(b"qid:")
    if has_qid != with_qid:  # a missing qid would shift every later row to another query
        raise ValueError("qid: is missing" if with_qid else "qid: is here, but not on the lines above")
    query = int(words.pop(0)[4:]) if has_qid else 0
    if not -(2**63) <= query < 2**63:
        raise ValueError("the qid is too large")
    indices, values = [0], []
    for word in words:
        index, _, value = word.partition(b":")
        if not indices[-1] < int(index) <= INT32_MAX:
            too = (
                "too large" if int(index) > INT32_MAX else f"not above {indices[-1]}: indices must be sorted"
            )
            if int(index) == 0:
                too = "below 1: LETOR counts features from 1; add 1 to each index"
            raise ValueError(f"the feature index {int(index)} is {too}")
        indices.append(int(index))
        values.append(float(value))
    return float(grade), query, indices[1:], values


def _names(block: bytes, text: NDArray[np.uint8], comments: NDArray[np.int64]) -> NDArray[np.str_]:
    """The name of each document, "" without a comment."""
    if not (text[comments] == ord("#")).any():
        return np.zeros(comments.size, "U1")
    texts = (block[at + 1 : block.index(b"\n", at)] for at in comments)
    return np.array([_document_name(comment).decode(errors="replace") for comment in texts], dtype=np.str_)


def _document_name(comment: bytes) -> bytes:
    """The word after ``docid =``, or the whole comment if there is none.

    >>> _document_name(b" docid = GX1 inc = 1 prob = 0.08"), _document_name(b" my page")
    (b'GX1', b'my page')
    """
    found = DOCID.match(comment)
    return found[1] if found else comment.strip()


def _returned_copy(values: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
    """A copy whose memory returns to the system when it is freed, which `malloc` does not promise."""
    dtype = np.dtype(dtype or values.dtype)
    copy = np.frombuffer(mmap.mmap(-1, max(1, values.size * dtype.itemsize)), dtype, values.size)
    copy[:] = values
    return copy


def _features(pieces: list[Piece], n: int, d: int) -> Any:
    """The features of n rows and d columns, dense or CSR; takes the pieces out of the list.

    What is taken is freed at once, so that the matrix and the pieces together need at most twice the matrix's memory.
    """
    from lambdaboost.datasets.kernels import letor as kernel

    stored = sum(piece.values.size for piece in pieces)
    if stored < DENSE_SHARE * n * d:
        from scipy.sparse import csr_matrix

        # scipy uses one type for both.
        kind = np.int32 if stored <= INT32_MAX else np.int64
        sizes = [np.diff(piece.ends, prepend=0) for piece in pieces]
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(kind)
        values = np.concatenate([piece.values for piece in pieces])
        indices = np.concatenate([piece.indices for piece in pieces], dtype=kind)
        np.subtract(indices, 1, out=indices)
        return csr_matrix((values, indices, starts), shape=(n, d))
    features = np.zeros((n, d), dtype=np.float32)
    end = n
    while pieces:
        piece = pieces.pop()
        begin = end - piece.ends.size
        kernel.lay_out(piece.values, piece.indices, piece.ends, features[begin:end])
        end = begin
    return features
