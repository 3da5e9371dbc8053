"""Rules whose documents push against all others of their list, ties included: the chance that each stands above."""

from __future__ import annotations

import math

import numpy as np

from lambdaboost._jit import inlined
from lambdaboost.objectives.kernels.exp import LN_2, LOG2_E

FARTHEST_IN_ONE = 600.0  # e^{−x} up to here is a normal float64
SATURATED = (
    900.0  # from 2^this on the smaller of ρ and 1 − ρ is left at 2^−this, nothing beside any other figure
)


@inlined
def scale_scores(steepness, s, e, k):
    """Write e^{steepness · (s − highest s)} as e · 2^k; whether e alone is enough, k being 0."""
    highest = lowest = s[0]
    for i in range(s.size):
        highest = max(highest, s[i])
        lowest = min(lowest, s[i])
    alone = steepness * (highest - lowest) <= FARTHEST_IN_ONE
    for i in range(s.size):
        x = steepness * (s[i] - highest)
        k[i] = 0.0 if alone else np.floor(x * LOG2_E + 0.5)
        # Far down x has no digits after the point, and k ln 2 none in common with it.
        e[i] = math.exp(x if alone else min(max(x - k[i] * LN_2, -1.0), 1.0))
    return alone


@inlined
def chances_above(i, alone, e, k, rho, rest):
    """ρ_ij = 1/(1 + e^{x_i − x_j}) of every other j in rho, 1 − ρ_ij in rest; 0 for i itself."""
    e_i, k_i = e[i], k[i]
    if alone:
        for j in range(e.size):
            inverse = 1 / (e_i + e[j])
            rho[j] = e[j] * inverse
            rest[j] = e_i * inverse
    else:
        bits = np.float64(e_i).view(np.int64)
        for j in range(e.size):
            shift = np.int64(min(max(k_i - k[j], -SATURATED), SATURATED))
            shifted = np.int64(bits + (shift << np.int64(52))).view(np.float64)
            inverse = 1 / (shifted + e[j])
            rho[j] = e[j] * inverse
            rest[j] = shifted * inverse
    rho[i] = rest[i] = 0.0
