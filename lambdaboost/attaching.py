"""`attach` and `query_folds`: label sources, positions and folds of stock data sets. Imports neither engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_new_source, check_rows, check_whole
from lambdaboost._words import counted
from lambdaboost.datasets.arrays import Positions, check_order, labels_of, positions_of
from lambdaboost.datasets.queries import RELEVANCE, Queries
from lambdaboost.engines import engine_of_data
from lambdaboost.engines.base import Engine, Fields

ATTRIBUTE = "lambdaboost_attached"
SUBSET_CACHE = "lambdaboost_taken"  # what a LightGBM subset has of its parent's, and what it was taken from


@dataclass(frozen=True, eq=False)
class Attached:
    """What `attach` gave to a data set."""

    sources: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    positions: Positions | None = None
    label: NDArray[np.float32] | None = None  # the engine's own, where grades were attached beside it

    def take(self, rows: Any) -> Attached:
        """That of some rows."""
        positions, label = self.positions, self.label
        if positions is not None:
            positions = positions.take(rows)
        if label is not None:
            label = label[rows]
        return Attached({name: values[rows] for name, values in self.sources.items()}, positions, label)

    def updated(self, later: Attached) -> Attached:
        """With what was attached later, which replaces sources of the same name."""
        positions, label = self.positions, self.label
        if later.positions is not None:
            positions = later.positions
        if RELEVANCE in later.sources:
            label = later.label
        return Attached({**self.sources, **later.sources}, positions, label)


NOTHING = Attached()
WITHOUT_SLICES = "cross-validate LambdaRanker with scikit-learn's cross_validate and GroupKFold, or use tune"


def attach(data: Any, *, position: Any = None, **sources: ArrayLike) -> Any:
    """Give label sources and positions to a stock data set of either engine, for objectives and measures to read.

    Parameters
    ----------
    data : lightgbm.Dataset or xgboost.DMatrix
        Any of their kinds: in memory, of a `lightgbm.Sequence`, `QuantileDMatrix`, `ExtMemQuantileDMatrix`.
    position : array of shape (n_documents,), optional
        The position of each row, as of `Queries`: ranks from 1 or categories, NaN or None where a row was not shown.
    **sources : arrays of shape (n_documents,)
        Label sources by name, such as ``clicks=ctr``; NaN where the label is unknown. ``relevance=``
        gives the grades where some are missing, which LightGBM's own label would turn to 0 and XGBoost's refuses. A
        training refuses the data set where its own label has changed since.

    Returns
    -------
    data
        The same data set. A later call adds sources, and replaces those of the same name. LightGBM's subsets, as in
        `lightgbm.cv`, keep them; XGBoost's slices do not, and an objective or measure that reads one says so.

    Raises
    ------
    TypeError, ValueError
        If `data` is no data set, or a source has the wrong length, a value that is not a finite number, or a name that
        is not free. Where the data set has neither label nor queries yet, a wrong length shows in the first round.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> from lambdaboost import attach, graded
    >>> data = lgb.Dataset(np.arange(12.0)[:, None], [0, 1, 0, 2, 1, 0] * 2, group=[6, 6])
    >>> data = attach(data, clicks=[0.1, 0.3, 0.2, 0.5, 0.0, np.nan] * 2)
    >>> params = {"objective": graded(0.1), "metric": "None", "min_data_in_leaf": 1, "verbose": -1}
    >>> lgb.train(params, data, 2).num_trees()
    2

    """
    engine = engine_of_data(data)
    if engine is None:
        raise TypeError(
            f"data is of type {type(data).__name__}, expected a lightgbm.Dataset or an xgboost.DMatrix; Queries takes "
            "label sources itself"
        )
    # The number of rows, as far as the data set knows it yet.
    fields = engine.fields_of(data)
    known = [len(field) for field in (fields.rows, fields.labels) if field is not None and len(field)]
    if fields.offsets is not None and fields.offsets.size:
        known.append(int(fields.offsets[-1]))
    rows = known[0] if known else None
    # What is given, checked.
    given = {}
    for name, values in sources.items():
        if name != RELEVANCE:
            check_new_source(name)
        _check_index(name, values, data)
        given[name] = labels_of(name, values)
        rows = rows or given[name].size
        check_rows(name, given[name].size, "the data set", rows)
    positions = None
    if position is not None:
        _check_index("position", position, data)
        positions = positions_of("position", position)
        check_rows("position", positions.codes.size, "the data set", rows or positions.codes.size)
    # Grades beside the engine's own label, which LightGBM needs and may not have yet.
    label = fields.labels
    if RELEVANCE in given and label is None:
        label = np.nan_to_num(given[RELEVANCE])
        data.set_label(label)
    if RELEVANCE in given and label is not None:
        label = as_engines_keep(label)
    attached = getattr(data, ATTRIBUTE, NOTHING).updated(Attached(given, positions, label))
    if RELEVANCE not in attached.sources and label is not None and np.isnan(label).any():
        raise ValueError(
            "the label of data has NaN, which LightGBM makes 0: give attach(data, relevance=grades), for which missing "
            "grades stay missing"
        )
    setattr(data, ATTRIBUTE, attached)
    return data


def _check_index(name: str, values: Any, data: Any) -> None:
    """Raise where a pandas column has the rows of the data set in another order.

    A `lightgbm.Dataset` keeps the frame and the label that it was given until it is constructed; others keep neither.
    """
    own = "label" if hasattr(getattr(data, "label", None), "iloc") else "data"
    check_order(name, values, own, getattr(data, own, None))


def as_engines_keep(label: NDArray[Any]) -> NDArray[np.float32]:
    """A label as both engines keep it: float32, 0 where missing."""
    return np.nan_to_num(label.ravel().astype(np.float32))


def attached_to(data: Any, fields: Fields, engine: Engine) -> Attached:
    """What was attached to a data set of an engine, including what subsets inherit from their parents."""
    own: Attached = getattr(data, ATTRIBUTE, NOTHING)
    if fields.parent is None:
        return own
    before = attached_to(fields.parent, engine.fields_of(fields.parent), engine)
    if before is NOTHING:
        return own
    known: tuple[Attached, Attached, Attached] | None = getattr(data, SUBSET_CACHE, None)
    # The first time, or `attach` was called since.
    if known is None or known[0] is not before or known[1] is not own:
        known = before, own, before.take(np.asarray(fields.rows)).updated(own)
        setattr(data, SUBSET_CACHE, known)
    return known[2]


def query_folds(
    queries: Any, n: int = 5, *, seed: int = 0
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Random folds of whole queries, as ``folds=`` of `lightgbm.cv`: (training rows, validation rows) of each.

    Parameters
    ----------
    queries : Queries, lightgbm.Dataset or xgboost.DMatrix
        The documents, in the order of the rows.
    n : int
        Number of folds; their numbers of queries differ by at most one.
    seed : int
        Seed of the draw.

    Raises
    ------
    TypeError, ValueError
        If there are fewer queries than folds.

    Examples
    --------
    >>> from lambdaboost import Queries, query_folds
    >>> query_folds(Queries([0, 1, 0, 1, 1], sizes=[2, 3]), 2)
    [(array([2, 3, 4]), array([0, 1])), (array([0, 1]), array([2, 3, 4]))]

    """
    check_whole("n", n, 2)
    engine = engine_of_data(queries)
    if engine is None and not isinstance(queries, Queries):
        raise TypeError(
            f"queries is of type {type(queries).__name__}, expected Queries, such as Queries(y, ids=…), a "
            "lightgbm.Dataset or an xgboost.DMatrix"
        )
    if engine is None:
        sizes = queries.sizes
    else:
        # A Dataset that is not constructed yet has the sizes of its queries as they were given.
        offsets = engine.fields_of(queries).offsets
        if offsets is None or offsets.size < 2:
            raise ValueError(engine.NO_GROUPS)
        sizes = np.diff(offsets)
    fold = np.repeat(draw_folds(np.arange(sizes.size), n, seed), sizes)
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n)]


def draw_folds(same: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each query, random; queries with the same number in `same`, from 0, are in one fold.

    >>> draw_folds(np.array([0, 1, 2, 0]), 2, seed=0)
    array([0, 0, 1, 0])
    """
    n = int(same.max()) + 1
    if n < folds:
        there = counted(n, "different query", "different queries")
        raise ValueError(f"{folds} folds of {there}: give fewer folds, or more queries")
    found: NDArray[np.int64] = np.random.default_rng(seed).permutation(n)[same] % folds
    return found
