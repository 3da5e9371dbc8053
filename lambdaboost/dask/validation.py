"""The validation data of `train`, which every worker holds whole."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from lambdaboost._checks import check_whole, saying
from lambdaboost._words import shown
from lambdaboost.dask.rows import Rows, check_sources, named, spread
from lambdaboost.datasets import Collection, Queries
from lambdaboost.evaluation import Measure

FORM = "{'X': …, 'y': …, 'qid': …}, by the names of the arguments of train"
NEEDED, OPTIONAL = ("X", "y", "qid"), ("weight", "sources", "position")


def held_out_rows(client: Any, X: Any, valid: Any, measure: Any, early_stopping: int | None) -> list[Any]:
    """Checked validation data, with the columns of X, as `Rows` on the workers; an empty list for none."""
    if valid is None and early_stopping is None:
        return []
    if valid is None or early_stopping is None:
        raise ValueError("valid and early_stopping go together: give both, or neither")
    check_whole("early_stopping", early_stopping)
    if not isinstance(measure, Measure):
        raise TypeError(f"measure is {measure!r}: give a measure, such as NDCG(k=10)")
    if isinstance(valid, Collection):
        return [client.scatter(_of_client(X, valid, measure), hash=False)]
    if isinstance(valid, Mapping):
        return _of_workers(client, X, valid, measure)
    raise TypeError(
        f"valid is a {type(valid).__name__}, expected Collection(features, Queries(…)), or Dask collections as {FORM}"
    )


def _of_client(X: Any, valid: Collection, measure: Measure) -> Rows:
    """Validation data that are in this process."""
    features, q = valid
    _check_width(X, valid.n_features)
    _try(measure, q)
    if hasattr(X, "columns"):
        import pandas as pd

        dense = features if isinstance(features, np.ndarray) else features.toarray()
        features = pd.DataFrame(dense, columns=X.columns)
    return Rows(features, q)


def _of_workers(client: Any, X: Any, valid: Mapping[str, Any], measure: Measure) -> list[Any]:
    """Validation data that only workers read."""
    for name in NEEDED:
        if valid.get(name) is None:
            raise ValueError(f"valid has no {name}: give {FORM}")
    for name in valid:
        if name not in (*NEEDED, *OPTIONAL):
            raise ValueError(f"valid has {shown(name)}: give {FORM}")
    features, y, qid = (valid[name] for name in NEEDED)
    _check_columns(X, features)
    with saying("valid"):
        given = named(y, qid, *map(valid.get, OPTIONAL))
        check_sources(measure, given)
        return [part.rows for part in spread(client, {"X": features}, given, partial(_try, measure))]


def _try(measure: Measure, q: Queries) -> None:
    """Raise if the measure refuses queries."""
    measure.per_query(np.zeros(q.n_documents), q)


def _check_columns(X: Any, features: Any) -> None:
    """Raise if a collection has other columns than X."""
    if len(getattr(features, "shape", ())) == 2:
        _check_width(X, features.shape[1])
    if hasattr(X, "columns") != hasattr(features, "columns"):
        raise TypeError(f"valid has X as {_kind(features)}, train as {_kind(X)}: give the same kind")
    for at, (name, other) in enumerate(
        zip(getattr(X, "columns", ()), getattr(features, "columns", ()), strict=True)
    ):
        if name != other:
            raise ValueError(
                f"valid has {shown(other)} as column {at}, X has {shown(name)}: give the same columns in the same order"
            )


def _check_width(X: Any, n: int) -> None:
    if len(getattr(X, "shape", ())) == 2 and X.shape[1] != n:
        raise ValueError(f"valid has {n} features, X has {X.shape[1]}: give the same columns")


def _kind(values: Any) -> str:
    return type(values).__name__
