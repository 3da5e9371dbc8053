"""What both `LambdaRanker`s share: the queries that they score, and their `eval_…` arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

from numpy.typing import ArrayLike

from lambdaboost.datasets import Queries
from lambdaboost.datasets.named_columns import NamedColumns
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.evaluation import Measure


def scored_queries(
    columns: NamedColumns, X: Any, y: ArrayLike, group: Any, qid: Any, measure: Any
) -> tuple[Any, Queries]:
    """Features, and the queries with the label source and the positions that `measure` reads."""
    sources = measure.sources if isinstance(measure, Measure) else ()
    needed = [source for source in sources if source != RELEVANCE]
    reads_positions = isinstance(measure, Measure) and measure.reads_positions
    rows = columns.split("X", X, group, qid, needed=needed, needs_position=reads_positions)
    labels = {name: (rows.sources or {})[name] for name in needed}
    return rows.features, Queries(y, rows.sizes, position=rows.position, **labels)


# The parameters of a `LambdaRanker` that its engine's ranker does not have.
OWN = frozenset({"objective", "leaves", "query", "sources", "position"})


def check_one_each(lists: Mapping[str, Sized | None], n: int) -> None:
    """Raise if a list does not have one item for each of `n` validation sets."""
    for name, values in lists.items():
        if values is not None and len(values) != n:
            raise ValueError(f"{name} has {len(values)} items, eval_set {n}: give one for each set")


def listed(eval_metric: Any) -> Sequence[Any]:
    """One metric, several or none as a list; raises if one is not a measure, name or callable."""
    asked = [] if eval_metric is None else eval_metric
    metrics = list(asked) if isinstance(asked, list | tuple) else [asked]
    for metric in metrics:
        if isinstance(metric, type) or not (isinstance(metric, str | Measure) or callable(metric)):
            raise TypeError(
                f"eval_metric has {metric!r}, expected measures such as NDCG(k=3), names or callables"
            )
    return metrics
