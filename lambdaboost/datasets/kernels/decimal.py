"""Decimal numbers in text, rounded to float64 exactly as Python's `float` rounds them.

Numbers of at most 53 bits with a small power of ten take one exact operation (Clinger 1990); others are multiplied by a
128-bit power of five (Lemire 2021, "Number parsing at a gigabyte per second", section 5).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import exact_uncounted, inlined_exact

MOST_DIGITS = 18  # as many as fit into int64
MOST_DIGITS_OF_EXPONENT = 5
TEN_TO = np.array([float(f"1e{power}") for power in range(23)])  # those that float64 represents exactly
SMALLEST, LARGEST = -300, 308  # above, every number overflows
MASK, HALF, ALL = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF)
ZERO, ONE, THREE = np.uint64(0), np.uint64(1), np.uint64(3)
TOP, WIDTH = np.uint64(63), np.uint64(53)
SHIFT = np.uint64(9)  # below the 55 bits that are kept of a product
BELOW = np.uint64((1 << 9) - 1)


def _powers_of_five() -> NDArray[np.uint64]:
    """The 128 highest bits of 5^q as (high, low): rounded down for positive, up for negative powers."""
    found = np.empty((LARGEST - SMALLEST + 1, 2), dtype=np.uint64)
    for q in range(SMALLEST, LARGEST + 1):
        power = 5 ** abs(q)
        if q < 0:
            power = (1 << (2 * power.bit_length() + 128)) // power + 1
        excess = power.bit_length() - 128
        bits = power >> excess if excess > 0 else power << -excess
        found[q - SMALLEST] = bits >> 64, bits & 0xFFFFFFFFFFFFFFFF
    return found


FIVE_TO = _powers_of_five()


@inlined_exact
def ends_word(letter):
    """Whether a word ends before this letter: white space, as for `bytes.split`, or the # of a comment."""
    return letter == 32 or 9 <= letter <= 13 or letter == 35


@inlined_exact
def parse_digits(text, at, number):
    """The number with the digits from `at` on appended, and the position after them; wraps around from 19 digits on."""
    while True:
        digit = np.int64(text[at]) - 48
        if digit < 0 or digit > 9:
            return number, at
        number = 10 * number + digit
        at += 1


@inlined_exact
def parse_decimal(text, at):
    """The number at `at` as (value, position of its end, whether that is its value); False for what `float` must do.

    The number ends before white space or #. Infinity and NaN, more than 18 digits, numbers near 0 and whatever is
    no number are left to `float`.
    """
    sign = text[at]
    if sign == 45 or sign == 43:
        at += 1
    begin, power = at, 0
    mantissa, at = parse_digits(text, at, 0)
    digits = at - begin
    if text[at] == 46:
        begin = at + 1
        mantissa, at = parse_digits(text, begin, mantissa)
        power = begin - at
        digits -= power
    known = 0 < digits <= MOST_DIGITS
    if text[at] | 32 == 101:
        at += 1
        direction = text[at]
        if direction == 45 or direction == 43:
            at += 1
        begin = at
        exponent, at = parse_digits(text, at, 0)
        known = known and 0 < at - begin <= MOST_DIGITS_OF_EXPONENT
        power += -exponent if direction == 45 else exponent
    if not known or not ends_word(text[at]):
        return 0.0, at, False
    value, known = _scaled(mantissa, power)
    return -value if sign == 45 else value, at, known


@inlined_exact
def _scaled(mantissa, power):
    """``mantissa * 10**power`` rounded to nearest, ties to even, and whether it is; 0 <= mantissa < 10**18."""
    if mantissa == 0:
        return 0.0, True
    if -22 <= power <= 22 and mantissa <= 1 << 53:
        value = float(mantissa)
        return (value / TEN_TO[-power] if power < 0 else value * TEN_TO[power]), True
    if power > LARGEST:
        return math.inf, True
    if power < SMALLEST:
        return 0.0, False
    return _by_power_of_five(mantissa, power)


@exact_uncounted
def _by_power_of_five(mantissa, power):
    """``mantissa * 10**power`` rounded, and whether it is; 0 < mantissa < 10**18, power in SMALLEST to LARGEST."""
    factor = np.uint64(mantissa)
    shifts = 0
    while factor >> TOP == ZERO:
        factor = factor << ONE
        shifts += 1
    high, low = _product(factor, FIVE_TO[power - SMALLEST, 0])
    if high & BELOW == BELOW:  # the lower half of the power may carry into the bits that are kept
        carried, _ = _product(factor, FIVE_TO[power - SMALLEST, 1])
        if low > ALL - carried:
            high, low = high + ONE, carried - (ALL - low) - ONE
        else:
            low = low + carried
        if low == ALL:
            return 0.0, False
    upper = high >> TOP
    kept = high >> (upper + SHIFT)
    exponent = ((217706 * power) >> 16) + 63 + np.int64(upper) - shifts
    if -4 <= power <= 23 and low <= ONE and kept & THREE == ONE and kept << (upper + SHIFT) == high:
        kept = kept & ~ONE  # halfway between two numbers: to the even one
    kept = (kept + (kept & ONE)) >> ONE
    if exponent > 1023 or (exponent == 1023 and kept >> WIDTH != ZERO):
        return math.inf, True
    if exponent < -1022:
        return 0.0, False
    return math.ldexp(float(kept), exponent - 52), True


@inlined_exact
def _product(a, b):
    """The 128-bit product of two uint64 as (high, low)."""
    low = (a & MASK) * (b & MASK)
    one, other = (a & MASK) * (b >> HALF), (a >> HALF) * (b & MASK)
    middle = (low >> HALF) + (one & MASK) + (other & MASK)
    high = (a >> HALF) * (b >> HALF) + (one >> HALF) + (other >> HALF) + (middle >> HALF)
    return high, (middle << HALF) | (low & MASK)
