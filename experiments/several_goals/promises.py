"""How often the constraint on the first goal held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.several_goals.methods import FIRST
from experiments.several_goals.results import OfSet
from lambdaboost.evaluation.significance import one_sided_p


@dataclass(frozen=True)
class Promise:
    """How often a system kept the first measure within a tolerance of the first goal alone, of how many times."""

    held: int
    of: int

    def __str__(self) -> str:
        low, high = interval(self.held, self.of)
        return f"{self.held} of {self.of} ({100 * low:.0f}–{100 * high:.0f} %)"


def interval(held: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (1927).

    >>> tuple(round(x, 3) for x in interval(8, 10))
    (0.49, 0.943)
    """
    z = 1.959964
    share, widening = held / of, z**2 / of
    middle = (share + widening / 2) / (1 + widening)
    reach = z / (1 + widening) * np.sqrt(share * (1 - share) / of + widening / (4 * of))
    return max(0.0, float(middle - reach)), float(middle + reach)


def by_fold(found: OfSet, system: str, part: str, keep: float) -> Promise:
    """Over folds and seeds."""
    losses = [
        found.of_fold(FIRST, part, seed, fold)[0].mean() - found.of_fold(system, part, seed, fold)[0].mean()
        for seed in found.seeds(system)
        for fold in range(found.goals.folds)
    ]
    return _promise(losses, keep)


def by_seed(found: OfSet, system: str, part: str, keep: float) -> Promise:
    """Over seeds, pooled over the folds."""
    losses = [
        _mean(found.of_seed(FIRST, part, seed)) - _mean(found.of_seed(system, part, seed))
        for seed in found.seeds(system)
    ]
    return _promise(losses, keep)


def p_of_keeping(found: OfSet, system: str, keep: float) -> float:
    """The one-sided p-value of a loss of the first measure of `keep` or more, on test queries."""
    change = found.per_query(system)[0] - found.per_query(FIRST)[0]
    return one_sided_p(change + keep, np.ones(change.size))


def _mean(values: np.ndarray) -> float:
    return float(values[0, ~np.isnan(values).any(axis=0)].mean())


def _promise(losses: list[float], keep: float) -> Promise:
    return Promise(sum(bool(loss <= keep) for loss in losses), len(losses))
