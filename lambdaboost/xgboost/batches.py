"""`Batches`: a user's iterator as XGBoost reads it, checked, with what XGBoost has no field for."""

from __future__ import annotations

import os
import secrets
import shutil
import zlib
from collections.abc import Callable
from functools import partial
from glob import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xgboost as xgb
from numpy.typing import NDArray

from lambdaboost._files import check_place
from lambdaboost._words import plain, shown
from lambdaboost._xgboost import free, iterator_settings
from lambdaboost.datasets.arrays import query_ids, split_query
from lambdaboost.datasets.categories import categories_in
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.datasets.tables import as_frame
from lambdaboost.engines.labels import Labels
from lambdaboost.xgboost.interrupts import Interrupts

# Turns data, label, sources, position and other fields into XGBoost's fields, label sources and positions.
Read = Callable[[Any, Any, Any, Any, dict[str, Any]], tuple[dict[str, Any], Labels, Positions | None]]
ROW_BYTES = 16  # in XGBoost's cache, beside the values
AGAIN = "every pass after reset() must give the same batches"


class Batch(NamedTuple):
    """What is kept of a batch, beside its features."""

    form: tuple[str, ...]  # what all batches have in common
    rows: int
    checksum: int
    sizes: NDArray[np.int64] | None
    ids: NDArray[Any] | None  # of the queries; None if sizes were given
    weight: NDArray[np.float32] | None
    missing: NDArray[np.int64]  # rows without a grade
    sources: Labels
    positions: Positions | None


class Batches(xgb.DataIter):
    """Passes the batches of `given` on to XGBoost, which reads them several times, and checks each.

    A query may run over neighbouring batches. XGBoost's cache has names of its own under the user's prefix: no other
    process, such as a forked one, writes to the same file, and a failure removes them. `value_bytes` is what the cache
    takes for one value of a feature; 0 if there is none.
    """

    def __init__(self, given: xgb.DataIter, read: Read, value_bytes: int) -> None:
        settings = iterator_settings(given)
        if value_bytes:
            self.place = Path(settings["cache_prefix"] or "DMatrix").absolute()
            check_place("cache_prefix", self.place)
            settings["cache_prefix"] = f"{self.place}-{os.getpid()}-{secrets.token_hex(4)}"
            self.free = shutil.disk_usage(self.place.parent).free
        super().__init__(**settings)
        self.given, self.read, self.value_bytes = given, read, value_bytes
        self.kept: list[Batch] = []
        self.at, self.is_complete, self.bytes = 0, False, 0
        self.interrupts = Interrupts()
        self.failure: BaseException | None = None

    def fill(
        self, matrix: xgb.DMatrix, build: Callable[[xgb.DataIter], None]
    ) -> tuple[Labels, Positions | None]:
        """Let `build` make `matrix` of the batches; the label sources and positions that it carries."""
        try:
            with self.interrupts.held():
                self._build(build)
            _join(matrix, self.kept)
            return _sources(matrix, self.kept), _positions(self.kept)
        except BaseException:
            free(matrix)
            if self.value_bytes:
                cache = Path(self.cache_prefix)
                for file in cache.parent.glob(f"{escape(cache.name)}-*"):
                    file.unlink()
            raise

    def _build(self, build: Callable[[xgb.DataIter], None]) -> None:
        try:
            build(self)
        except xgb.core.XGBoostError:
            if self.failure is None:
                raise
        if self.failure is not None:
            raise self.failure

    # What XGBoost calls.

    def reset(self) -> None:
        """Begin a pass."""
        self.at = 0
        self._safely(self.given.reset)

    def next(self, input_data: Callable[..., None]) -> bool:
        """Pass a batch on; False after the last one."""
        return bool(self._safely(partial(self._next, input_data)))

    def _safely(self, step: Callable[[], Any]) -> Any:
        """The result of a step; None once one has failed, since nothing may be raised through XGBoost."""
        if self.failure is None:
            try:
                with self.interrupts.handled():
                    return step()
            except BaseException as error:
                self.failure = error
        return None

    def _next(self, input_data: Callable[..., None]) -> bool:
        rows = 0
        while not rows:  # XGBoost needs no batches without rows
            found = self._found()
            if found is None:
                self._end()
                return False
            data, fields = found
            rows = data.shape[0] if hasattr(data, "shape") else len(data)
        own = self._checked(data, rows, fields)
        self.at += 1
        input_data(data=data, **own)
        return True

    def _found(self) -> tuple[Any, dict[str, Any]] | None:
        """The features and other fields of the user's next batch; None after the last one."""
        found: list[tuple[Any, dict[str, Any]]] = []
        more = self.given.next(lambda *, data, **fields: found.append((data, fields)))
        if len(found) != bool(more):
            raise ValueError(
                f"next of {type(self.given).__name__} returned {more!r} after {len(found)} calls of input_data: call "
                "it once and return True, or return False after the last batch"
            )
        return found[0] if found else None

    def _checked(self, data: Any, rows: int, fields: dict[str, Any]) -> dict[str, Any]:
        """XGBoost's fields of a batch, which is kept if it is new."""
        for name, values in fields.items():
            if hasattr(values, "__cuda_array_interface__"):
                raise TypeError(
                    f"batch {self.at}: {name} is on the GPU: give a NumPy array, such as {name}.get()"
                )
        label, given, position = (fields.pop(name, None) for name in ("label", "sources", "position"))
        try:
            own, sources, positions = self.read(data, label, given, position, fields)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"batch {self.at}: {error}") from None
        batch = _batch(data, rows, fields, own, sources, positions)
        self._keep(batch) if self.at == len(self.kept) else self._compare(batch)
        self._check_space(data, batch)
        return fields | own

    def _keep(self, batch: Batch) -> None:
        if self.is_complete:
            raise ValueError(f"the iterator has more batches than the {self.at} of its first pass: {AGAIN}")
        first = self.kept[0].form if self.kept else batch.form
        for here, there in zip_longest(batch.form, first, fillvalue="nothing"):
            if here != there:
                raise ValueError(
                    f"batch {self.at} has {plain(here)} where batch 0 has {plain(there)}: give the same columns and "
                    "fields in all batches"
                )
        self.kept.append(batch)

    def _compare(self, batch: Batch) -> None:
        before = self.kept[self.at]
        if batch.rows != before.rows:
            raise ValueError(
                f"batch {self.at} has {batch.rows} rows, and had {before.rows} in the first pass: {AGAIN}"
            )
        if batch.checksum != before.checksum:
            raise ValueError(
                f"batch {self.at} has other labels, queries or weights than in the first pass: {AGAIN}"
            )

    def _check_space(self, data: Any, batch: Batch) -> None:
        """Raise if the cache may not fit: XGBoost ends the process on a full disk."""
        if not self.value_bytes or self.is_complete:
            return
        values = getattr(data, "nnz", None) or batch.rows * data.shape[1]
        self.bytes += ROW_BYTES * batch.rows + self.value_bytes * values
        if self.bytes > self.free:
            raise ValueError(
                f"cache_prefix is {shown(self.place)}, where {self.free / 1e6:,.1f} MB are free, but the cache of the "
                f"first {self.at + 1} batches may take {self.bytes / 1e6:,.1f} MB: give a folder on a larger disk"
            )

    def _end(self) -> None:
        if self.at < len(self.kept):
            raise ValueError(
                f"the iterator ends after {self.at} batches, and after {len(self.kept)} in the first pass: {AGAIN}"
            )
        if not self.kept:
            raise ValueError(
                "the iterator has no batch with rows: begin anew in reset(), and give one in next()"
            )
        self.is_complete = True


