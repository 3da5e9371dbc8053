"""Measures against ir-measures, on drawn data and on real judgments."""

import lzma
import os
import pathlib
import shutil

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, ERR, RR, Bpref, P, R, nDCG
from numpy.testing import assert_allclose

from lambdaboost.datasets import Queries
from lambdaboost.evaluation import ERR as OurERR
from lambdaboost.evaluation import MAP, MRR, NDCG, BPref, Precision, Recall

GAINS = {l: 2**l - 1 for l in range(5)}

# gdeval, a Perl script that computes the first two, prints five decimals.
ROWS = [
    (NDCG(10), nDCG(dcg="exp-log2") @ 10, 5.1e-6),
    (OurERR(10), ERR @ 10, 5.1e-6),
    (NDCG(3), nDCG(gains=GAINS) @ 3, 1e-9),
    (NDCG(), nDCG(gains=GAINS), 1e-9),
    (NDCG(5, gain="linear"), nDCG @ 5, 1e-9),
    (MAP(), AP, 1e-9),
    (MAP(threshold=2), AP(rel=2), 1e-9),
    (MRR(), RR, 1e-9),
    (MRR(5), RR @ 5, 1e-9),
    (Precision(5), P @ 5, 1e-9),
    (Precision(5, threshold=2), P(rel=2) @ 5, 1e-9),
    (Recall(5), R @ 5, 1e-9),
    (BPref(), Bpref, 1e-9),
    (BPref(threshold=2), Bpref(rel=2), 1e-9),
]


def oracle(measure, scores, q):
    """What ir-measures makes of the same scores; a query that it leaves out counts as 0."""
    if measure in (ROWS[0][1], ROWS[1][1]) and not shutil.which("perl"):
        pytest.skip(f"{measure}: gdeval needs perl, and there is none")
    ids = [f"{i:06d}" for i in range(q.n_documents)]
    of = [f"{i:06d}" for i in q.query_of_row]
    qrels = [
        ir_measures.Qrel(query, doc, int(l))
        for query, doc, l in zip(of, ids, q.relevance, strict=True)
        if l == l
    ]
    run = [ir_measures.ScoredDoc(query, doc, float(s)) for query, doc, s in zip(of, ids, scores, strict=True)]
    values = np.zeros(q.n_queries)
    for metric in ir_measures.iter_calc([measure], qrels, run):
        values[int(metric.query_id)] = metric.value
    return values


def drawn(seed, missing):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 60, 80)
    n = sizes.sum()
    grades = np.where(rng.random(n) < 0.7, 0, rng.integers(0, 5, n)).astype(float)
    grades[rng.random(n) < missing] = np.nan
    return rng.permutation(n).astype(float), Queries(grades, sizes)


rows = pytest.mark.parametrize(("ours", "theirs", "atol"), ROWS, ids=lambda x: str(x))


@rows
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_drawn_judgments(ours, theirs, atol, missing):
    scores, q = drawn(seed=7, missing=missing)
    assert_allclose(ours.per_query(scores, q), oracle(theirs, scores, q), rtol=0, atol=atol)


@pytest.fixture(scope="module")
def mq2008():
    folder = os.environ.get("LAMBDABOOST_DATA")
    if not folder:
        pytest.skip("mq2008: LAMBDABOOST_DATA does not name the folder of real data")
    from sklearn.datasets import load_svmlight_file

    with lzma.open(pathlib.Path(folder) / "mq2008" / "S1.txt.xz") as file:
        _, grades, qid = load_svmlight_file(file, query_id=True)
    return Queries(grades, ids=qid)


@rows
def test_real_judgments(ours, theirs, atol, mq2008):
    scores = np.random.default_rng(0).permutation(mq2008.n_documents).astype(float)
    assert_allclose(ours.per_query(scores, mq2008), oracle(theirs, scores, mq2008), rtol=0, atol=atol)
