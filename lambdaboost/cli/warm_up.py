"""`warm_up`: kernels compiled before anything is timed, and said so once where it takes time."""

from __future__ import annotations

import time
from collections.abc import Iterable
from threading import Timer

import numpy as np

from lambdaboost.cli.console import ERR, note
from lambdaboost.datasets import Queries
from lambdaboost.evaluation import Measure
from lambdaboost.objectives import Objective

# Loading compiled kernels takes less, compiling them more.
NOTICEABLE = 1.5


def warm_up(q: Queries, objectives: Iterable[Objective], measures: Iterable[Measure]) -> float:
    """Compile what training on `q` will call; the seconds that it took."""
    start = time.perf_counter()
    timer = Timer(NOTICEABLE, note, ["compiling kernels; they are kept, so this happens once …"])
    if ERR.is_terminal:
        timer.start()
    try:
        scores = np.zeros(q.n_documents)
        for objective in objectives:
            objective.gradient(scores, q)
        for measure in measures:
            measure(scores, q)
    finally:
        timer.cancel()
    return time.perf_counter() - start
