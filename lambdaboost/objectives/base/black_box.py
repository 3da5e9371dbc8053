"""A measure as a function of the scores: a `Measure`, or a Python function of your own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lambdaboost._checks import check_number
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import NDCG, Measure
from lambdaboost.objectives.base.objective import Floats, Objective

# Called like `Measure.per_query`: scores float64 (n_documents,) and their queries give (n_queries,), higher is better.
PerQuery = Callable[[Floats, Queries], Any]

WANTED = (
    "a measure such as NDCG(k=10), or a function (scores, q) of float64 (n_documents,) and lambdaboost.Queries "
    "that returns one number a query, shape (q.n_queries,)"
)


class BlackBox(Objective, registered=False):
    """An objective that evaluates `metric` at other scores; it reads what that measure reads, a function any source."""

    metric: Measure | PerQuery = NDCG()
    step: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.metric, type) or not callable(self.metric):
            raise TypeError(f"metric is {self.metric!r}, expected {WANTED}")
        check_number("step", self.step, above=0)

    @property
    def reads_positions(self) -> bool:  # type: ignore[override]
        """Whether the measure does."""
        return isinstance(self.metric, Measure) and self.metric.reads_positions

    @property
    def ranks_ties_by_row(self) -> bool:  # type: ignore[override]
        """Unless the measure reads the values of scores, not their order."""
        return not (isinstance(self.metric, Measure) and self.metric.reads_scores)


def per_query(metric: Measure | PerQuery, scores: Floats, q: Queries) -> Floats:
    """The metric of each query, float64 (n_queries,); 0 where a `Measure` is undefined.

    Raises
    ------
    TypeError, ValueError
        Where a function does not return finite numbers, one a query.

    """
    if isinstance(metric, Measure):
        return np.nan_to_num(metric.per_query(scores, q))
    name, given = getattr(metric, "__name__", repr(metric)), metric(scores, q)
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"the measure {name} returned {given!r}, expected {WANTED}: {error}") from None
    if values.shape != (q.n_queries,):
        raise ValueError(
            f"the measure {name} returned shape {values.shape} for {q.n_queries} queries, expected {WANTED}"
        )
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        labels = q.relevance[q.offsets[bad] : q.offsets[bad + 1]]
        shown = np.array2string(labels, threshold=8, edgeitems=3, max_line_width=200)
        raise ValueError(
            f"the measure {name} returned {values[bad]} for a query with relevance {shown}: "
            "let it return a finite number, such as 0, where it is undefined"
        )
    return values
