"""`Choice` and `Front`: which trials may become the model by one measure or by several, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import counted, listed
from lambdaboost.evaluation import Figures, Measure, best_without_loss, compare, non_dominated
from lambdaboost.evaluation.comparison.paired import Comparison
from lambdaboost.evaluation.comparison.significance import within_one_error
from lambdaboost.evaluation.comparison.trade_off import loss_of, without_loss
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.shrunken import shrunken
from lambdaboost.tuning.trial import Trial, by_mean

OPTIMISM = (
    "The best validation mean is optimistic, because it is the highest of several: expect less on new queries. The "
    "tests compare finalists that were chosen on the same queries, and a candidate of few trials may be better than it "
    "looks here."
)
MARGIN = 0.01  # of the best mean: a difference that will hardly matter


class Finalist(NamedTuple):
    """The best trial of a candidate, and how it compares with the best of all."""

    trial: Trial
    name: str  # of the candidate
    tried: int  # trials of the candidate
    shrunken: float  # its mean, drawn towards those of the others
    difference: float = 0.0
    low: float = np.nan  # of the 95% confidence interval
    high: float = np.nan
    p: float = np.nan  # adjusted by Holm's method
    is_worse: bool = False
    within_one_error: bool = True  # whether the difference is at most its standard error


def compared(
    trials: Sequence[Trial],
    measures: Sequence[Measure],
    weight: NDArray[np.float64],
    name: Callable[[Trial], str] = "trial {0.number}".format,
) -> Comparison | None:
    """The other trials with the first one, query by query; None for a single trial."""
    by_query = [Figures(name(t), dict(zip(measures, t.values, strict=False)), weight) for t in trials]
    return compare(*by_query, measures=measures) if len(trials) > 1 else None


@dataclass(frozen=True, eq=False)
class Choice:
    """The best trial of each candidate by shrunken means, compared query by query on the validation queries.

    Attributes
    ----------
    measure : Measure
        The measure that decides.
    candidates : tuple of Candidate
        From simple to complex.
    trials : tuple of Trial
        All trials.
    weight : float64 (n,)
        The weight of each query.

    """

    measure: Measure
    candidates: tuple[Candidate, ...]
    trials: tuple[Trial, ...]
    weight: NDArray[np.float64]

    @cached_property
    def shrunken(self) -> dict[int, float]:
        """The shrunken mean of each complete trial, by number, the highest first; of equal ones the highest mean first.

        Where noise explains all differences the shrunken means are equal, and any choice is as good by them.
        Trials that were left after some folds have no part: those that are worse for sure say nothing about the others.
        """
        complete = sorted(
            (trial for trial in self.trials if trial.is_complete), key=lambda trial: trial.number
        )
        if not complete:
            raise ValueError("no training is complete within the budget of minutes: give more")
        values = np.stack([trial.values[0] for trial in complete])
        means = shrunken(values, self.weight, np.array([trial.candidate for trial in complete]))
        order = np.lexsort((np.array([-trial.means[0] for trial in complete]), -means.round(12)))
        return {complete[at].number: float(means[at]) for at in order}

    @cached_property
    def _bests(self) -> tuple[Trial, ...]:
        """The best trial of each candidate that has a complete one, the best of all first; there is at least one."""
        trials, bests = {trial.number: trial for trial in self.trials}, dict[int, Trial]()
        for number in self.shrunken:
            bests.setdefault(trials[number].candidate, trials[number])
        return tuple(bests.values())

    @property
    def best(self) -> Trial:
        """The finalist with the highest shrunken mean."""
        return self._bests[0]

    @cached_property
    def comparison(self) -> Comparison | None:
        """The best against the others, by query; None for a single finalist."""
        return compared(self._bests, (self.measure,), self.weight, self.name)

    @cached_property
    def finalists(self) -> tuple[Finalist, ...]:
        """The best trial of each candidate that has a complete one, the best of all first."""
        found = []
        for trial in self._bests:
            tried = sum(other.candidate == trial.candidate for other in self.trials)
            one = Finalist(trial, self.name(trial), tried, self.shrunken[trial.number])
            if trial is not self.best and self.comparison is not None:
                test = self.comparison.significance[one.name, self.measure]
                low, high = self.comparison[one.name, self.measure].interval()
                near = within_one_error(self.best.values[0], trial.values[0], self.weight)
                one = Finalist(*one[:4], test.difference, low, high, test.adjusted, test.is_worse, near)
            found.append(one)
        return tuple(found)

    def name(self, trial: Trial) -> str:
        """The name of a trial's candidate."""
        return self.candidates[trial.candidate].name

    @property
    def simplest(self) -> Trial:
        """The simplest finalist whose mean is at most one standard error of the difference below the best's mean.

        The one-standard-error rule (Breiman et al. 1984), with the error of the paired difference.
        """
        near = (one.trial for one in self.finalists if one.within_one_error)
        return min(near, key=lambda trial: trial.candidate)

    @property
    def left(self) -> tuple[str, ...]:
        """The candidates whose every trial was left after some folds, as clearly worse."""
        there = {trial.candidate for trial in self._bests}
        return self._named({trial.candidate for trial in self.trials} - there)

    @property
    def untried(self) -> tuple[str, ...]:
        """The candidates without a trial, which the budget did not reach."""
        return self._named(set(range(len(self.candidates))) - {trial.candidate for trial in self.trials})

    def _named(self, places: set[int]) -> tuple[str, ...]:
        return tuple(self.candidates[at].name for at in sorted(places))

    @cached_property
    def n_queries(self) -> int:
        """The number of queries that the finalists are compared on: those with a weight and a value."""
        known = ~np.isnan([trial.values[0] for trial in self._bests]).any(axis=0)
        return int(np.count_nonzero(known & (self.weight > 0)))

    @property
    def caveat(self) -> str:
        """Why the best validation mean is too high; "" for a single trial, which was not chosen."""
        return OPTIMISM if len(self.trials) > 1 else ""

    @property
    def verdict(self) -> str:
        """What the tests say, and why some candidates have no part in them."""
        said = [self._tested]
        if self.left:
            said.append(f"Left after some folds, as clearly worse: {listed(self.left)}.")
        if self.untried:
            said.append(f"The budget did not reach {listed(self.untried, 3)}.")
        return " ".join(said)

    @property
    def _tested(self) -> str:
        """What the tests say, in one or two sentences."""
        best, *others = self.finalists
        if self.comparison is None:
            return f"Only {best.name} was trained to the end: there is nothing to compare it with."
        # A candidate of few trials may be better with other settings.
        worse = [
            f"{one.name} ({counted(one.tried, 'trial')}, p = {one.p:.2g})" for one in others if one.is_worse
        ]
        losses = {one.name: self._largest_loss(one) for one in others if not one.is_worse}
        alike = [name for name, loss in losses.items() if loss <= MARGIN]
        unclear = [name for name in losses if name not in alike]
        said = []
        if worse:
            said.append(f"{best.name} is better than {', '.join(worse)}.")
        if alike:
            said.append(
                f"Any of these will do, within {MARGIN:.0%} of the best: {', '.join([best.name, *alike])}."
            )
        if unclear:
            largest = np.max([losses[name] for name in unclear])
            possible = f": losses of up to {largest:.1%} are possible" if np.isfinite(largest) else ""
            said.append(f"The queries are too few to tell {best.name} from {', '.join(unclear)}{possible}.")
        queries = counted(self.n_queries, "validation query", "validation queries")
        return f"{' '.join(said)} ({self.measure!r} of {queries}, {self.comparison.criterion}.)"

    def _largest_loss(self, one: Finalist) -> float:
        """The most that a finalist may lose of the best mean, by the 95% interval, as a share of that mean."""
        mean = abs(self.best.means[0])
        return 0.0 if one.low >= 0 else float("inf") if mean == 0 else -one.low / mean


