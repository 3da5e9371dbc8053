"""Rules whose documents push against all others of their list, ties included: the chance that each stands above."""

from __future__ import annotations

import math

from lambdaboost._jit import inlined

NEAR = 600.0  # e^{−x} up to here is a normal float64


@inlined
def scale_scores(steepness, s, x, e):
    """Fill x = steepness · (s − highest s) and e^x; whether all of these are normal numbers."""
    highest = lowest = s[0]
    for i in range(s.size):
        highest = max(highest, s[i])
        lowest = min(lowest, s[i])
    for i in range(s.size):
        x[i] = steepness * (s[i] - highest)
        e[i] = math.exp(x[i])
    return steepness * (highest - lowest) <= NEAR


@inlined
def chances_above(i, near, x, e, rho, rest):
    """ρ_ij = 1/(1 + e^{x_i − x_j}) of every other j in rho, 1 − ρ_ij in rest; 0 for i itself."""
    if near:
        e_i = e[i]
        for j in range(e.size):
            inverse = 1 / (e_i + e[j])
            rho[j] = e[j] * inverse
            rest[j] = e_i * inverse
    else:
        for j in range(x.size):
            o = x[i] - x[j]
            t = math.exp(-abs(o))
            small, large = t / (1 + t), 1 / (1 + t)
            rho[j] = small if o > 0 else large
            rest[j] = large if o > 0 else small
    rho[i] = rest[i] = 0.0
