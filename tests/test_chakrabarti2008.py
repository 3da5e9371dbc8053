"""`experiments.chakrabarti2008` on tiny data: every rule trained, the report whole, wrong input reported."""

import csv

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("clarabel")
pytest.importorskip("matplotlib")

import experiments.chakrabarti2008.__main__ as command
from experiments.chakrabarti2008 import paper
from experiments.chakrabarti2008.preparation import prepared
from experiments.chakrabarti2008.report import against, ranked
from experiments.chakrabarti2008.results import QUICK_GRID, RANDOM
from experiments.chakrabarti2008.trainers import HINGES, MCRANK, MEASURES
from lambdaboost import Queries
from lambdaboost.datasets import Collection

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("chakrabarti2008")


@pytest.fixture(scope="module")
def results(out):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "use", lambda threads: None)
        return command.main(["--queries", "24", "--quick", "--out", str(out)])


def test_everything_is_written(results, out):
    assert {path.name for path in out.iterdir()} == {
        "report.md",
        "per_query.csv",
        "figures_4_to_6.png",
        "figure_8.png",
    }
    report = (out / "report.md").read_text(encoding="utf-8")
    for said in ("## Figure 9", "## What holds here", results.data.digest, *HINGES, MCRANK, RANDOM):
        assert said in report
    for name in ("figures_4_to_6.png", "figure_8.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((out / "per_query.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == (len(HINGES) + 2) * results.figures[RANDOM][MEASURES[0]].size


def test_every_rule_beats_random_order(results):
    for name in (*HINGES, MCRANK):
        for measure in MEASURES:
            mean = results.figures[name][measure].mean()
            assert mean > results.figures[RANDOM][measure].mean(), (name, measure)


def test_selection_is_by_validation_alone(results):
    (fold,) = results.data.folds
    q = results.data.joined(fold.valid).queries
    for name in HINGES:
        runs = results.runs[name, fold.name]
        assert [run.C for run in runs] == list(QUICK_GRID)
        best = max(np.mean([m(run.valid, q) for m in MEASURES]) for run in runs)
        assert np.mean([m(results.selected(name, fold).valid, q) for m in MEASURES]) == best
        assert all(run.slack <= run.slack_at_0 + 0.01 for run in runs)


def test_figure_9_marks_the_best_and_what_is_worse(results, out):
    report = (out / "report.md").read_text(encoding="utf-8")
    rows = {
        line.split("|")[1].strip(): line.split("|")[2:5] for line in report.splitlines() if " | ." in line
    }
    for column, measure in enumerate(MEASURES):
        best = ranked(results, measure, results.trainers)[0]
        assert "**" in rows[best][column]
        for name, d in against(results, best, measure).items():
            assert ("▼" in rows[name][column]) == (d.mark == "▼"), (name, measure)
            assert "**" not in rows[name][column]


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
    ("arguments", "said"),
    [
        (["nowhere"], "DATA is 'nowhere': give a folder of LETOR text, or the word synthetic"),
        (["--threshold", "0"], "--threshold is 0: give the lowest grade"),
        (["--threshold", "nan"], "--threshold is nan"),
        (["--threshold", "7", "--queries", "6"], "grade of at least 7 and others: give another --threshold"),
        (["--queries", "4"], "argument --queries: is 4: give a whole number ≥ 5"),
        ([".", "--queries", "9"], "--queries 9 is for synthetic data"),
    ],
)
def test_wrong_input(arguments, said, tmp_path, capsys):
    with pytest.raises((SystemExit, ValueError)) as error:
        command.main([*arguments, "--out", str(tmp_path / "out")])
    assert said in f"{error.value}{capsys.readouterr().err}"
    assert not (tmp_path / "out").exists()
