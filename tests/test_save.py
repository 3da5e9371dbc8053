"""Saved models: plain files of the engines, a description beside them, nothing half-written, and served by Treelite."""

import functools
import json
import os
import pickle

import lightgbm as lgb
import numba
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from on_lightgbm import PARAMS
from rankers import Q, X, ranker, stock
from sklearn.exceptions import NotFittedError

import lambdaboost
from lambdaboost import (
    Blend,
    ClickTier,
    LambdaRank,
    Linear,
    Propensities,
    RankNet,
    graded,
    load,
    save,
)
from lambdaboost.datasets import Collection, Columns, Encoder, web_search_log, write_letor
from lambdaboost.datasets.table import open_table
from lambdaboost.saving import as_saved, load_plain

OBJECTIVE = Blend(LambdaRank(), ClickTier(), Linear(0.1, 0.01))
X_VALID, Q_VALID = web_search_log(queries=20, documents=20, features=16, seed=6)
SMALL = {"lightgbm": PARAMS, "xgboost": {"max_depth": 3, "nthread": 1, "min_child_weight": 0}}


def train(engine, rounds, objective=OBJECTIVE, **more):
    data = stock(engine).dataset(X, Q.relevance, group=Q.sizes, sources={"clicks": Q.labels["clicks"]})
    return stock(engine).train(SMALL[engine], data, rounds, objective=objective, **more)


@functools.cache
def trained(engine, rounds=5):
    return train(engine, rounds)


def scores(engine, booster):
    return booster.predict(X if engine == "lightgbm" else xgb.DMatrix(X))


@pytest.mark.parametrize("name", ["model.ubj", "model.json"])
def test_the_file_is_the_engines_and_the_description_says_what_made_it(tmp_path, engine, name):
    booster, params = trained(engine), SMALL[engine]
    about = {"data": {"queries": np.int64(30)}}
    save(booster, tmp_path / name, objective=repr(OBJECTIVE), params=params, about=about)
    assert sorted(os.listdir(tmp_path)) == [name, f"{name}.json"]
    module = lgb if engine == "lightgbm" else xgb
    stock = module.Booster(model_file=tmp_path / name)
    np.testing.assert_array_equal(scores(engine, stock), scores(engine, booster))

    back = load(str(tmp_path / name))
    assert repr(back) == f"SavedModel({back.name}: {back.engine.TITLE}, {OBJECTIVE!r}; 5 rounds, 16 features)"
    np.testing.assert_array_equal(scores(engine, back.booster), scores(engine, booster))
    assert back.objective == OBJECTIVE
    assert back.about["params"] == params
    libraries = (lambdaboost, module, np, numba)
    assert back.about["versions"] == {one.__name__: one.__version__ for one in libraries}
    assert back.about["data"] == {"queries": 30}


# The model that was trained is the model that is saved.

STOPS = {
    "all rounds": {},
    "early": {"early": 3},
    "dart": {"lightgbm": {"boosting_type": "dart"}, "xgboost": {"booster": "dart", "rate_drop": 0.4}},
    "dart, early": {"early": 3, "xgboost": {"booster": "dart", "rate_drop": 0.4}},
    "linear, early": {"early": 3, "xgboost": {"booster": "gblinear"}},
}
# With DART and linear models XGBoost predicts with all rounds, which a warning says.
SAID = pytest.mark.filterwarnings("ignore:early stopping")
CASES = [("lightgbm", stop) for stop in list(STOPS)[:3]] + [("xgboost", stop) for stop in STOPS]


