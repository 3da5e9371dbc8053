"""What the experiments read: layouts, click columns, and every wrong input once."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments.common.clicks import Clicks
from experiments.common.folders import read_folder
from experiments.common.synthetic import synthetic
from experiments.svore2011.__main__ import main
from lambdaboost import Queries
from lambdaboost.datasets import Collection, web_search_log, write_letor

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
COUNTS = 3  # the column that holds clicks
FIVE = ("S1", "S2", "S3", "S4", "S5")
ONE_FOLD = ("train", "vali", "test", "test_extra")


def write_parts(folder, names, relevant=True):
    """Six queries a part; column 3 holds counts, column 1 runs from 0 to 100."""
    for at, name in enumerate(names):
        x, q = web_search_log(6, 8, 16, seed=at)
        x = np.abs(np.asarray(x, dtype=np.float64))
        x[:, 0] = np.linspace(0, 100, q.n_documents)
        x[:, COUNTS - 1] = np.round(q.labels["clicks"] * 50)
        ids = np.repeat(np.arange(q.n_queries) + 100 * at, q.sizes)
        grades = q.relevance if relevant else 0 * q.relevance
        write_letor(folder / f"{name}.txt", Collection(x, Queries(grades, ids=ids)))
    return folder


@pytest.fixture
def five(tmp_path):
    return write_parts(tmp_path, FIVE)


def test_five_parts_make_letors_folds(five):
    folds = [(fold.train, fold.valid, fold.test) for fold in read_folder(five).folds]
    assert folds == [
        (("S1", "S2", "S3"), ("S4",), ("S5",)),
        (("S2", "S3", "S4"), ("S5",), ("S1",)),
        (("S3", "S4", "S5"), ("S1",), ("S2",)),
        (("S4", "S5", "S1"), ("S2",), ("S3",)),
        (("S5", "S1", "S2"), ("S3",), ("S4",)),
    ]


def test_all_files_of_a_role_are_joined(tmp_path):
    data = read_folder(write_parts(tmp_path, ONE_FOLD))
    (fold,) = data.folds
    assert (fold.train, fold.valid, fold.test) == (("train",), ("vali",), ("test", "test_extra"))
    assert data.joined(fold.test).queries.n_queries == 12


def test_click_columns_become_labels_and_leave(five):
    data = read_folder(five, [Clicks("log", COUNTS, "rate"), Clicks("share", 1, "percent")], [2])
    for part in data.parts.values():
        assert part.feature_names == tuple(map(str, range(4, 17)))
        assert list(part.queries.labels) == ["relevance", "log", "share"]
    labels = data.parts["S1"].queries.labels
    assert labels["log"].max() == 1
    assert labels["share"].max() == 1


def test_scale_max_divides_by_the_querys_largest(five):
    q = read_folder(five, [Clicks("c", 1, "max")]).parts["S1"].queries
    np.testing.assert_allclose(np.maximum.reduceat(q.labels["c"], q.offsets[:-1]), 1)


def test_rows_are_shuffled_and_the_digest_says_what_was_read(five):
    first, again, other = read_folder(five), read_folder(five), read_folder(five, seed=1)
    assert first.digest == again.digest
    assert len({first.digest, other.digest, read_folder(five, dropped=[2]).digest}) == 3


def test_training_leaves_out_queries_without_relevant_documents(tmp_path):
    write_parts(tmp_path, ONE_FOLD)
    (tmp_path / "train_more.txt").write_text("0 qid:9001 1:1 16:1\n0 qid:9001 1:2 16:1\n")
    data = read_folder(tmp_path)
    fold = data.folds[0]
    assert data.joined(fold.train).queries.n_queries == 7
    assert data.training(fold).queries.n_queries == 6
    assert data.training(fold, share=0.5).queries.n_queries == 3


def test_synthetic_settings_differ_in_clicks_only():
    data = synthetic(10, 15)
    labels = data.parts["train"].queries.labels
    assert list(labels) == ["relevance", "cascade", "position_based"]
    assert (labels["cascade"] != labels["position_based"]).any()
    assert [data.parts[name].queries.n_queries for name in ("train", "vali", "test")] == [4, 2, 4]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--clicks", "135"], "--clicks '135': expected NAME=COLUMN"),
        (["--clicks", "url=3:cubed"], "SCALE one of rate, max, percent, unit"),
        (["--clicks", "weight=3"], "weight"),
        (["--clicks", "url=17"], "has no column 17, only 1 to 16"),
        (["--drop", "0"], "has no column 0, only 1 to 16"),
        (["--drop", "x"], "--drop 'x': expected column numbers"),
        (["--clicks", "url=3", "--drop", "3"], "column 3 is given twice"),
        (["--clicks", "url=3", "--clicks", "url=4"], "give each setting a different name"),
        (["--clicks", "url=3:unit"], "CNDCG needs [0, 1]"),
        (["--drop", ",".join(map(str, range(1, 17)))], "leave no feature"),
        (["--rounds", "0"], "argument --rounds: is 0: give a whole number ≥ 1"),
        (["--engine", "catboost"], "argument --engine: invalid choice: 'catboost'"),
    ],
    ids=lambda v: " ".join(v)[:40] if isinstance(v, list) else "",
)
def test_wrong_options_are_told_before_anything_runs(options, told, five, tmp_path, capsys):
    out = tmp_path / "out"
    assert told in refused(capsys, str(five), "--out", str(out), *options)
    assert not (out / "runs").exists()


def refused(capsys, *arguments):
    """What is said of wrong arguments."""
    with pytest.raises((SystemExit, ValueError, OSError)) as error:
        main(arguments)
    return str(error.value) if error.type is not SystemExit else capsys.readouterr().err


def test_wrong_folders(tmp_path, capsys):
    def told(data, *options):
        return refused(capsys, str(data), *options)

    out = ["--out", str(tmp_path / "out")]
    assert "give a folder of LETOR text, or the word synthetic" in told(tmp_path / "nowhere", *out)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no LETOR text of a known name: expected S1.txt … S5.txt, or train.txt" in told(empty, *out)
    write_parts(empty, FIVE[:4])
    assert "S1.txt, S2.txt, S3.txt, S4.txt: expected" in told(empty, *out)
    write_parts(empty, FIVE)
    (empty / "S1.txt.xz").write_bytes(b"")
    assert "has S1.txt and S1.txt.xz: keep one of them" in told(empty, *out)
    (empty / "S1.txt.xz").unlink()
    (tmp_path / "a_file").write_text("")
    assert "a_file" in told(empty, "--out", str(tmp_path / "a_file"))
    assert "synthetic data brings its own clicks" in told("synthetic", "--clicks", "url=3", *out)
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    write_parts(nothing, ONE_FOLD, relevant=False)
    assert "no training query of the one fold has a relevant document" in told(nothing, *out)


def test_the_command_tells_a_mistake_in_one_line(tmp_path):
    command = [sys.executable, "-m", "experiments.svore2011", str(tmp_path / "nowhere")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: DATA is") and done.stderr.count("\n") == 1