@dataclass(frozen=True, eq=False)
class Front:
    """The trade-off of several measures among the complete trials.

    Attributes
    ----------
    measures : tuple of Measure
        At least two.
    trials : tuple of Trial
        The trials, of which the complete ones count.
    weight : float64 (n,)
        The weight of each query.

    """

    measures: tuple[Measure, ...]
    trials: tuple[Trial, ...]
    weight: NDArray[np.float64]

    @cached_property
    def on(self) -> tuple[Trial, ...]:
        """The trials on the front, the highest first measure first."""
        complete = by_mean(self.trials)
        on = non_dominated([trial.means for trial in complete])
        return tuple(complete[at] for at in np.flatnonzero(on))

    @cached_property
    def balanced(self) -> Trial:
        """The trial on the front with the highest second measure and no significant loss of the first one.

        The loss is from the trial that is best on the first measure.
        """
        if self.comparison is None:
            return self.on[0]
        name = best_without_loss(self.comparison, *self.measures[:2])
        return next(trial for trial in self.on if f"trial {trial.number}" == name)

    @property
    def lossless(self) -> tuple[bool, ...]:
        """Whether each trial on the front has no significant loss of the first measure."""
        if self.comparison is None:
            return (True,)
        kept = {self.comparison.baseline, *without_loss(self.comparison, self.measures[0])}
        return tuple(f"trial {trial.number}" in kept for trial in self.on)

    @property
    def loss(self) -> str:
        """How much the first measure of `balanced` differs from the best trial's, in words; "" for the best itself."""
        if self.comparison is None:
            return ""
        return loss_of(self.comparison, f"trial {self.balanced.number}", self.measures[0])

    @cached_property
    def comparison(self) -> Comparison | None:
        """The others on the front with the best on the first measure; None for a single trial."""
        return compared(self.on, self.measures[:2], self.weight)
