"""`Clicks`: a feature column used as the click labels of one setting."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lambdaboost import Queries
from lambdaboost.datasets import Collection, click_rate

Scale = Callable[[NDArray[np.float64], Queries], NDArray[np.float64]]

# How a column is converted to labels in [0, 1], and its description in reports.
SCALES: dict[str, tuple[Scale, str]] = {
    "rate": (click_rate, "log1p(count) / largest log1p(count) of the query"),
    "percent": (lambda values, q: values / 100, "value / 100"),
    "unit": (lambda values, q: values, "the value, which is in [0, 1]"),
}
TEXT = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<column>[0-9]+)(:(?P<scale>\w+))?")


def as_source(collection: Collection, name: str, column: int | str, scale: Scale) -> Collection:
    """The collection with a feature, counted from 0 or by its name, as a label source instead."""
    rest = collection.without_features([column])  # which says if there is none
    at = (collection.feature_names or ()).index(column) if isinstance(column, str) else column
    values = collection.features[:, [at]]
    values = values if isinstance(values, np.ndarray) else values.toarray()
    labels = scale(values.ravel().astype(np.float64), collection.queries)
    queries = collection.queries.with_source(name, labels)
    return replace(rest, queries=queries)


@dataclass(frozen=True)
class Clicks:
    """Column `column`, counted from 1 as in LETOR, as click labels `name` in [0, 1]; None for synthetic data.

    >>> Clicks.parse("url=135"), Clicks.parse("spam=2:percent")
    (Clicks(name='url', column=135, scale='rate'), Clicks(name='spam', column=2, scale='percent'))
    """

    name: str
    column: int | None
    scale: str = "unit"

    @classmethod
    def parse(cls, text: str) -> Clicks:
        """Parse ``NAME=COLUMN`` or ``NAME=COLUMN:SCALE``."""
        found = TEXT.fullmatch(text.strip())
        if not found or (scale := found["scale"] or "rate") not in SCALES:
            raise ValueError(
                f"--clicks {text!r}: expected NAME=COLUMN or NAME=COLUMN:SCALE, such as url=135 for counts, "
                f"SCALE one of {', '.join(SCALES)}"
            )
        return cls(found["name"], int(found["column"]), scale)

    def __str__(self) -> str:
        return f"{self.name}={self.column}:{self.scale}"

    @property
    def described(self) -> str:
        """The origin of the labels, in words."""
        if self.column is None:
            return "drawn by the click model"
        return f"column {self.column}, label = {SCALES[self.scale][1]}; the column is no feature"

    def taken_from(self, collection: Collection, where: str) -> Collection:
        """The collection with the column as label source; raises ValueError if a label is outside [0, 1]."""
        try:
            made = as_source(collection, self.name, str(self.column), SCALES[self.scale][0])
        except ValueError as error:
            raise ValueError(f"--clicks {self} of {where}: {error}") from None
        highest = np.nanmax(made.queries.labels[self.name], initial=0.0)
        if highest > 1:
            raise ValueError(f"--clicks {self} of {where}: labels run to {highest:g}, CNDCG needs [0, 1]")
        return made
