"""Categories of a column: each value has a code from 0, which trees split by, and the values stay with the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import Column
from lambdaboost._warn import warn
from lambdaboost._words import counted, listed, shown
from lambdaboost.datasets.tables import Table

Categories = Mapping[Any, Sequence[Any]]  # the values of each categorical column, in the order of their codes


class Levels(NamedTuple):
    """The different values of a column, and the place of that of each row, int64 (n_rows,); -1 where it is missing."""

    values: list[Any]
    of_row: NDArray[np.int64]


def levels_in(table: Table, column: Any) -> Levels:
    """The values of a column: of pandas those of its categorical type, else those in its rows, whole numbers exactly.

    >>> import pyarrow as pa
    >>> levels_in(Table.of(pa.table({"c": ["b", None, "a", "b"]})), "c")
    Levels(values=['b', 'a'], of_row=array([ 0, -1,  1,  0]))
    """
    import pandas as pd

    native = table.column(column)
    if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
        return Levels(native.cat.categories.tolist(), native.cat.codes.to_numpy().astype(np.int64))
    # Without nulls whole numbers stay whole: a float merges 2**53 and 2**53 + 1.
    series = table.series(column)
    there = ~series.is_null().to_numpy().astype(np.bool_)
    code, different = pd.factorize(table.checked(column, series.drop_nulls()))
    of_row = np.full(there.size, -1)
    of_row[there] = code
    return Levels(different.tolist(), of_row)


def categories_in(table: Table, named: Iterable[Any] = ()) -> dict[Any, tuple[Any, ...]]:
    """The values of the columns of a categorical type in their order, and of those that are `named`, as sorted texts.

    Raises
    ------
    ValueError
        If a named column holds numbers with fractions.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table.of(pd.DataFrame({"n": [2, 10], "c": pd.Categorical(["b", "a"])}))
    >>> categories_in(table, ["n"])
    {'n': ('10', '2'), 'c': ('a', 'b')}

    """
    import narwhals as nw
    import pandas as pd

    found, named = {}, set(named)
    for column, kind in table.frame.schema.items():
        if isinstance(kind, nw.Categorical | nw.Enum) or kind in (nw.Categorical, nw.Enum):
            values: Iterable[Any] = getattr(kind, "categories", None) or ()
            if not values:
                pandas = isinstance(getattr(table.column(column), "dtype", None), pd.CategoricalDtype)
                values = levels_in(table, column).values
                values = values if pandas else sorted(values)
            found[column] = tuple(values)
        elif column in named:
            values = levels_in(table, column).values
            numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
            if numbers.notna().all() and (fraction := (numbers % 1 != 0).to_numpy()).any():
                raise ValueError(
                    f"{table.called(column)} of {table.where} holds numbers, such as {numbers[fraction.argmax()]:g}: "
                    "categories are texts or whole numbers; leave it out of the categories"
                )
            found[column] = tuple(sorted(set(map(text_of_value, values))))
    return found


def codes_in(
    name: Column, levels: Levels, values: Sequence[Any], lost: dict[Any, str] | None = None
) -> NDArray[np.float32]:
    """The code of each row of a column, NaN where it is missing; a value is known by its text, so 7 is ``"7"``.

    Rows with another value are NaN too where `lost` is given, which gets the words for `warn_of_unseen`.

    Raises
    ------
    ValueError
        If a row has another value, without `lost`.

    Examples
    --------
    >>> codes_in(Column("column 'c'"), Levels(["us", "de"], np.array([0, -1, 1])), ["de", "us"])
    array([ 1., nan,  0.], dtype=float32)

    """
    place = {text_of_value(value): at for at, value in enumerate(values)}
    of_value = np.array(
        [place.get(text_of_value(value), np.nan) for value in levels.values], dtype=np.float32
    )
    codes = np.append(of_value, np.float32(np.nan))[levels.of_row]
    other = np.isnan(codes) & (levels.of_row >= 0)
    if other.any():
        row = int(other.argmax())
        text = shown(text_of_value(levels.values[levels.of_row[row]]))
        if lost is None:
            raise ValueError(
                f"{name} is {text} in {name.row(row)}, none of its categories in training ({listed(values, 5)}): make "
                "it one of these, or give unseen='missing'"
            )
        lost[name] = f"{counted(int(other.sum()), 'row')} of {name}, such as {text}"
    return codes


def check_unseen(value: Any) -> str:
    """``"error"`` or ``"missing"``: what becomes of a category that training did not have."""
    if value not in ("error", "missing"):
        raise ValueError(f"unseen is {value!r}: give 'error' or 'missing'")
    return str(value)


def warn_of_unseen(lost: Mapping[Any, str]) -> None:
    """One warning for all columns with categories that training did not have."""
    if lost:
        warn(f"categories that training did not have count as missing: {'; '.join(lost.values())}")


def text_of_value(value: Any) -> str:
    """The text by which a category is known: numbers without a point where they are whole.

    >>> text_of_value(7.0), text_of_value("07")
    ('7', '07')
    """
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if whole else value)


def categorical_frame(features: NDArray[Any], names: Sequence[Any], categories: Categories) -> Any:
    """A pandas frame of features, of which those with categories hold codes, or NaN; it shares memory without any."""
    import pandas as pd

    frame = pd.DataFrame(features, columns=list(names), copy=False)
    for at, name in enumerate(names):
        if name in categories:
            codes = np.nan_to_num(features[:, at], nan=-1).astype(np.int64)
            frame.isetitem(at, pd.Categorical.from_codes(codes, list(categories[name])))
    return frame
