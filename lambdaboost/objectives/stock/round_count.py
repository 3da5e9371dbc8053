"""`RoundCount`: the boosting round of a booster, from what it can be asked for between two rounds."""

from __future__ import annotations

from typing import NamedTuple


class RoundCount(NamedTuple):
    """How many rounds a booster had done when it was last seen, and how many iterations it then reported.

    LightGBM reports iterations without those whose tree had no split, so the two differ. What happens unseen shows in
    the iterations: further rounds add to them, and ``rollback_one_iter`` takes away from them.
    """

    done: int
    iterations: int

    def current(self, iterations: int) -> int:
        """The round, from 0, that a booster of so many iterations computes next."""
        return max(0, self.done + iterations - self.iterations)


def iterations_of(booster: object) -> int:
    """The iterations that a booster of LightGBM or XGBoost reports, those of a continued model included."""
    report = getattr(booster, "num_boosted_rounds", None) or booster.current_iteration  # type: ignore[attr-defined]
    return int(report())
