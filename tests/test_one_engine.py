"""Everything for one engine works where the other is not installed, and a missing engine is one clear line.

`make test-alone` runs this in environments that have one engine; elsewhere the other one is hidden.
"""

import importlib
import json
import subprocess
import sys

import pytest

import lambdaboost
from lambdaboost.cli.run import run
from lambdaboost.datasets import web_search_log, write_letor

pytestmark = pytest.mark.slow

OTHER = {"lightgbm": "xgboost", "xgboost": "lightgbm"}
LINES = {
    "lightgbm": "LightGBM is not installed: pip install 'lightgbm<4.8,>=4.6'",
    "xgboost": "XGBoost is not installed: pip install 'xgboost<3.5,>=2.1', or 'xgboost-cpu<3.5,>=2.1', smaller but "
    "without GPU support",
}
LOG = web_search_log(queries=30, documents=15, seed=5)


@pytest.fixture(params=list(OTHER))
def engine(request, monkeypatch):
    """The engine that is there, with the other one hidden."""
    pytest.importorskip(request.param)
    hide(monkeypatch, OTHER[request.param])
    return request.param


def hide(monkeypatch, name):
    for module in list(sys.modules):
        if module.split(".")[0] == name or f"{module}.".startswith(f"lambdaboost.{name}."):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.delattr(lambdaboost, name, raising=False)
    monkeypatch.setitem(sys.modules, name, None)


def test_the_other_one_is_a_line(engine):
    other = OTHER[engine]
    with pytest.raises(ModuleNotFoundError) as error:
        importlib.import_module(f"lambdaboost.{other}")
    assert (str(error.value), error.value.name) == (LINES[other], other)


def test_all_other_modules_import_and_the_engine_that_is_there_is_the_default(engine, tmp_path):
    """In a process of its own: nothing may be imported yet."""
    other = OTHER[engine]
    code = f"""
import importlib, pkgutil, sys
sys.modules[{other!r}] = None
import lambdaboost
for found in pkgutil.walk_packages(lambdaboost.__path__, "lambdaboost.", onerror=lambda name: None):
    if found.name.startswith("lambdaboost.{other}") or found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        assert error.name != {other!r}, found.name  # an extra may be missing
lambdaboost.cli.run.run(["demo", "--queries", "12", "--rounds", "1", "--report", sys.argv[1]])
"""
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "page")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert f"{engine}'s default trees" in done.stdout


def test_the_command_line(engine, tmp_path, capsys):
    rows, model, missing = tmp_path / "rows.txt", tmp_path / "model", OTHER[engine]
    write_letor(rows, LOG)
    small = {"lightgbm": "min_data_in_leaf=5", "xgboost": "min_child_weight=0"}
    training = ["train", rows, "--valid", rows, "--out", model, "--rounds", 5, "--early-stopping", 3]
    training += ["--overwrite", "--param"]
    for words in (
        [*training, small[engine], "--engine", engine],
        ["predict", model, rows, "--out", tmp_path / "scores"],
        ["evaluate", rows, "--model", model],
        ["demo", "--queries", 12, "--rounds", 2, "--engine", engine, "--report", tmp_path / "demo.html"],
    ):
        assert run([str(word) for word in words]) == 0, words
    assert json.loads((tmp_path / "model.json").read_text())["engine"] == engine
    capsys.readouterr()
    for words in (
        [*training, small[missing], "--engine", missing],
        ["demo", "--engine", missing, "--report", tmp_path / "none.html"],
    ):
        assert run([str(word) for word in words]) == 1
        printed = capsys.readouterr()
        assert printed.out == "" and "is not installed: pip install" in printed.err
    assert not (tmp_path / "none.html").exists()
