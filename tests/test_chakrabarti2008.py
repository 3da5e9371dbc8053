"""`reproduce chakrabarti2008` on tiny data: every rule trained, the report whole, wrong input told."""

import csv

import numpy as np
import pytest
from scipy import sparse

from lambdaboost.cli.run import run
from lambdaboost.datasets import Collection, Queries, write_letor
from lambdaboost.reproduce.chakrabarti2008 import paper
from lambdaboost.reproduce.chakrabarti2008.experiment import (
    QUICK_GRID,
    RANDOM,
    Request,
    reproduce_chakrabarti2008,
)
from lambdaboost.reproduce.chakrabarti2008.preparation import prepared
from lambdaboost.reproduce.chakrabarti2008.trainers import HINGES, MCRANK, MEASURES


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("chakrabarti2008")


@pytest.fixture(scope="module")
def results(out):
    return reproduce_chakrabarti2008(Request(None, 2.0, 24, True, 0, out))


def test_everything_is_written(results, out):
    assert {path.name for path in out.iterdir()} == {
        "report.md",
        "per_query.csv",
        "figures_4_to_6.png",
        "figure_8.png",
    }
    report = (out / "report.md").read_text()
    for said in ("## Figure 9", "## What holds here", results.data.digest, *HINGES, MCRANK, RANDOM):
        assert said in report
    for name in ("figures_4_to_6.png", "figure_8.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((out / "per_query.csv").read_text().splitlines()))
    assert len(rows) == (len(HINGES) + 2) * results.figures[RANDOM].n_queries


def test_every_rule_beats_random_order(results):
    for name in (*HINGES, MCRANK):
        for measure in MEASURES:
            mean = results.figures[name].per_query(measure).mean()
            assert mean > results.figures[RANDOM].per_query(measure).mean(), (name, measure)


def test_selection_is_by_validation_alone(results):
    (fold,) = results.data.folds
    q = results.data.joined(fold.valid).queries
    for name in HINGES:
        runs = results.runs[name, fold.name]
        assert [run.C for run in runs] == list(QUICK_GRID)
        best = max(np.mean([m(run.valid, q) for m in MEASURES]) for run in runs)
        assert np.mean([m(results.selected(name, fold).valid, q) for m in MEASURES]) == best
        assert all(run.slack <= run.slack_at_0 + 0.01 for run in runs)


def test_preparation():
    """Unit range within each query, grades by threshold, queries without both left out, sparse or not."""
    x = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0], [9.0, 0.0], [4.0, 1.0]], dtype=np.float32)
    q = Queries([2, 1, float("nan"), 0, 1], sizes=[3, 2])
    for features in (x, sparse.csr_matrix(x)):
        unit, binary = prepared(Collection(features, q), 2.0)
        np.testing.assert_array_equal(unit, [[0, 0], [1, 0], [0.5, 0]])
        np.testing.assert_array_equal(binary.relevance, [1, 0, np.nan])


def test_the_papers_figures():
    assert paper.means()["COMBO"] == pytest.approx(
        ((0.813 + 0.667 + 0.647) / 3, (0.635 + 0.434 + 0.458) / 3, (0.578 + 0.345 + 0.384) / 3)
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nowhere"], "DATA is 'nowhere': give a folder of LETOR text, or the word synthetic"),
        (["--threshold", "0"], "--threshold is 0: give the lowest grade"),
        (["--threshold", "nan"], "--threshold is nan"),
        (["--threshold", "7", "--queries", "6"], "grade of at least 7 and others: give another --threshold"),
        (["--queries", "4"], "Invalid value for '--queries'"),
    ],
)
def test_wrong_input(args, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exit_code = 2 if message.startswith("Invalid value") else 1
    assert run(["reproduce", "chakrabarti2008", *args]) == exit_code
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_queries_of_a_folder(tmp_path, capsys):
    for name in ("train", "vali", "test"):
        write_letor(tmp_path / f"{name}.txt", Collection(np.eye(2), Queries([0, 1], ids=[1, 1])))
    assert run(["reproduce", "chakrabarti2008", str(tmp_path), "--queries", "9"]) == 1
    assert "--queries 9 is for synthetic data" in capsys.readouterr().err
