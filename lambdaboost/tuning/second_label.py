"""`SecondLabel`: whether a second label helps on these data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation import Measure, best_without_loss
from lambdaboost.tuning.candidates import Candidate
from lambdaboost.tuning.choice import MARGIN, compared
from lambdaboost.tuning.trial import Trial, by_mean


@dataclass(frozen=True, eq=False)
class SecondLabel:
    """The best trial that trains on one label against the best that trains on several, on every measure.

    Both are the best on the first measure; of several measures, the one with several labels has the highest second
    measure without a significant loss of the first. The fields are those of `Choice`, with all measures.
    """

    measures: tuple[Measure, ...]
    candidates: tuple[Candidate, ...]
    trials: tuple[Trial, ...]
    weight: NDArray[np.float64]

    @cached_property
    def pair(self) -> tuple[Trial, Trial] | None:
        """The trial on one label and the trial on several; None unless both kinds have a complete one."""
        labels = [len(candidate.objective.sources) for candidate in self.candidates]
        ranked = by_mean(self.trials)
        ones = [trial for trial in ranked if labels[trial.candidate] == 1]
        several = [trial for trial in ranked if labels[trial.candidate] > 1]
        if not ones or not several:
            return None
        found = compared([ones[0], *several], self.measures, self.weight)
        name = best_without_loss(found, *self.measures[:2]) if found and len(self.measures) > 1 else ""
        return ones[0], next((trial for trial in several if f"trial {trial.number}" == name), several[0])

    @property
    def verdict(self) -> str:
        """What the tests say of each measure, adjusted for their number; "" unless both were trained."""
        comparison = None if self.pair is None else compared(self.pair, self.measures, self.weight)
        if self.pair is None or comparison is None:
            return ""
        one, several = (self.candidates[trial.candidate].name for trial in self.pair)
        changes = {m: comparison[comparison.systems[0], m] for m in self.measures}
        effects = []
        for mark, effect in (("▲", "raises"), ("▼", "lowers")):
            moved = [repr(m) for (_, m), test in comparison.significance.items() if test.mark == mark]
            effects += [f"{effect} {', '.join(moved)}"] if moved else []
        if effects:
            said = f"A second label {' and '.join(effects)}"
        elif all(c.interval()[1] <= MARGIN * abs(c.mean_before) for c in changes.values()):
            said = f"A second label does not help here, or by {MARGIN:.0%} at most"
        else:
            said = "The queries are too few to tell whether a second label helps"
        figures = ", ".join(f"{m!r} {c.mean:+.4f} ({c.interval_text()})" for m, c in changes.items())
        return f"{said}: {several} against {one} {figures}."
