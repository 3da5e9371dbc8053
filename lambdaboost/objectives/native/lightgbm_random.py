"""LightGBM's random numbers, any of them without those before it (4.x, include/LightGBM/utils/random.h).

Its generator is linear, x ← a x + c modulo 2^32, so n steps are one step x ← a_n x + c_n: a draw needs no state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import inlined

MULTIPLIER, INCREMENT = 214013, 2531011
MODULUS = 2**32 - 1  # as a mask


class Steps(NamedTuple):
    """a_n and c_n of n = 0, 1, … steps."""

    multiplier: NDArray[np.int64]
    increment: NDArray[np.int64]


def steps(most: int) -> Steps:
    """Up to `most` steps."""
    powers = np.full(most + 1, MULTIPLIER, dtype=np.uint32)
    powers[0] = 1
    np.multiply.accumulate(powers, out=powers)
    sums = np.append(np.uint32(0), np.cumsum(powers[:-1], dtype=np.uint32))
    return Steps(powers.astype(np.int64), (sums * np.uint32(INCREMENT)).astype(np.int64))


@inlined
def repeated(multiplier, increment, times):
    """The constants of a step taken that many times."""
    # Products wrap around in int64, which loses none of the bits that the mask keeps.
    multiplier, increment, a, c = int(multiplier), int(increment), 1, 0
    while times > 0:
        if times & 1:
            a, c = (multiplier * a) & MODULUS, (multiplier * c + increment) & MODULUS
        increment = (multiplier * increment + increment) & MODULUS
        multiplier = (multiplier * multiplier) & MODULUS
        times >>= 1
    return a, c


@inlined
def uniform(multiplier, increment, x):
    """LightGBM's `NextFloat`, a number in [0, 1) of 15 bits, of the state that these constants make of the state x."""
    return (((int(multiplier) * x + int(increment)) >> 16) & 0x7FFF) / 32768
