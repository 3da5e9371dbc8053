"""`Dataset`: a LightGBM data set that carries further label sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost.datasets import Queries
from lambdaboost.datasets.columns import row_weights, sizes_of, sources_by_name
from lambdaboost.datasets.queries import RELEVANCE
from lambdaboost.engines.traps import warn_of_narrow_labels

# `Queries` takes these as arguments of its own, and `queries_of` keeps the boundaries beside the sources.
RESERVED = (RELEVANCE, "sizes", "ids", "weight", "offsets")

Sources = Mapping[str, ArrayLike]
Labels = dict[str, NDArray[np.float32]]


class Dataset(lgb.Dataset):
    """A `lightgbm.Dataset` with query ids and further label sources, which subsets, folds and measures find.

    Parameters
    ----------
    data, label, reference, weight, group, init_score, feature_name, categorical_feature, params, free_raw_data
        As of `lightgbm.Dataset`. A label that is NaN stays missing, where LightGBM alone would make it grade 0. Weights
        are one a row, or one a query.
    qid : array of shape (n_rows,), optional
        The query of each row, the rows of one query adjacent; in place of `group`.
    sources : mapping of str to array of shape (n_rows,), or pandas or polars DataFrame, optional
        Further labels by name, ≥ 0, NaN where the source says nothing of the row: ``{"clicks": ctr}``.

    Attributes
    ----------
    sources : dict of str to float32 (n_rows,)
        The further labels; also ``"relevance"`` where the label has gaps.

    Raises
    ------
    ValueError, TypeError
        Where lengths differ, a label is negative or infinite, a query's rows are not adjacent, both `group` and
        `qid` are given, or a source bears a name that is taken.

    Examples
    --------
    >>> data = Dataset(np.eye(4), [2, 0, 1, 0], qid=[7, 7, 9, 9], sources={"clicks": [0.5, 0.0, 0.1, np.nan]})
    >>> data.group, data.sources["clicks"]
    (array([2, 2]), array([0.5, 0. , 0.1, nan], dtype=float32))

    """

    sources: Labels

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
    ) -> None:
        group, rows = sizes_of(group, qid), _rows(data, label, qid)
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
        self.sources = checked_sources(sources, rows)
        if label is not None:
            self.set_label(label)

    def set_label(self, label: Any) -> Dataset:
        """Set the grades; gaps (NaN) stay gaps."""
        # LightGBM hands back what it holds whenever it constructs, with 0 in the gaps.
        if label is None or label is self.label:
            return super().set_label(label)
        grades = _grades(label)
        self.sources.pop(RELEVANCE, None)
        if np.isnan(grades).any():
            self.sources[RELEVANCE] = grades
        return super().set_label(np.nan_to_num(grades))

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
    ) -> Dataset:
        """Validation data aligned with this data set; arguments as of `Dataset`."""
        group, rows = sizes_of(group, qid), _rows(data, label, qid)
        sources = checked_sources(sources, rows)
        weight = _row_weights(weight, group, rows)
        valid = super().create_valid(data, None, weight, group, init_score, params)
        _adopt(valid, sources)
        return valid if label is None else valid.set_label(label)

    def subset(self, used_indices: Sequence[int], params: dict[str, Any] | None = None) -> Dataset:
        """Some rows, in the order of this data set, with their labels from every source."""
        part = super().subset(used_indices, params)
        rows = np.asarray(part.used_indices)
        if self.group is not None:
            # LightGBM finds these only once `part` is constructed, and a subset of it would lose its queries.
            query = np.repeat(np.arange(len(self.group)), self.group)[rows]
            part.group = np.unique(query, return_counts=True)[1]
        _adopt(part, {name: values[rows] for name, values in self.sources.items()})
        return part


def _adopt(made: Any, sources: Labels) -> None:
    """Make what LightGBM made one of ours: it names its own class when it makes subsets and validation sets."""
    made.__class__ = Dataset
    made.sources = sources


def _row_weights(weight: Any, group: Any, rows: int | None) -> Any:
    return weight if weight is None or group is None or rows is None else row_weights(weight, group, rows)


def checked_sources(sources: Sources | None, n_rows: int | None) -> Labels:
    """Further labels as own float32 arrays, each of `n_rows` figures ≥ 0 or NaN."""
    if sources is None:
        return {}
    given = {name: np.asarray(values) for name, values in sources_by_name(sources).items()}
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"sources has the name {name!r}: names of label sources are text")
        if name == RELEVANCE:
            raise ValueError(
                "sources has 'relevance': that is what label= gives, with NaN where it is missing"
            )
        if name in RESERVED:
            raise ValueError(f"sources has the name {name!r}, which is taken: rename the source")
    if not given:
        return {}
    n = len(next(iter(given.values()))) if n_rows is None else n_rows
    for name, values in given.items():
        if values.shape != (n,):
            raise ValueError(f"sources[{name!r}] has shape {values.shape}, expected ({n},): one label a row")
        warn_of_narrow_labels(name, values)
    labels = Queries(np.zeros(n), sizes=[n], **given).labels
    return {name: np.array(labels[name]) for name in given}


def _grades(label: Any) -> NDArray[np.float32]:
    values = np.asarray(label)
    warn_of_narrow_labels("label", values)
    values = values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values
    return np.array(Queries(values, sizes=[values.shape[0]]).relevance)


def _rows(data: Any, label: Any, qid: Any) -> int | None:
    """The number of rows, where it can be told without reading files."""
    for known in (label, qid, data):
        shape = getattr(known, "shape", None)
        if shape:
            return int(shape[0])
        if isinstance(known, list | tuple) and known and np.isscalar(known[0]):
            return len(known)
    return None
