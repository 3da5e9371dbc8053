"""`Rows`: values of test queries by row and set; their means, regrets and comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.common.report import table
from experiments.common.verdicts import marked
from lambdaboost import NDCG
from lambdaboost.evaluation import Comparison, compare_values

ByRow = Mapping[str, Mapping[str, NDArray[np.float64]]]


@dataclass(frozen=True, eq=False)
class Rows:
    """Values of each row on each set, the same queries in all rows."""

    values: ByRow
    measure: NDCG

    @property
    def sets(self) -> list[str]:
        """The sets."""
        return list(next(iter(self.values.values())))

    def mean(self, row: str, data: str) -> float:
        """The mean of a row on a set."""
        return float(self.values[row][data].mean())

    def regret(self, row: str) -> float:
        """The highest mean of any row on a set less that of this one, mean over the sets."""
        best = {data: max(self.mean(other, data) for other in self.values) for data in self.sets}
        return float(np.mean([best[data] - self.mean(row, data) for data in self.sets]))

    def compared(self, baseline: str) -> Comparison:
        """All other rows with one, query by query, every query counting once."""
        rows = (baseline, *(row for row in self.values if row != baseline))
        return compare_values(
            {row: {self.measure: np.concatenate(list(self.values[row].values()))} for row in rows}
        )

    def table(self, baseline: str, caption: str) -> str:
        """Every row against one; the caption may name the criterion."""
        found = self.compared(baseline)
        rows = []
        for row in self.values:
            mean = f"{100 * np.mean([self.mean(row, data) for data in self.sets]):.2f}"
            cells = [mean, "", ""]
            if row != baseline:
                test = found[row, self.measure]
                cells = [marked(mean, test), f"{100 * test.difference:+.2f}", f"{test.p:.2g}"]
            by_set = [f"{100 * self.mean(row, data):.2f}" for data in self.sets]
            rows.append([row, f"{100 * self.regret(row):.2f}", *cells, *by_set])
        header = ["", "regret", "mean", "difference", "p", *self.sets]
        return table(header, rows, caption.format(criterion=found.criterion))
