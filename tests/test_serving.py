"""Exported models, read by interpreters of each format, score as `predict` does."""

import functools
import json
import os
import runpy
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import rankers
import xgboost as xgb

import lambdaboost
from lambdaboost import GradientStep, LambdaRank
from lambdaboost.datasets import web_search_log
from lambdaboost.saving import as_saved

# Small interpreters of the formats, after the sources of the systems that read them: they compute in float32 where
# these do, and read numbers from the text of the file.

F = np.float32


def by_plugin(content, names, X):
    """The plugins' NaiveAdditiveDecisionTree, in floats: left if threshold > x; NaN goes to `missing`."""

    def leaf(node, x):
        while "leaf" not in node:
            left, right = node["children"]
            assert (left["nodeid"], right["nodeid"]) == (node["yes"], node["no"])
            value = x[names.index(node["split"])]
            with np.errstate(over="ignore"):  # (float) 3.4028237e38 is infinity in Java
                threshold = F(node["split_condition"])
            goes_left = node["missing"] == node["yes"] if np.isnan(value) else threshold > value
            node = left if goes_left else right
        return F(node["leaf"])

    return _summed(json.loads(content), leaf, X)


def by_vespa(content, names, X):
    """Vespa's XGBoostParser: `x < t`, or `!(x >= t)` where missing values go left, compared as doubles."""

    def leaf(node, x):
        while "leaf" not in node:
            children = {child["nodeid"]: child for child in node["children"]}
            value, threshold = float(x[names.index(node["split"])]), node["split_condition"]
            condition = not value >= threshold if node["missing"] == node["yes"] else value < threshold
            node = children[node["yes"] if condition else node["no"]]
        return node["leaf"]

    return _summed(json.loads(content), leaf, X)


def by_onnx(content, names, X):
    """onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(content)
    return session.run(None, {"X": np.asarray(X, F)})[0].ravel()


def _summed(trees, leaf, X):
    return np.array([sum((leaf(tree, x) for tree in trees), start=F(0)) for x in np.asarray(X, F)])


READERS = {"onnx": by_onnx, "elasticsearch": by_plugin, "vespa": by_vespa}
TOLERANCE = 5e-7  # of the largest score: sums of float32 numbers; stands on the page Serve

X, Q = web_search_log(queries=40, documents=20, seed=3)
X = X[:, :8].astype(np.float32)
QID = np.repeat(np.arange(Q.n_queries), Q.sizes)
HOLES = X.copy()
HOLES[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan


ranker = functools.partial(rankers.ranker, n_estimators=100)


def difference(tmp_path, format, model, features):
    """The largest difference from `predict`, as a share of the largest score."""
    path = tmp_path / "model"
    if format == "onnx":
        pytest.importorskip("onnxruntime")
    lambdaboost.export(model, path, format=format)
    features = features[::16]
    expected = model.predict(features)
    got = READERS[format](path.read_bytes(), names_of(model), _codes(features))
    return np.abs(got - expected).max() / np.abs(expected).max()


def names_of(model):
    saved = as_saved(model)
    return saved.engine.feature_names(saved.booster)


def _codes(features):
    if not hasattr(features, "columns"):
        return features
    return np.column_stack(
        [c.cat.codes.replace(-1, np.nan) if hasattr(c, "cat") else c for _, c in features.items()]
    ).astype(np.float32)


def stock(engine, labels=Q.relevance, rounds=5, **params):
    """A booster of the engine's own objective, and its predictions."""
    if engine == "lightgbm":
        model = lgb.train({"verbose": -1, **params}, lgb.Dataset(X, labels), rounds)
        return model, model.predict(X)
    data = xgb.DMatrix(X, labels)
    model = xgb.train(params, data, rounds)
    return model, model.predict(data)


# Half of the values are 0, others thresholds of ±1e-35 at which LightGBM splits zeros from other numbers, neighbouring
# float32 numbers, and the largest ones.
FLT_MAX, TINY = np.finfo(np.float32).max, np.float32(1e-35)
EDGES = np.float32(
    [0, -0.0, 1, -1, np.nextafter(np.float32(1), np.float32(2)), FLT_MAX, -FLT_MAX, TINY, -TINY]
)


def drawn(seed, values, columns):
    return np.random.default_rng(seed).choice(values, (len(X), columns)).astype(np.float32)


