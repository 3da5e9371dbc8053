"""What a measure contributes to a pair rule: gains, discounts and a cutoff."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost.datasets import Queries


def check_dcg(name: str, metric: object) -> None:
    """Raise where `metric` is not a measure of the DCG family."""
    if not hasattr(metric, "normalized_gains"):
        raise TypeError(
            f"{name} is {metric!r}, expected a measure of the DCG family such as NDCG() or CNDCG()"
        )


def discounts(q: Queries, k: int | None) -> NDArray[np.float32]:
    """D(r) = 1/log2(1 + r) for ranks r from 1, 0 past the cutoff k, as long as the longest list."""

    def build() -> NDArray[np.float32]:
        d = 1 / np.log2(2 + np.arange(q.sizes.max()))
        d[k:] = 0 if k is not None else d[k:]
        return d.astype(np.float32)

    return q.memo(("discounts", k), build)


def dcg_parts(metric: Any, q: Queries) -> tuple[NDArray[np.float32], NDArray[np.float32], int]:
    """Gains divided by the ideal DCG, discounts by rank, and the cutoff of a measure of the DCG family."""
    return metric.normalized_gains(q), discounts(q, metric.k), metric.k or q.n_documents
