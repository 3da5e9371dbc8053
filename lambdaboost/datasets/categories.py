"""Categories of a column: each value has a code from 0, which trees split by, and the values stay with the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._words import counted, listed, quote
from lambdaboost.datasets.tables import Table, category_text

Categories = Mapping[Any, Sequence[Any]]  # the values of each categorical column, in the order of their codes


def find_categories(table: Table, named: Iterable[Any] = ()) -> dict[Any, tuple[Any, ...]]:
    """The values of the columns of a categorical type in their order, and of those that are `named`, as sorted texts.

    Raises
    ------
    ValueError
        If a named column holds numbers with fractions.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table.of(pd.DataFrame({"n": [2, 10], "c": pd.Categorical(["b", "a"])}))
    >>> find_categories(table, ["n"])
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
                values, _ = table.factorize(column)
                values = values if pandas else sorted(values)
            found[column] = tuple(values)
        elif column in named:
            values, _ = table.factorize(column)
            numbers = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce")
            if numbers.notna().all() and (fraction := (numbers % 1 != 0).to_numpy()).any():
                raise ValueError(
                    f"{table.describe(column)} of {table.name} holds numbers, such as {numbers[fraction.argmax()]:g}: "
                    "categories are texts or whole numbers; leave it out of the categories"
                )
            found[column] = tuple(sorted(set(map(category_text, values))))
    return found


def encode(
    table: Table, column: Any, values: Sequence[Any], unseen: list[str] | None = None
) -> NDArray[np.float32]:
    """The code of each row of a column, NaN where it is missing; a value is known by its text, so 7 is ``"7"``.

    Rows with another value raise ValueError, or are NaN too where `unseen` is given, which gets words for a warning.

    >>> import pandas as pd
    >>> encode(Table.of(pd.DataFrame({"c": ["us", None, "de"]})), "c", ["de", "us"])
    array([ 1., nan,  0.], dtype=float32)
    """
    place = {category_text(value): at for at, value in enumerate(values)}
    there, of_row = table.factorize(column)
    of_value = [place.get(category_text(value), np.nan) for value in there]
    codes = np.array([*of_value, np.nan], dtype=np.float32)[of_row]
    if (other := np.isnan(codes) & (of_row >= 0)).any():
        name, row = table.describe(column), int(other.argmax())
        text = quote(category_text(there[of_row[row]]))
        if unseen is None:
            raise ValueError(
                f"{name} is {text} in {name.row(row)}, none of its categories in training ({listed(values, 5)}): make "
                "it one of these, or give unseen='missing'"
            )
        unseen.append(f"{counted(int(other.sum()), 'row')} of {name}, such as {text}")
    return codes


def categorical_frame(features: NDArray[Any], names: Sequence[Any], categories: Categories) -> Any:
    """A pandas frame of features, of which those with categories hold codes, or NaN; it shares memory without any."""
    import pandas as pd

    frame = pd.DataFrame(features, columns=list(names), copy=False)
    for at, name in enumerate(names):
        if name in categories:
            codes = np.nan_to_num(features[:, at], nan=-1).astype(np.int64)
            frame.isetitem(at, pd.Categorical.from_codes(codes, list(categories[name])))
    return frame
