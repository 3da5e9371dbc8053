"""`strict`: a measure that leaves out the queries on which it is not defined."""

from __future__ import annotations

import math
from dataclasses import replace

from lambdaboost.evaluation import Measure


def strict(measure: Measure) -> Measure:
    """The measure as a mean over the queries on which it is defined; NaN if it is on none.

    By default a query without labels counts as 0 or 1, so that one mean covers all queries. Such queries move in no
    training, and would only shrink what the others gain or lose.
    """
    return replace(measure, empty=math.nan)  # type: ignore[type-var]
