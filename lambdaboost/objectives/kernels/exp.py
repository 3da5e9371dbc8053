"""e^{−x} that fills vector lanes: the compiler has no vector exponential to call.

e^{−x} = 2^{−k} e^r with k the nearest whole number to x/ln 2, and a series for e^r with |r| ≤ ln 2 / 2.
"""

from __future__ import annotations

import math

import numpy as np

from lambdaboost._jit import inlined

# How far apart two scores of a list may lie, in units of 1/σ, by what is computed of their distance x.
FLOAT32_NORMAL = 86.0  # e^x, e^{−x} and 1 / (e^x + e^x) are normal float32 numbers up to here
FLOAT32_ZERO = 104.0  # e^{−x} is 0 in float32 from here: the force of a pair in the right order
FLOAT64_NORMAL = (
    700.0  # e^{−x} is a normal float64 number up to here, and so is what a pair makes of two of them
)
# E = e^{σs} of a document, in float32 and counted from the middle of its list, serves all its pairs up to this range of
# the list, less |c| for a centre c.
RATIO_RANGE = 2 * FLOAT32_NORMAL
POWERS = np.exp2(-np.arange(1012.0))
LOG2_E = 1 / math.log(2)
LN_2 = math.log(2)
C2, C3, C4, C5, C6, C7 = (1 / math.factorial(n) for n in range(2, 8))
C8, C9, C10, C11, C12, C13 = (1 / math.factorial(n) for n in range(8, 14))


@inlined
def exp_minus(x):
    """e^{−x} for x in [0, `FLOAT64_NORMAL`], right to float32: the series to r^7 is right to 5e-9."""
    k = np.int32(x * LOG2_E + 0.5)
    r = k * LN_2 - x
    return (1 + r * (1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * C7))))))) * POWERS[k]


@inlined
def exp_minus_float64(x):
    """e^{−x} for x in [0, `FLOAT64_NORMAL`], right to float64: the series to r^13 is right to 4e-18."""
    k = np.int32(x * LOG2_E + 0.5)
    r = k * LN_2 - x
    high = C7 + r * (C8 + r * (C9 + r * (C10 + r * (C11 + r * (C12 + r * C13)))))
    return (1 + r * (1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * high))))))) * POWERS[k]
