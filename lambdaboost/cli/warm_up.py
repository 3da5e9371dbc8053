"""`warm_up`: compile kernels before timing."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from lambdaboost.datasets import Queries
from lambdaboost.engines.constraint import lacks_reference, referenced
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective


def warm_up(q: Queries, objectives: Iterable[Objective], measures: Iterable[Measure]) -> float:
    """Compile the kernels that training on `q` needs; return the seconds it took."""
    start = time.perf_counter()
    scores = np.zeros(q.n_documents)
    for objective in objectives:
        # What the training will measure does not matter here.
        known = referenced(objective, (1.0,)) if lacks_reference(objective) else objective
        known.gradient(scores, q)
    for measure in measures:
        measure(scores, q)
    return time.perf_counter() - start
