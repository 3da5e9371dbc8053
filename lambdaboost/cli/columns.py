"""The options of the columns of a file, as `Columns`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaboost._checks import check_new_source, naming_rows
from lambdaboost._words import shown
from lambdaboost.datasets import Columns
from lambdaboost.datasets.columns import LABEL, QUERY

SOURCE = re.compile(r"(?P<name>[A-Za-z_]\w*)(=(?P<column>[^:]+))?(?P<rate>:rate)?")


def parse_columns(
    sources: Iterable[str] = (),
    drop: Iterable[str] = (),
    categorical: Iterable[str] = (),
    query: str | None = None,
    label: str | None = None,
    **further: Any,
) -> Columns:
    """The columns of the options, such as ``--source clicks=134:rate``; `further` are those of one column.

    >>> parse_columns(["clicks=134:rate"], ["a,b-c"]).rates
    ('clicks',)
    """
    found: dict[str, str] = {}
    rates = []
    for text in sources:
        parts = SOURCE.fullmatch(text.strip())
        if not parts:
            raise ValueError(
                f"--source {shown(text)}: expected NAME=COLUMN or NAME=COLUMN:rate, such as clicks=134:rate"
            )
        check_new_source(parts["name"], found)
        found[parts["name"]] = (parts["column"] or parts["name"]).strip()
        rates += [parts["name"]] if parts["rate"] else []
    items, kinds = (
        [word.strip() for text in texts for word in text.split(",") if word.strip()]
        for texts in (drop, categorical)
    )
    return Columns(
        query or QUERY,
        label or LABEL,
        sources=found,
        drop=items,
        categorical=kinds,
        rates=rates,
        **further,
    )


def options_of(columns: Columns) -> list[str]:
    """The label sources as options, such as ``clicks=134:rate``."""
    return [
        f"{name}={column}{':rate' if name in columns.rates else ''}"
        for name, column in columns.sources.items()
    ]


def naming_file(path: Path, *orders: NDArray[np.int64] | None) -> AbstractContextManager[None]:
    """Name the row of a file in errors about a row; `orders` say, one after the other, how rows were reordered."""

    def row_name(row: int) -> str:
        for order in reversed([order for order in orders if order is not None]):
            row = int(order[row])
        return f"row {1 + row} of {path}"

    return naming_rows(row_name)


@contextmanager
def naming_option(option: str) -> Iterator[None]:
    """Put an option before an error about what it was given, which is then a ValueError."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{option}: {error}") from None
