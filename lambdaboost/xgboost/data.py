"""`DMatrix`: XGBoost's matrix with any number of label sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike

from lambdaboost._xgboost import move_handle
from lambdaboost.calls.data import positions_in
from lambdaboost.datasets.categories import categories_in
from lambdaboost.datasets.columns import check_features, query_weights, whole_queries
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.tables import as_frame
from lambdaboost.engines.labels import Labels, beside

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
        Further label sources by name, such as ``{"clicks": rate}``, or a DataFrame; NaN if missing.
    position : array of shape (n_documents,), optional
        The position of each row, as of `Queries`: ranks from 1 or categories, NaN or None where a row was not shown.
        XGBoost has no such field, and `save_binary` does not keep it.
    **fields
        The other arguments of `xgboost.DMatrix`: ``group=``, or ``qid=`` with the rows of a query adjacent;
        ``weight=``, one per query, or one per row, equal within each query; ``feature_names=``, ….

    Attributes
    ----------
    sources : dict of str to float32 (n_documents,)
        The further labels; also ``"relevance"`` if some grades are missing.
    positions : Positions or None
        The positions, as codes from 1 with the names of the categories.

    Raises
    ------
    TypeError, ValueError
        As `lambdaboost.lightgbm.Dataset`, and if rows of one query have different weights.

    Examples
    --------
    >>> data = DMatrix([[0.1], [0.2], [0.3]], [2, 0, 1], qid=[7, 7, 8], sources={"clicks": [0.5, 0.1, float("nan")]})
    >>> data.sources["clicks"]
    array([0.5, 0.1, nan], dtype=float32)
    >>> data.slice([2]).sources["clicks"]
    array([nan], dtype=float32)

    """

    sources: Labels
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
        own, carried, positions = fields_of(data, label, sources, position, fields)
        further = [values for name, values in carried.items() if name != RELEVANCE]
        for bound, values in zip(BOUNDS, further, strict=False):
            if fields.get(bound) is not None:
                raise ValueError(f"{bound} and sources are both given: name that label in sources too")
            own[bound] = values
        super().__init__(data, **fields | own)
        self.sources, self.positions = carried, positions

    def slice(self, rindex: ArrayLike, allow_groups: bool = False) -> DMatrix:
        """The rows `rindex`, with sources, positions and query weights; queries must stay whole in any case.

        Raises
        ------
        ValueError
            If `rindex` splits a query, which the message names, or has a row that does not exist.

        """
        return take(self, rindex)


def fields_of(
    data: Any, label: Any, sources: Any, position: Any, fields: dict[str, Any], weight_name: str = "weight"
) -> tuple[dict[str, Any], Labels, Positions | None]:
    """The fields of XGBoost's matrix, and the sources and positions that it carries beside them."""
    check_features("data", data, "XGBoost", nw.Categorical, nw.Enum)
    _check_categories("data", data)
    columns = {"label": label, **{name: fields.get(name) for name in ("qid", "group", "weight")}}
    on_device = {name: a for name, a in columns.items() if hasattr(a, "__cuda_array_interface__")}
    of_queries = partial(query_weights, weight_name)
    given = beside(
        data, **columns | dict.fromkeys(on_device), sources=sources, position=position, weights=of_queries
    )
    own = {"label": given.label, "qid": None, "group": given.group, "weight": given.weight, **on_device}
    return own, given.sources, given.positions


def _check_categories(name: str, data: Any) -> None:
    """Raise for categories of pandas that XGBoost cannot read, such as truth values."""
    frame = as_frame(name, data)
    if frame is None or not frame.implementation.is_pandas():
        return
    for column, values in categories_in(frame).items():
        for value in values:
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise TypeError(
                    f"{name} has the column {column!r} with the category {value!r}, but XGBoost reads texts and whole "
                    f"numbers: give X[{column!r}].cat.rename_categories(str)"
                )


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
    sources = getattr(data, "sources", None) or {}
    taken.sources = {name: values[rows] for name, values in sources.items()}
    positions = positions_in(data)
    taken.positions = None if positions is None else positions.take(rows)
    if queries is not None:
        taken.set_group(np.diff(pointer)[queries])
        weight = data.get_weight()
        if weight.size == pointer.size - 1:  # XGBoost's slice drops these
            taken.set_weight(weight[queries])
    return taken


def _adopt(stock: xgb.DMatrix) -> DMatrix:
    taken = DMatrix.__new__(DMatrix)
    move_handle(stock, taken)
    return taken
