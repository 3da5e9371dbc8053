"""e^{−x} that fills vector lanes: the compiler has no vector exponential to call."""

from __future__ import annotations

import math

import numpy as np

from lambdaboost._jit import inlined

# e^{−x} = 2^{−k} e^r with k the nearest whole number to x/ln 2; the series of e^r to r^7 is right to 5e-9 there.
POWERS = np.exp2(-np.arange(128.0))  # 2^{−k} for all x up to 87
NOTHING = 104.0  # e^{−x} from here is 0 in float32
LOG2_E = 1 / math.log(2)
LN_2 = math.log(2)


@inlined
def _series(r):
    """e^r for |r| up to ln 2 / 2."""
    return 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r / 5040))))))


@inlined
def exp_minus(x):
    """e^{−x} for x in [0, 87], right to float32."""
    k = np.int32(x * LOG2_E + 0.5)
    return _series(k * LN_2 - x) * POWERS[k]


@inlined
def exp_minus_in_parts(x):
    """m, right to float32 and from 0.7 to 1.5, and a whole number k with e^{−x} = m · 2^k, for |x| up to 7e8."""
    k = np.floor(x * LOG2_E + 0.5)
    return np.float32(_series(k * LN_2 - x)), np.int32(-k)
