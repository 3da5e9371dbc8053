"""How far the scores of a query may lie apart: E = exp(σ(s − s_max)) in one float32, or as m · 2^k.

In ρ = E_j/(E_i + E_j) only the difference of the exponents counts,

    ρ = m_j/(m_i 2^{k_i − k_j} + m_j),

so any span of scores costs a pair a few operations on whole numbers more than one float32 does. `Narrow` and `Wide` are
known to the compiler by their types: queries of the second kind have kernels of their own, compiled when the first one
appears.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, known_by_type, uncounted
from lambdaboost.objectives.kernels.pair_weight import ONE

RANGE = 72.0  # σ-ranges up to this keep every E, and what a pair adds to a column, a normal float32
SATURATED = 125  # from 2^this on the smaller of ρ and 1 − ρ is 0: a float32 would have no digits of it
GAP = 256.0  # neighbours farther apart are brought as near: in their pairs ρ is 0 or 1 either way, for any center
# Of all weights of `Wide` pairs: ρ of 2^−125 times a small weight would be a slow, subnormal float32.
LIFT = 2.0**32
FAR_BELOW = -(1 << 30)  # k of a column that is no document: below all that are


class Narrow(NamedTuple):
    """Scores so near each other that one float32 holds E."""


class Wide(NamedTuple):
    """Scores any distance apart: m in a float32, and the bits of k in another's memory."""


is_wide = known_by_type(lambda span: span is Wide)


@uncounted
def bits(x):
    """The bits of a float32 as a whole number."""
    return np.float32(x).view(np.int32)


@uncounted
def from_bits(k):
    """The float32 of these bits."""
    return np.int32(k).view(np.float32)


@uncounted
def lifted(span, w):
    """A weight as it enters the sums of tiles and lanes."""
    return w * np.float32(LIFT) if is_wide(span) else w


@uncounted
def lowered(span, total):
    """A sum of lifted weights."""
    return total / LIFT if is_wide(span) else total


@uncounted
def pad(span, read, first, last):
    """Make slots first:last columns that no row feels."""
    if is_wide(span):
        for slot in range(first, last):
            read.e[slot], read.k[slot] = ONE, from_bits(FAR_BELOW)
    else:
        for slot in range(first, last):
            read.e[slot] = 0


@uncounted
def _inverse_in_parts(e_i, k_i, e_j, k_j):
    apart = np.int32(k_i - k_j)
    shift = apart if abs(apart) <= SATURATED else np.int32(0)
    shifted = from_bits(bits(e_i) + (shift << np.int32(23)))
    here = shifted if abs(apart) <= SATURATED else np.float32(0)
    v = ONE / (here + e_j)
    return here, (v if apart <= SATURATED else np.float32(0))


def inverse(span: Any, e_i: Any, k_i: Any, e_j: Any, k_j: Any) -> Any:
    """E_i in the units of E_j, and 1/(E_i + E_j): with E_j these give ρ and 1 − ρ. A `Narrow` span reads no k."""
    return _inverse_in_parts(e_i, k_i, e_j, k_j) if isinstance(span, Wide) else (e_i, ONE / (e_i + e_j))


@by_type(inverse)
def _inverse(span, e_i, k_i, e_j, k_j):
    if span.instance_class is Wide:
        return lambda span, e_i, k_i, e_j, k_j: _inverse_in_parts(e_i, k_i, e_j, k_j)
    return lambda span, e_i, k_i, e_j, k_j: (e_i, ONE / (e_i + e_j))


@uncounted
def close_gaps(ranked, sigma):
    """Turn scores by rank into σ(s − s_max), neighbours more than GAP apart brought nearer.

    Differences are taken between neighbours, so that one score of 1e20 leaves the others their digits.
    """
    before, x = ranked[0], 0.0
    for rank in range(ranked.size):
        now = ranked[rank]
        x -= min(sigma * (before - now), GAP)
        before = now
        ranked[rank] = x
