"""ρ = 1/(1 + e^{σo + c}) and what a pair makes of it: forces, and how far apart scores may lie.

ρ and 1 − ρ come together from one division.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lambdaboost._jit import by_type, inlined, inlined_strict_fp
from lambdaboost.objectives.kernels.elementary import exp_minus, exp_minus_float64

ONE = np.float32(1)

# How far apart two scores of a list may lie, in units of 1/σ, by what is computed of their distance x.
FLOAT32_ZERO = 104.0  # e^{−x} is 0 in float32 from here: the force of a pair in the right order
# e^{−x} is a normal float64 number up to here, and so is what a pair makes of two of them.
FLOAT64_NORMAL = 700.0
# The sweep counts E from the lowest score: e^600 leaves 10^47 for sums of weights and factors, which the compiler may
# multiply in before it divides by another E.
SWEEP_RANGE = 600.0
# E = e^{σs} of a document, in float32 and counted from the middle of its list, serves all its pairs up to this range of
# the list, less |c| for a centre c. 1 / (E_i + E_j) is at most e^70 then.
RATIO_RANGE = 140.0


@inlined
def logistic(x):
    """ρ = 1/(1 + e^x) and 1 − ρ in float64, whatever x."""
    far = abs(x)
    small = exp_minus_float64(far if far < FLOAT64_NORMAL else FLOAT64_NORMAL)
    larger = 1 / (1 + small)
    smaller = small * larger
    return (smaller, larger) if x > 0 else (larger, smaller)


# ρ of a pair by E = e^{σs}, one exponential a document: ρ = E_j/(e^c E_i + E_j).


@inlined
def write_e(force, best, worst, scores, e):
    """Write E of some documents of a list whose scores lie between these, counted from the middle of the list."""
    lift = math.exp(0.5 * (force.sigma * (best - worst) - force.center))
    for slot in range(scores.size):
        e[slot] = exp_minus(force.sigma * (best - scores[slot])) * lift


@inlined_strict_fp
def sigmoid_pair(shifted_e_i, e_j):
    """ρ and 1 − ρ of a pair, i the better; `shifted_e_i` is e^c E_i.

    In the order written: a weight or a factor times 1 / (E_i + E_j) could leave the range of float32, ρ cannot.
    """
    v = ONE / (shifted_e_i + e_j)
    return e_j * v, shifted_e_i * v


# Forces: λ and μ of a pair, `pair_lambdas(force, weighted, ρ, 1 − ρ)`, with `weighted` its weight times ρ; σ and σ² are
# multiplied in at the end. Every product is computed in the order written, never through (w/(E_i + E_j))², which leaves
# the range of float32 where scores lie far apart.


@inlined_strict_fp
def unfused_product(x, y):
    """Return x·y, kept apart so that the compiler does not form x·(y·y), which could leave float32's range."""
    return x * y


class Logistic(NamedTuple):
    """Force ρ and curvature ρ(1 − ρ), by ρ = 1/(1 + e^{σo + c}) of a score difference o."""

    sigma: float
    center: float  # c
    shift: np.float32  # e^c

    def pair_lambdas(self, weighted, rho, rest):
        """Times the weight of the pair."""
        return weighted, unfused_product(weighted, rest)

    def curvature(self, total):
        """At least 0."""
        return max(total, 0.0)


class Local(NamedTuple):
    """Force ρ(1 − ρ) (2011, eqs. 14-15), minus its slope ρ(1 − ρ)(1 − 2ρ); or their mean with those of `Logistic`."""

    sigma: float
    center: float
    shift: np.float32
    share: np.float32 = ONE
    share_of_logistic: np.float32 = np.float32(0)  # the rest of 1

    def pair_lambdas(self, weighted, rho, rest):
        """Times the weight of the pair."""
        product = unfused_product(weighted, rest)
        return (
            self.share_of_logistic * weighted + self.share * product,
            product * (self.share_of_logistic + self.share * (rest - rho)),
        )

    def curvature(self, total):
        """Of either sign."""
        return total


Force = Logistic | Local
pair_lambdas = by_type(lambda force: force.pair_lambdas)
# What a sum of curvatures is, without the rounding errors that make one negative that cannot be.
curvature = by_type(lambda force: force.curvature)


# Rules whose documents push against all others of their list, ties included: the chance that each stands above.


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
