"""Measures against ir-measures, on drawn data and on real judgments."""

import lzma
import pkgutil
import shutil
import subprocess

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, ERR, RR, Bpref, P, R, nDCG
from numpy.testing import assert_allclose

from lambdaboost import ERR as OurERR
from lambdaboost import MAP, MRR, NDCG, BPref, Precision, Queries, Recall, evaluation
from lambdaboost.evaluation import to_qrels, to_run

GAINS = {l: 2**l - 1 for l in range(5)}

# gdeval, a Perl script that computes the first two, prints five decimals; below it is made to print all.
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


def names(q):
    """Document ids that put ties in input order: trec_eval and gdeval rank them by id, descending."""
    return [f"{i:06d}" for i in range(q.n_documents, 0, -1)]


def oracle(measure, scores, q):
    """What ir-measures makes of the same scores; a query that it leaves out counts as 0."""
    if measure in (ROWS[0][1], ROWS[1][1]) and not shutil.which("perl"):
        pytest.skip(f"{measure}: gdeval needs perl, and there is none")
    ids = names(q) if measure != RR @ 5 else names(q)[::-1]  # by MS MARCO's script: ids rise among ties
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


def gdeval(scores, q, k, folder):
    """NDCG@k and ERR@k of gdeval, to all decimals; a query that it leaves out counts as 0."""
    if not shutil.which("perl"):
        pytest.skip("gdeval needs perl, and there is none")
    script = pkgutil.get_data("ir_measures", "bin/gdeval.pl")
    assert script.count(b"%.5f") == 2
    (folder / "gdeval.pl").write_bytes(script.replace(b"%.5f", b"%.17g"))
    evaluation.write_trec_qrels(folder / "qrels", to_qrels(q, names(q)))
    evaluation.write_trec_run(folder / "run", to_run(scores, q, names(q)))
    command = ["perl", "gdeval.pl", "qrels", "run", str(k)]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    figures = np.zeros((2, q.n_queries))
    for _, query, ndcg, err in (line.split(",") for line in printed.splitlines()[1:]):
        figures[:, int(query) - 1] = float(ndcg), float(err)
    return figures


def drawn(seed, missing, ties=False):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 60, 80)
    n = sizes.sum()
    grades = np.where(rng.random(n) < 0.7, 0, rng.integers(0, 5, n)).astype(float)
    grades[rng.random(n) < missing] = np.nan
    scores = rng.integers(0, 9, n) if ties else rng.permutation(n)
    return scores.astype(float), Queries(grades, sizes)


rows = pytest.mark.parametrize(("ours", "theirs", "atol"), ROWS, ids=lambda x: str(x))


@rows
@pytest.mark.parametrize("ties", [False, True], ids=["distinct", "ties"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_drawn_judgments(ours, theirs, atol, missing, ties):
    scores, q = drawn(seed=7, missing=missing, ties=ties)
    assert_allclose(ours.per_query(scores, q), oracle(theirs, scores, q), rtol=0, atol=atol)


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize("found", [1.0, 0.6], ids=["complete", "some not retrieved"])
def test_exponential_gains_and_err_to_all_decimals(k, found, tmp_path):
    scores, q = drawn(seed=8, missing=0.2, ties=True)
    scores[np.random.default_rng(9).random(q.n_documents) >= found] = -np.inf
    ndcg, err = gdeval(scores, q, k, tmp_path)
    assert_allclose(NDCG(k).per_query(scores, q), ndcg, rtol=0, atol=1e-9)
    assert_allclose(OurERR(k).per_query(scores, q), err, rtol=0, atol=1e-9)


@pytest.fixture
def mq2008(data):
    from sklearn.datasets import load_svmlight_file

    with lzma.open(data / "mq2008" / "S1.txt.xz") as file:
        _, grades, qid = load_svmlight_file(file, query_id=True)
    return Queries(grades, ids=qid)


@pytest.mark.parametrize("k", [1, 5, 12])
def test_map_at_k_is_trec_evals_but_for_the_denominator(k):
    """trec_eval's map_cut divides by R, MAP(k) by min(R, k)."""
    scores, q = drawn(seed=7, missing=0.3, ties=True)
    n = np.add.reduceat(q.relevance >= 1, q.offsets[:-1], dtype=float)
    expected = oracle(AP @ k, scores, q) * n / np.maximum(np.minimum(n, k), 1)
    assert_allclose(MAP(k).per_query(scores, q), expected, rtol=0, atol=1e-9)


@rows
def test_real_judgments(ours, theirs, atol, mq2008):
    scores = np.random.default_rng(0).permutation(mq2008.n_documents).astype(float)
    assert_allclose(ours.per_query(scores, mq2008), oracle(theirs, scores, mq2008), rtol=0, atol=atol)