@functools.cache
def fitted(engine, stop):
    """A ranker; where it stops early, it does so before its rounds are over."""
    early, more = STOPS[stop].get("early"), dict(STOPS[stop].get(engine, {}))
    size = {"n_estimators": 40 if early else 6, "learning_rate": 1.0 if early else 0.3}
    fit = {"group": Q.sizes}
    if early:
        fit |= {"eval_set": [(X_VALID, Q_VALID.relevance)], "eval_group": [Q_VALID.sizes]}
    if engine == "lightgbm":
        if early:
            fit["callbacks"] = [lgb.early_stopping(early, first_metric_only=True, verbose=False)]
        model = ranker(engine, **size, num_leaves=7, **more).fit(X, Q.relevance, **fit)
        assert not early or 0 < model.best_iteration_ < len(model.evals_result_["valid_0"]["ndcg@1"]) < 40
        return model
    depth = {} if more.get("booster") == "gblinear" else {"max_depth": 3}
    model = ranker(engine, **size, early_stopping_rounds=early, **depth, **more).fit(X, Q.relevance, **fit)
    assert not early or model.best_iteration < len(model.evals_result()["validation_0"]["ndcg@3"]) - 1 < 39
    return model


@SAID
@pytest.mark.parametrize(("engine", "stop"), CASES, ids=str)
def test_saved_models_predict_as_the_trained(tmp_path, engine, stop):
    model = fitted(engine, stop)
    expected = model.predict(X)
    assert np.unique(expected).size > 4
    path = tmp_path / "m.json"
    save(model, path)
    back = load(path)
    np.testing.assert_array_equal(back.predict(X), expected)
    # As where there is no lambdaboost.
    stock = (lgb if engine == "lightgbm" else xgb).Booster(model_file=path)
    np.testing.assert_array_equal(scores(engine, stock), expected)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), expected)
    save(copy, tmp_path / "again")
    np.testing.assert_array_equal(load(tmp_path / "again").predict(X), expected)


def test_frames_and_missing_values_predict_as_the_trained(tmp_path):
    names = [f"f{i}" for i in range(X.shape[1])]
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 5, X, -7.0)
    for model in (ranker("lightgbm"), ranker("xgboost", missing=-7.0)):
        for table in (pd.DataFrame, pl.DataFrame):
            frame = table({"qid": Q.query_of_row, **dict(zip(names, gaps.T, strict=True))})
            save(model.fit(frame, Q.relevance), tmp_path / "m")
            np.testing.assert_array_equal(load(tmp_path / "m").predict(frame), model.predict(frame))


def test_an_xgboost_booster_is_saved_with_all_the_rounds_that_it_predicts_with(tmp_path):
    valid = stock("xgboost").dataset(X_VALID, Q_VALID.relevance, group=Q_VALID.sizes)
    booster = train("xgboost", 40, LambdaRank(), evals=[(valid, "v")], early_stopping_rounds=3)
    assert booster.best_iteration + 1 < booster.num_boosted_rounds()
    save(booster, tmp_path / "m", objective=LambdaRank())
    np.testing.assert_array_equal(load(tmp_path / "m").predict(X), booster.predict(xgb.DMatrix(X)))
    assert load(tmp_path / "m").booster.best_iteration == booster.best_iteration


def test_an_objective_with_code_of_ones_own_is_told_but_not_read_back(tmp_path):
    objective = Blend(RankNet(), LambdaRank(), lambda iteration: 0.5)
    save(train("lightgbm", 2, objective), tmp_path / "m", objective=objective)
    back = load(tmp_path / "m")
    assert back.about["objective"].startswith("Blend(first=RankNet(), second=LambdaRank(), weight=<function")
    with pytest.raises(
        ValueError, match=r"m was trained with 'Blend.*no objective of lambdaboost's own: about\["
    ):
        _ = back.objective


UNSAVABLE = [
    ({"path": "none/m"}, ValueError, "folder .* does not exist"),
    ({"path": ""}, ValueError, "is a folder: give a file name in it"),
    ({"objective": None}, ValueError, "objective is None: a booster does not know"),
    ({"about": {"categories": {"market": 2}}}, ValueError, "about has categories, which save writes itself"),
    (
        {"model": as_saved(trained("lightgbm", 1))},
        TypeError,
        "model is what load returned: copy its two files",
    ),
    (
        {"model": lgb.CVBooster()},
        TypeError,
        "type CVBooster, expected .* a fitted LambdaRanker; joblib saves",
    ),
    ({"model": ranker("lightgbm")}, NotFittedError, "LambdaRanker instance is not fitted yet"),
    ({"model": ranker("xgboost")}, NotFittedError, "LambdaRanker instance is not fitted yet"),
]


