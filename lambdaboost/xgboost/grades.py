"""Models of grades on XGBoost: its classifiers, which train on other labels than the grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import xgboost as xgb

from lambdaboost.calls.data import queries_of
from lambdaboost.datasets import Queries
from lambdaboost.objectives.mcrank import GradeModel, OrdinalMcRank


def classifier(params: Mapping[str, Any], model: GradeModel) -> dict[str, Any]:
    """The parameters with which XGBoost trains the model."""
    if isinstance(model, OrdinalMcRank):
        return {**params, "objective": "binary:logistic"}
    return {**params, "objective": "multi:softprob", "num_class": model.outputs}


def check_unweighted(model: GradeModel, data: xgb.DMatrix) -> None:
    """Raise for weights of queries, which XGBoost's classifiers would read as weights of rows."""
    if data.get_weight().size:
        raise ValueError(
            f"weights of queries are given: XGBoost's classifiers take none; leave them out for {model!r}, or train "
            "on LightGBM"
        )


@contextmanager
def relabelled(model: Any, matrices: Iterable[xgb.DMatrix], names: tuple[str, ...]) -> Iterator[None]:
    """Replace the labels of the matrices by those of the thresholds, one for each binary classifier.

    `queries_of` still returns the grades. Models other than `OrdinalMcRank` learn the grades themselves.
    """
    before = []
    try:
        distinct = {id(matrix): matrix for matrix in matrices}.values()
        for data in distinct if isinstance(model, OrdinalMcRank) else ():
            q = queries_of(data, names)
            before.append((data, data.get_label(), getattr(data, "sources", None)))
            data.sources = dict(q.labels)
            data.set_label(model.reached(q.relevance))
        yield
    finally:
        for data, label, sources in before:
            data.set_label(label)
            data.sources = sources


def as_matrix(q: Queries) -> Any:
    """What a metric calls of a matrix; the label is the grade, which the matrix may lack in training."""
    return SimpleNamespace(
        get_label=lambda: np.nan_to_num(q.relevance),
        get_uint_info={"group_ptr": q.offsets}.__getitem__,
        get_group=lambda: q.sizes,
    )
