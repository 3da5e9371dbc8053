"""`Clicks`: a feature column used as the click labels of one setting."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from lambdaboost.datasets import Collection, click_rate

# How a column is converted to labels in [0, 1].
SCALES = {
    "rate": "log1p(count) / largest log1p(count) of the query",
    "unit": "the value, which is in [0, 1]",
}
TEXT = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<column>[0-9]+)(:(?P<scale>\w+))?")


@dataclass(frozen=True)
class Clicks:
    """Column `column`, counted from 1 as in LETOR, as click labels `name` in [0, 1]; None for synthetic data.

    >>> Clicks.parse("url=135"), Clicks.parse("spam=2:unit")
    (Clicks(name='url', column=135, scale='rate'), Clicks(name='spam', column=2, scale='unit'))
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
        return f"column {self.column}, label = {SCALES[self.scale]}; the column is no feature"

    def taken_from(self, collection: Collection, where: str) -> Collection:
        """The collection with the column as label source; raises ValueError if a label is outside [0, 1]."""
        name, q = str(self.column), collection.queries
        try:
            rest = collection.without_features([name])  # which says if there is none
            values = collection.features[:, [(collection.feature_names or ()).index(name)]]
            labels = np.asarray(values if isinstance(values, np.ndarray) else values.toarray(), float).ravel()
            if self.scale == "rate":
                labels = click_rate(labels, q)
            made = replace(rest, queries=q.with_source(self.name, labels))
        except ValueError as error:
            raise ValueError(f"--clicks {self} of {where}: {error}") from None
        highest = np.nanmax(labels, initial=0.0)
        if highest > 1:
            raise ValueError(f"--clicks {self} of {where}: labels run to {highest:g}, CNDCG needs [0, 1]")
        return made
