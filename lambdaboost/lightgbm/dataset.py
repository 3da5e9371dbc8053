"""`Dataset`: a LightGBM data set that carries further label sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import ArrayLike

from lambdaboost.datasets._given import weights_of
from lambdaboost.datasets.columns import (
    check_no_dates,
    grades_of,
    row_weights,
    sizes_of,
    whole_queries,
)
from lambdaboost.datasets.positions import Positions, positions_of
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.labels import Labels, checked_positions, known_rows, labels_by_source
from lambdaboost.engines.traps import warn_of_narrow_labels
from lambdaboost.lightgbm._private import is_constructed

Sources = Mapping[str, ArrayLike]


class Dataset(lgb.Dataset):
    """A `lightgbm.Dataset` with query ids, further label sources and positions, which subsets and folds keep.

    Parameters
    ----------
    data, label, reference, weight, group, init_score, feature_name, categorical_feature, params, free_raw_data
        As of `lightgbm.Dataset`. A NaN label is a missing label; LightGBM alone would make it grade 0. Weights are
        one per row, or one per query.
    qid : array of shape (n_rows,), optional
        The query of each row, the rows of one query adjacent; in place of `group`.
    sources : mapping of str to array of shape (n_rows,), or pandas or polars DataFrame, optional
        Further labels by name, ≥ 0, or NaN if missing: ``{"clicks": ctr}``.
    position : array of shape (n_rows,), optional
        The position of each row, as of `Queries`: ranks from 1 or categories, NaN or None where a row was not shown.
        LightGBM's own position field is set to the same, with 0 for rows that were not shown; LightGBM numbers it
        anew, and `save_binary` does not keep it.

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
        init_score: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        params: dict[str, Any] | None = None,
        free_raw_data: bool = True,
        *,
        qid: ArrayLike | None = None,
        sources: Sources | None = None,
        position: Any = None,
    ) -> None:
        check_no_dates("data", data)
        rows = known_rows(label, qid, data)
        group = sizes_of(group, qid, rows)
        positions = checked_positions(position, rows)
        super().__init__(
            data,
            reference=reference,
            weight=_row_weights(weight, group, rows),
            group=group,
            init_score=init_score,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
            params=params,
            free_raw_data=free_raw_data,
        )
        self.sources = _labels(sources, rows)
        self.set_position(positions)
        if label is not None:
            self.set_label(label)

    def set_label(self, label: Any) -> Dataset:
        """Set the grades; NaN stays missing."""
        # On construction LightGBM sets the label that it holds again, with 0 for missing grades.
        if label is None or label is self.label:
            return super().set_label(label)
        warn_of_narrow_labels("label", label)
        grades = grades_of(label)
        self.sources.pop(RELEVANCE, None)
        if np.isnan(grades).any():
            self.sources[RELEVANCE] = grades
        return super().set_label(np.nan_to_num(grades))

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
        init_score: Any = None,
        params: dict[str, Any] | None = None,
        *,
        qid: ArrayLike | None = None,
        sources: Sources | None = None,
        position: Any = None,
    ) -> Dataset:
        """Validation data aligned with this data set; arguments as of `Dataset`."""
        check_no_dates("data", data)
        rows = known_rows(label, qid, data)
        group = sizes_of(group, qid, rows)
        sources = _labels(sources, rows)
        positions = checked_positions(position, rows)
        weight = _row_weights(weight, group, rows)
        valid = super().create_valid(data, None, weight, group, init_score, params)
        _adopt(valid, sources, positions)
        return valid if label is None else valid.set_label(label)

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
        positions = None if self.positions is None else self.positions.take(rows)
        _adopt(part, {name: values[rows] for name, values in self.sources.items()}, positions)
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


def _adopt(stock: Any, sources: Labels, positions: Positions | None) -> None:
    """Convert to this class; LightGBM makes subsets and validation sets of its own class."""
    stock.__class__ = Dataset
    stock.sources = sources
    stock.set_position(positions)


def _row_weights(weight: Any, group: Any, rows: int | None) -> Any:
    if weight is None:
        return None
    if group is None or rows is None:
        return weights_of("weight", weight)
    return row_weights(weight, group, rows)


def _labels(sources: Sources | None, rows: int | None) -> Labels:
    """Checked further labels."""
    labels = labels_by_source(sources, rows)
    if RELEVANCE in labels:
        raise ValueError("sources has 'relevance': that is what label= gives, with NaN where it is missing")
    return labels