@pytest.mark.parametrize(("given", "error", "words"), UNSAVABLE)
def test_errors_before_anything_is_written(tmp_path, given, error, words):
    given = {"model": trained("lightgbm", 1), "path": "m", "objective": OBJECTIVE} | given
    with pytest.raises(error, match=words):
        save(given.pop("model"), tmp_path / given.pop("path"), **given)
    assert os.listdir(tmp_path) == []


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    model = tmp_path / "m"
    save(trained("lightgbm", rounds=1), model, objective=OBJECTIVE)
    model.write_text(model.read_text(encoding="utf-8") + "\n")
    with pytest.raises(ValueError, match=r"is not the model that .*m\.json describes"):
        load(model)
    (tmp_path / "m.json").unlink()
    with pytest.raises(ValueError, match=r"m\.json is missing"):
        load(model)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    given = {"X": X, "y": Q.relevance, "group": Q.sizes, "init_model": tmp_path}
    for read in (lambda: load(tmp_path), lambda: ranker("lightgbm").fit(**given)):
        with pytest.raises(ValueError, match="is a folder: give a file"):
            read()


def test_columns_whose_names_are_numbers(tmp_path, engine):
    frame = pd.DataFrame(X[:, :3])
    frame[1] = pd.Categorical(np.where(X[:, 1] > 0, "de", "fr"))
    model = ranker(engine).fit(frame, Q.relevance, group=Q.sizes)
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").predict(frame[[2, 1, 0]]), model.predict(frame))


def test_a_booster_with_the_encoder_of_its_table(tmp_path):
    frame = pd.DataFrame({"qid": Q.query_of_row, "grade": Q.relevance, "match": X[:, 0]})
    frame["market"] = np.where(X[:, 1] > 0, "de", "fr")
    encoder = Encoder.fit(
        Columns("qid", "grade", categorical=["market"]), open_table(frame, "frame"), "missing"
    )
    data = encoder.read(frame)
    train = lgb.Dataset(data.features, Q.relevance, group=Q.sizes)
    booster = lgb.train(PARAMS | {"objective": "lambdarank"}, train, 2)
    save(booster, tmp_path / "m", objective="lambdarank", encoder=encoder)
    back = load(tmp_path / "m")
    assert back.encoder == encoder
    np.testing.assert_array_equal(back.predict(frame.iloc[:, ::-1]), booster.predict(data.features))


def test_a_description_that_was_changed_is_refused(tmp_path):
    """Such as one with features or categories in another order, by which scores would be wrong in silence."""
    frame = pd.DataFrame({"price": range(40), "brand": ["a", "b"] * 20, "qid": np.repeat([1, 2], 20)})
    frame = frame.astype({"brand": "category"})
    model, sidecar = ranker("lightgbm").fit(frame, np.arange(40) % 3), tmp_path / "m.json"
    save(model, tmp_path / "m")
    about = json.loads(sidecar.read_text())
    sidecar.write_text(json.dumps(about))  # without indents
    assert (load(tmp_path / "m").predict(frame) == model.predict(frame)).all()
    wrong = [json.dumps(about | {"categories": {"brand": ["b", "a"]}}), json.dumps(about)[:-1]]
    del about["sha256"]
    for text in (*wrong, json.dumps(about), "null", "[" * 100_000, "\xff"):
        sidecar.write_text(text, encoding="latin-1")
        with pytest.raises(ValueError, match=r"m\.json is not as save wrote it: restore it, or train again"):
            load(tmp_path / "m")


