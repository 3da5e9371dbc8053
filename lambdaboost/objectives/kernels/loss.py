"""λ and μ of a pair at its score difference o: a *gradient*, with a *sigmoid* that says what ρ is.

ρ = 1/(1 + e^{σo + c}) and 1 − ρ come together from one division. The compiler knows both by their types.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, inlined, inlined_strict_fp
from lambdaboost.objectives.kernels.exp import FLOAT64_NORMAL, exp_minus, exp_minus_float64

ONE = np.float32(1)

# λ and μ of a pair, `pair_gradients(gradient, weighted, ρ, 1 − ρ)`, with `weighted` its weight times ρ. Every product
# is computed in the order written, never through (w/(E_i + E_j))², which leaves the range of float32 where scores lie
# far apart.
pair_gradients = by_type(lambda gradient: gradient.pair_gradients)
# ρ and 1 − ρ of a pair.
sigmoid_pair = by_type(lambda sigmoid: sigmoid.sigmoid_pair)
# What represents a document's score where it is the better of a pair, and some scores of a query.
as_better = by_type(lambda sigmoid: sigmoid.as_better)
# What a sum of curvatures is, without the rounding errors that make one negative that cannot be.
curvature = by_type(lambda gradient: gradient.curvature)
write_e = by_type(lambda sigmoid: sigmoid.write_e)


@inlined_strict_fp
def unfused_product(x, y):
    """X y, where the compiler must not make x (y²) of x y and y: that leaves the range of float32."""
    return x * y


class Logistic(NamedTuple):
    """Force ρ and curvature ρ(1 − ρ); σ and σ² are multiplied in at the end."""

    @staticmethod
    def pair_gradients(gradient, weighted, rho, rest):
        """Times the weight of the pair."""
        return weighted, unfused_product(weighted, rest)

    @staticmethod
    def curvature(gradient, total):
        """At least 0."""
        return max(total, 0.0)


class LogisticPlusLocal(NamedTuple):
    """A sum of `Logistic` and the local ρ(1 − ρ) with curvature ρ(1 − ρ)(1 − 2ρ) (2011, eqs. 14-15)."""

    logistic: np.float32
    local: np.float32

    @staticmethod
    def pair_gradients(gradient, weighted, rho, rest):
        """Times the weight of the pair."""
        f, c = gradient.logistic + gradient.local * rest, gradient.logistic + gradient.local * (rest - rho)
        return weighted * f, unfused_product(weighted, rest) * c

    @staticmethod
    def curvature(gradient, total):
        """Of either sign."""
        return total


class ByRatio(NamedTuple):
    """By E = e^{σs}, one exponential a document: ρ = E_j/(e^c E_i + E_j)."""

    sigma: float
    center: float = 0.0
    shift: np.float32 = ONE  # e^c

    @staticmethod
    def write_e(sigmoid, best, worst, scores, e):
        """E up to a factor of the query, so that products of two stay inside float32."""
        lift = math.exp(0.5 * (sigmoid.sigma * (best - worst) - sigmoid.center))
        for slot in range(scores.size):
            e[slot] = exp_minus(sigmoid.sigma * (best - scores[slot])) * lift

    @staticmethod
    def as_better(sigmoid, e):
        """Times e^c."""
        return sigmoid.shift * e

    @staticmethod
    def sigmoid_pair(sigmoid, e_i, e_j):
        """ρ and 1 − ρ."""
        v = ONE / (e_i + e_j)
        return e_j * v, e_i * v


class ByDifference(NamedTuple):
    """By the difference of the scores themselves, however far they lie apart: slower."""

    sigma: float
    center: float

    @staticmethod
    def write_e(sigmoid, best, worst, scores, e):
        """The scores."""
        for slot in range(scores.size):
            e[slot] = scores[slot]

    @staticmethod
    def as_better(sigmoid, e):
        """The same."""
        return e

    @staticmethod
    def sigmoid_pair(sigmoid, e_i, e_j):
        """ρ and 1 − ρ."""
        return logistic(sigmoid.sigma * (e_i - e_j) + sigmoid.center)


class Loss(NamedTuple):
    """A gradient and where its logistic stands."""

    gradient: Any
    sigmoid: Any  # `ByRatio`, or `ByDifference` where scores lie far apart


@inlined
def logistic(x):
    """ρ = 1/(1 + e^x) and 1 − ρ in float64, whatever x."""
    far = abs(x)
    small = exp_minus_float64(far if far < FLOAT64_NORMAL else FLOAT64_NORMAL)
    larger = 1 / (1 + small)
    smaller = small * larger
    return (smaller, larger) if x > 0 else (larger, smaller)
