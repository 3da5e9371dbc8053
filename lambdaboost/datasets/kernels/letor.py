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
    position of its # or, without a comment, of its newline. ``unclear`` are the positions of the numbers that `float`
    must read, ``places`` where they belong: value n, or the grade of row -1 - n.
    """

    values: NDArray[np.float32]
    indices: NDArray[np.int32]
    ends: NDArray[np.int64]
    grades: NDArray[np.float64]
    ids: NDArray[np.int64]
    comments: NDArray[np.int64]
    unclear: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def for_text(cls, size: int, lines: int) -> Rows:
        """Arrays for any text of `size` bytes with this number of lines; a value takes four bytes (" 1:2")."""
        n = size // 4 + 1
        row, value = np.empty((3, lines), np.int64), np.empty((2, n + lines), np.int64)
        return cls(
            np.empty(n, np.float32), np.empty(n, np.int32), row[0], np.empty(lines), row[1], row[2], *value
        )


@strict_fp_no_refcount
def parse_lines(text, with_qid, rows):
    """Parse whole lines, the last of which ends with a newline, into `rows`.

    Returns the numbers of rows, values and unclear numbers, and the position of the first wrong line, or the end.
    """
    at, row, n, unclear = 0, 0, 0, 0
    while at < text.size:
        end = _next_word(text, at)
        if text[end] != NEWLINE and text[end] != COMMENT:
            end, unclear = _parse_row(text, end, with_qid, rows, row, n, unclear)
            if end < 0:
                break
            n = rows.ends[row]
            row += 1
        while text[end] != NEWLINE:
            end += 1
        at = end + 1
    return row, n, unclear, at


@inlined_strict_fp
def _next_word(text, at):
    """The position of the next word or comment, or of the newline."""
    while text[at] == 32 or (text[at] <= 13 and text[at] >= 9 and text[at] != NEWLINE):
        at += 1
    return at


@inlined_strict_fp
def _parse_row(text, at, with_qid, rows, row, n, unclear):
    """The position of the row's newline or comment, -1 if the row is wrong, and the unclear numbers so far."""
    rows.unclear[unclear], rows.places[unclear] = at, -1 - row
    rows.grades[row], at, known = parse_decimal(text, at)
    unclear += not known
    at = _next_word(text, at)
    has_qid = text[at] == 113 and text[at + 1] == 105 and text[at + 2] == 100 and text[at + 3] == COLON
    if has_qid != with_qid:
        return -1, unclear
    if has_qid:
        at += 4
        negative = text[at] == MINUS
        begin = at + negative
        query, at, _ = _parse_digits(text, begin, 0)
        if not 0 < at - begin <= MOST_DIGITS_OF_ID or not _ends_word(text[at]):
            return -1, unclear
        rows.ids[row] = -query if negative else query
    last = 0
    while True:
        begin = _next_word(text, at)
        if text[begin] == NEWLINE or text[begin] == COMMENT:
            break
        index, at, _ = _parse_digits(text, begin, 0)
        if text[at] != COLON or index <= last or at - begin > MOST_DIGITS_OF_INDEX:
            return -1, unclear
        rows.unclear[unclear], rows.places[unclear] = at + 1, n
        value, at, known = parse_decimal(text, at + 1)
        unclear += not known
        rows.values[n] = min(max(np.float32(value), -LARGEST_FLOAT32), LARGEST_FLOAT32)
        rows.indices[n] = last = index
        n += 1
    rows.ends[row] = n
    rows.comments[row] = begin
    return begin, unclear


@inlined_strict_fp
def parse_decimal(text, at):
    """The number of the word at `at`, the word's end, and whether it is known: as float32, it is that of `float`.

    What lies halfway between two float32, nan, infinity and all that is no number is left to Python.
    """
    sign = text[at]
    if sign in (MINUS, PLUS):
        at += 1
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
    while not _ends_word(text[at]):
        at += 1
        known = False
    if not known:
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
