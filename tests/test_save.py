"""Saved models: plain files of the engines, a description beside them, nothing half-written, and served by Treelite."""

import json
import os
import subprocess
import sys

import file_size
import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from lightgbm_data import PARAMS, Q, X, dataset

from lambdaboost import Blend, ClickTier, LambdaRank, Linear, RankNet, graded, load, save
from lambdaboost.lightgbm import LambdaRanker
from lambdaboost.lightgbm import train as train_lightgbm
from lambdaboost.xgboost import DMatrix
from lambdaboost.xgboost import LambdaRanker as XGBLambdaRanker
from lambdaboost.xgboost import train as train_xgboost

OBJECTIVE = Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.01))
XGB_PARAMS = {"max_depth": 3, "nthread": 1, "min_child_weight": 0}


def matrix():
    return DMatrix(X, Q.relevance, qid=Q.query_of_row, sources={"clicks": Q.labels["clicks"]})


def trained(engine, leaves="engine", rounds=5):
    if engine == "lightgbm":
        return train_lightgbm(PARAMS, dataset(), rounds, objective=OBJECTIVE, leaves=leaves)
    return train_xgboost(XGB_PARAMS, matrix(), rounds, objective=OBJECTIVE, leaves=leaves)


def scores(engine, booster):
    return booster.predict(X if engine == "lightgbm" else xgb.DMatrix(X))


ENGINE = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


@ENGINE
@pytest.mark.parametrize("name", ["model.ubj", "model.json"])
def test_the_file_is_the_engines_and_the_description_says_what_made_it(tmp_path, engine, name):
    booster, params = trained(engine), PARAMS if engine == "lightgbm" else XGB_PARAMS
    about = {"data": {"queries": np.int64(30)}}
    save(booster, tmp_path / name, objective=repr(OBJECTIVE), params=params, about=about)
    assert sorted(os.listdir(tmp_path)) == [name, f"{name}.json"]
    module = lgb if engine == "lightgbm" else xgb
    stock = module.Booster(model_file=tmp_path / name)
    np.testing.assert_array_equal(scores(engine, stock), scores(engine, booster))

    back = load(str(tmp_path / name))
    np.testing.assert_array_equal(scores(engine, back.booster), scores(engine, booster))
    assert back.objective == OBJECTIVE
    assert back.about["leaves"] == "engine" and back.about["params"] == params
    assert set(back.about["versions"]) == {"lambdaboost", engine, "numpy", "numba"}
    assert back.about["versions"][engine] == module.__version__
    assert back.about["data"] == {"queries": 30}