def grades_of(a, b, c):
    return (a > 0) + (b < 0) * 2 + (c >= 1)


AT_EDGES = drawn(5, [0.0, *EDGES], 4)
SMALL_LEAVES = {"lightgbm": {"min_child_samples": 5}, "xgboost": {"min_child_weight": 0}}
ONE_VALUE, FEW_VALUES = drawn(6, [1.0, np.nan], 3), drawn(6, [0.0, 1.0, -2.0, np.nan], 3)
STOP = {"n_estimators": 60, "learning_rate": 0.9, "early_stopping_rounds": 3}
BACKSLASHES = pd.DataFrame(X, columns=[f"a\\b{i}" for i in range(7)] + ["\\x"])
# What is trained on, the grades, what is served, and parameters. LightGBM's dump does not escape a backslash.
SERVED = {
    "as in training": (X, Q.relevance, X, {}),
    "missing in training": (HOLES, Q.relevance, HOLES, SMALL_LEAVES),
    "missing in service": (X, Q.relevance, HOLES, SMALL_LEAVES),
    "edges": (AT_EDGES, grades_of(*AT_EDGES[:, :3].T), AT_EDGES, SMALL_LEAVES),
    "one value or missing": (ONE_VALUE, np.isnan(ONE_VALUE[:, :2]).any(axis=1), ONE_VALUE, SMALL_LEAVES),
    "few values or missing": (FEW_VALUES, np.isnan(FEW_VALUES[:, :2]).any(axis=1), FEW_VALUES, SMALL_LEAVES),
    "names with a backslash": (BACKSLASHES, Q.relevance, BACKSLASHES, {}),
    "leaves of gradients": (X, Q.relevance, X, {"objective": GradientStep(LambdaRank())}),
    "DART": (
        X,
        Q.relevance,
        X,
        {
            "lightgbm": {"boosting_type": "dart"},
            "xgboost": {"booster": "dart", "rate_drop": 0.5, "verbosity": 0},
        },
    ),
    "up to the best round": (X, Q.relevance, X, STOP),
}


@functools.cache
def trained(engine, case="as in training"):
    features, grades, _, more = SERVED[case]
    valid = {"eval_set": [(X[400:], Q.relevance[400:])], "eval_qid": [QID[400:]]} if more is STOP else {}
    return ranker(engine, **more.get(engine, more)).fit(features, grades, qid=QID, **valid)


@pytest.mark.parametrize("format", READERS)
@pytest.mark.parametrize("case", SERVED)
def test_scores_are_those_of_predict(tmp_path, engine, case, format):
    """Missing values, zeros and neighbouring numbers go where the engine sends them; a loaded model is the same."""
    model = trained(engine, case)
    assert difference(tmp_path, format, model, SERVED[case][2]) <= TOLERANCE
    lambdaboost.save(model, tmp_path / "saved")
    lambdaboost.export(lambdaboost.load(tmp_path / "saved"), tmp_path / "again", format=format)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    if format == "elasticsearch":
        lambdaboost.export(
            model, tmp_path / "opensearch", format="opensearch"
        )  # whose plugin is Elasticsearch's
        assert (tmp_path / "opensearch").read_bytes() == (tmp_path / "model").read_bytes()


