"""Categories of a column: each value has a code from 0, which trees split by, and the values stay with the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._warn import warn
from lambdaboost._words import counted, listed, shown

Categories = Mapping[str, Sequence[Any]]  # the values of each categorical column, in the order of their codes


def categories_in(frame: Any) -> dict[Any, tuple[Any, ...]]:
    """The values of each categorical column of a narwhals frame: of pandas those of its type, else those in its rows.

    >>> import narwhals as nw
    >>> import pandas as pd
    >>> categories_in(nw.from_native(pd.DataFrame({"n": [1, 2], "c": pd.Categorical(["b", "a"])})))
    {'c': ('a', 'b')}
    """
    import narwhals as nw

    found = {}
    for name, kind in frame.schema.items():
        if isinstance(kind, nw.Categorical | nw.Enum) or kind in (nw.Categorical, nw.Enum):
            column = frame[:, frame.columns.index(name)]
            native = column.to_native()
            if frame.implementation.is_pandas_like() and hasattr(native, "cat"):
                values = native.cat.categories.tolist()
            else:
                values = getattr(kind, "categories", None) or sorted(set(column.drop_nulls().to_list()))
            found[name] = tuple(values)
    return found


def check_unseen(value: Any) -> str:
    """``"error"`` or ``"missing"``: what becomes of a category that training did not have."""
    if value not in ("error", "missing"):
        raise ValueError(f"unseen is {value!r}: give 'error' or 'missing'")
    return str(value)


def warn_of_unseen(found: Mapping[Any, str]) -> None:
    """One warning for all columns with categories that training did not have."""
    if found:
        warn(f"categories that training did not have count as missing: {'; '.join(found.values())}")


def codes_in(
    name: str,
    given: NDArray[Any],
    values: Sequence[Any],
    row: Callable[[int], str] = "row {}".format,
    unseen: dict[Any, str] | None = None,
) -> NDArray[np.float32]:
    """The code of each row of a column, NaN where it is missing; a value is known by its text, so 7 is ``"7"``.

    Rows with another value are NaN too where `unseen` is given, which gets the words for `warn_of_unseen`.

    Raises
    ------
    ValueError
        If a row has another value, without `unseen`; `row` gives the words for it.

    Examples
    --------
    >>> codes_in("market", np.array(["us", None, "de"], dtype=object), ["de", "us"])
    array([ 1., nan,  0.], dtype=float32)

    """
    import pandas as pd

    code, different = pd.factorize(given)
    place = {text_of_value(value): at for at, value in enumerate(values)}
    of_value = np.array([place.get(text_of_value(value), -1) for value in different], dtype=np.float32)
    if (other := of_value < 0).any():
        at = int(other.argmax())
        text = shown(text_of_value(different[at]))
        if unseen is None:
            raise ValueError(
                f"column {shown(name)} is {text} in {row(int((code == at).argmax()))}, none of its categories in "
                f"training ({listed(values, 5)}): make it one of these, or give unseen='missing'"
            )
        rows = counted(int(np.append(other, False)[code].sum()), "row")
        unseen[name] = f"{rows} of column {shown(name)}, such as {text}"
        of_value[other] = np.nan
    return np.append(of_value, np.float32(np.nan))[code]


def text_of_value(value: Any) -> str:
    """The text by which a category is known: numbers without a point where they are whole.

    >>> text_of_value(7.0), text_of_value("07")
    ('7', '07')
    """
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value) if whole else value)


def values_of(name: str, given: NDArray[Any]) -> tuple[str, ...]:
    """The different values of a column that becomes categorical, as sorted texts; raises for numbers with fractions."""
    import pandas as pd

    different = pd.unique(given[~pd.isna(given)])
    numbers = pd.to_numeric(pd.Series(different), errors="coerce")
    if numbers.notna().all() and (fraction := (numbers % 1 != 0).to_numpy()).any():
        raise ValueError(
            f"column {shown(name)} holds numbers, such as {numbers[fraction.argmax()]:g}: categories are texts or "
            "whole numbers; leave it out of the categories"
        )
    return tuple(sorted(map(text_of_value, different)))


def categorical_frame(columns: Mapping[Any, Any], categories: Categories) -> Any:
    """A pandas frame of columns, of which those with categories hold codes, or NaN."""
    import pandas as pd

    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(
                np.nan_to_num(values, nan=-1).astype(np.int64), list(categories[name])
            )
            if name in categories
            else values
            for name, values in columns.items()
        }
    )
