"""`Difference`: the difference of a system from the baseline on one measure, by query, and its significance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import shown
from lambdaboost.evaluation.comparison.weighted_t import ROUNDING, WeightedMean, two_sided_p, weighted_mean
from lambdaboost.evaluation.measure import Measure

BATCH = 1_000_000  # values in memory at a time in the randomisation test


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """The difference of a system from the baseline on one measure, over the compared queries.

    Means, p-values and intervals are weighted by `weight`; wins, ties and losses are counts.

    Attributes
    ----------
    baseline, system : str
        Their names.
    measure : Measure
        The measure.
    queries : int64 (n,)
        The compared queries.
    before, after : float64 (n,)
        The values of the baseline and of the system on each of them.
    weight : float64 (n,)
        The weight of each of them, > 0.

    """

    baseline: str
    system: str
    measure: Measure
    queries: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    weight: NDArray[np.float64]

    def __repr__(self) -> str:
        change = f"{self.mean:+.4f}, p={self.p_value:.3g}"
        return f"Difference({shown(self.system)} to {shown(self.baseline)}, {self.measure!r}: {change})"

    @property
    def per_query(self) -> NDArray[np.float64]:
        """`after` − `before`, float64 (n,)."""
        return self.after - self.before

    @property
    def mean(self) -> float:
        """The mean difference."""
        return self._weighted.mean

    @property
    def mean_before(self) -> float:
        """The mean of the baseline."""
        return float(np.average(self.before, weights=self.weight))

    @property
    def mean_after(self) -> float:
        """The mean of the system."""
        return float(np.average(self.after, weights=self.weight))

    @property
    def wins(self) -> int:
        """Number of queries on which the system is better."""
        return int((self.per_query > ROUNDING).sum())

    @property
    def losses(self) -> int:
        """Number of queries on which the baseline is better."""
        return int((self.per_query < -ROUNDING).sum())

    @property
    def ties(self) -> int:
        """Number of queries on which both are equal."""
        return self.queries.size - self.wins - self.losses

    @cached_property
    def p_value(self) -> float:
        """The p-value of the paired t-test, for this comparison alone (Svore, Volkovs and Burges 2011, §6).

        Weights count as in the means, with the variance and the degrees of freedom of Bell and McCaffrey (2002); equal
        weights give the ordinary paired t-test. The result is at least 2 / 2^m for m queries that differ, the lowest
        p-value of a sign-flip test: two equal improvements give p = 0.5, and fewer than six queries are never
        significant at 0.05.
        """
        return two_sided_p(self.per_query, self.weight)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the mean difference: all means that the test behind `p_value` does not reject.

        It contains 0 if and only if ``p_value >= 1 - level``, and is infinite for too few queries to be significant
        (fewer than six at 95%).
        """
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}: give a confidence level between 0 and 1, such as 0.95")
        alpha = 1 - level
        if 2 * 0.5**self.queries.size >= alpha:
            return -np.inf, np.inf
        mean, error, df = self._weighted
        reach = float(stdtrit(df, 1 - alpha / 2)) * error
        if self.p_value < alpha:
            return mean - reach, mean + reach
        return min(mean - reach, 0.0), max(mean + reach, 0.0)

    def randomisation(self, resamples: int = 2000) -> float:
        """The p-value of the randomisation test: how often random sign flips give as large a mean difference.

        Exact if 2^n ≤ `resamples`.
        """
        from scipy.stats import permutation_test

        if self.queries.size < 2:
            return 1.0
        test = permutation_test(
            (self.per_query * self.weight / self.weight.mean(),),
            np.mean,
            permutation_type="samples",
            n_resamples=resamples,
            batch=max(1, BATCH // self.queries.size),
            vectorized=True,
            random_state=np.random.default_rng(0),
        )
        return float(test.pvalue)

    @cached_property
    def _weighted(self) -> WeightedMean:
        return weighted_mean(self.per_query, self.weight)
