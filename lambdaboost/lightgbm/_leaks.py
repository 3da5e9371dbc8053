"""Leaking features of a LightGBM data set."""

from __future__ import annotations

from typing import Any

from lambdaboost.datasets import Queries
from lambdaboost.datasets.columns import grades_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.leaks import warn_of_leaks


def warn_of_leaking_features(data: Any) -> None:
    """Warn of leaking features, unless LightGBM has already freed the features, which it does on construction."""
    if data.data is None or data.label is None or data.group is None or data.used_indices is not None:
        return
    labels = dict(getattr(data, "sources", None) or {})
    try:
        relevance = labels.pop(RELEVANCE) if RELEVANCE in labels else grades_of(data.label)
        q = Queries(relevance, data.group, **labels)
    except (TypeError, ValueError):
        return  # the training reports what is wrong
    names = data.feature_name
    warn_of_leaks(data.data, q, names if isinstance(names, list) else None)
