"""`Front`: the trials that no other beats on all of several measures, and the one that loses nothing on the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation import Figures, Measure, compare, hypervolume, non_dominated
from lambdaboost.evaluation.comparison.significance import LEVEL
from lambdaboost.tuning.trial import Trial


@dataclass(frozen=True, eq=False)
class Front:
    """The trade-off of several measures among the complete trials.

    Attributes
    ----------
    measures : tuple of Measure
        At least two.
    trials : tuple of Trial
        All complete trials.
    weight : float64 (n,)
        The weight of each query.

    """

    measures: tuple[Measure, ...]
    trials: tuple[Trial, ...]
    weight: NDArray[np.float64]

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """The mean of each measure, (n_trials, n_measures)."""
        return np.array([trial.means(self.weight) for trial in self.trials])

    @cached_property
    def on(self) -> tuple[Trial, ...]:
        """The trials on the front, the highest first measure first."""
        found = [at for at, is_on in enumerate(non_dominated(self.points)) if is_on]
        return tuple(self.trials[at] for at in sorted(found, key=lambda at: -self.points[at, 0]))

    @cached_property
    def balanced(self) -> Trial:
        """The trial on the front with the highest second measure and no significant loss on the first one.

        A paired t-test with the trial that is best on the first measure; it is not corrected for the number of trials,
        for the more a correction counts, the more losses would pass as none.
        """
        best, *others = self.on
        if not others:
            return best
        primary = self.measures[0]
        figures = (Figures(str(t.number), {primary: t.outcome.values[0]}, self.weight) for t in self.on)
        losses = {d.system: d for d in compare(*figures, measures=primary).differences}
        kept = [
            t
            for t in others
            if not (losses[str(t.number)].mean < 0 and losses[str(t.number)].p_value < LEVEL)
        ]
        return max((best, *kept), key=lambda trial: (trial.means(self.weight)[1], -trial.number))

    @property
    def hypervolume(self) -> float:
        """The volume between the front and the point of the lowest value of each measure among all trials."""
        return hypervolume(self.points, self.points.min(axis=0))


def front_of(
    measures: tuple[Measure, ...], trials: Sequence[Trial], weight: NDArray[np.float64]
) -> Front | None:
    """The front; None for a single measure."""
    complete = tuple(trial for trial in trials if trial.is_complete)
    return Front(measures, complete, weight) if len(measures) > 1 else None