def _batch(
    data: Any,
    rows: int,
    fields: dict[str, Any],
    own: dict[str, Any],
    sources: Labels,
    positions: Positions | None,
) -> Batch:
    grades = sources.pop(RELEVANCE, None)
    form = _form(data, fields | {"label": own["label"], "position": positions}, sources)
    sizes = None if own["group"] is None else np.asarray(own["group"])
    ids = None
    if fields.get("qid") is not None and sizes is not None:
        ids = query_ids("qid", fields["qid"])[np.cumsum(sizes) - sizes]
    checksum = 0
    for values in (own["label"], sizes, own["weight"], *sources.values(), positions and positions.codes):
        checksum = checksum if values is None else zlib.crc32(np.ascontiguousarray(values).data, checksum)
    missing = np.flatnonzero(np.isnan(grades)) if grades is not None else np.zeros(0, dtype=np.int64)
    return Batch(form, rows, checksum, sizes, ids, own["weight"], missing, sources, positions)


def _form(data: Any, fields: dict[str, Any], sources: Labels) -> tuple[str, ...]:
    """The columns and fields of a batch in words."""
    frame = as_frame("data", data)
    if fields.get("feature_names") is not None:
        columns = [f"column {shown(name)}" for name in fields["feature_names"]]
    elif frame is not None:
        categories = categories_in(frame)
        columns = [
            f"column {shown(name)}"
            + (f" of {', '.join(map(str, categories[name]))}" if name in categories else "")
            for name in frame.columns
        ]
    else:
        columns = [f"{data.shape[1]} columns" if hasattr(data, "shape") else "a list"]
    given = sorted(name for name, values in fields.items() if values is not None)
    return *columns, *given, *(f"source {shown(name)}" for name in sources)


# The whole of all batches.


def _join(matrix: xgb.DMatrix, batches: list[Batch]) -> None:
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
    ids = np.concatenate(parts if len({part.dtype.kind for part in parts}) == 1 else [*map(_objects, parts)])
    begins = np.append(True, ids[1:] != ids[:-1])
    if not pd.Series(ids[begins]).is_unique:
        query, again = split_query(ids) or (None, 0)
        first = int(np.flatnonzero(ids == query)[0])
        named = shown(query) if isinstance(query, str) else query
        raise ValueError(
            f"qid has query {named} in batch {_batch_of(first, parts)}, and "
            f"after others again in batch {_batch_of(again, parts)}: sort the rows by query so that each is whole"
        )
    return begins


def _objects(ids: NDArray[Any]) -> NDArray[Any]:
    return ids.astype(object)


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


def _sources(matrix: xgb.DMatrix, batches: list[Batch]) -> Labels:
    """The label sources of all rows; also the grades, if some are missing."""
    labels = {name: np.concatenate([batch.sources[name] for batch in batches]) for name in batches[0].sources}
    starts = np.cumsum([0, *(batch.rows for batch in batches)])
    missing = np.concatenate([batch.missing + start for batch, start in zip(batches, starts, strict=False)])
    if not missing.size:
        return labels
    grades = matrix.get_label()
    grades[missing] = np.nan
    return {RELEVANCE: grades, **labels}


def _positions(batches: list[Batch]) -> Positions | None:
    given = [batch.positions for batch in batches if batch.positions is not None]
    return Positions.concat(given) if given else None
