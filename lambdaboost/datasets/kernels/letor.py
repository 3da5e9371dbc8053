"""The kernels that parse lines of LETOR text and lay out their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined_strict_fp, strict_fp_no_refcount

LARGEST_FLOAT32 = np.float32(np.finfo(np.float32).max)
NEWLINE, COMMENT, PLUS, MINUS, POINT, COLON = 10, 35, 43, 45, 46, 58
MOST_DIGITS_OF_ID, MOST_DIGITS_OF_INDEX = 17, 9  # more may not fit into int64 and int32
FULL = 10**17  # a number from here on takes no more digits: they might not fit, and are too small to matter
EXACT, LOWEST, HIGHEST = 22, -70, 40  # float64 holds 10^EXACT; beyond the others, float32 is 0 or infinite
TEN_TO = np.array([float(f"1e{power}") for power in range(LOWEST, HIGHEST + 1)])
ERROR = 1e-15  # above the relative error of a rounded mantissa times a rounded power of ten


class Rows(NamedTuple):
    """Rows of text, in arrays that may be longer.

    ``values[ends[r - 1] : ends[r]]`` are the values of row r, with their indices from 1; ``comments[r]`` is the
    position of its # or, without a comment, of its newline.
    """

    values: NDArray[np.float32]
    indices: NDArray[np.int32]
    ends: NDArray[np.int64]
    grades: NDArray[np.float64]
    ids: NDArray[np.int64]
    comments: NDArray[np.int64]

    @classmethod
    def for_text(cls, size: int, rows: int) -> Rows:
        """Arrays for any text of `size` bytes and so many lines; a value takes four bytes (" 1:2")."""
        values, indices = np.empty(size // 4 + 1, np.float32), np.empty(size // 4 + 1, np.int32)
        return cls(values, indices, np.empty(rows, np.int64), np.empty(rows), *np.empty((2, rows), np.int64))


@strict_fp_no_refcount
def parse_lines(text, with_qid, rows, at, row, n):
    """Parse lines from position `at` on into `rows`, which has `row` rows with `n` values.

    `text` ends with a newline. Returns position, rows and values at the end of the text, or at the first line that
    Python must parse.
    """
    while at < text.size:
        end = _next_word(text, at)
        if text[end] != NEWLINE and text[end] != COMMENT:
            end = _parse_row(text, end, with_qid, rows, row, n)
            if end < 0:
                break
            n = rows.ends[row]
            row += 1
        while text[end] != NEWLINE:
            end += 1
        at = end + 1
    return at, row, n


@strict_fp_no_refcount
def lay_out(values, indices, ends, out):
    """Write the values of each row into its columns of `out`; -0 becomes 0."""
    n = 0
    for row in range(ends.size):
        while n < ends[row]:
            out[row, indices[n] - 1] = values[n] + np.float32(0)
            n += 1


@inlined_strict_fp
def _next_word(text, at):
    """The position of the next word or comment, or of the newline."""
    while text[at] == 32 or (text[at] <= 13 and text[at] >= 9 and text[at] != NEWLINE):
        at += 1
    return at


@inlined_strict_fp
def _parse_row(text, at, with_qid, rows, row, n):
    """The position of the row's newline or comment; -1 if Python must parse the line."""
    grade, at, known = parse_decimal(text, at)
    if not known or np.abs(grade) > LARGEST_FLOAT32:
        return -1
    rows.grades[row] = grade
    at = _next_word(text, at)
    has_qid = text[at] == 113 and text[at + 1] == 105 and text[at + 2] == 100 and text[at + 3] == COLON
    if has_qid != with_qid:
        return -1
    if has_qid:
        at += 4
        negative = text[at] == MINUS
        begin = at + negative
        query, at, _ = _parse_digits(text, begin, 0)
        if not 0 < at - begin <= MOST_DIGITS_OF_ID or not _ends_word(text[at]):
            return -1
        rows.ids[row] = -query if negative else query
    last = 0
    while True:
        begin = _next_word(text, at)
        if text[begin] == NEWLINE or text[begin] == COMMENT:
            break
        index, at, _ = _parse_digits(text, begin, 0)
        if text[at] != COLON or index <= last or at - begin > MOST_DIGITS_OF_INDEX:
            return -1
        value, at, known = parse_decimal(text, at + 1)
        if not known:
            return -1
        narrow = np.float32(value)
        if narrow > LARGEST_FLOAT32:
            narrow = LARGEST_FLOAT32
        elif narrow < -LARGEST_FLOAT32:
            narrow = -LARGEST_FLOAT32
        rows.values[n] = narrow
        rows.indices[n] = index
        last = index
        n += 1
    rows.ends[row] = n
    rows.comments[row] = begin
    return begin


@inlined_strict_fp
def parse_decimal(text, at):
    """The number at `at`, the position of its end, and whether it is known: rounded to float32, it is that of `float`.

    Decimals without a doubt are known and nan is; what lies halfway between two float32, infinity and all that is no
    number is left to Python.
    """
    sign = text[at]
    if sign in (MINUS, PLUS):
        at += 1
    if text[at] | 32 == 110 and text[at + 1] | 32 == 97 and text[at + 2] | 32 == 110:
        return np.nan, at + 3, _ends_word(text[at + 3])
    begin = at
    mantissa, at, power = _parse_digits(text, at, 0)
    digits = at - begin
    if text[at] == POINT:
        begin = at + 1
        mantissa, at, left_out = _parse_digits(text, begin, mantissa)
        power += left_out - (at - begin)
        digits += at - begin
    known = digits > 0
    if text[at] | 32 == 101:
        at += 1
        direction = text[at]
        if direction in (MINUS, PLUS):
            at += 1
        begin = at
        exponent, at, _ = _parse_digits(text, at, 0)
        known = known and at > begin
        power += -exponent if direction == MINUS else exponent
    if not known or not _ends_word(text[at]):
        return 0.0, at, False
    value = float(mantissa)
    if mantissa <= 1 << 53 and -EXACT <= power <= EXACT:  # one exact operation (Clinger 1990)
        value = value / TEN_TO[-power - LOWEST] if power < 0 else value * TEN_TO[power - LOWEST]
    else:
        value *= TEN_TO[min(max(power, LOWEST), HIGHEST) - LOWEST]
        known = np.float32(value * (1 - ERROR)) == np.float32(value * (1 + ERROR))
    return -value if sign == MINUS else value, at, known


@inlined_strict_fp
def _parse_digits(text, at, number):
    """The number with the digits from `at` on appended, the position after them, and how many were left out."""
    left_out = 0
    while True:
        digit = np.int64(text[at]) - 48
        if digit < 0 or digit > 9:
            return number, at, left_out
        if number < FULL:
            number = 10 * number + digit
        else:
            left_out += 1
        at += 1


@inlined_strict_fp
def _ends_word(letter):
    """Whether a word ends before this letter: white space, as for `bytes.split`, or the # of a comment."""
    return letter == 32 or 9 <= letter <= 13 or letter == COMMENT
