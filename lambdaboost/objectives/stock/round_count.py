"""`RoundCount`: the boosting round of a booster, from what it reports between two rounds."""

from __future__ import annotations

from typing import NamedTuple


class RoundCount(NamedTuple):
    """How many rounds a booster had done when it was last seen, and how many iterations it then reported.

    LightGBM does not count iterations whose tree had no split, so the two differ. Changes in between show in the
    iterations: further rounds add to them, and ``rollback_one_iter`` subtracts from them.
    """

    done: int
    iterations: int

    def current(self, iterations: int) -> int:
        """The round, from 0, that a booster of that many iterations computes next."""
        return max(0, self.done + iterations - self.iterations)


def iterations_of(booster: object) -> int:
    """The iterations that a booster of LightGBM or XGBoost reports, those of a continued model included."""
    report = getattr(booster, "num_boosted_rounds", None) or booster.current_iteration  # type: ignore[attr-defined]
    return int(report())
