"""Models of grades on XGBoost: its classifiers, which train on other labels than the grades."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import xgboost as xgb

from lambdaboost.datasets import Queries
from lambdaboost.datasets.engines import queries_of
from lambdaboost.objectives.mcrank import GradeModel, OrdinalMcRank


def classifier(params: Mapping[str, Any], model: GradeModel) -> dict[str, Any]:
    """The parameters with which XGBoost trains the model."""
    own: dict[str, Any] = {"objective": "multi:softprob", "num_class": model.outputs}
    if isinstance(model, OrdinalMcRank):
        own = {"objective": "binary:logistic"}
    if params.get("eval_metric") is None:
        own["disable_default_eval_metric"] = True
    return {**params, **own}


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
        for data in {id(matrix): matrix for matrix in matrices}.values() if _has_thresholds(model) else ():
            q = queries_of(data, names)
            before.append((data, data.get_label(), getattr(data, "sources", None)))
            data.sources = dict(q.labels)
            data.set_label(model.reached(q.relevance))
        yield
    finally:
        for data, label, sources in before:
            data.set_label(label)
            data.sources = sources


def _has_thresholds(model: Any) -> bool:
    return isinstance(model, OrdinalMcRank)


class Grades:
    """The methods of a matrix that a metric calls; the label is the grade, which the matrix may lack in training."""

    def __init__(self, q: Queries) -> None:
        self.q = q

    def get_label(self) -> Any:
        """The grades; 0 if missing."""
        return np.nan_to_num(self.q.relevance)

    def get_uint_info(self, field: str) -> Any:
        """The first rows of queries."""
        return {"group_ptr": self.q.offsets}[field]

    def get_group(self) -> Any:
        """The number of documents of each query."""
        return self.q.sizes
