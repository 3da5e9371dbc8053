"""The kernel that parses plain lines of LETOR text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined_strict_fp, kernel_strict_fp

LARGEST_FLOAT32 = np.float32(np.finfo(np.float32).max)
NO_QID = -(2**63)  # the query of a row without one
NEWLINE, COMMENT, PLUS, MINUS, POINT, COLON = 10, 35, 43, 45, 46, 58
MOST_DIGITS_OF_INDEX = 9  # more may not fit into int32
MANY = 9 * 10**17  # numbers from here on are not plain: a further digit may not fit into int64
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


@kernel_strict_fp
def parse_lines(text, at, row, n, rows):
    """Parse lines from position `at` on, which all end with a newline, into `rows` from row `row` and value `n` on.

    Returns the position of the first line that is not plain, or the end of the text; and the next row and value.
    """
    while at < text.size:
        end = _next_word(text, at)
        if text[end] != NEWLINE and text[end] != COMMENT:
            end, last = _parse_row(text, end, row, n, rows)
            if end < 0:
                break
            row, n = row + 1, last
        while text[end] != NEWLINE:
            end += 1
        at = end + 1
    return at, row, n


@inlined_strict_fp
def _parse_row(text, at, row, n, rows):
    """The position of the row's comment or newline, or -1 if it is not plain, and the next value."""
    rows.grades[row], at, plain = parse_decimal(text, at)
    if not (plain and rows.grades[row] >= 0):
        return -1, n
    at = _next_word(text, at)
    rows.ids[row] = NO_QID
    if text[at] == 113 and text[at + 1] == 105 and text[at + 2] == 100 and text[at + 3] == COLON:  # qid:
        begin = at + 4
        rows.ids[row], at = _parse_digits(text, begin, 0)
        if at == begin or rows.ids[row] == MANY or not _ends_word(text[at]):
            return -1, n
    last = 0
    while True:
        begin = _next_word(text, at)
        if text[begin] == NEWLINE or text[begin] == COMMENT:
            break
        index, at = _parse_digits(text, begin, 0)
        if text[at] != COLON or index <= last or at - begin > MOST_DIGITS_OF_INDEX:
            return -1, n
        value, at, plain = parse_decimal(text, at + 1)
        if not plain:
            return -1, n
        rows.values[n] = min(max(np.float32(value), -LARGEST_FLOAT32), LARGEST_FLOAT32)
        rows.indices[n] = last = index
        n += 1
    rows.ends[row], rows.comments[row] = n, begin
    return begin, n


@inlined_strict_fp
def parse_decimal(text, at):
    """The number of the word at `at`, where it ends, and whether it is plain: as float32, it is that of `float`.

    What lies halfway between two float32 or has 19 digits, nan, infinity and all that is no number is not plain.
    """
    negative = text[at] == MINUS
    begin = at + (negative or text[at] == PLUS)
    mantissa, at = _parse_digits(text, begin, 0)
    digits, power = at - begin, 0
    if text[at] == POINT:
        begin = at + 1
        mantissa, at = _parse_digits(text, begin, mantissa)
        power = begin - at
        digits -= power
    plain = digits > 0 and mantissa < MANY
    if text[at] | 32 == 101:  # e, E
        below = text[at + 1] == MINUS
        begin = at + 1 + (below or text[at + 1] == PLUS)
        exponent, at = _parse_digits(text, begin, 0)
        plain = plain and at > begin
        power += -exponent if below else exponent
    value = float(mantissa)
    if mantissa <= 1 << 53 and -EXACT <= power <= EXACT:  # one exact operation (Clinger 1990)
        value = value / TEN_TO[-power - LOWEST] if power < 0 else value * TEN_TO[power - LOWEST]
    else:
        value *= TEN_TO[min(max(power, LOWEST), HIGHEST) - LOWEST]
        plain = plain and np.float32(value * (1 - ERROR)) == np.float32(value * (1 + ERROR))
    return -value if negative else value, at, plain and _ends_word(text[at])


@inlined_strict_fp
def _parse_digits(text, at, number):
    """The number with the digits from `at` on appended, at most `MANY`, and the position after them."""
    while 48 <= text[at] <= 57:
        number = min(10 * number + np.int64(text[at]) - 48, MANY)
        at += 1
    return number, at


@inlined_strict_fp
def _next_word(text, at):
    """The position of the next word or comment, or of the newline."""
    while text[at] != NEWLINE and text[at] != COMMENT and _ends_word(text[at]):
        at += 1
    return at


@inlined_strict_fp
def _ends_word(letter):
    """Whether a word ends before this letter: white space, as for `bytes.split`, or the # of a comment."""
    return letter == 32 or 9 <= letter <= 13 or letter == COMMENT
