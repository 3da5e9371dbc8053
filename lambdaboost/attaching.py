"""`attach`: label sources and positions on a stock data set; the `Queries` of a data set. Imports neither engine."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaboost._checks import check_new_source, check_whole
from lambdaboost._warn import warn
from lambdaboost.datasets.arrays import Positions, labels_of, positions_of
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
        is not free.

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
            f"data is a {type(data).__name__}, expected a lightgbm.Dataset or an xgboost.DMatrix; Queries takes label "
            "sources itself"
        )
    rows, given = engine.rows_in(data), {}
    for name, values in sources.items():
        if name != RELEVANCE:
            check_new_source(name)
        given[name] = labels_of(name, values)
        _check_rows(name, given[name].size, rows)
        rows = given[name].size
    positions = None
    if position is not None:
        positions = positions_of("position", position)
        _check_rows("position", positions.codes.size, rows)
    # Grades beside the engine's own label, which LightGBM needs and may not have yet.
    label = engine.fields_given(data).labels
    if RELEVANCE in given and label is None:
        label = np.nan_to_num(given[RELEVANCE])
        data.set_label(label)
    if RELEVANCE in given and label is not None:
        label = _as_engines_keep(label)
    attached = getattr(data, ATTRIBUTE, NOTHING).updated(Attached(given, positions, label))
    if RELEVANCE not in attached.sources and label is not None and np.isnan(label).any():
        raise ValueError(
            "the label of data has NaN, which LightGBM makes 0: give attach(data, relevance=grades), for which missing "
            "grades stay missing"
        )
    setattr(data, ATTRIBUTE, attached)
    return data


def _check_rows(name: str, given: int, rows: int | None) -> None:
    if rows is not None and given != rows:
        raise ValueError(f"{name} has {given} rows, the data set has {rows}: give one value per document")


def _as_engines_keep(label: NDArray[Any]) -> NDArray[np.float32]:
    """A label as both engines keep it: float32, 0 where missing."""
    return np.nan_to_num(label.ravel().astype(np.float32))


def attached_to(data: Any, fields: Fields) -> Attached:
    """What was attached to a data set, including what subsets inherit from their parents."""
    own: Attached = getattr(data, ATTRIBUTE, NOTHING)
    if fields.parent is None:
        return own
    engine: Any = engine_of_data(fields.parent)
    before = attached_to(fields.parent, engine.fields_given(fields.parent))
    if before is NOTHING:
        return own
    known: tuple[Attached, Attached, Attached] | None = getattr(data, SUBSET_CACHE, None)
    # The first time, or `attach` was called since.
    if known is None or known[0] is not before or known[1] is not own:
        known = before, own, before.take(np.asarray(fields.rows)).updated(own)
        setattr(data, SUBSET_CACHE, known)
    return known[2]


# The queries of a data set, which live as long as it does.


@dataclass(frozen=True, eq=False)
class KnownData:
    """A data set of an engine: the queries made of its fields, and what trainings have bound to them."""

    owner: weakref.ref[Any]
    engine: Engine | None  # None of arrays
    fields: tuple[Any, ...]  # offsets, labels, weight, and what is attached: what the queries were made of
    queries: Queries
    # By the state of a booster (`callback.BoosterState`), an objective and what it is bound by. Both go with the
    # booster, and with the data set.
    bound: weakref.WeakKeyDictionary[Any, list[tuple[Any, Any]]]
    # By the same, a measure and its name in the results.
    names: weakref.WeakKeyDictionary[Any, list[tuple[Any, str]]]


_known: dict[int, KnownData] = {}  # by the id of the owner


def known_data(data: Any) -> KnownData:
    """What is known of a LightGBM Dataset or an XGBoost DMatrix; asked in every round, and made again on any change."""
    known = _known.get(id(data))
    if known is not None and known.owner() is data:
        engine = known.engine
    else:
        known, engine = None, engine_of_data(data)
    if engine is None:
        raise TypeError(f"expected a lightgbm.Dataset or an xgboost.DMatrix, got {type(data).__name__}")
    said = engine.fields_of(data)
    attached: Attached = getattr(data, ATTRIBUTE, NOTHING)
    if said.parent is not None:
        attached = attached_to(data, said)
    fields = (said.offsets, said.labels, said.weight, attached)
    if known is not None and _unchanged(known.fields, fields):
        return known
    return _know(data, engine, fields)


def known_arrays(y_true: ArrayLike, weight: ArrayLike | None, group: ArrayLike | None) -> KnownData:
    """The same of the arrays that LGBMRanker passes to its objective and eval_metric."""
    if group is None:
        raise ValueError("group is missing: pass group=[documents of each query] to fit")
    labels, offsets = np.asarray(y_true), np.concatenate([[0], np.cumsum(group)])
    known, fields = _known.get(id(labels)), (offsets, labels, weight, NOTHING)
    if known is not None and known.owner() is labels and _unchanged(known.fields, fields):
        return known
    return _know(labels, None, fields)


def queries_of(data: Any) -> Queries:
    """The queries of a LightGBM Dataset or an XGBoost DMatrix, with what is attached to it."""
    return known_data(data).queries


def _know(owner: Any, engine: Engine | None, fields: tuple[Any, ...]) -> KnownData:
    """Make the queries of a data set, or of labels, of its fields, and remember them while it lives."""
    offsets, labels, weight, attached = fields
    if engine is not None:
        name = f"{type(owner).__module__.partition('.')[0]}.{type(owner).__name__}"
        if offsets is None or offsets.size == 0:
            raise ValueError(engine.NO_GROUPS)
        if (labels is None or labels.size == 0) and RELEVANCE not in attached.sources:
            raise ValueError(f"the {name} has no labels: give label=grades")
        # A slice of a data set, as `xgboost.cv` makes them, of which the grades were attached.
        whole = engine.sliced_from() if attached is NOTHING else None
        if whole is not None:
            of_whole, a_slice = engine.fields_of(whole), "a slice of a DMatrix, as in xgboost.cv, loses"
            if RELEVANCE in attached_to(whole, of_whole).sources:
                raise ValueError(
                    f"{a_slice} {RELEVANCE!r}, which was given by attach, and has the matrix's own label instead: "
                    f"{WITHOUT_SLICES}"
                )
            has_weight = of_whole.weight is not None and of_whole.weight.size > 0
            if has_weight and (weight is None or not weight.size):
                warn(f"{a_slice} the weights of queries, so that all count the same: {WITHOUT_SLICES}")
        if attached.label is not None and not np.array_equal(attached.label, _as_engines_keep(labels)):
            raise ValueError(
                f"the label of the {name} has changed since attach(data, relevance=…), whose grades a training would "
                "still read: give the new ones by attach(data, relevance=grades) too"
            )
    grades = labels[:, 0] if labels is not None and labels.ndim == 2 else labels
    made = Queries(
        attached.sources.get(RELEVANCE, grades),
        np.diff(offsets.astype(np.int64)),
        weight=weight if weight is not None and np.size(weight) else None,
        position=attached.positions,
        **{name: values for name, values in attached.sources.items() if name != RELEVANCE},
    )
    # Copies, since the engine may free or overwrite its memory; that of the queries serves too.
    kept = [part.copy() if isinstance(part, np.ndarray) else part for part in fields[:3]]
    if RELEVANCE not in attached.sources and labels.dtype == np.float32 and labels.ndim == 1:
        kept[1] = made.labels[RELEVANCE]
    key = id(owner)
    forget = weakref.ref(owner, lambda _: _known.pop(key, None))
    bound, names = weakref.WeakKeyDictionary[Any, Any](), weakref.WeakKeyDictionary[Any, Any]()
    known = _known[key] = KnownData(forget, engine, (*kept, attached), made, bound, names)
    return known


def _unchanged(before: tuple[Any, ...], now: tuple[Any, ...]) -> bool:
    """Whether all fields are equal, NaN to NaN; asked in every round, so numbers are compared as bits."""
    for old, new in zip(before, now, strict=True):
        if old is new:
            continue
        if not isinstance(old, np.ndarray) or not isinstance(new, np.ndarray) or old.dtype != new.dtype:
            return False
        if old.dtype.kind in "biuf" and old.itemsize <= 8:
            old, new = old.view(f"u{old.itemsize}"), new.view(f"u{new.itemsize}")
        if not np.array_equal(old, new):
            return False
    return True


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
            f"queries is a {type(queries).__name__}, expected Queries, such as Queries(y, ids=…), a lightgbm.Dataset "
            "or an xgboost.DMatrix"
        )
    # A Dataset that is not constructed yet has the sizes of its queries as they were given.
    offsets = None if engine is None else engine.fields_given(queries).offsets
    if offsets is not None and offsets.size:
        sizes = np.diff(offsets)
    else:
        sizes = (queries if isinstance(queries, Queries) else queries_of(queries)).sizes
    if sizes.size < n:
        raise ValueError(f"n is {n}, but there are {sizes.size} queries: each fold needs one")
    fold = np.repeat(np.random.default_rng(seed).permutation(sizes.size) % n, sizes)
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(n)]
