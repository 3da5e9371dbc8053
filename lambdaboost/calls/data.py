"""`Queries` of the engines' data sets; imports neither engine."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._lightgbm import rows_of_parent
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE, Queries

# What queries are made of: the label sources by name, and under names that no source may have the rest.
Parts = dict[str, Any]
OFFSETS, WEIGHT, POSITIONS = "offsets", "weight", "position"
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
    """The queries of a LightGBM Dataset or an XGBoost DMatrix, with its label sources and positions.

    Both come from its attributes ``sources`` and ``positions``, which lambdaboost's own classes have, for a LightGBM
    subset from its parent. For a stock DMatrix the sources come from ``label_lower_bound`` and ``label_upper_bound``,
    whose `names` are in this order; for a stock Dataset the positions come from LightGBM's own field.
    """
    if is_lightgbm(data):
        offsets, labels, weight = data.get_field("group"), data.get_field("label"), data.get_field("weight")
        name, way = "lightgbm.Dataset", "group=[documents of each query]"
    elif is_xgboost(data):
        offsets, labels, weight = data.get_uint_info("group_ptr"), data.get_label(), data.get_weight()
        name, way = "xgboost.DMatrix", "qid=[query of each row] or group=[documents of each query]"
    else:
        raise TypeError(f"expected a lightgbm.Dataset or an xgboost.DMatrix, got {type(data).__name__}")
    if offsets is None or offsets.size == 0:
        raise ValueError(f"the {name} has no groups: give {way}")
    if labels is None or labels.size == 0:
        raise ValueError(f"the {name} has no labels: give label=grades")
    parts: Parts = {RELEVANCE: labels[:, 0] if labels.ndim == 2 else labels, OFFSETS: offsets}
    if weight is not None and weight.size:
        parts[WEIGHT] = weight
    parts |= sources_in(data, names)
    if (positions := positions_in(data)) is not None:
        parts[POSITIONS] = positions
    return _cached(data, parts)


def queries_of_arrays(
    y_true: NDArray[Any], weight: NDArray[Any] | None = None, group: NDArray[Any] | None = None
) -> Queries:
    """The queries of the arrays that LGBMRanker passes to its objective and eval_metric."""
    if group is None:
        raise ValueError("group is missing: pass group=[documents of each query] to fit")
    parts: Parts = {RELEVANCE: np.asarray(y_true), OFFSETS: np.concatenate([[0], np.cumsum(group)])}
    if weight is not None:
        parts[WEIGHT] = np.asarray(weight)
    return _cached(y_true, parts)


def sources_in(data: Any, names: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """The further label sources of a data set: see `queries_of`."""
    own = getattr(data, "sources", None)
    if own:  # an XGBoost matrix has copies of them in its bounds, which are no further sources
        return {name: np.asarray(values) for name, values in own.items()}
    if hasattr(data, "get_field"):
        if data.used_indices is None:
            return {}
        rows, parent = rows_of_parent(data)
        return {name: of[rows] for name, of in sources_in(parent).items()}
    further = (name for name in names if name != RELEVANCE)
    bounds = zip(further, ("label_lower_bound", "label_upper_bound"), strict=False)
    found = {name: data.get_float_info(field) for name, field in bounds}
    return {name: values for name, values in found.items() if values.size}


def positions_in(data: Any) -> Positions | None:
    """The positions of a data set of either engine, or of a LightGBM subset at any depth; None for anything else."""
    own: Positions | None = getattr(data, "__dict__", {}).get("positions")
    if own is not None or not hasattr(data, "get_field"):
        return own
    field = data.get_field("position")
    if field is not None:
        return Positions(np.asarray(field) + np.int32(1), _ids(int(field.max(initial=-1)) + 1))
    if data.used_indices is None:
        return None
    rows, parent = rows_of_parent(data)
    of_parent = positions_in(parent)
    return None if of_parent is None else of_parent.take(rows)


@lru_cache(maxsize=8)
def _ids(n: int) -> tuple[str, ...]:
    return tuple(f"{LIGHTGBM_ID}{i}" for i in range(n))


def is_renumbered(positions: Positions) -> bool:
    """Whether these are the ids that LightGBM gives to the positions of a stock Dataset."""
    return bool(positions.names) and positions.names[0].startswith(LIGHTGBM_ID)  # type: ignore[index]


def _cached(owner: Any, parts: Parts) -> Queries:
    """The queries made of `parts`: the same object while the owner lives and its parts are unchanged."""
    known = _made.get(id(owner))
    if known is not None and known[0]() is owner and _same(known[1], parts):
        return known[2]
    labels = dict(parts)
    grades, sizes = labels.pop(RELEVANCE), np.diff(labels.pop(OFFSETS).astype(np.int64))
    weight, position = labels.pop(WEIGHT, None), labels.pop(POSITIONS, None)
    made = Queries(grades, sizes, weight=weight, position=position, **labels)
    kept: Parts = {name: _kept(part, made.labels.get(name)) for name, part in parts.items()}
    key = id(owner)
    _made[key] = weakref.ref(owner, lambda _: _made.pop(key, None)), kept, made
    return made


def _kept(part: Any, labels: NDArray[np.float32] | None) -> Any:
    """A copy of an engine's memory, which the engine may free or overwrite; of float32 labels that of the queries."""
    if isinstance(part, Positions):
        return part
    return labels if labels is not None and part.dtype == np.float32 else np.array(part)


def _same(old: Parts, new: Parts) -> bool:
    """Whether all parts are equal, NaN to NaN; asked in every round, so numbers are compared as bits."""
    if old.keys() != new.keys():
        return False
    for name, before in old.items():
        now = new[name]
        if isinstance(before, Positions):
            if before.names != now.names:
                return False
            before, now = before.codes, now.codes
        if before.dtype != now.dtype:
            return False
        if before.dtype.kind in "biuf" and before.itemsize <= 8:
            before, now = before.view(f"u{before.itemsize}"), now.view(f"u{now.itemsize}")
        if not np.array_equal(before, now):
            return False
    return True
