"""A measure as a function of the scores: a `Measure`, or a Python function of your own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import Measure
from lambdaboost.objectives.base.objective import Floats, Objective

# Called like `Measure.per_query`: scores float64 (n_documents,) and their queries give (n_queries,), higher is better.
PerQuery = Callable[[Floats, Queries], Any]

WANTED = (
    "a measure such as NDCG(k=10), or a function (scores, q) of float64 (n_documents,) and lambdaboost.Queries "
    "that returns one number a query, shape (q.n_queries,)"
)


def check_metric(name: str, metric: object) -> None:
    """Raise where `metric` is neither a measure nor a function."""
    if isinstance(metric, type) or not callable(metric):
        raise TypeError(f"{name} is {metric!r}, expected {WANTED}")


class BlackBox(Objective):
    """An objective that evaluates `metric` at other scores; it reads what that measure reads."""

    metric: Measure | PerQuery

    @property
    def reads_positions(self) -> bool:  # type: ignore[override]
        """Whether the measure does."""
        return isinstance(self.metric, Measure) and self.metric.reads_positions

    @property
    def sources(self) -> tuple[str, ...]:
        """The label sources that it needs; a function may read others as well."""
        return self.metric.sources if isinstance(self.metric, Measure) else (RELEVANCE,)

    @property
    def allows_negative(self) -> bool:
        """Whether labels may be below 0; a function may read them as gains."""
        return isinstance(self.metric, Measure) and self.metric.allows_negative


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
        labels = _shown(q.relevance[q.offsets[bad] : q.offsets[bad + 1]])
        raise ValueError(
            f"the measure {name} returned {values[bad]} for a query with relevance {labels}: "
            "let it return a finite number, such as 0, where it is undefined"
        )
    return values


def _shown(labels: NDArray[np.float32]) -> str:
    return np.array2string(labels, threshold=8, edgeitems=3, max_line_width=200)
