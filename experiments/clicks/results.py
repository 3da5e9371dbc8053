"""The outcomes of all data sets, folds and users, and comparisons over pooled test queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.clicks.study import MEASURE
from experiments.common.workers import Outcome
from lambdaboost.evaluation import Comparison, compare_values


@dataclass(frozen=True, eq=False)
class Results:
    """Outcomes by data set, users and fold."""

    outcomes: Mapping[tuple[str, str, int], Outcome]

    @property
    def data_sets(self) -> list[str]:
        """Their names."""
        return list(dict.fromkeys(name for name, _, _ in self.outcomes))

    @property
    def users(self) -> list[str]:
        """Names of the users."""
        return list(dict.fromkeys(users for _, users, _ in self.outcomes))

    def of(self, users: str, data_set: str | None = None) -> list[Outcome]:
        """The outcomes of one kind of users, of all data sets or one."""
        return [
            outcome
            for (name, simulated, _), outcome in self.outcomes.items()
            if simulated == users and data_set in (None, name)
        ]

    def systems(self, users: str) -> list[str]:
        """Names of the rankers of every fold."""
        held = [{name for name in outcome if name.startswith("NDCG ")} for outcome in self.of(users)]
        return [
            name.removeprefix("NDCG ") for name in self.of(users)[0] if all(name in names for names in held)
        ]

    def figures(self, system: str, users: str, data_set: str | None = None) -> NDArray[np.float64]:
        """NDCG@10 of all test queries by one ranker; NaN for queries without a relevant document."""
        return np.concatenate([outcome[f"NDCG {system}"] for outcome in self.of(users, data_set)])

    def mean(self, system: str, users: str, data_set: str | None = None) -> float:
        """Mean NDCG@10 over the queries with a relevant document."""
        return float(np.nanmean(self.figures(system, users, data_set)))

    def best(self, systems: Iterable[str], users: str) -> str:
        """The ranker with the highest pooled mean."""
        return max(systems, key=lambda system: self.mean(system, users))

    def compared(
        self, baseline: str, systems: Sequence[str], users: str, data_set: str | None = None
    ) -> Comparison:
        """Rankers against a baseline, query by query, over one or all data sets; one family of tests."""
        return compare_values(
            {name: {MEASURE: self.figures(name, users, data_set)} for name in (baseline, *systems)}
        )

    def covered(self, estimate: str, truth: NDArray[np.float64], users: str) -> tuple[int, int]:
        """Positions past the first whose interval holds the true value, and all of them, over sets and folds."""
        held = [
            (curve[1, 1:] <= true) & (true <= curve[2, 1:])
            for outcome in self.of(users)
            if (curve := outcome.get(f"curve {estimate}")) is not None
            for true in [truth[1 : curve.shape[1]]]
        ]
        return int(sum(part.sum() for part in held)), sum(part.size for part in held)
