"""What both `LambdaRanker`s share: the queries of data frames, and the measures of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

from numpy.typing import ArrayLike

from lambdaboost.datasets import Queries
from lambdaboost.datasets.columns import features_and_qid, sizes_of
from lambdaboost.evaluation import Measure


def scored_queries(X: Any, y: ArrayLike, group: Any, qid: Any) -> tuple[Any, Queries]:
    """Features, and the queries that `score` needs, as `group`, as `qid` or as column ``qid`` of X."""
    X, qid = features_and_qid("X", X, group, qid)
    sizes = sizes_of(group, qid)
    if sizes is None:
        raise ValueError(
            "X has no column 'qid', and there is no qid or group: score needs the query of each row"
        )
    return X, Queries(y, sizes)


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
