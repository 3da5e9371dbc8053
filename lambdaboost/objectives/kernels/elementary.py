"""e^{−x} and log2 in arithmetic that fills vector lanes: the compiler has no vector functions to call."""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from lambdaboost._jit import inlined, inlined_strict_fp

# e^{−x} = 2^{−k} e^r with k the whole number nearest to x/ln 2, and the Taylor series of e^r with |r| ≤ ln 2 / 2.
POWERS = np.exp2(-np.arange(1012.0))
LOG2_E = 1 / math.log(2)
LN_2 = math.log(2)
C2, C3, C4, C5, C6, C7 = (1 / math.factorial(n) for n in range(2, 8))
C8, C9, C10, C11, C12, C13 = (1 / math.factorial(n) for n in range(8, 14))


@inlined
def exp_minus(x):
    """e^{−x} for x from 0 to 700, right to float32: the series to r^7 is right to 5e-9."""
    k = np.int32(x * LOG2_E + 0.5)
    r = k * LN_2 - x
    return (1 + r * (1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * C7))))))) * POWERS[k]


@inlined
def exp_minus_float64(x):
    """e^{−x} for x from 0 to 700, right to float64: the series to r^13 is right to 4e-18."""
    k = np.int32(x * LOG2_E + 0.5)
    r = k * LN_2 - x
    high = C7 + r * (C8 + r * (C9 + r * (C10 + r * (C11 + r * (C12 + r * C13)))))
    return (1 + r * (1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * high))))))) * POWERS[k]


def near_polynomial(function, degree, low, high):
    """The coefficients of a polynomial near `function` from low to high, as float32 from the constant term on."""
    near = Chebyshev.interpolate(function, degree, [low, high])
    return (np.float32(c) for c in near.convert(kind=Polynomial).coef)


# log2(2^k m) = k + log2 m with m = 1 + t from √½ to √2, and a polynomial near log2(1 + t) / t.
def _log2_over_t(t):
    return np.log2(1 + t) / t


A0, A1, A2, A3, A4, A5, A6, A7, A8 = near_polynomial(_log2_over_t, 8, np.sqrt(0.5) - 1, np.sqrt(2) - 1)
B0, B1, B2, B3, B4, B5, B6 = near_polynomial(_log2_over_t, 6, np.sqrt(0.5) - 1, np.sqrt(2) - 1)
ROOT_HALF_BITS, MANTISSA_BITS = np.float32(np.sqrt(0.5)).view(np.int32), np.int32(23)


@inlined
def _split(x):
    """Split a positive float32 into 2^k (1 + t) and return k and t."""
    bits = np.float32(x).view(np.int32)
    # Every result is made an int32 again: 64 bits would take twice the vectors.
    k = np.int32(np.int32(bits - ROOT_HALF_BITS) >> MANTISSA_BITS)
    m = np.float32(np.int32(bits - np.int32(k << MANTISSA_BITS)).view(np.float32))
    return np.float32(k), m - np.float32(1)


@inlined
def log2(x):
    """log2 of a positive float32, right to 2e-7 of itself."""
    k, t = _split(x)
    high = A4 + t * (A5 + t * (A6 + t * (A7 + t * A8)))
    return k + t * (A0 + t * (A1 + t * (A2 + t * (A3 + t * high))))


@inlined_strict_fp
def log2_same_in_every_loop(x):
    """log2 of a positive float32, right to 2e-6 of itself, with the same bits in every loop."""
    k, t = _split(x)
    return k + t * (B0 + t * (B1 + t * (B2 + t * (B3 + t * (B4 + t * (B5 + t * B6))))))
