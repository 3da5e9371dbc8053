"""Factors of documents: they multiply the weight of a pair, one for its better and one for its worse document."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lambdaboost._jit import by_type, known_by_type, uncounted
from lambdaboost.datasets import Queries

ONE = np.float32(1)


class Unfactored(NamedTuple):
    """No factors: the swap alone weighs a pair."""


class Factors(NamedTuple):
    """A pair of a better document i and a worse j is multiplied by up[i] · down[j]."""

    up: NDArray[np.float32]  # (n_documents,)
    down: NDArray[np.float32]  # (n_documents,)


class PairFactors(Protocol):
    """Factors as a value, which a `PairRule` can hold: hashable, with a repr that reads back."""

    def of(self, scores: NDArray[np.float64], q: Queries) -> Factors | Unfactored:
        """The factors of some queries at the scores of a round; `Unfactored` where all of them are 1."""
        ...


is_factored = known_by_type(lambda factors: factors is Factors)


@uncounted
def times(factors, w, x):
    """A weight times a factor of one of its documents."""
    return w * x if is_factored(factors) else w


def factors_of(factors: Any, i: Any) -> Any:
    """Both factors of a document."""
    return (factors.up[i], factors.down[i]) if isinstance(factors, Factors) else (ONE, ONE)


@by_type(factors_of)
def _factors_of(factors, i):
    if factors.instance_class is Factors:
        return lambda factors, i: (factors.up[i], factors.down[i])
    return lambda factors, i: (ONE, ONE)
