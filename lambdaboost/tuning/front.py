"""`Front`: the trials that no other beats on all of several measures, and the one without a significant loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation import Figures, Measure, best_without_loss, compare, hypervolume, non_dominated
from lambdaboost.evaluation.comparison.compare import Comparison
from lambdaboost.evaluation.comparison.without_loss import loss_of
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
        """The trial on the front with the highest second measure and no significant loss of the first one.

        The loss is from the trial that is best on the first measure.
        """
        if self._comparison is None:
            return self.on[0]
        name = best_without_loss(self._comparison, *self.measures[:2])
        return next(trial for trial in self.on if self._name(trial) == name)

    @property
    def loss(self) -> str:
        """How much the first measure of `balanced` differs from the best trial's, in words; "" for the best itself."""
        if self._comparison is None:
            return ""
        return loss_of(self._comparison, self._name(self.balanced), self.measures[0])

    @cached_property
    def _comparison(self) -> Comparison | None:
        """The others on the front with the best on the first measure; None for a single trial."""
        if len(self.on) < 2:
            return None
        two = self.measures[:2]
        figures = (
            Figures(self._name(t), dict(zip(two, t.outcome.values[:2], strict=True)), self.weight)
            for t in self.on
        )
        return compare(*figures, measures=two)

    @staticmethod
    def _name(trial: Trial) -> str:
        return f"trial {trial.number}"

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
