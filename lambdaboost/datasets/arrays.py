"""Columns from users as NumPy arrays, checked: lists, arrays, and columns of pandas, polars and pyarrow tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import RowError, refuse_labels
from lambdaboost._warn import warn

FINITE = "labels must be finite, or NaN if missing"
FLOAT32_MAX = float(np.finfo(np.float32).max)
INFINITE_WEIGHT = 9.9e37  # from here: LightGBM makes an infinite one 1e38 before anybody sees it
# Curves and biases have one figure for each rank, and a column of ids or times is no rank.
LARGEST_RANK = 1_000_000
MIXED = "other rows have text; give ranks in all rows, or text in all"
RANK = "give the rank at which a row was shown, a whole number from 1, or NaN where it was not shown"


def as_array(values: Any) -> NDArray[Any]:
    """A column as an array; text and mixed types are objects, and a missing value is NaN or None.

    >>> as_array(["a", float("nan"), 1])
    array(['a', nan, 1], dtype=object)
    """
    if np.ma.isMaskedArray(values):
        missing, given = np.ma.getmaskarray(values), np.ma.getdata(values)
        if missing.any():
            return np.where(missing, np.array(None), given.astype(object))
        return given
    if isinstance(values, list | tuple):
        given = np.asarray(values)
        if given.dtype.kind in "US":  # NumPy would turn a NaN or a number among text into text
            return np.asarray(values, dtype=object)
        return given
    if not isinstance(values, np.ndarray):
        import narwhals as nw

        column = nw.from_native(values, allow_series=True, pass_through=True)
        if isinstance(column, nw.Series):
            # NumPy has no numbers of 128 bits, and Arrow's dictionaries would give a missing row another one's value.
            is_dictionary = column.implementation.is_pyarrow() and column.dtype in (nw.Categorical, nw.Enum)
            if is_dictionary or column.dtype in (nw.Int128, nw.UInt128):
                return np.array(column.to_list(), dtype=object)
            values = column.to_numpy()
    given = np.asarray(values)
    # An array of the longest text's width would take that memory for every row, and makes "a" and "a\0" equal.
    return given.astype(object) if given.dtype.kind == "U" else given


def only_column(values: Any) -> NDArray[Any]:
    """`as_array`, where a table or an array of one column is that column, such as ``df[["qid"]]``.

    >>> only_column([[3], [4]])
    array([3, 4])
    """
    if hasattr(values, "columns"):
        import narwhals as nw

        frame = nw.from_native(values, pass_through=True)
        if isinstance(frame, nw.DataFrame) and len(frame.columns) == 1:
            return as_array(frame[:, 0].to_native())
    given = as_array(values)
    if given.ndim == 2 and given.shape[1] == 1:
        return given[:, 0]
    return given


def check_order(name: str, values: Any, of: str, rows: Any) -> None:
    """Raise where a pandas column has the rows of another one, or of a table, in another order, by their index.

    As a column has that was taken before its table was sorted. Engines and scikit-learn take rows as they come,
    whatever their index says. Where `rows`, which messages call `of`, are merely numbered, as what a scikit-learn
    transformer makes of a sorted table, this is a warning.
    """
    if not hasattr(rows, "iloc") or not hasattr(values, "iloc") or rows.index.equals(values.index):
        return
    import pandas as pd

    index, other = rows.index, values.index
    same = len(other) == len(index) and index.is_unique and other.is_unique and other.isin(index).all()
    if not same:
        return
    remedy = f"give {name}.loc[{of}.index], or {name}.to_numpy() if the rows are in order as they are"
    if index.equals(pd.RangeIndex(len(index))):
        warn(f"{name} has the row numbers of {of} in another order, and is taken in its own: {remedy}")
    else:
        raise ValueError(f"{name} has the rows of {of} in another order, by their index: {remedy}")


def is_missing(a: NDArray[Any]) -> NDArray[np.bool_]:
    """Where an array has NaN, None or another null."""
    if a.dtype.kind != "O":
        return np.asarray(a != a)  # as NaN and NaT are unlike themselves
    import pandas as pd

    return np.asarray(pd.isna(a))


def as_floats(name: str, values: Any) -> NDArray[np.float64]:
    """Convert to float64, one value per row; NaN for masked or null values; dates raise TypeError.

    >>> as_floats("clicks", np.ma.masked_equal([0.5, -1.0], -1.0))
    array([0.5, nan])
    """
    try:
        given = as_array(values)
        if given.dtype.kind in "mMc":
            raise TypeError(f"got {given.dtype}")
        if given.dtype.kind == "O" and (missing := is_missing(given)).any():
            given = np.where(missing, np.nan, given)
        a = given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numbers, one per document: {error}") from None
    if a.ndim != 1:
        raise ValueError(f"{name} has shape {a.shape}, expected one dimension: one value per document")
    return a


def feature_array(X: Any) -> Any:
    """Features as a float32 or float64 array, or CSR matrix, of shape (n_documents, n_features)."""
    from sklearn import config_context  # which takes a second to import
    from sklearn.utils import check_array

    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("m", "M"):
        raise TypeError(f"X is {X.dtype}: convert dates to numbers, such as days since the first one")
    if kind == "V":
        raise TypeError("X is a structured array, whose columns have names: give pandas.DataFrame(X)")
    if np.ma.isMaskedArray(X):  # whose mask scikit-learn would leave out
        X = as_array(X)
    with config_context(assume_finite=True):  # NaN is a missing value
        found = check_array(X, accept_sparse="csr")
    return found.astype(float_type(found.dtype), copy=False)


def float_type(kind: np.dtype[Any]) -> Any:
    """The type that holds numbers of another one: native float32 if it does, else float64.

    >>> float_type(np.dtype(">f4")), float_type(np.dtype(bool)), float_type(np.dtype(np.int64))
    (dtype('float32'), dtype('float32'), dtype('float64'))
    """
    wide = np.result_type(kind, np.float32)
    return wide if wide.itemsize <= 8 else np.dtype(np.float64)


def labels_of(name: str, values: Any) -> NDArray[np.float32]:
    """Labels as a new float32 array: finite, or NaN if missing."""
    given = only_column(values)
    if given.dtype == np.float32 and given.ndim == 1:
        refuse_labels(name, given, np.isinf(given), FINITE)
        return given.copy()
    a = as_floats(name, given)
    with np.errstate(over="ignore"):
        narrow = a.astype(np.float32)
    refuse_labels(name, a, np.isinf(a), FINITE)
    refuse_labels(name, a, np.isinf(narrow), "labels are kept as float32, from -3.4e38 to 3.4e38")
    return narrow


def weights_of(name: str, values: Any) -> NDArray[np.float32]:
    """Weights of queries or documents as float32, finite and ≥ 0."""
    a = as_floats(name, values)
    bad = ~((a >= 0) & (a < INFINITE_WEIGHT))
    refuse_labels(
        name, a, bad, "weights must be finite, ≥ 0 and below 9.9e37, since LightGBM makes infinity 1e38"
    )
    return a.astype(np.float32)


def query_ids(name: str, ids: Any, what: str = "query") -> NDArray[Any]:
    r"""The query, or other key, of each row as an array; raises if one is missing (masked, null, None or NaN).

    Numbers become an array of their type; texts and mixed types stay objects: ``1`` is not ``"1"``.

    >>> query_ids("qid", ["a", "a", "b"])
    array(['a', 'a', 'b'], dtype=object)
    """
    a = only_column(ids)
    if (
        a.dtype.kind == "f"
        and isinstance(ids, list | tuple)
        and all(isinstance(one, Integral) for one in ids)
    ):
        a = np.array(
            [int(one) for one in ids], dtype=object
        )  # NumPy rounds numbers above 2^63 among smaller ones
    if a.ndim != 1:
        raise ValueError(f"{name} has shape {a.shape}, expected one dimension: give the {what} of every row")
    if (missing := is_missing(a)).any():
        row = int(missing.argmax())
        raise RowError(name, row, "is missing", f"give the {what} of every row")
    refuse_merged(name, a)
    if a.dtype == object:
        keys = a.tolist()
        wrong = {kind for kind in set(map(type, keys)) if not issubclass(kind, Hashable)}
        if wrong:
            row = next(row for row, key in enumerate(keys) if type(key) in wrong)
            raise RowError(name, row, f"is of type {type(keys[row]).__name__}", "give text or a number")
    return a


def refuse_merged(name: str, ids: NDArray[Any]) -> None:
    """Raise for an id so large that its type merges neighbouring whole numbers, from 2^53 on in float64."""
    if ids.dtype.kind == "f" and (merged := np.abs(ids) >= 2.0 ** (np.finfo(ids.dtype).nmant + 1)).any():
        row = int(merged.argmax())
        remedy = f"{ids.dtype} merges neighbouring numbers; give whole numbers (int64) or text"
        raise RowError(name, row, f"is {ids[row]:.0f}", remedy)


class Positions(NamedTuple):
    """The position of each row: a rank from 1, or with `names` the code of a category; 0 where a row was not shown.

    Attributes
    ----------
    codes : int32 (n_rows,)
        From 1; 0 where a row was not shown.
    names : tuple of str, or None
        The category of code k is ``names[k - 1]``; None for ranks.

    """

    codes: NDArray[np.int32]
    names: tuple[str, ...] | None = None

    def take(self, rows: NDArray[Any] | slice) -> Positions:
        """The positions of some rows, with the same codes."""
        return Positions(self.codes[rows], self.names)

    @classmethod
    def concat(cls, parts: Sequence[Positions]) -> Positions:
        """The positions of all parts, with the names of all.

        Raises
        ------
        ValueError
            If some parts are ranks and others have names.

        """
        if all(part.names is None for part in parts):
            return cls(np.concatenate([part.codes for part in parts]))
        if any(part.names is None and part.codes.any() for part in parts):  # not where no row was shown
            raise ValueError(
                "position is a rank in one part and a name in another: give the same kind in all parts"
            )
        names = tuple(sorted({name for part in parts for name in part.names or ()}))
        codes = [np.append(0, np.searchsorted(names, part.names or ()) + 1)[part.codes] for part in parts]
        return cls(np.concatenate(codes).astype(np.int32), names)


def positions_of(name: str, values: Any) -> Positions:
    """Positions from ranks ≥ 1 or categories, one per row; a missing one is a row that was not shown.

    Text and categoricals are categories, with codes from 1 in sorted order; a pandas categorical also has codes for
    categories that are in none of its rows.

    >>> positions_of("position", [2, 1, None]).codes
    array([2, 1, 0], dtype=int32)
    >>> positions_of("position", ["top", "side", "top"])
    Positions(codes=array([2, 1, 2], dtype=int32), names=('side', 'top'))

    """
    if isinstance(values, Positions):
        return values
    import pandas as pd

    # A pandas categorical, whose categories need not be in its rows, or text, which becomes one.
    if not isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        given = as_array(values)
        if given.ndim != 1:
            raise ValueError(f"{name} has shape {given.shape}, expected one dimension: one position per row")
        kinds = {given.dtype.type}
        if given.dtype.kind == "O":
            missing = is_missing(given)
            kinds = set(map(type, given[~missing]))
        is_text = [issubclass(kind, str) for kind in kinds]
        if not any(is_text):
            if not kinds.isdisjoint((bool, np.bool_)):
                raise TypeError(f"{name} is true or false: {RANK}, or text for a category")
            ranks = as_floats(name, given)
            large = (ranks > LARGEST_RANK) & (ranks < np.inf)
            refuse_labels(
                name, ranks, large, f"give a rank of at most {LARGEST_RANK}, or text for a category"
            )
            is_rank = (ranks >= 1) & (ranks <= LARGEST_RANK) & (ranks == np.floor(ranks))
            refuse_labels(name, ranks, ~np.isnan(ranks) & ~is_rank, RANK)
            return Positions(np.nan_to_num(ranks).astype(np.int32))
        if not all(is_text):
            row = next(row for row in np.flatnonzero(~missing) if not isinstance(given[row], str))
            raise RowError(name, int(row), f"is {given[row]!r}", MIXED)
        values = given
    categorical = pd.Categorical(values)
    categorical = categorical.reorder_categories(sorted(categorical.categories))
    return Positions(categorical.codes.astype(np.int32) + 1, tuple(map(str, categorical.categories)))


def query_weights(name: str, weight: NDArray[np.float32], sizes: NDArray[np.integer]) -> NDArray[np.float32]:
    """The common weight of each query's rows.

    >>> query_weights("weight", np.float32([1, 1, 2]), np.array([2, 1]))
    array([1., 2.], dtype=float32)
    """
    of_query = weight[np.cumsum(sizes) - sizes]
    remedy = (
        "unlike the first row of its query, but XGBoost weights whole queries; give one weight per query, or use "
        "LightGBM, which weights rows"
    )
    refuse_labels(name, weight, np.repeat(of_query, sizes) != weight, remedy)
    return of_query


def factorize_in_order(keys: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each key from 0, in order of first appearance, and the first row of each.

    >>> factorize_in_order(np.array(["b", "a", "b"]))
    (array([0, 1, 0]), array([0, 1]))
    """
    import pandas as pd

    native = keys.astype(keys.dtype.newbyteorder("="), copy=False)  # the only byte order that pandas takes
    code = pd.factorize(native)[0].astype(np.int64)
    # A code larger than all before it is new.
    return code, np.flatnonzero(np.diff(np.maximum.accumulate(code), prepend=-1))
