"""Rules whose documents push against all others of their list, ties included: the chance that each stands above."""

from __future__ import annotations

import math

from lambdaboost._jit import inlined
from lambdaboost.objectives.kernels.exp import FLOAT64_NORMAL, exp_minus_float64


@inlined
def scale_scores(steepness, s, e):
    """Write e^{steepness · (s − highest s)}; whether the scores are near enough for one exponential a document."""
    highest = lowest = s[0]
    for i in range(s.size):
        highest = max(highest, s[i])
        lowest = min(lowest, s[i])
    near = steepness * (highest - lowest) <= FLOAT64_NORMAL
    for i in range(s.size if near else 0):
        e[i] = math.exp(steepness * (s[i] - highest))
    return near


@inlined
def write_sigmoid_pairs(i, near, steepness, s, e, rho, rest):
    """ρ_ij = 1/(1 + e^{steepness · (s_i − s_j)}) of every other j in rho, 1 − ρ_ij in rest; 0 for i itself.

    Where scores are not near, one exponential per pair: a score far out would take the digits of all others.
    """
    if near:
        for j in range(e.size):
            inverse = 1 / (e[i] + e[j])
            rho[j] = e[j] * inverse
            rest[j] = e[i] * inverse
    else:
        for j in range(e.size):
            x = steepness * (s[i] - s[j])
            fall = exp_minus_float64(min(abs(x), FLOAT64_NORMAL))
            likely = 1 / (1 + fall)
            rho[j] = fall * likely if x > 0 else likely
            rest[j] = likely if x > 0 else fall * likely
    rho[i] = rest[i] = 0.0
