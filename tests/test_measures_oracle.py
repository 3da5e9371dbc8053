"""Measures that ir-measures reads from gdeval and trec_eval; tests/test_interchange.py compares the others."""

import pkgutil
import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lambdaboost import ERR, NDCG, Queries, evaluation
from lambdaboost.evaluation import to_qrels, to_run


def names(q):
    """Document ids that put ties in input order: trec_eval and gdeval rank them by id, descending."""
    return [f"{i:06d}" for i in range(q.n_documents, 0, -1)]


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


def drawn(seed, missing):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 60, 80)
    n = sizes.sum()
    grades = np.where(rng.random(n) < 0.7, 0, rng.integers(0, 5, n)).astype(float)
    grades[rng.random(n) < missing] = np.nan
    return rng.integers(0, 9, n).astype(float), Queries(grades, sizes)


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize("found", [1.0, 0.6], ids=["complete", "some not retrieved"])
def test_exponential_gains_and_err_to_all_decimals(k, found, tmp_path):
    scores, q = drawn(seed=8, missing=0.2)
    scores[np.random.default_rng(9).random(q.n_documents) >= found] = -np.inf
    ndcg, err = gdeval(scores, q, k, tmp_path)
    assert_allclose(NDCG(k).per_query(scores, q), ndcg, rtol=0, atol=1e-9)
    assert_allclose(ERR(k).per_query(scores, q), err, rtol=0, atol=1e-9)