def test_categories_in_onnx(tmp_path, engine, monkeypatch):
    """A constant one does not lose the others; without pyarrow too."""
    draw = np.random.default_rng(1)
    city = draw.choice(list("uvwxyz"), len(X))
    grades = np.clip(Q.relevance + np.isin(city, ["v", "y"]), 0, 4)
    frame = pd.DataFrame(X, columns=[f"a{i}" for i in range(8)]).assign(city=pd.Categorical(city))
    frame.loc[draw.random(len(X)) < 0.1, "city"] = np.nan
    frame.insert(0, "one", pd.Categorical(["x"] * len(X), categories=["x", "y"]))
    wanted = {"enable_categorical": True, "max_cat_to_onehot": 1} if engine == "xgboost" else {}
    model = ranker(engine, **wanted).fit(frame, grades, group=Q.sizes)
    assert difference(tmp_path, "onnx", model, frame) <= TOLERANCE
    onnx = pytest.importorskip("onnx")
    lambdaboost.save(model, tmp_path / "saved")
    booster = model.booster_ if engine == "lightgbm" else model.get_booster()
    for module in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, module, None)
    for one in (model, lambdaboost.load(tmp_path / "saved"), booster):
        lambdaboost.export(one, tmp_path / "model", format="onnx")
        about = {p.key: json.loads(p.value) for p in onnx.load(tmp_path / "model").metadata_props}
        assert about["features"] == list(frame.columns)
        known = {"one": ["x", "y"], "city": list("uvwxyz")}
        assert about["categories"] == known or (one is booster and about["categories"] == {})  # XGBoost < 3.1
    np.testing.assert_array_equal(lambdaboost.load(tmp_path / "saved").predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature 'city' has categories"):
        lambdaboost.export(model, tmp_path / "none", format="vespa")
    assert not (tmp_path / "none").exists()


SUMS = [
    ("lightgbm", {"objective": "regression"}, True),
    ("xgboost", {"objective": "reg:squarederror"}, True),
    ("xgboost", {"objective": "rank:pairwise", "base_score": 0.25}, True),
    ("lightgbm", {"objective": "binary"}, False),
    ("lightgbm", {"objective": "regression", "reg_sqrt": True}, False),
    ("xgboost", {"objective": "binary:logistic"}, False),
]


@pytest.mark.parametrize(("engine", "params", "is_sum"), SUMS)
def test_only_objectives_that_predict_a_sum_are_exported(tmp_path, engine, params, is_sum):
    model, expected = stock(engine, Q.relevance > 1, **params)
    if not is_sum:
        with pytest.raises(ValueError, match=r"its objective .* does not predict the sum of its trees"):
            lambdaboost.export(model, tmp_path / "m", format="vespa")
        return
    lambdaboost.export(model, tmp_path / "m", format="vespa")
    got = by_vespa((tmp_path / "m").read_bytes(), names_of(model), X)
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-6)


def test_what_is_refused(tmp_path, engine):
    several = {"lightgbm": "multiclass", "xgboost": "multi:softprob"}[engine]
    odd = {"linear_tree": True} if engine == "lightgbm" else {"booster": "gblinear"}
    model, path, onnx, vespa = trained(engine), tmp_path / "m", {"format": "onnx"}, {"format": "vespa"}
    wrong = [
        (model, path, {"format": "pmml"}, r"format is 'pmml': give one of 'onnx', 'elasticsearch'"),
        (model, tmp_path / "no folder" / "m", vespa, "path"),
        ("m", path, vespa, r"model is of type str, expected a lightgbm\.Booster"),
        (stock(engine, objective=several, num_class=5)[0], path, onnx, "(5|several) scores for a row"),
        (ranker(engine, **odd).fit(X, Q.relevance, group=Q.sizes), path, onnx, "linear trees|without trees"),
    ]
    missing, words = {
        "lightgbm": ({"zero_as_missing": True}, "train without zero_as_missing"),
        "xgboost": (
            {"missing": -999.0},
            "cannot export .*: missing=-999 stands for missing values: train with NaN",
        ),
    }[engine]
    wrong += [(ranker(engine, **missing).fit(X, Q.relevance, group=Q.sizes), path, vespa, words)]
    for given, to, format, words in wrong:
        with pytest.raises((TypeError, ValueError), match=words):
            lambdaboost.export(given, to, **format)
    assert not path.exists()


EXAMPLES = Path(__file__).parent.parent / "examples"


def test_from_a_csv_to_a_served_model(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    script = EXAMPLES / "searches.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 34
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "make_searches.py"))
    assert pd.read_csv("searches.csv")["brand"].isna().any()
    ran = runpy.run_path(str(script))
    expected = ran["ranker"].predict(ran["X"][ran["last"]])
    assert abs(ran["scores"] - expected).max() <= TOLERANCE * abs(expected).max()
    assert float(capsys.readouterr().out.splitlines()[-1]) > 0.6  # 0.48 in random order


JNA = Path("/usr/share/java/jna.jar")  # Debian's libjna-java
PROGRAMS = {"lightgbm": "LightGBM.java", "xgboost": "XGBoost.java"}


def in_c(source, folder, library, tmp_path, model):
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    linked = [f"-L{folder}", library, f"-Wl,-rpath,{folder}"]
    program = tmp_path / "score"
    subprocess.run([compiler, source("c"), "-Wall", "-Werror", "-o", program, *linked], check=True)
    return [program, model]


