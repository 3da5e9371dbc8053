"""`DMatrix`: XGBoost's matrix with any number of label sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets._given import weights_of
from lambdaboost.datasets.columns import (
    check_no_dates,
    grades_of,
    query_weights,
    sizes_of,
    whole_queries,
)
from lambdaboost.datasets.engines import positions_in
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.labels import Labels, checked_positions, known_rows, labels_by_source
from lambdaboost.engines.traps import warn_of_narrow_labels
from lambdaboost.xgboost._private import move_handle

BOUNDS = ("label_lower_bound", "label_upper_bound")


class DMatrix(xgb.DMatrix):
    """An `xgboost.DMatrix` that carries further label sources and positions, and keeps them and weights in slices.

    The first two further sources are also stored as ``label_lower_bound`` and ``label_upper_bound``, which ranking does
    not read, and which `save_binary` keeps, without the names.

    Parameters
    ----------
    data : array, DataFrame, sparse matrix, …
        The features, as `xgboost.DMatrix` takes them.
    label : array of shape (n_documents,), optional
        Grades. XGBoost itself has no missing labels: if one is NaN, the grades are kept as source ``"relevance"``, and
        XGBoost's own metrics see 0 in its place.
    sources : mapping of str to array of shape (n_documents,), optional
        Further label sources by name, such as ``{"clicks": rate}``, or a DataFrame; NaN if missing. The grades may be
        given here as ``"relevance"``, in place of `label`.
    position : array of shape (n_documents,), optional
        The position of each row, as of `Queries`: ranks from 1 or categories, NaN or None where a row was not shown.
        XGBoost has no such field, and `save_binary` does not keep it.
    **fields
        The other arguments of `xgboost.DMatrix`: ``group=``, or ``qid=`` with the rows of a query adjacent;
        ``weight=``, one per query, or one per row, equal within each query; ``feature_names=``, ….

    Attributes
    ----------
    sources : dict of str to float32 (n_documents,), or None
    positions : Positions or None
        The positions, as codes from 1 with the names of the categories.

    Raises
    ------
    TypeError, ValueError
        If `sources` is not a mapping or frame, or one source has a wrong length, a reserved name, or is given twice.

    Examples
    --------
    >>> data = DMatrix([[0.1], [0.2], [0.3]], [2, 0, 1], qid=[7, 7, 8], sources={"clicks": [0.5, 0.1, float("nan")]})
    >>> data.sources["clicks"]
    array([0.5, 0.1, nan], dtype=float32)
    >>> data.slice([2]).sources["clicks"]
    array([nan], dtype=float32)

    """

    sources: Labels | None
    positions: Positions | None

    def __init__(
        self,
        data: Any,
        label: ArrayLike | None = None,
        *,
        sources: Mapping[str, ArrayLike] | None = None,
        position: Any = None,
        **fields: Any,
    ) -> None:
        self.sources = self.positions = None
        check_no_dates("data", data)
        label, labels = split_labels(label, sources)
        further = [values for name, values in labels.items() if name != RELEVANCE]
        for field, values in zip(BOUNDS, further, strict=False):
            if fields.get(field) is not None:
                raise ValueError(f"{field} and sources are both given: name that label in sources too")
            fields[field] = values
        super().__init__(data, label, **_by_query(fields, known_rows(data)))
        for name, values in labels.items():
            if values.size != self.num_row():
                raise ValueError(
                    f"sources[{name!r}] has {values.size} rows, data has {self.num_row()}: give one label per document"
                )
        self.sources = labels or None
        self.positions = checked_positions(position, self.num_row())

    def slice(self, rindex: ArrayLike, allow_groups: bool = False) -> DMatrix:
        """The rows `rindex`, with sources, positions and query weights; queries must stay whole in any case.

        Raises
        ------
        ValueError
            If `rindex` splits a query, which the message names, or has a row that does not exist.

        """
        return take(self, rindex)


def _by_query(fields: dict[str, Any], rows: int | None) -> dict[str, Any]:
    """The same fields, with sizes of queries in place of ids, and weights of queries in place of those of rows."""
    qid, group, weight = (fields.get(name) for name in ("qid", "group", "weight"))
    if any(hasattr(values, "__cuda_array_interface__") for values in (qid, group, weight)):
        return fields
    sizes = sizes_of(group, qid, rows)
    if sizes is None:
        return fields if weight is None else {**fields, "weight": weights_of("weight", weight)}
    if weight is not None:
        weight = query_weights("weight", weight, sizes, int(np.sum(sizes)))
    return {**fields, "qid": None, "group": sizes, "weight": weight}


def split_labels(label: Any, sources: Mapping[str, ArrayLike] | None) -> tuple[Any, Labels]:
    """The label for XGBoost, which accepts no NaN, and the sources to keep beside it."""
    labels = labels_by_source(sources)
    if RELEVANCE in labels:
        if label is not None:
            raise ValueError("label and sources['relevance'] are both given: give the grades in one of them")
        return np.nan_to_num(labels[RELEVANCE]), labels
    if label is None or hasattr(label, "__cuda_array_interface__"):
        return label, labels
    warn_of_narrow_labels("label", label)
    grades = grades_of(label)
    if np.isnan(grades).any():
        labels = {RELEVANCE: grades} | labels
    return np.nan_to_num(grades), labels


def take(data: xgb.DMatrix, rindex: ArrayLike) -> DMatrix:
    """Rows of any matrix in main memory as a `DMatrix`: whole queries with their weights, sources and positions."""
    rows = np.asarray(rindex)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise TypeError(f"rindex is {rows.dtype} of shape {rows.shape}, expected a list of row numbers")
    if rows.size and not (rows.min() >= 0 and rows.max() < data.num_row()):
        raise ValueError(
            f"rindex runs from {rows.min()} to {rows.max()}, data has rows 0 to {data.num_row() - 1}"
        )
    pointer = data.get_uint_info("group_ptr").astype(np.int64)
    queries = whole_queries("rindex", rows, pointer) if pointer.size else None
    taken = _adopt(xgb.DMatrix.slice(data, rows, allow_groups=True))
    sources = getattr(data, "sources", None)
    taken.sources = {name: values[rows] for name, values in sources.items()} if sources else None
    positions = positions_in(data)
    taken.positions = None if positions is None else positions.take(rows)
    if queries is not None:
        taken.set_group(np.diff(pointer)[queries])
        weight = data.get_weight()
        if weight.size == pointer.size - 1:  # XGBoost's slice drops these
            taken.set_weight(weight[queries])
    return taken


def features_of(data: xgb.DMatrix, rows: NDArray[np.int64]) -> Any:
    """The features of some rows as a CSR matrix."""
    return xgb.DMatrix.slice(data, rows, allow_groups=True).get_data()


def _adopt(stock: xgb.DMatrix) -> DMatrix:
    taken = DMatrix.__new__(DMatrix)
    move_handle(stock, taken)
    return taken
