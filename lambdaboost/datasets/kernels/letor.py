"""The kernel that parses lines of LETOR text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact_uncounted, inlined_exact
from lambdaboost.datasets.kernels.decimal import ends_word, parse_decimal, parse_digits

LARGEST_FLOAT32 = np.float32(np.finfo(np.float32).max)
NEWLINE, COMMENT, COLON, MINUS = 10, 35, 58, 45
MOST_DIGITS_OF_ID, MOST_DIGITS_OF_INDEX = 18, 9  # more may not fit into int64 and int32
# Elements of a cursor.
AT, LINES, ROWS, VALUES, ODD_NUMBERS, COMMENTS, HIGHEST, FULL, N_STATE = range(9)


class Rows(NamedTuple):
    """The rows of a piece of text, in arrays that may be longer.

    ``values[ends[r - 1] : ends[r]]`` are the values of row r, with their indices from 1. ``comments[r]`` is the begin
    and the end of its comment in the text. ``odd_numbers[i]`` is the begin and the end of a number that is left to
    `float`, and its place in `values`.
    """

    values: NDArray[np.float32]
    indices: NDArray[np.int32]
    ends: NDArray[np.int64]
    grades: NDArray[np.float64]
    ids: NDArray[np.int64]
    comments: NDArray[np.int64]
    odd_numbers: NDArray[np.int64]

    @classmethod
    def for_text(cls, size: int, rows: int) -> Rows:
        """Arrays for any text of `size` bytes and so many lines; a value takes four bytes (" 1:2")."""
        values = size // 4 + 1
        return cls(
            np.empty(values, np.float32),
            np.empty(values, np.int32),
            np.empty(rows, np.int64),
            np.empty(rows, np.float64),
            np.empty(rows, np.int64),
            np.empty((rows, 2), np.int64),
            np.empty((values, 3), np.int64),
        )


@exact_uncounted
def parse_lines(text, with_qid, rows, cursor):
    """Parse whole lines from ``cursor[AT]`` on until the end of `text`, or a line that Python must parse.

    `text` ends with a newline. The cursor is moved past all lines parsed, and counts lines, rows, values, numbers that
    are left to `float`, and rows with comments; `HIGHEST` is the highest index, and `FULL` says whether all rows have
    every index up to it. True at the end of the text.
    """
    at = cursor[AT]
    while at < text.size:
        at = _next_word(text, at)
        if text[at] == NEWLINE or text[at] == COMMENT:
            at = _end_of_line(text, at) + 1
            cursor[LINES] += 1
            cursor[AT] = at
            continue
        end = _parse_row(text, at, with_qid, rows, cursor)
        if end < 0:
            return False
        row = cursor[ROWS]
        rows.comments[row, 0] = end
        if text[end] == COMMENT:
            rows.comments[row, 0] = end + 1
            cursor[COMMENTS] += 1
            end = _end_of_line(text, end)
        rows.comments[row, 1] = end
        cursor[ROWS] += 1
        cursor[LINES] += 1
        at = end + 1
        cursor[AT] = at
    return True


@inlined_exact
def _next_word(text, at):
    """The position of the next word or comment, or of the newline."""
    while text[at] == 32 or (text[at] <= 13 and text[at] >= 9 and text[at] != NEWLINE):
        at += 1
    return at


@inlined_exact
def _end_of_line(text, at):
    while text[at] != NEWLINE:
        at += 1
    return at


@inlined_exact
def _parse_row(text, at, with_qid, rows, cursor):
    """The position of the row's newline or comment; -1 if Python must parse the line."""
    row, n, odd = cursor[ROWS], cursor[VALUES], cursor[ODD_NUMBERS]
    rows.grades[row], at, known = parse_decimal(text, at)
    if not known:
        return -1
    at = _next_word(text, at)
    has_qid = text[at] == 113 and text[at + 1] == 105 and text[at + 2] == 100 and text[at + 3] == COLON
    if has_qid != with_qid:
        return -1
    if has_qid:
        at += 4
        negative = text[at] == MINUS
        if negative:
            at += 1
        begin = at
        query, at = parse_digits(text, at, 0)
        if not 0 < at - begin <= MOST_DIGITS_OF_ID or not ends_word(text[at]):
            return -1
        rows.ids[row] = -query if negative else query
    last, first = 0, n
    while True:
        begin = _next_word(text, at)
        if text[begin] == NEWLINE or text[begin] == COMMENT:
            break
        index, at = parse_digits(text, begin, 0)
        if text[at] != COLON or index <= last or at - begin > MOST_DIGITS_OF_INDEX:
            return -1
        at += 1
        value, end, known = parse_decimal(text, at)
        if not known:
            end = at
            while not ends_word(text[end]):
                end += 1
            value = np.nan
            if not (end == at + 3 and text[at] == 110 and text[at + 1] == 97 and text[at + 2] == 110):
                rows.odd_numbers[odd, 0] = at
                rows.odd_numbers[odd, 1] = end
                rows.odd_numbers[odd, 2] = n
                odd += 1
        narrow = np.float32(value)
        if narrow > LARGEST_FLOAT32:
            narrow = LARGEST_FLOAT32
        elif narrow < -LARGEST_FLOAT32:
            narrow = -LARGEST_FLOAT32
        rows.values[n] = narrow
        rows.indices[n] = index
        n += 1
        last, at = index, end
    if last != n - first or (row > 0 and last != cursor[HIGHEST]):
        cursor[FULL] = 0
    if last > cursor[HIGHEST]:
        cursor[HIGHEST] = last
    rows.ends[row] = n
    cursor[VALUES] = n
    cursor[ODD_NUMBERS] = odd
    return begin
