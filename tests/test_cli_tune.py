"""``lambdaboost tune``: files in, a model and its description out; Ctrl-C keeps the best so far."""

import json
from importlib import import_module
from unittest.mock import DEFAULT, Mock

import numpy as np
import pytest
from command import call, done, refused

from lambdaboost import load
from lambdaboost.datasets import web_search_log, write_letor

QUICK = ("--settings", 2, "--rounds", 15, "--folds", 2, "--workers", 1)


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
    questions = [row["question"] for row in about["tuning"]["comparison"]]
    assert questions[0] == "default" and questions[-1] == "choice"
    assert about["data"]["valid"]["file"] == "valid.txt"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.txt", "model.txt.json"]
    assert len(done(capsys, "predict", "model.txt", files / "valid.txt")[0].splitlines()) > 100


def test_it_prints_the_table(files, tmp_path, capsys):
    more = ("--measure", "ndcg@3", "--measure", "map")
    out, said = done(capsys, *arguments(files, tmp_path / "model.txt", *more))
    assert (
        out.startswith("Tuned: ") and "NDCG(k=3)" in out and "MAP()" in out and "20 queries held out" in out
    )
    assert "settings in 1 fold, 1 process" in said and ": NDCG(k=3) 0." in said
    assert "model.txt.json are written" in said
    shown = " ".join(done(capsys, "tune", "--help")[0].replace("│", "").split())
    assert "The first decides. Default: ndcg@10." in shown and "NDCG at 10, 5" not in shown


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--engine", "xgboost"], "model.txt has the suffix of LightGBM's format, and the model is XGBoost's"),
        (["--measure", "cndcg@3"], "CNDCG(k=3) needs the label source 'clicks': give its column as --source clicks="),
        (["--minutes", "0"], "error: minutes is 0.0: give a number above 0"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_writes_nothing(files, tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *arguments(files, "model.txt", *more))
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_writes_the_best_so_far(files, tmp_path, monkeypatch, capsys):
    search = import_module("lambdaboost.tuning.tune")
    interrupted = Mock(wraps=search.measure_folds, side_effect=[DEFAULT, DEFAULT, KeyboardInterrupt])
    monkeypatch.setattr(search, "measure_folds", interrupted)
    code, _, error = call(capsys, *arguments(files, tmp_path / "model.txt"))
    assert code == 130 and "tune: stopped" in error and "nothing written" not in error
    saved = load(tmp_path / "model.txt")
    assert np.isfinite(saved.predict(np.zeros((1, saved.booster.num_feature())))).all()
