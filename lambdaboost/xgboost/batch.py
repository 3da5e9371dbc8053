"""`Batch`: what is kept of a batch of an iterator, and what XGBoost's matrix of all batches lacks."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost._words import shown
from lambdaboost.datasets.arrays import query_ids, query_starts
from lambdaboost.datasets.categories import categories_in
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE, concat_ids
from lambdaboost.datasets.tables import as_frame
from lambdaboost.engines.labels import Labels


class Batch(NamedTuple):
    """What is kept of a batch, beside its features."""

    columns: tuple[str, ...]  # these and the fields are the same in all batches
    fields: frozenset[str]
    rows: int
    checksum: int
    sizes: NDArray[np.int64] | None
    ids: NDArray[Any] | None  # of the queries; None if sizes were given
    weight: NDArray[np.float32] | None
    missing: NDArray[np.int64]  # rows without a grade
    sources: Labels
    positions: Positions | None


def batch_of(
    data: Any,
    rows: int,
    fields: dict[str, Any],
    own: dict[str, Any],
    sources: Labels,
    positions: Positions | None,
) -> Batch:
    """The batch of features `data`, with the `fields` given beside and XGBoost's `own`, as they were read."""
    grades = sources.pop(RELEVANCE, None)
    given = fields | {"label": own["label"], "position": positions}
    named = {name for name, values in given.items() if values is not None and name != "feature_names"}
    named |= {f"source {shown(name)}" for name in sources}
    sizes = None if own["group"] is None else np.asarray(own["group"])
    ids = None
    if fields.get("qid") is not None and sizes is not None:
        ids = query_ids("qid", fields["qid"])[np.cumsum(sizes) - sizes]
    checksum = 0
    for values in (own["label"], sizes, own["weight"], *sources.values(), positions and positions.codes):
        checksum = checksum if values is None else zlib.crc32(np.ascontiguousarray(values).data, checksum)
    missing = np.flatnonzero(np.isnan(grades)) if grades is not None else np.zeros(0, dtype=np.int64)
    columns = _columns(data, fields.get("feature_names"))
    return Batch(
        columns, frozenset(named), rows, checksum, sizes, ids, own["weight"], missing, sources, positions
    )


def _columns(data: Any, names: Any) -> tuple[str, ...]:
    """The columns of a batch in words; of a frame with their categories."""
    frame = as_frame("data", data)
    if frame is None and names is None:
        return (f"{data.shape[1]} columns",)
    categories = {} if names is not None else categories_in(frame)
    return tuple(
        f"column {shown(name)}"
        + (f" of {', '.join(map(str, categories[name]))}" if name in categories else "")
        for name in (frame.columns if names is None else names)
    )


# The whole of all batches.


def join(matrix: xgb.DMatrix, batches: list[Batch]) -> None:
    """Make one query of the pieces in neighbouring batches, which XGBoost takes for several."""
    begins = _begins(batches)
    if begins is None or begins.all():
        return
    sizes = np.concatenate([batch.sizes for batch in batches])
    matrix.set_group(np.add.reduceat(sizes, np.flatnonzero(begins)))
    if batches[0].weight is not None:
        weight = np.concatenate([batch.weight for batch in batches])
        _check_same_weight(weight, begins, batches)
        matrix.set_weight(weight[begins])


def _begins(batches: list[Batch]) -> NDArray[np.bool_] | None:
    """Whether each query of each batch begins there, not in the batch before; None without ids."""
    if batches[0].ids is None:
        return None
    parts = [batch.ids for batch in batches if batch.ids is not None]
    ids = concat_ids(parts)
    begins = np.zeros(ids.size, dtype=np.bool_)
    begins[query_starts("qid", ids, lambda row: f"batch {_batch_of(row, parts)}")] = True
    return begins


def _batch_of(query: int, parts: list[NDArray[Any]]) -> int:
    """The batch of a query, counted over all batches."""
    return int(np.searchsorted(np.cumsum([part.size for part in parts]), query, side="right"))


def _check_same_weight(weight: NDArray[Any], begins: NDArray[np.bool_], batches: list[Batch]) -> None:
    later = np.flatnonzero(~begins)
    differ = weight[later] != weight[later - 1]
    if differ.any():
        piece = int(later[differ.argmax()])
        parts = [batch.ids for batch in batches if batch.ids is not None]
        at = _batch_of(piece, parts)
        raise ValueError(
            f"weight of query {parts[at][0]} is {weight[piece - 1]} in batch {at - 1} and {weight[piece]} in batch "
            f"{at}: give its one weight in both"
        )


def sources_of(matrix: xgb.DMatrix, batches: list[Batch]) -> Labels:
    """The label sources of all rows; also the grades, if some are missing."""
    labels = {name: np.concatenate([batch.sources[name] for batch in batches]) for name in batches[0].sources}
    starts = np.cumsum([0, *(batch.rows for batch in batches)])
    missing = np.concatenate([batch.missing + start for batch, start in zip(batches, starts, strict=False)])
    if not missing.size:
        return labels
    grades = matrix.get_label()
    grades[missing] = np.nan
    return {RELEVANCE: grades, **labels}


def positions_of(batches: list[Batch]) -> Positions | None:
    """The positions of all rows, with the categories of all batches."""
    given = [batch.positions for batch in batches if batch.positions is not None]
    return Positions.concat(given) if given else None
