"""e^{−x} right to float64 that fills vector lanes, where `exp` is right to float32."""

from __future__ import annotations

import math

import numpy as np

from lambdaboost._jit import inlined

# e^{−x} = 2^{−k} e^r with k the nearest whole number to x/ln 2; the series of e^r to r^13 is right to 4e-18 there.
FARTHEST = 700.0  # e^{−x} stays a normal number up to here
POWERS = np.exp2(-np.arange(1012.0))
LOG2_E = 1 / math.log(2)
LN_2 = math.log(2)
C2, C3, C4, C5, C6, C7 = (1 / math.factorial(n) for n in range(2, 8))
C8, C9, C10, C11, C12, C13 = (1 / math.factorial(n) for n in range(8, 14))


@inlined
def exp_minus_float64(x):
    """e^{−x} for x in [0, `FARTHEST`]."""
    k = np.int32(x * LOG2_E + 0.5)
    r = k * LN_2 - x
    high = C7 + r * (C8 + r * (C9 + r * (C10 + r * (C11 + r * (C12 + r * C13)))))
    return (1 + r * (1 + r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * high))))))) * POWERS[k]
