"""How hard a pair is pushed at its score difference o: a *force*, which the compiler knows by its type, with σ and c.

ρ = 1/(1 + e^{σo + c}) and 1 − ρ come together from one division.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaboost._jit import by_type, inlined_exact


class Logistic(NamedTuple):
    """Force ρ and curvature ρ(1 − ρ), ρ = 1/(1 + e^{σo}); σ and σ² are multiplied in at the end."""


class Local(NamedTuple):
    """Force ρ(1 − ρ) and curvature ρ(1 − ρ)(1 − 2ρ), ρ = 1/(1 + e^{o + center}) (2011, eqs. 14-15)."""


class Mixed(NamedTuple):
    """Both forces of one pair in one pass: so much of `Logistic`, so much of `Local`."""

    logistic: np.float32
    local: np.float32


class Loss(NamedTuple):
    """A force and where its logistic stands."""

    force: Any
    sigma: float = 1.0
    center: float = 0.0


@inlined_exact
def _times(a, b):
    """A product as it is written: never through v², which is no float32 when scores lie far apart."""
    return a * b


def force_of(force: Any, wr: Any, rho: Any, rest: Any) -> Any:
    """The force of a pair whose w times ρ is `wr`; rest is 1 − ρ, kept apart since it loses its digits as ρ nears 1."""
    if isinstance(force, Logistic):
        return wr
    if isinstance(force, Local):
        return _times(wr, rest)
    return _times(wr, force.logistic + force.local * rest)


@by_type(force_of)
def _force_of(force, wr, rho, rest):
    if force.instance_class is Logistic:
        return lambda force, wr, rho, rest: wr
    if force.instance_class is Local:
        return lambda force, wr, rho, rest: _times(wr, rest)
    return lambda force, wr, rho, rest: _times(wr, force.logistic + force.local * rest)


def curvature_of(force: Any, wr: Any, rho: Any, rest: Any) -> Any:
    """The curvature of a pair whose w times ρ is `wr`."""
    if isinstance(force, Logistic):
        return _times(wr, rest)
    if isinstance(force, Local):
        return _times(_times(wr, rest), rest - rho)
    return _times(_times(wr, rest), force.logistic + force.local * (rest - rho))


@by_type(curvature_of)
def _curvature_of(force, wr, rho, rest):
    if force.instance_class is Logistic:
        return lambda force, wr, rho, rest: _times(wr, rest)
    if force.instance_class is Local:
        return lambda force, wr, rho, rest: _times(_times(wr, rest), rest - rho)
    return lambda force, wr, rho, rest: _times(_times(wr, rest), force.logistic + force.local * (rest - rho))
