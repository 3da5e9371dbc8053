"""``lambdaboost tune``: files in, a model, its description, its script and a page out; Ctrl-C keeps the best so far."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from lambdaboost import load
from lambdaboost.cli.run import BAD_INPUT, OK, run
from lambdaboost.datasets import web_search_log, write_letor

pytest.importorskip("optuna")
QUICK = [
    "--objective",
    "lambdarank",
    "--objective",
    "LambdaRank",
    "--trainings",
    "3",
    "--rounds",
    "15",
    "--workers",
    "1",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    log = web_search_log(60, documents=12, seed=5)
    for name, part in (("train", log.take(range(40))), ("valid", log.take(range(40, 60)))):
        write_letor(folder / f"{name}.txt", part)
    return folder


def arguments(files, out, *more):
    return [
        "tune",
        str(files / "train.txt"),
        "--valid",
        str(files / "valid.txt"),
        "--out",
        str(out),
        *QUICK,
        *more,
    ]


def test_it_writes_a_model_with_a_script_that_trains_it_again(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(arguments(files, "model.txt", "--report", "page.html", "--json")) == OK
    about = json.loads(capsys.readouterr().out)
    assert about["tuning"]["trainings"] == 3
    assert about["data"]["valid"]["file"] == "valid.txt"
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    exec((tmp_path / "model.txt.py").read_text(encoding="utf-8"), {})
    first, again = (tmp_path / name for name in ("model.txt", "again-model.txt"))
    trees = [path.read_text(encoding="utf-8").split("\nparameters:")[0] for path in (first, again)]
    assert trees[0] == trees[1]
    assert run(["predict", "model.txt", str(files / "valid.txt")]) == OK
    assert len(capsys.readouterr().out.splitlines()) > 100


def test_it_prints_the_finalists_and_the_verdict(files, tmp_path, capsys):
    assert run(arguments(files, tmp_path / "model.txt", "--choose", "simplest", "--no-refit")) == OK
    out = capsys.readouterr().out
    assert "finalists" in out and "lambdarank" in out
    assert "paired t-test" in out


def test_it_prints_the_trade_off_of_several_measures(files, tmp_path, capsys):
    assert run(arguments(files, tmp_path / "model.txt", "--measure", "ndcg@3", "--measure", "map")) == OK
    out = capsys.readouterr().out
    assert "trade-off" in out and "MAP()" in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--objective", "rank:map"], "objective rank:map cannot train on these data"),
        (["--objective", "LambdaRang"], "'LambdaRang' is unknown"),
        (["--measure", "cndcg@3"], "no label source 'clicks'"),
        (["--minutes", "-1"], "minutes is -1.0: give a number above 0"),
        (["--report", "no/page.html"], "--report no/page.html: folder no does not exist"),
        (["--study", "no/study"], "study no/study: folder no does not exist"),
        (["--param", "num_leafs=3"], "has no parameter 'num_leafs'"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(files, tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.chdir(tmp_path)
    assert run(arguments(files, "model.txt", *more)) == BAD_INPUT
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["tune", "train"])
def test_a_file_that_is_read_is_not_overwritten(files, capsys, command):
    before = (files / "valid.txt").read_bytes()
    given = [
        command,
        str(files / "train.txt"),
        "--valid",
        str(files / "valid.txt"),
        "--out",
        str(files / "valid.txt"),
    ]
    assert run(given) == BAD_INPUT
    assert "is a file that is read: give another name" in capsys.readouterr().err
    assert (files / "valid.txt").read_bytes() == before


def test_ctrl_c_writes_the_best_so_far_and_the_same_command_goes_on(files, tmp_path):
    out, study = tmp_path / "model.txt", tmp_path / "study"
    given = arguments(files, out, "--trainings", "1000", "--study", str(study))
    process = subprocess.Popen(
        [sys.executable, "-m", "lambdaboost", *given], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    try:
        while not (study / "trial-2.npz").exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        error = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130, error
    assert "becomes the best so far" in error and "Traceback" not in error and "nothing written" not in error
    saved = load(out)
    done = saved.about["tuning"]["trainings"]
    assert 2 <= done < 1000  # the third may be written, and not counted yet
    assert np.isfinite(saved.predict(np.zeros((1, saved.booster.num_feature())))).all()
    assert run(arguments(files, out, "--trainings", str(done + 1), "--study", str(study))) == OK
    assert load(out).about["tuning"]["trainings"] == done + 1
