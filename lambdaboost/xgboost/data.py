"""`DMatrix`, `QuantileDMatrix` and `ExtMemQuantileDMatrix`: XGBoost's with any number of label sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike, NDArray

from lambdaboost._xgboost import move_handle
from lambdaboost.calls.data import positions_in
from lambdaboost.datasets.categories import categories_in
from lambdaboost.datasets.columns import check_features, query_weights, whole_queries
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.tables import as_frame
from lambdaboost.engines.labels import Labels, beside
from lambdaboost.xgboost.batches import fill

BOUNDS = ("label_lower_bound", "label_upper_bound")
# What each batch of an iterator has for itself.
OF_BATCHES = (
    *("label", "sources", "position", "qid", "group", "weight", "base_margin", *BOUNDS),
    *("feature_names", "feature_types", "feature_weights"),
)
ROW_VALUE, BINS = 8, 256  # bytes of a value in XGBoost's cache of rows; the bins of a feature in one byte


class DMatrix(xgb.DMatrix):
    """An `xgboost.DMatrix` that carries further label sources and positions, and keeps them and weights in slices.

    The first two further sources are also stored as ``label_lower_bound`` and ``label_upper_bound``, which ranking does
    not read, and which `save_binary` keeps, without the names.

    Parameters
    ----------
    data : array, DataFrame, sparse matrix, xgboost.DataIter, …
        The features, as `xgboost.DMatrix` takes them. The batches of a `DataIter` are cached on disk under its
        ``cache_prefix``; they have ``sources=`` and ``position=`` beside the fields of XGBoost, as in
        ``input_data(data=X, label=y, qid=qid, sources={"clicks": rate})``, and a query may run over neighbouring ones.
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
        As `lambdaboost.lightgbm.Dataset`, and if rows of one query have different weights. For a `DataIter`, if batches
        differ in their columns or fields, a query is in batches that are not neighbours, a later pass gives other
        batches, or the cache may not fit on its disk.

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
        if isinstance(data, xgb.DataIter):
            _check_batches(fields | {"label": label, "sources": sources, "position": position})
            build = partial(super().__init__, **fields)
            self.sources, self.positions = fill(self, build, data, fields_of, self._value_bytes(fields))
            return
        own, carried, positions = fields_of(data, label, sources, position, fields)
        further = [values for name, values in carried.items() if name != RELEVANCE]
        for bound, values in zip(BOUNDS, further, strict=False):
            if fields.get(bound) is not None:
                raise ValueError(f"{bound} and sources are both given: name that label in sources too")
            own[bound] = values
        super().__init__(data, **fields | own)
        self.sources, self.positions = carried, positions

    def _value_bytes(self, fields: dict[str, Any]) -> int:
        """What the cache of an iterator takes for each value of a feature: in its rows, and in the bins of trees."""
        return ROW_VALUE + _bin_bytes(fields)

    def slice(self, rindex: ArrayLike, allow_groups: bool = False) -> DMatrix:
        """The rows `rindex`, with sources, positions and query weights; queries must stay whole in any case.

        Raises
        ------
        ValueError
            If `rindex` splits a query, which the message names, or has a row that does not exist.

        """
        return take(self, rindex)


class QuantileDMatrix(DMatrix, xgb.QuantileDMatrix):
    """An `xgboost.QuantileDMatrix` with label sources and positions, as `DMatrix`: features as bins, in memory.

    It takes the arguments of `DMatrix` and ``max_bin=`` and ``ref=``, the training data of validation data. It has no
    slices, and so no `cv`.

    Examples
    --------
    >>> data = QuantileDMatrix([[0.1], [0.2]], [1, 0], group=[2], sources={"clicks": [0.5, 0.1]})
    >>> data.sources["clicks"]
    array([0.5, 0.1], dtype=float32)

    """

    def _value_bytes(self, fields: dict[str, Any]) -> int:
        return 0


class ExtMemQuantileDMatrix(DMatrix, getattr(xgb, "ExtMemQuantileDMatrix", object)):  # type: ignore[misc]
    """An `xgboost.ExtMemQuantileDMatrix` with label sources and positions, as `DMatrix`: features as bins, on disk.

    It takes an `xgboost.DataIter` alone, and ``max_bin=`` and ``ref=`` as `QuantileDMatrix`.

    Raises
    ------
    NotImplementedError
        If XGBoost is older than 3.0.

    Examples
    --------
    >>> import tempfile
    >>> import xgboost as xgb
    >>> class Days(xgb.DataIter):  # 3 days of clicks
    ...     def reset(self):
    ...         self.day = 0
    ...
    ...     def next(self, input_data):
    ...         if self.day == 3:
    ...             return False
    ...         X, clicks = np.eye(4) + self.day, [0, 1, float("nan"), 0]
    ...         input_data(data=X, label=[0, 2, 1, 0], qid=[self.day] * 4, sources={"clicks": clicks})
    ...         self.day += 1
    ...         return True
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = ExtMemQuantileDMatrix(Days(cache_prefix=f"{folder}/cache"))
    ...     print(data.num_row(), data.sources["clicks"][:4])
    ...     del data  # and with it the cache
    12 [ 0.  1. nan  0.]

    """

    def __init__(self, data: xgb.DataIter, **fields: Any) -> None:
        if not hasattr(xgb, "ExtMemQuantileDMatrix"):
            raise NotImplementedError(
                f"ExtMemQuantileDMatrix needs xgboost ≥ 3.0, here is {xgb.__version__}: upgrade, or use DMatrix"
            )
        if not isinstance(data, xgb.DataIter):
            raise TypeError(
                f"data is {type(data).__name__}, expected an xgboost.DataIter: give arrays to QuantileDMatrix"
            )
        super().__init__(data, **fields)

    def _value_bytes(self, fields: dict[str, Any]) -> int:
        return _bin_bytes(fields)


def _bin_bytes(fields: dict[str, Any]) -> int:
    return 3 if (fields.get("max_bin") or BINS) <= BINS else 5


def _check_batches(fields: dict[str, Any]) -> None:
    for name in OF_BATCHES:
        if fields.get(name) is not None:
            raise ValueError(
                f"{name} is given beside an iterator: give it in each batch, input_data(…, {name}=…)"
            )


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
    taken = _adopt(sliced(data, rows))
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


def sliced(data: xgb.DMatrix, rows: NDArray[np.integer]) -> xgb.DMatrix:
    """Rows of a matrix by XGBoost; a ValueError for bins and external memory."""
    try:
        return xgb.DMatrix.slice(data, rows, allow_groups=True)
    except xgb.core.XGBoostError:
        raise ValueError(
            "data are bins or in external memory, which XGBoost cannot slice into folds: give a DMatrix of arrays, or "
            "make a matrix of each fold"
        ) from None


def _adopt(stock: xgb.DMatrix) -> DMatrix:
    taken = DMatrix.__new__(DMatrix)
    move_handle(stock, taken)
    return taken
