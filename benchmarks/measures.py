"""Measures compared with ir-measures, the library of TREC's measures."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import ir_measures
import numpy as np
from ir_measures import AP, RR, Bpref, P, R, nDCG
from numpy.typing import NDArray

from benchmarks.plan import Plan
from benchmarks.section import Section
from benchmarks.timing import Job, alternate
from lambdaboost import MAP, MRR, NDCG, BPref, Precision, Queries, Recall
from lambdaboost._jit import using
from lambdaboost.datasets.synthetic import GRADE_SHARES

DOCUMENTS = 100  # of each query
GAINS = {label: 2**label - 1 for label in range(5)}
METHOD = """\
{queries:,} queries of 100 documents, one thread, processor time of the mean over queries. Each library gets judgments \
and scores in its fastest form, prepared beforehand: arrays and Queries; dicts of dicts and ir-measures' evaluator. \
ir-measures over lambdaboost, medians of {repetitions} alternating repetitions with the lowest and highest. Apart by: \
the largest difference of the values."""


def curve(scores: NDArray[np.float64], q: Queries) -> list[float]:
    """NDCG at ten cutoffs."""
    return [NDCG(k)(scores, q) for k in range(1, 11)]


ROWS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "NDCG": (NDCG(), [nDCG(gains=GAINS)]),
    "NDCG@10": (NDCG(10), [nDCG(gains=GAINS) @ 10]),
    "NDCG@1 … @10": (curve, [nDCG(gains=GAINS) @ k for k in range(1, 11)]),
    "MAP": (MAP(), [AP]),
    "MRR": (MRR(), [RR]),
    "P@10": (Precision(10), [P @ 10]),
    "R@100": (Recall(100), [R @ 100]),
    "bpref": (BPref(), [Bpref]),
}


def measures(plan: Plan, threads: int) -> Section:
    """Measure every row on one thread, which is what ir-measures uses."""
    n = plan.measured_documents
    rng = np.random.default_rng(0)
    grades, scores = (
        rng.choice(len(GRADE_SHARES), p=GRADE_SHARES, size=n),
        rng.permutation(n) / 4,
    )  # no ties, not even in float32
    q = Queries(grades, sizes=[DOCUMENTS] * (n // DOCUMENTS))

    def nested(figures: NDArray[Any]) -> dict[str, dict[str, Any]]:
        by_query = enumerate(figures.reshape(-1, DOCUMENTS).tolist())
        return {str(query): {f"d{row}": x for row, x in enumerate(values)} for query, values in by_query}

    qrels, run = nested(grades), nested(scores)
    rows = []
    with using(1):
        for name, (own, of_library) in ROWS.items():
            evaluator = ir_measures.evaluator(of_library, qrels)
            jobs: dict[str, Job] = {
                "lambdaboost": partial(own, scores, q),
                "ir-measures": partial(evaluator.calc_aggregate, run),
            }
            aggregated = jobs["ir-measures"]()
            apart = np.abs(np.array(jobs["lambdaboost"]()) - [aggregated[one] for one in of_library]).max()
            seconds = alternate(jobs, plan.repetitions, time.process_time)
            times = (seconds["ir-measures"] / seconds["lambdaboost"]).ratio()
            rows.append((name, times, seconds["lambdaboost"].milliseconds(), f"{apart:.0e}"))
    return Section(
        "Measures against ir-measures",
        METHOD.format(queries=n // DOCUMENTS, repetitions=plan.repetitions),
        ("measure", "ir-measures takes", "lambdaboost", "apart by"),
        tuple(rows),
    )
