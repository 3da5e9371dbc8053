"""Speed of measures compared with ir-measures and ranx.

Usage: python -m benchmarks.measures [queries] [documents]

Each library gets judgments and scores in its fastest form, prepared beforehand: arrays and Queries; dicts of dicts,
with ir-measures' evaluator already built, so that its processing of qrels is not timed; ranx's Qrels and Run. The mean
over queries is timed, as processor time; lambdaboost runs on one thread, as ir-measures does. ranx, with threads of its
own, is included if it is installed.
"""

import resource
import sys
import time
import warnings
from functools import partial
from importlib.util import find_spec

import ir_measures
import numpy as np
from ir_measures import AP, RR, Bpref, P, R, nDCG
from ir_measures import ERR as GdevalERR

from benchmarks.machine import this_machine
from benchmarks.timing import alternate
from experiments.common.report import table
from lambdaboost import ERR, MAP, MRR, NDCG, BPref, Precision, Queries, Recall
from lambdaboost._jit import using

REPETITIONS = 5
SHARES = [0.52, 0.32, 0.13, 0.02, 0.01]  # of the grades in MSLR-WEB30K
GAINS = {l: 2**l - 1 for l in range(5)}
CURVE = range(1, 11)


def curve(scores, q):
    return [NDCG(k)(scores, q) for k in CURVE]


# lambdaboost's, ir-measures', ranx's.
ROWS = {
    "NDCG": (NDCG(), nDCG(gains=GAINS), "ndcg_burges"),
    "NDCG@10": (NDCG(10), nDCG(gains=GAINS) @ 10, "ndcg_burges@10"),
    "NDCG@1 … @10": (curve, [nDCG(gains=GAINS) @ k for k in CURVE], [f"ndcg_burges@{k}" for k in CURVE]),
    "MAP": (MAP(), AP, "map"),
    "MRR": (MRR(), RR, "mrr"),
    "ERR@10": (ERR(10), GdevalERR @ 10, None),  # gdeval, a Perl script that prints five decimals
    "P@10": (Precision(10), P @ 10, "precision@10"),
    "R@10": (Recall(10), R @ 10, "recall@10"),
    "R@100": (Recall(100), R @ 100, "recall@100"),
    "bpref": (BPref(), Bpref, "bpref"),
}
HEADS = ("measure", "lambdaboost", "ir-measures takes", "apart by", "ranx takes", "apart by")


def main(n_queries: int = 10_000, n_documents: int = 100) -> None:
    machine = this_machine(1)
    rng = np.random.default_rng(0)
    n = n_queries * n_documents
    grades = rng.choice(5, p=SHARES, size=n)
    scores = rng.permutation(n) / 4  # no ties, not even in float32
    q = Queries(grades, sizes=[n_documents] * n_queries)
    theirs = IrMeasures(grades, scores, n_documents)
    ranx = Ranx(theirs.qrels, theirs.run) if find_spec("ranx") else None
    rows = []
    for name, (own, measure, metric) in ROWS.items():
        print(f"{name} …", file=sys.stderr)
        jobs = {"lambdaboost": partial(own, scores, q), "ir-measures": theirs.job(measure)}
        if ranx and metric:
            jobs["ranx"] = ranx.job(metric)
        rows.append((name, *cells(jobs, 1 if name == "ERR@10" else REPETITIONS)))
    print(f"{n_queries:,} queries × {n_documents:,} documents: processor time, medians of {REPETITIONS}")
    print(f"repetitions in turns (lowest–highest), as multiples of lambdaboost's.\n\n{table(HEADS, rows)}\n")
    print(machine)


def processor():
    """Processor time of this process and of its children: gdeval is one."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def cells(jobs, repetitions):
    means = {library: np.asarray(job()) for library, job in jobs.items()}  # compiles, too
    seconds = alternate(jobs, repetitions, processor)
    found = [seconds["lambdaboost"].milliseconds()]
    for library in ("ir-measures", "ranx"):
        if library in jobs:
            apart = np.abs(means["lambdaboost"] - means[library]).max()
            found += [(seconds[library] / seconds["lambdaboost"]).ratio(), f"{apart:.0e}"]
        else:
            found += ["–", "–"]
    return found


class IrMeasures:
    def __init__(self, grades, scores, n_documents):
        def nested(figures):
            rows = figures.reshape(-1, n_documents).tolist()
            return {str(i): {f"d{j}": x for j, x in enumerate(row)} for i, row in enumerate(rows)}

        self.qrels, self.run = nested(grades), nested(scores)

    def job(self, measure):
        measures = measure if isinstance(measure, list) else [measure]
        evaluator = ir_measures.evaluator(measures, self.qrels)

        def means():
            found = evaluator.calc_aggregate(self.run)
            return [found[m] for m in measures]

        return means


class Ranx:
    def __init__(self, qrels, run):
        warnings.filterwarnings("ignore", module="ranx")
        import ranx

        self.qrels, self.run, self.evaluate = ranx.Qrels(qrels), ranx.Run(run), ranx.evaluate

    def job(self, metric):
        def means():
            found = self.evaluate(self.qrels, self.run, metric)
            return [found[m] for m in metric] if isinstance(metric, list) else found

        return means


if __name__ == "__main__":
    with using(1):
        main(*map(int, sys.argv[1:]))
