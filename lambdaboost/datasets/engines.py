"""`Queries` of the engines' data sets; imports neither engine."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._stock.lightgbm import rows_of_parent
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE, Queries

Parts = dict[str, NDArray[Any]]
POSITION, NAMES = "position", "position_names"
# What LightGBM makes of the positions of a stock Dataset: numbers in the order in which they first occur.
LIGHTGBM_ID = "LightGBM's id "

# The Queries of each live data set by its id, with the arrays they were made from.
_made: dict[int, tuple[weakref.ref[Any], Parts, Queries]] = {}


def is_lightgbm(data: object) -> bool:
    """Whether `data` is a LightGBM data set."""
    return hasattr(data, "get_field") and hasattr(data, "get_label")


def is_xgboost(data: object) -> bool:
    """Whether `data` is an XGBoost matrix."""
    return hasattr(data, "get_uint_info") and hasattr(data, "get_label")


def queries_of(data: Any, names: Sequence[str] = ()) -> Queries:
    """The queries of a LightGBM Dataset or an XGBoost DMatrix, with its label sources.

    Parameters
    ----------
    data : lightgbm.Dataset or xgboost.DMatrix
        With groups. Further label sources come from its attribute ``sources`` (a dict of arrays, set by
        `lambdaboost.lightgbm.Dataset` and `lambdaboost.xgboost.DMatrix`), for a LightGBM subset from its parent data
        set, and for a stock DMatrix from ``label_lower_bound`` and ``label_upper_bound``. Positions come from its
        attribute ``positions``, for a subset from its parent, and for a stock Dataset from LightGBM's own field.
    names : sequence of str
        Names of the label sources in the two bounds of a stock DMatrix, in order.

    Raises
    ------
    ValueError
        If the data set has no groups or no labels.
    TypeError
        If `data` is of neither engine.

    """
    if is_xgboost(data):
        return _cached(data, _xgboost_parts(data, names))
    if is_lightgbm(data):
        return _cached(data, _lightgbm_parts(data))
    raise TypeError(f"expected a lightgbm.Dataset or an xgboost.DMatrix, got {type(data).__name__}")


def queries_of_arrays(
    y_true: NDArray[Any], weight: NDArray[Any] | None = None, group: NDArray[Any] | None = None
) -> Queries:
    """The queries of the arrays that LGBMRanker passes to its objective and eval_metric."""
    if group is None:
        raise ValueError("group is missing: pass group=[documents of each query] to fit")
    parts: Parts = {RELEVANCE: np.asarray(y_true), "offsets": np.concatenate([[0], np.cumsum(group)])}
    if weight is not None:
        parts["weight"] = np.asarray(weight)
    return _cached(y_true, parts)


def _lightgbm_parts(data: Any) -> Parts:
    boundaries = data.get_field("group")
    if boundaries is None:
        raise ValueError("the lightgbm.Dataset has no groups: give group=[documents of each query]")
    label = data.get_field("label")
    if label is None:
        raise ValueError("the lightgbm.Dataset has no labels: give label=grades")
    parts: Parts = {RELEVANCE: label, "offsets": boundaries}
    weight = data.get_field("weight")
    if weight is not None:
        parts["weight"] = weight
    return parts | _carried(data) | _position_parts(data)


def _carried(data: Any) -> Parts:
    """The further label sources of a LightGBM data set, or of a subset at any depth."""
    sources = getattr(data, "sources", None)
    if sources:
        return {name: np.asarray(values) for name, values in sources.items()}
    subset = rows_of_parent(data)
    if subset is None:
        return {}
    rows, parent = subset
    return {name: values[rows] for name, values in _carried(parent).items()}


def _xgboost_parts(data: Any, names: Sequence[str]) -> Parts:
    group_ptr = data.get_uint_info("group_ptr")
    if group_ptr.size == 0:
        raise ValueError(
            "the xgboost.DMatrix has no groups: give qid=[query of each row] or group=[documents of each query]"
        )
    label = data.get_label()
    if label.size == 0:
        raise ValueError("the xgboost.DMatrix has no labels: give label=grades")
    parts: Parts = {RELEVANCE: label[:, 0] if label.ndim == 2 else label, "offsets": group_ptr}
    weight = data.get_weight()
    if weight.size:
        parts["weight"] = weight
    return parts | _xgboost_sources(data, names) | _position_parts(data)


def positions_in(data: Any) -> Positions | None:
    """The positions of a data set of either engine, or of a LightGBM subset at any depth; None for anything else."""
    known: Positions | None = getattr(data, "__dict__", {}).get("positions")
    if known is not None or not is_lightgbm(data):
        return known
    field = data.get_field("position")
    if field is not None:
        return Positions(np.asarray(field) + np.int32(1), _ids(int(field.max(initial=-1)) + 1))
    subset = rows_of_parent(data)
    if subset is None:
        return None
    rows, parent = subset
    of_parent = positions_in(parent)
    return None if of_parent is None else of_parent.take(rows)


@lru_cache(maxsize=8)
def _ids(n: int) -> tuple[str, ...]:
    return tuple(f"{LIGHTGBM_ID}{i}" for i in range(n))


def is_renumbered(positions: Positions) -> bool:
    """Whether these are the ids that LightGBM gives to the positions of a stock Dataset."""
    return bool(positions.names) and positions.names[0].startswith(LIGHTGBM_ID)  # type: ignore[index]


def _position_parts(data: Any) -> Parts:
    positions = positions_in(data)
    if positions is None:
        return {}
    names = {} if positions.names is None else {NAMES: np.array(positions.names)}
    return {POSITION: positions.codes} | names


def _xgboost_sources(data: Any, names: Sequence[str]) -> Parts:
    carried = getattr(data, "sources", None)
    # A matrix with named sources keeps copies of them in the bounds, which are no further sources.
    if carried:
        return {name: np.asarray(values) for name, values in carried.items()}
    bounds = {}
    further = [name for name in names if name != RELEVANCE]
    for name, field in zip(further, ("label_lower_bound", "label_upper_bound"), strict=False):
        bound = data.get_float_info(field)
        if bound.size:
            bounds[name] = bound
    return bounds


def _cached(owner: Any, parts: Parts) -> Queries:
    """The queries made of `parts`: the same object while the owner lives and its parts are unchanged."""
    known = _made.get(id(owner))
    if known is not None and known[0]() is owner and _same(known[1], parts):
        return known[2]
    # Copy views of an engine's memory, which the engine may free or overwrite.
    kept = {name: np.array(values) for name, values in parts.items()}
    labels = dict(kept)
    offsets = np.asarray(labels.pop("offsets"), dtype=np.int64)
    codes, names = labels.pop(POSITION, None), labels.pop(NAMES, None)
    positions = None if codes is None else Positions(codes, None if names is None else tuple(names.tolist()))
    weight = labels.pop("weight", None)
    made = Queries(labels.pop(RELEVANCE), np.diff(offsets), weight=weight, position=positions, **labels)
    key = id(owner)
    _made[key] = weakref.ref(owner, lambda ref: _forget(key, ref)), kept, made
    return made


def _forget(key: int, ref: weakref.ref[Any]) -> None:
    if key in _made and _made[key][0] is ref:
        del _made[key]


def _same(old: Parts, new: Parts) -> bool:
    return old.keys() == new.keys() and all(_equal(old[name], new[name]) for name in old)


def _equal(old: NDArray[Any], new: NDArray[Any]) -> bool:
    """Whether two arrays are equal, NaN to NaN: asked in every round, so numbers are compared as bits."""
    if old.dtype != new.dtype:
        return False
    if old.dtype.kind in "biuf" and old.itemsize <= 8:
        bits = f"u{old.itemsize}"
        return np.array_equal(old.view(bits), new.view(bits))
    return np.array_equal(old, new)