@ENGINE
def test_the_file_needs_no_lambdaboost(tmp_path, engine):
    booster = trained(engine, leaves="newton" if engine == "lightgbm" else "gradient")
    save(booster, tmp_path / "m.json", objective=OBJECTIVE)
    np.save(tmp_path / "X.npy", X[:7])
    wrapped = "X" if engine == "lightgbm" else "E.DMatrix(X)"
    code = (
        "import sys; sys.modules['lambdaboost'] = None\n"
        f"import {engine} as E, numpy as np\n"
        f"X = np.load('X.npy'); print(E.Booster(model_file='m.json').predict({wrapped}).tolist())\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    expected = booster.predict(X[:7] if engine == "lightgbm" else xgb.DMatrix(X[:7]))
    assert json.loads(run.stdout) == expected.tolist()


@ENGINE
def test_a_ranker_knows_what_made_it(tmp_path, engine):
    ranker = LambdaRanker if engine == "lightgbm" else XGBLambdaRanker
    silence = {"verbose": -1} if engine == "lightgbm" else {}
    model = ranker(objective=RankNet(), leaves="gradient", n_estimators=3, n_jobs=1, **silence)
    model.fit(X, Q.relevance, group=Q.sizes)
    save(model, tmp_path / "m")
    back = load(tmp_path / "m")
    assert back.objective == RankNet() and back.about["leaves"] == "gradient"
    assert back.about["params"] == {"n_estimators": 3, "n_jobs": 1, **silence}
    np.testing.assert_allclose(scores(engine, back.booster), model.predict(X))


def test_rounds_after_the_best_are_not_written(tmp_path):
    data = dataset()
    stop = lgb.early_stopping(2, verbose=False)
    booster = train_lightgbm(
        PARAMS, data, 60, objective=graded(), valid_sets=[data.create_valid(X[:80], Q.relevance[:80], group=[80],
        sources={"clicks": Q.labels["clicks"][:80]})], callbacks=[stop], keep_training_booster=True
    )  # fmt: skip
    assert booster.best_iteration < booster.current_iteration()
    save(booster, tmp_path / "m", objective=graded())
    assert load(tmp_path / "m").booster.current_iteration() == booster.best_iteration


def test_an_objective_with_code_of_ones_own_is_told_but_not_read_back(tmp_path):
    objective = Blend(RankNet(), LambdaRank(), lambda iteration: 0.5)
    save(train_lightgbm(PARAMS, dataset(), 2, objective=objective), tmp_path / "m", objective=objective)
    back = load(tmp_path / "m")
    assert back.about["objective"].startswith("Blend(first=RankNet(), second=LambdaRank(), weight=<function")
    with pytest.raises(ValueError, match="Blend"):
        _ = back.objective


def test_errors_before_anything_is_written(tmp_path):
    booster = trained("lightgbm", rounds=1)
    for path, error in (
        (tmp_path / "none" / "m", "there is no folder"),
        (tmp_path, "is a folder: give the name of a file in it"),
    ):
        with pytest.raises(ValueError, match=error):
            save(booster, path, objective=OBJECTIVE)
    with pytest.raises(ValueError, match="objective is None: a booster does not know"):
        save(booster, tmp_path / "m")
    with pytest.raises(ValueError, match="Lambda"):
        save(booster, tmp_path / "m", objective="Lambda")
    with pytest.raises(TypeError, match=r"model is a str, expected a lightgbm\.Booster"):
        save("booster", tmp_path / "m", objective=OBJECTIVE)
    assert os.listdir(tmp_path) == []


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    model = tmp_path / "m"
    save(trained("lightgbm", rounds=1), model, objective=OBJECTIVE)
    text = (tmp_path / "m.json").read_text()
    model.write_text(model.read_text() + "\n")
    with pytest.raises(ValueError, match="describes another model"):
        load(model)
    (tmp_path / "m.json").write_text(text[:40])
    with pytest.raises(ValueError, match="is no description of a model"):
        load(model)
    (tmp_path / "m.json").unlink()
    with pytest.raises(ValueError, match=r"m\.json beside"):
        load(model)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


def test_a_full_disk_leaves_the_last_good_model(tmp_path):
    """A limit on the size of files fails in `write` as a full disk does."""
    model = tmp_path / "m"
    save(trained("lightgbm", rounds=1), model, objective=OBJECTIVE)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    bigger = trained("lightgbm", rounds=20)
    with file_size.limited(len(before["m"]) * 2), pytest.raises(OSError, match="File too large"):
        save(bigger, model, objective=OBJECTIVE)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    assert load(model).booster.current_iteration() == 1


@ENGINE
@pytest.mark.parametrize("leaves", ["engine", "newton"])
def test_served_by_treelite(tmp_path, engine, leaves):
    treelite = pytest.importorskip("treelite")
    if (engine, leaves) == ("xgboost", "newton"):
        pytest.importorskip("xgboost.objective")
    booster, path = trained(engine, leaves), tmp_path / "model.json"
    save(booster, path, objective=OBJECTIVE, leaves=leaves)
    read = (
        treelite.frontend.load_lightgbm_model
        if engine == "lightgbm"
        else treelite.frontend.load_xgboost_model
    )
    served = treelite.gtil.predict(read(path), X.astype(np.float32)).ravel()
    # LightGBM compares doubles, Treelite the features as float32.
    expected = scores(engine, booster) if engine == "xgboost" else booster.predict(X.astype(np.float32))
    np.testing.assert_allclose(served, expected, rtol=1e-5, atol=1e-6)
