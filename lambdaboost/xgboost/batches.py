"""`Batches`: a user's iterator as XGBoost reads it, each batch checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import xgboost as xgb
from scipy.sparse import issparse

from lambdaboost._checks import saying
from lambdaboost._words import plain
from lambdaboost._xgboost import free, iterator_settings
from lambdaboost.datasets.positions import Positions
from lambdaboost.datasets.tables import with_categories
from lambdaboost.engines.labels import Labels
from lambdaboost.xgboost.batch import Batch, batch_of, join, positions_of, sources_of
from lambdaboost.xgboost.cache import Cache
from lambdaboost.xgboost.interrupts import Interrupts

# Turns data, label, sources, position and other fields into XGBoost's fields, label sources and positions.
Read = Callable[[Any, Any, Any, Any, dict[str, Any]], tuple[dict[str, Any], Labels, Positions | None]]
AGAIN = "every pass after reset() must give the same batches"


def fill(
    matrix: xgb.DMatrix, build: Callable[[xgb.DataIter], None], given: xgb.DataIter, read: Read, value: int
) -> tuple[Labels, Positions | None]:
    """Let `build` make `matrix` of the batches of `given`; the label sources and positions that it carries.

    A query may run over neighbouring batches. `read` turns the arguments of a batch into fields, and `value` are the
    bytes that XGBoost's cache takes for one value of a feature; 0 if there is no cache.
    """
    settings = iterator_settings(given)
    cache = Cache(settings["cache_prefix"], value) if value else None
    if cache is not None:
        settings["cache_prefix"] = cache.prefix
    batches = Batches(settings, given, read, cache)
    try:
        batches.passed_to(build)
        join(matrix, batches.kept)
        return sources_of(matrix, batches.kept), positions_of(batches.kept)
    except BaseException:
        free(matrix)
        if cache is not None:
            cache.remove()
        raise


class Batches(xgb.DataIter):
    """Passes the batches of `given` on to XGBoost, which reads them several times, and keeps what is `Batch`."""

    def __init__(
        self, settings: dict[str, Any], given: xgb.DataIter, read: Read, cache: Cache | None
    ) -> None:
        super().__init__(**settings)
        self.given, self.read, self.cache = given, read, cache
        self.kept: list[Batch] = []
        self.at, self.is_complete = 0, False
        self.interrupts = Interrupts()
        self.failure: BaseException | None = None

    def passed_to(self, build: Callable[[xgb.DataIter], None]) -> None:
        """Let `build` read all batches; raise what failed on the way."""
        with self.interrupts.held():
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
            with saying(f"batch {self.at}"):
                # XGBoost would read the categories of polars and pyarrow by codes, which differ between batches.
                data = np.asarray(data) if isinstance(data, list | tuple) else with_categories("data", data)
            rows = data.shape[0]
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
        batch = batch_of(data, rows, fields, own, sources, positions)
        if self.at < len(self.kept):
            self._compare(batch)
            return fields | own
        self._keep(batch)
        if self.cache is not None:
            self.cache.add(rows, data.nnz if issparse(data) else rows * data.shape[1])
        return fields | own

    def _keep(self, batch: Batch) -> None:
        if self.is_complete:
            raise ValueError(f"the iterator has more batches than the {self.at} of its first pass: {AGAIN}")
        first = self.kept[0] if self.kept else batch
        for here, there in zip_longest(batch.columns, first.columns, fillvalue="nothing"):
            if here != there:
                raise ValueError(
                    f"batch {self.at} has {plain(here)} where batch 0 has {plain(there)}: give the same columns in all "
                    "batches, with the same categories"
                )
        if odd := sorted(batch.fields ^ first.fields):
            lacks, has = (self.at, 0) if odd[0] in first.fields else (0, self.at)
            raise ValueError(
                f"batch {lacks} has no {odd[0]}, but batch {has} has: give it in all batches or in none"
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
