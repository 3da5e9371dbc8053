"""Parsing of LETOR text on several threads, with line numbers and comments."""

from __future__ import annotations

import io
import re
from codecs import BOM_UTF8
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets._files import reading
from lambdaboost.datasets._given import split_query
from lambdaboost.datasets._letor_chunks import Chunk, Chunks
from lambdaboost.datasets._letor_piece import Piece, features_of, names_of, returned_copy

EXPECTED = "expected 'grade qid:Q 1:v 2:v … # comment' with feature indices rising from 1"
# Comments in LETOR 3 and 4 hold more than the name: "docid = GX008-86-4444840 inc = 1 prob = 0.086622".
DOCID = re.compile(rb"\s*docid\s*=\s*(\S+)")
BYTES_PER_THREAD, MOST_THREADS = 1 << 24, 8  # more threads would wait for the file
FLOAT32_MAX = np.finfo(np.float32).max


class Parsed(NamedTuple):
    """The contents of a LETOR text; `ids` is empty if its lines have no qid.

    `features` are dense if the text holds at least a tenth of the values, otherwise CSR; `stored` is how many it holds.
    """

    features: Any
    relevance: NDArray[np.float64]
    ids: NDArray[np.int64]
    documents: NDArray[np.str_] | None
    stored: int


class WrongLineError(ValueError):
    """What is wrong with a line, which is numbered from 0 in its chunk."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def document_name(comment: bytes) -> bytes:
    """The word after ``docid =``, or the whole comment if there is none.

    >>> document_name(b" docid = GX1 inc = 1 prob = 0.08"), document_name(b" my page")
    (b'GX1', b'my page')
    """
    found = DOCID.match(comment)
    return found[1] if found else comment.strip()


def parse(path: Path) -> Parsed:
    """Parse a LETOR file; a ValueError names the file and the line."""
    from lambdaboost._threads import threads

    n_threads = min(threads(), MOST_THREADS, 1 + path.stat().st_size // BYTES_PER_THREAD)
    with reading(path) as file:
        pieces = _pieces(file, path, n_threads)
    if not any(piece.grades.size for piece in pieces):
        raise ValueError(f"{path} has no rows; {EXPECTED}")
    relevance = np.concatenate([piece.grades for piece in pieces])
    ids = np.concatenate([piece.ids for piece in pieces])
    documents = names_of(pieces)
    if (bad := ~(np.isfinite(relevance) & (relevance >= 0))).any():
        row = int(np.flatnonzero(bad)[0])
        problem = f"the grade is {relevance[row]:g}: grades must be finite and ≥ 0"
        raise _at(path, _line_of_row(path, row), problem)
    if ids.size and (split := split_query(ids)):
        query, row = split
        problem = f"query {query} reappears here: sort the lines by qid, keeping their order"
        raise _at(path, _line_of_row(path, row), problem)
    features, stored = features_of(pieces)
    return Parsed(features, relevance, ids, documents, stored)


def _at(path: Path, line: int, problem: str) -> ValueError:
    return ValueError(f"{path}:{line}: {problem}; {EXPECTED}")


def _line_of_row(path: Path, row: int) -> int:
    """The line of a row, which only errors need."""
    with reading(path) as file:
        lines = (line.removeprefix(BOM_UTF8).partition(b"#")[0].strip() for line in file)
        rows = (number for number, body in enumerate(lines, 1) if body)
        return next(islice(rows, row, None))


def _pieces(file: IO[bytes], path: Path, n_threads: int) -> list[Piece]:
    """The parsed chunks of a file, in order; the first error of the file whatever the number of threads."""
    from lambdaboost.datasets.kernels import letor as kernel

    chunks = Chunks(file)
    found: dict[int, Piece] = {}
    errors: dict[int, BaseException] = {}

    def work() -> None:
        chunk, rows, size, lines = Chunk(), None, 0, 0
        try:
            while chunks.fill(chunk):
                n_lines = chunk.buffer.count(b"\n", 0, chunk.length)
                if chunk.length > size or n_lines > lines:
                    size, lines = len(chunk.buffer), n_lines + n_lines // 8
                    rows = kernel.Rows.for_text(size, lines)
                found[chunk.number] = _piece(chunk, bool(chunks.with_qid), rows)
        except BaseException as error:
            chunks.stop()  # those before have been taken, and are finished
            errors[chunk.number] = error

    helpers = [Thread(target=work, name="lambdaboost-reader", daemon=True) for _ in range(n_threads - 1)]
    try:
        for helper in helpers:
            helper.start()
    except RuntimeError:  # no thread can be started: this one reads all
        pass
    work()
    for helper in helpers:
        if helper.ident is not None:
            helper.join()
    for number, error in sorted(errors.items()):
        if isinstance(error, WrongLineError):
            before = sum(found[earlier].lines for earlier in range(number))
            raise _at(path, before + error.line + 1, str(error)) from None
        raise error
    return [found[number] for number in sorted(found)]


def _piece(chunk: Chunk, with_qid: bool, rows: Any) -> Piece:
    """Parse a chunk into `rows`, and copy them."""
    from lambdaboost.datasets.kernels import letor as kernel

    text = np.frombuffer(chunk.buffer, np.uint8, chunk.length)
    cursor = np.zeros(kernel.N_STATE, dtype=np.int64)
    cursor[kernel.FULL] = True
    while not kernel.parse_lines(text, with_qid, rows, cursor):
        _finish_numbers(chunk, with_qid, rows, cursor)
        _parse_line(chunk, with_qid, rows, cursor)
    _finish_numbers(chunk, with_qid, rows, cursor)
    n, n_values, width = (int(cursor[i]) for i in (kernel.ROWS, kernel.VALUES, kernel.HIGHEST))
    narrow = np.uint16 if width <= np.iinfo(np.uint16).max else np.int32
    return Piece(
        lines=int(cursor[kernel.LINES]),
        width=width,
        values=returned_copy(rows.values[:n_values]),
        indices=None if cursor[kernel.FULL] else returned_copy(rows.indices[:n_values], narrow),
        ends=rows.ends[:n].copy(),
        grades=rows.grades[:n].copy(),
        ids=rows.ids[: n if with_qid else 0].copy(),
        names=_names(chunk, rows.comments[:n]) if cursor[kernel.COMMENTS] else None,
    )


def _names(chunk: Chunk, comments: NDArray[np.int64]) -> NDArray[np.str_] | None:
    text = bytes(memoryview(chunk.buffer)[: chunk.length])
    found = [document_name(text[begin:end]).decode(errors="replace") for begin, end in comments.tolist()]
    return np.array(found, dtype=np.str_) if any(found) else None


def _finish_numbers(chunk: Chunk, with_qid: bool, rows: Any, cursor: NDArray[np.int64]) -> None:
    """Parse the numbers that the kernel left to `float`."""
    from lambdaboost.datasets.kernels import letor as kernel

    places = rows.odd_numbers[: cursor[kernel.ODD_NUMBERS]]
    if not len(places):
        return
    cursor[kernel.ODD_NUMBERS] = 0
    text = bytes(memoryview(chunk.buffer)[: chunk.length])
    spans = places[:, :2].tolist()
    values: list[float] = []
    try:
        for begin, end in spans:
            values.append(float(text[begin:end]))
    except ValueError:
        wrong = spans[len(values)][0]
        line = text.rfind(b"\n", 0, wrong) + 1
        _by_scikit_learn(text[line : text.find(b"\n", wrong)], with_qid, text.count(b"\n", 0, line))
        raise
    rows.values[places[:, 2]] = _narrowed(np.array(values))


def _parse_line(chunk: Chunk, with_qid: bool, rows: Any, cursor: NDArray[np.int64]) -> None:
    """Parse the next line as scikit-learn does, with all that Python takes for a number, or raise its error."""
    from lambdaboost.datasets.kernels import letor as kernel

    begin, row, n = (int(cursor[i]) for i in (kernel.AT, kernel.ROWS, kernel.VALUES))
    end = chunk.buffer.find(b"\n", begin)
    body, comment, _ = bytes(chunk.buffer[begin:end]).partition(b"#")
    values, indices, grade, query = _by_scikit_learn(body, with_qid, int(cursor[kernel.LINES]))
    last = n + values.size
    rows.values[n:last], rows.indices[n:last], rows.ends[row] = values, indices, last
    rows.grades[row], rows.ids[row] = grade, query
    rows.comments[row] = begin + len(body) + len(comment), end
    highest = int(indices.max(initial=0))
    if highest != values.size or (row > 0 and highest != cursor[kernel.HIGHEST]):
        cursor[kernel.FULL] = False
    cursor[kernel.HIGHEST] = max(cursor[kernel.HIGHEST], highest)
    cursor[kernel.COMMENTS] += bool(comment)
    cursor[kernel.AT], cursor[kernel.ROWS], cursor[kernel.VALUES] = end + 1, row + 1, last
    cursor[kernel.LINES] += 1


class _Row(NamedTuple):
    values: NDArray[np.float32]
    indices: NDArray[np.int32]
    grade: float
    query: int


def _by_scikit_learn(line: bytes, with_qid: bool, number: int) -> _Row:
    """One row; `number` is that of the line in its chunk, for an error."""
    from sklearn.datasets import load_svmlight_file

    body = line.partition(b"#")[0]
    words = body.split(None, 2)
    # scikit-learn ignores a missing qid, which would shift every later row to another query.
    if (len(words) > 1 and words[1].startswith(b"qid:")) != with_qid:
        _refuse(number, body, "qid: is missing" if with_qid else "qid: is here, but not on the lines above")
    try:
        row, grade, ids = load_svmlight_file(
            io.BytesIO(body), dtype=np.float32, zero_based=False, query_id=True
        )
    except (ValueError, OverflowError) as error:
        _refuse(number, body, str(error).rstrip("."))
    if ids.size != with_qid:
        _refuse(number, body, "qid: is misspelt")
    return _Row(_narrowed(row.data), row.indices + 1, grade[0], ids[0] if with_qid else 0)


def _refuse(number: int, body: bytes, problem: str) -> NoReturn:
    # repr escapes control characters that a terminal would execute.
    raise WrongLineError(
        number, f"{problem} in {body.strip()[:60].decode(errors='replace').strip()!r}"
    ) from None


def _narrowed(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """As float32, without infinities, which XGBoost refuses; see read_letor."""
    with np.errstate(over="ignore"):
        return np.clip(values.astype(np.float32), -FLOAT32_MAX, FLOAT32_MAX)
