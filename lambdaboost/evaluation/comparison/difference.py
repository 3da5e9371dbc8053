"""`Difference`: how two systems differ on one measure, query by query, and whether it may be chance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lambdaboost.evaluation.measure import Measure

NOISE = 1e-12  # figures closer than this are equal but for rounding
BATCH = 1_000_000  # figures that resampling holds at a time


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """The difference of a system to the baseline on one measure, over the queries where both are defined.

    Every query counts alike, whatever its weight.

    Attributes
    ----------
    baseline, system : str
        The names of the two.
    measure : Measure
        What is measured.
    queries : int64 (n,)
        The queries that are compared.
    before, after : float64 (n,)
        The measure of the baseline and of the system for each of them.

    """

    baseline: str
    system: str
    measure: Measure
    queries: NDArray[np.int64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    def __repr__(self) -> str:
        change = f"{self.mean:+.4f}, p={self.p_value:.3g}"
        return f"Difference({self.system!r} to {self.baseline!r}, {self.measure!r}: {change})"

    @property
    def per_query(self) -> NDArray[np.float64]:
        """After less before, float64 (n,)."""
        return self.after - self.before

    @property
    def mean(self) -> float:
        """The mean difference."""
        return float(self.per_query.mean())

    @property
    def wins(self) -> int:
        """Number of queries on which the system is better."""
        return int((self.per_query > NOISE).sum())

    @property
    def losses(self) -> int:
        """Number of queries on which the baseline is better."""
        return int((self.per_query < -NOISE).sum())

    @property
    def ties(self) -> int:
        """Number of queries on which they are equal."""
        return self.queries.size - self.wins - self.losses

    def changed_most(self, n: int = 10) -> NDArray[np.int64]:
        """The n queries that differ most, either way, the largest first."""
        return self.queries[np.argsort(-np.abs(self.per_query), kind="stable")[:n]]

    @cached_property
    def p_value(self) -> float:
        """Of the paired t-test (Svore, Volkovs and Burges 2011, §6); 1 where all differ by the same."""
        from scipy.stats import ttest_rel

        return 1.0 if self._is_constant else float(ttest_rel(self.after, self.before).pvalue)

    def interval(self, level: float = 0.95, resamples: int = 2000, seed: int = 0) -> tuple[float, float]:
        """The paired bootstrap interval of the mean difference: percentiles over resampled queries."""
        from scipy.stats import bootstrap

        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}: give a confidence level between 0 and 1, such as 0.95")
        if self._is_constant:
            return self.mean, self.mean
        low, high = bootstrap(
            (self.per_query,),
            np.mean,
            confidence_level=level,
            method="percentile",
            n_resamples=resamples,
            batch=self._batch,
            random_state=np.random.default_rng(seed),
        ).confidence_interval
        return float(low), float(high)

    def randomisation(self, resamples: int = 2000, seed: int = 0) -> float:
        """The p-value of the randomisation test: how often flipped signs give as large a mean difference."""
        from scipy.stats import permutation_test

        if self.queries.size < 2:
            return 1.0
        test = permutation_test(
            (self.per_query,),
            np.mean,
            permutation_type="samples",
            n_resamples=resamples,
            batch=self._batch,
            vectorized=True,
            random_state=np.random.default_rng(seed),
        )
        return float(test.pvalue)

    @property
    def _is_constant(self) -> bool:
        return self.queries.size < 2 or bool(np.ptp(self.per_query) < NOISE)

    @property
    def _batch(self) -> int:
        return max(1, BATCH // self.queries.size)
