"""``lambdaboost tune``: files in, a model and its description out; Ctrl-C keeps the best so far."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command import call, done, refused

from lambdaboost import load
from lambdaboost.datasets import web_search_log, write_letor

pytest.importorskip("optuna")
TWO = ("--objective", "lambdarank", "--objective", "LambdaRank")
QUICK = (*TWO, "--settings", 3, "--rounds", 15, "--workers", 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    log = web_search_log(60, documents=12, seed=5)
    for name, part in (("train", log.take(range(40))), ("valid", log.take(range(40, 60)))):
        write_letor(folder / f"{name}.txt", part)
    return folder


def arguments(files, out, *more):
    return ["tune", files / "train.txt", "--valid", files / "valid.txt", "--out", out, *QUICK, *more]


def test_it_writes_a_model_with_its_description(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    about = json.loads(done(capsys, *arguments(files, "model.txt", "--json"))[0])
    assert about["tuning"]["settings"] == 3 and about["data"]["valid"]["file"] == "valid.txt"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.txt", "model.txt.json"]
    assert len(done(capsys, "predict", "model.txt", files / "valid.txt")[0].splitlines()) > 100


def test_it_prints_the_verdict(files, tmp_path, capsys):
    more = ("--measure", "ndcg@3", "--measure", "map", "--split", "given")
    out, _ = done(capsys, *arguments(files, tmp_path / "model.txt", *more))
    assert out.startswith("- Choice: ") and "NDCG(k=3)" in out and "queries of valid" in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--objective", "rank:map", "--out", "model"], "objective rank:map cannot train on these data"),
        (["--objective", "rank:map"], "is XGBoost's own, but the engine is lightgbm: choose xgboost"),
        (["--engine", "xgboost"], "model.txt has the suffix of another engine's format, and the model is XGBoost's"),
        (["--objective", "LambdaRang"], "'LambdaRang' is unknown"),
        (["--measure", "cndcg@3"], "CNDCG(k=3) needs the label source 'clicks': give its column as --source clicks="),
        (["--objective", "graded"], "give its column as --source clicks=COLUMN"),
        (["--keep", "0.1"], "error: keep takes two different measures"),
        (["--param", "objective=x"], "params has 'objective'"),
        (["--minutes", "1"], "error: settings is 3, and minutes is 1.0: give one of them"),
        (["--param", "num_leafs=3"], "params has 'num_leafs', which LightGBM does not know"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_writes_nothing(files, tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *arguments(files, "model.txt", *more))
    assert list(tmp_path.iterdir()) == []


def kept(study):
    """The number of trials in a study."""
    return study.read_bytes().count(b'"result":') if study.exists() else 0


def test_ctrl_c_writes_the_best_so_far_and_the_same_command_goes_on(files, tmp_path, capsys):
    out, study = tmp_path / "model.txt", tmp_path / "study.log"
    given = [str(word) for word in arguments(files, out, "--settings", 1000, "--study", study)]
    process = subprocess.Popen(
        [sys.executable, "-m", "lambdaboost", *given], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 600
    try:
        while kept(study) < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=600)[1]
    finally:
        process.kill()
    assert process.returncode == 130, error
    assert "becomes the best so far" in error and "Traceback" not in error and "nothing written" not in error
    saved = load(out)
    settings = saved.about["tuning"]["settings"]
    assert 2 <= settings < 1000  # the third may be written, and not counted yet
    assert np.isfinite(saved.predict(np.zeros((1, saved.booster.num_feature())))).all()
    again = arguments(files, out, "--settings", settings + 1, "--study", study)
    assert call(capsys, *again)[0] == 1
    done(capsys, *again, "--overwrite")
    assert load(out).about["tuning"]["settings"] == settings + 1