def test_numbers_that_json_lacks_and_long_curves_are_saved(tmp_path, engine):
    """Infinity as a text; the training is not lost where it is saved. Columns are found by name, without labels."""
    infinite = {"max_delta_step": np.inf} if engine == "lightgbm" else {"missing": np.inf}
    curve = Propensities(np.linspace(1, 0.5, 10_000))
    objective = graded(source="my clicks", propensities=curve)
    model = ranker(engine, objective=objective, position="shown at", sources=["my clicks"], **infinite)
    columns = {f"my feature {i}": X[:, i] for i in range(X.shape[1])}
    labels = {"shown at": np.arange(len(X)) % 9 + 1, "qid": Q.query_of_row, "my clicks": Q.labels["clicks"]}
    frame = pd.DataFrame(labels | columns)
    save(model.fit(frame, Q.relevance), tmp_path / "m", about={"gain": [np.nan]})
    back = load(tmp_path / "m")
    assert back.objective == model.objective and back.about["gain"] == ["NaN"]
    given = dict.fromkeys(infinite, "Infinity") | {"position": "shown at", "sources": ["my clicks"]}
    silence = {"verbose": -1} if engine == "lightgbm" else {}
    assert back.about["params"] == {"n_estimators": 3, "n_jobs": 1, "random_state": 0, **silence, **given}
    for other in (frame, pd.DataFrame(columns)[[*columns][::-1]]):
        np.testing.assert_array_equal(back.predict(other), model.predict(frame))


@pytest.mark.parametrize(
    ("engine", "name", "last"),
    [("lightgbm", "m.txt", b"end of trees"), ("xgboost", "m.ubj", b""), ("xgboost", "m.json", b"")],
)
def test_a_file_that_was_cut_short_is_refused(tmp_path, engine, name, last):
    """LightGBM would end the process, and XGBoost fill the memory, also where UBJSON is cut after a brace."""
    path = tmp_path / name
    trained(engine, rounds=2).save_model(path)
    content = path.read_bytes()
    end = content.index(last) or len(content)
    braces = [n for n in range(1, end) if content[n - 1 : n] == b"}"]
    assert len(braces) > 9 or engine == "lightgbm"
    for n in sorted({*range(0, end, 97), *braces}):
        path.write_bytes(content[:n])
        with pytest.raises(ValueError, match=r"is not a model|the model is cut short"):
            load_plain(path, Columns())
    given = {"init_model" if engine == "lightgbm" else "xgb_model": path}
    for n in (end // 2, *braces[-1:]):
        path.write_bytes(content[:n])
        with pytest.raises(ValueError, match="cut short"):
            ranker(engine).fit(X, Q.relevance, group=Q.sizes, **given)


def test_served_by_treelite(tmp_path, engine):
    treelite = pytest.importorskip("treelite")
    booster, path = trained(engine), tmp_path / "model.json"
    save(booster, path, objective=OBJECTIVE)
    read = getattr(treelite.frontend, f"load_{engine}_model")
    served = treelite.gtil.predict(read(path), X.astype(np.float32)).ravel()
    # LightGBM compares doubles, Treelite the features as float32.
    expected = scores(engine, booster) if engine == "xgboost" else booster.predict(X.astype(np.float32))
    np.testing.assert_allclose(
        served, expected, rtol=0, atol=0 if engine == "lightgbm" else 1e-6 * abs(expected).max()
    )


def test_letor_text_and_a_model_with_names_but_no_description(tmp_path):
    """Features are found by their numbers, if these are the names; by place they would be others."""
    text, path, places = tmp_path / "t.txt", tmp_path / "m.txt", [1, 0, 2]
    write_letor(text, Collection(X[:, :3], Q))
    for names in (["2", "1", "3"], ["price", "match", "size"]):
        data = lgb.Dataset(X[:, places], Q.relevance, group=Q.sizes, feature_name=names)
        booster = lgb.train(PARAMS | {"objective": "lambdarank"}, data, 3)
        booster.save_model(path)
        model = load_plain(path, Columns())
        if names[0] == "2":
            np.testing.assert_allclose(model.predict(text), booster.predict(X[:, places]))
        else:
            with pytest.raises(
                ValueError, match=r"knows its features by name, such as 'price', and .*t\.txt is LETOR"
            ):
                model.predict(text)
