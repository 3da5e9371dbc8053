"""How sure the choice is: paired tests between the best trials of the candidates, and the simplest that is as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation import Figures, Measure, compare
from lambdaboost.evaluation.comparison.compare import Comparison
from lambdaboost.evaluation.comparison.significance import Significance
from lambdaboost.evaluation.comparison.weighted_t import within_one_error
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.trial import Trial, best_of

OPTIMISM = (
    "The best validation mean is optimistic, because it is the maximum of many: expect less on new queries. The tests "
    "compare finalists that were chosen on the same queries, and a candidate of few trials may be better than it looks "
    "here."
)
MARGIN = 0.005  # half a point: a difference that will hardly matter


@dataclass(frozen=True, eq=False)
class Choice:
    """The best trial of each candidate, compared query by query on the validation queries.

    Attributes
    ----------
    measure : Measure
        The measure that decides.
    candidates : tuple of Candidate
        From simple to complex.
    finalists : tuple of Trial
        The best trial of each candidate that has a complete one, the best of all first.
    weight : float64 (n,)
        The weight of each query.
    tried : tuple of int
        How many trials each candidate had.

    """

    measure: Measure
    candidates: tuple[Candidate, ...]
    finalists: tuple[Trial, ...]
    weight: NDArray[np.float64]
    tried: tuple[int, ...]

    @property
    def best(self) -> Trial:
        """The finalist with the highest mean."""
        return self.finalists[0]

    @cached_property
    def comparison(self) -> Comparison | None:
        """The best against the others, by query; None for a single finalist."""
        if len(self.finalists) < 2:
            return None
        best, *others = (
            Figures(self.name(trial), {self.measure: trial.outcome.values[0]}, self.weight)
            for trial in self.finalists
        )
        return compare(best, *others, measures=self.measure)

    def name(self, trial: Trial) -> str:
        """The name of a trial's candidate."""
        return self.candidates[trial.candidate].name

    def significance(self, trial: Trial) -> Significance | None:
        """How a finalist compares with the best, adjusted by Holm's method; None for the best itself."""
        if self.comparison is None or trial is self.best:
            return None
        return self.comparison.significance[self.name(trial), self.measure]

    @cached_property
    def simplest(self) -> Trial:
        """The simplest finalist whose mean is within one standard error of the difference of the best's mean.

        The one-standard-error rule (Breiman et al. 1984), with the error of the paired difference.
        """
        return min(filter(self.within_one_error, self.finalists), key=lambda trial: trial.candidate)

    def within_one_error(self, trial: Trial) -> bool:
        """Whether the mean difference from the best is at most its standard error."""
        values = self.best.outcome.values[0], trial.outcome.values[0]
        return trial is self.best or within_one_error(*values, self.weight)

    @property
    def equals(self) -> list[Trial]:
        """The finalists that are not significantly worse than the best, the best first."""
        return [
            trial for trial in self.finalists if (s := self.significance(trial)) is None or not s.is_worse
        ]

    @property
    def missing(self) -> list[str]:
        """The candidates without a complete trial, for the budget was too small or they were clearly worse."""
        there = {trial.candidate for trial in self.finalists}
        return [candidate.name for at, candidate in enumerate(self.candidates) if at not in there]

    @property
    def verdict(self) -> str:
        """What the tests say, in one or two sentences."""
        best = self.name(self.best)
        if self.comparison is None:
            others = f"; {', '.join(self.missing)} were not" if self.missing else ""
            return f"Only {best} was trained to the end{others}: there is nothing to compare it with."
        worse = [trial for trial in self.finalists if trial not in self.equals]
        n = self.comparison.n_queries
        queries = "1 validation query" if n == 1 else f"{n} validation queries"
        on = f"{self.measure!r} of {queries}, {self.comparison.criterion}"
        said = []
        if worse:
            named = ", ".join(f"{self._named(trial)} (p = {self._p(trial):.2g})" for trial in worse)
            said.append(f"{best} is better than {named}.")
        if len(self.equals) > 1:
            said += self._of_equals()
        if missing := self.missing:
            said.append(f"Never trained to the end: {', '.join(missing)}.")
        return f"{' '.join(said)} ({on}.)"

    def _of_equals(self) -> list[str]:
        """What the tests say of the finalists that are not worse: which are as good, and which cannot be told apart."""
        assert self.comparison is not None
        lows = {t: self.comparison[self.name(t), self.measure].interval()[0] for t in self.equals[1:]}
        alike = [t for t, low in lows.items() if low >= -MARGIN]
        unclear = {t: low for t, low in lows.items() if low < -MARGIN}
        said = []
        if alike:
            names = ", ".join(map(self.name, [self.best, *alike]))
            said.append(f"Any of these will do, within {MARGIN:g}: {names}.")
        if unclear:
            lowest = min(unclear.values())
            possible = f": losses of up to {-lowest:.2g} are possible" if np.isfinite(lowest) else ""
            names = ", ".join(map(self.name, unclear))
            said.append(f"The queries are too few to tell {self.name(self.best)} from {names}{possible}.")
        return said

    def _named(self, trial: Trial) -> str:
        """Its name; a candidate of one trial may be better with other settings."""
        return self.name(trial) + (" at its defaults" if self.tried[trial.candidate] == 1 else "")

    def _p(self, trial: Trial) -> float:
        found = self.significance(trial)
        return float("nan") if found is None else found.adjusted


def chosen_from(
    measure: Measure, candidates: tuple[Candidate, ...], trials: Sequence[Trial], weight: NDArray[np.float64]
) -> Choice:
    """The choice among the complete trials.

    Raises
    ------
    ValueError
        If no trial is complete.

    """
    best = [best_of([t for t in trials if t.candidate == at], weight) for at in range(len(candidates))]
    finalists = sorted((t for t in best if t is not None), key=lambda t: (-t.means(weight)[0], t.candidate))
    if not finalists:
        raise ValueError("no training is complete within the budget of minutes: give more")
    tried = tuple(sum(t.candidate == at for t in trials) for at in range(len(candidates)))
    return Choice(measure, candidates, tuple(finalists), weight, tried)
