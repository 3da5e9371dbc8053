"""`Dataset`: a LightGBM data set that carries further label sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import ArrayLike

from lambdaboost._lightgbm import ScoredInBatches, is_constructed
from lambdaboost.datasets.arrays import weights_of
from lambdaboost.datasets.columns import check_features, row_weights, whole_queries
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.labels import Labels, beside, graded
from lambdaboost.lightgbm.rows import features_of

Sources = Mapping[str, ArrayLike]


class Dataset(ScoredInBatches, lgb.Dataset):
    """A `lightgbm.Dataset` with query ids, further label sources and positions, which subsets and folds keep.

    Parameters
    ----------
    data, label, reference, weight, group, init_score, feature_name, categorical_feature, params, free_raw_data
        As of `lightgbm.Dataset`. A NaN label is a missing label; LightGBM alone would make it grade 0. Weights are
        one per row, or one per query. Rows of a `lightgbm.Sequence`, or of a list of them, are checked as they are
        read, and may be any numbers. LightGBM reads the numbers of a text file inexactly unless `params` have
        ``precise_float_parser=True``.
    qid : array of shape (n_rows,), optional
        The query of each row, the rows of one query adjacent; in place of `group`.
    sources : mapping of str to array of shape (n_rows,), or pandas or polars DataFrame, optional
        Further labels by name, finite, or NaN if missing: ``{"clicks": ctr}``.
    position : array of shape (n_rows,), optional
        The position of each row, as of `Queries`: ranks from 1 or categories, NaN or None where a row was not shown.
        LightGBM's own position field is set to the same, with 0 for rows that were not shown; LightGBM numbers it
        anew. `save_binary` keeps neither positions, sources nor missing grades: give them beside the file.

    Attributes
    ----------
    sources : dict of str to float32 (n_rows,)
        The further labels; also ``"relevance"`` if some grades are missing.
    positions : Positions or None
        The positions, as codes from 1 with the names of the categories.

    Raises
    ------
    ValueError, TypeError
        If lengths differ, a label is negative or infinite, a position is no rank from 1, the rows of a query are not
        adjacent, both `group` and `qid` are given, or a source has a reserved name.

    Examples
    --------
    >>> data = Dataset(np.eye(4), [2, 0, 1, 0], qid=[7, 7, 9, 9], sources={"clicks": [0.5, 0.0, 0.1, np.nan]})
    >>> data.group, data.sources["clicks"]
    (array([2, 2]), array([0.5, 0. , 0.1, nan], dtype=float32))

    """

    sources: Labels
    positions: Positions | None

    def __init__(
        self,
        data: Any,
        label: Any = None,
        reference: lgb.Dataset | None = None,
        weight: Any = None,
        group: Any = None,
        *,
        qid: ArrayLike | None = None,
        sources: Sources | None = None,
        position: Any = None,
        **fields: Any,
    ) -> None:
        data = features_of(data)
        check_features("data", data, "LightGBM")
        columns = {"qid": qid, "group": group, "weight": weight, "sources": sources, "position": position}
        given = beside(data, label, **columns, weights=row_weights)
        super().__init__(data, given.label, reference, given.weight, given.group, **fields)
        self.sources = given.sources
        self.set_position(given.positions)

    def set_label(self, label: Any) -> Dataset:
        """Set the grades; NaN stays missing."""
        # On construction LightGBM sets the label that it holds again, with 0 for missing grades.
        if label is None or label is self.label:
            return super().set_label(label)
        grades, missing = graded(label)
        self.sources.pop(RELEVANCE, None)
        self.sources |= missing
        return super().set_label(grades)

    def set_weight(self, weight: Any) -> Dataset:
        """Set the weight of each row: finite, ≥ 0."""
        return super().set_weight(None if weight is None else weights_of("weight", weight))

    def set_position(self, position: Any) -> Dataset:
        """Set the position of each row: ranks from 1 or categories, NaN or None where a row was not shown."""
        # On construction LightGBM sets the positions that it holds again.
        if position is not None and position is self.position:
            return super().set_position(position)
        self.positions = None if position is None else positions_of("position", position)
        if self.positions is None and is_constructed(self):
            self.set_field("position", None)
        return super().set_position(None if self.positions is None else self.positions.codes)

    def create_valid(
        self,
        data: Any,
        label: Any = None,
        weight: Any = None,
        group: Any = None,
        **fields: Any,
    ) -> Dataset:
        """Validation data aligned with this data set; arguments as of `Dataset`."""
        return Dataset(data, label, self, weight, group, free_raw_data=self.free_raw_data, **fields)

    def subset(self, used_indices: Sequence[int], params: dict[str, Any] | None = None) -> Dataset:
        """Some rows, in the order of this data set, with their labels from every source; queries stay whole.

        Raises
        ------
        ValueError
            If `used_indices` split a query, which the message names.

        """
        part = super().subset(used_indices, params)
        rows = np.asarray(part.used_indices)
        sizes = self.get_group() if self.group is None and is_constructed(self) else self.group
        if sizes is not None:
            queries = whole_queries("used_indices", rows, np.concatenate([[0], np.cumsum(sizes)]))
            # LightGBM computes these only when `part` is constructed, so a subset of `part` would lose its queries.
            part.group = np.asarray(sizes)[queries]
        part.__class__ = Dataset  # LightGBM makes subsets of its own class
        part.sources = {name: values[rows] for name, values in self.sources.items()}
        part.set_position(None if self.positions is None else self.positions.take(rows))
        return part


def keep_positions(data: Any) -> None:
    """Keep the ranks of a stock Dataset that is not constructed yet, as then LightGBM numbers them anew."""
    if (
        isinstance(data, Dataset)
        or is_constructed(data)
        or data.position is None
        or hasattr(data, "positions")
    ):
        return
    # Where they count from 0 or have other values, LightGBM's numbers are all there is.
    with suppress(TypeError, ValueError):
        data.positions = positions_of("position", data.position)