def in_go(source, folder, library, tmp_path, model):
    go = shutil.which("go") or pytest.skip("there is no Go")
    linked = {"CGO_LDFLAGS": f"-L{folder} {library} -Wl,-rpath,{folder}", "GOCACHE": str(tmp_path / "cache")}
    program = tmp_path / "score"
    subprocess.run([go, "build", "-o", program, source("go")], check=True, env=os.environ | linked)
    return [program, model]


def in_java(source, folder, library, tmp_path, model):
    java = shutil.which("java") or pytest.skip("there is no Java")
    if not JNA.exists():
        pytest.skip("there is no JNA")
    return [java, "-cp", JNA, f"-Djna.library.path={folder}", source("java"), model]


@pytest.mark.slow
@pytest.mark.parametrize("language", [in_c, in_go, in_java])
def test_scores_in_other_languages(tmp_path, engine, language):
    """The programs of the examples give the bits of `predict`."""
    model, path = ranker(engine).fit(HOLES, Q.relevance, group=Q.sizes), tmp_path / "model"
    lambdaboost.save(model, path)
    folder = Path(import_module(engine).__file__).parent / "lib"
    library = {"lightgbm": "-l:lib_lightgbm.so", "xgboost": "-lxgboost"}[engine]

    def source(ending):
        return EXAMPLES / "serve" / (PROGRAMS[engine] if ending == "java" else f"{engine}.{ending}")

    command = language(source, folder, library, tmp_path, path)
    text = "\n".join(" ".join(f"{value:.9g}" for value in row) for row in HOLES)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    expected = model.predict(HOLES)
    np.testing.assert_array_equal(np.array(done.stdout.split(), float).astype(expected.dtype), expected)


def test_trees_too_deep_are_refused_in_a_sentence(tmp_path):
    one_hot = np.eye(650, 600, dtype=np.float32)  # each split takes one document away
    size = {"grow_policy": "lossguide", "max_depth": 0, "max_leaves": 600}
    data = xgb.DMatrix(one_hot, np.maximum(600.0 - np.arange(650), 0))
    model = xgb.train(size | {"min_child_weight": 0, "lambda": 0}, data, 1)
    with pytest.raises(ValueError, match="its trees are too deep"):
        lambdaboost.export(model, tmp_path / "m", format="vespa")
    assert not (tmp_path / "m").exists()


def test_infinite_features_in_onnx(tmp_path):
    """Splits that only separate missing values have an infinite threshold, which even +inf does not exceed."""
    pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(15)
    values = [np.inf, -np.inf, 0, 1, 2, 3e38, -3e38, np.nan, 1e-36]
    rows = rng.choice(values, size=(300, 4))
    data = lgb.Dataset(rows, rng.integers(0, 3, 300), group=[20] * 15)
    small = {"objective": "lambdarank", "verbose": -1, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0}
    model = lgb.train(small, data, 10)
    assert " inf" in model.model_to_string()
    lambdaboost.export(model, tmp_path / "m.onnx", format="onnx")
    rows = rows.astype(F)
    served = by_onnx((tmp_path / "m.onnx").read_bytes(), None, rows)
    np.testing.assert_allclose(served, model.predict(rows), atol=1e-6)


def test_lightgbms_file_with_the_objective_that_converters_need(tmp_path):
    drop_in = lgb.LGBMRanker(objective=LambdaRank(), n_estimators=3, verbose=-1, n_jobs=1)
    drop_in.fit(X, Q.relevance, group=Q.sizes)
    path, expected = tmp_path / "m.txt", drop_in.predict(X)
    for model in (drop_in, drop_in.booster_):
        lambdaboost.export(model, path, format="lightgbm")
        lines = path.read_text(encoding="utf-8").splitlines()
        assert "objective=lambdarank" in lines[:8] and "[objective: lambdarank]" in lines
        np.testing.assert_array_equal(lgb.Booster(model_file=path).predict(X), expected)
    own = lgb.LGBMRanker(n_estimators=3, verbose=-1, objective="rank_xendcg")
    own.fit(X, Q.relevance, group=Q.sizes)
    lambdaboost.export(own, path, format="lightgbm")
    assert path.read_text(encoding="utf-8") == own.booster_.model_to_string()
    with pytest.raises(TypeError, match="format='lightgbm' is for LightGBM's models"):
        lambdaboost.export(stock("xgboost")[0], path, format="lightgbm")
