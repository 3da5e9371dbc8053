"""The command line on CSV and Parquet, on models that it did not train, and on what users mistype."""

import gzip
import json
import os
import signal
import subprocess
import sys
import warnings
from codecs import BOM_UTF8
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from command import call, refused

from lambdaboost.cli.columns import parse_columns
from lambdaboost.datasets import Columns, columns, read_letor, web_search_log, write_letor

ENGINES = ("lightgbm", "xgboost")
SMALL = (
    "--rounds",
    5,
    "--query",
    "query",
    "--label",
    "grade",
    "--source",
    "clicks=ctr",
    "--drop",
    "title,f10-f11",
)
LEAF = {"lightgbm": ("--param", "min_data_in_leaf=5"), "xgboost": ("--param", "min_child_weight=0")}
LOG = web_search_log(queries=24, documents=15, features=16, seed=0).without_features(range(12, 16))
FEATURES = [f"f{i}" for i in range(12)]


@pytest.fixture(scope="module")
def table():
    """Rows in random order, queries apart, a text column, columns in no particular order."""
    q = LOG.queries
    frame = pd.DataFrame(LOG.features, columns=FEATURES)
    frame.insert(0, "query", [f"q{i}" for i in q.query_of_row])
    frame.insert(5, "grade", q.relevance)
    frame["ctr"], frame["title"] = q.labels["clicks"], "a title"
    frame["market"] = np.where(q.query_of_row % 3 == 0, "shop", "news")
    return frame.sample(frac=1, random_state=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("tables")
    features = table.drop(columns="market")
    features.to_csv(folder / "log.csv", index=False)
    features.to_csv(folder / "log.csv.gz", index=False)
    features.to_csv(folder / "log.csv.xz", index=False)
    table.to_csv(folder / "market.csv", index=False)
    (folder / "bom.csv").write_bytes(BOM_UTF8 + (folder / "log.csv").read_bytes())
    if find_spec("pyarrow"):
        features.to_parquet(folder / "log.parquet")
    write_letor(folder / "log.txt", LOG)
    return folder


@pytest.mark.parametrize("engine", ENGINES)
def test_a_csv_trains_predicts_and_measures_like_the_same_letor_text(capsys, folder, tmp_path, table, engine):
    model, scores = tmp_path / "m", tmp_path / "scores"
    code, out, err = call(capsys, "train", folder / "log.csv", *SMALL, *LEAF[engine], "--engine", engine, "--test",
                folder / "log.csv", "--out", model)  # fmt: skip
    assert code == 0, err
    assert "CNDCG(k=10)" in out  # of the source, without being asked for
    about = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert about["columns"]["features"] == FEATURES[:10] and about["columns"]["query"] == "query"
    assert call(capsys, "predict", model, folder / "log.csv", "--out", scores)[0] == 0
    # In the order of the file, whatever the order of the queries.
    if engine == "lightgbm":
        import lightgbm as lgb

        expected = lgb.Booster(model_file=model).predict(table[FEATURES[:10]].to_numpy())
        assert np.array_equal(np.loadtxt(scores), expected)
    measures = ("--measure", "ndcg@5", "--measure", "map", "--json")
    by_model = call(capsys, "evaluate", folder / "log.csv", "--model", model, *measures)[1]
    given = ("--query", "query", "--label", "grade")
    by_scores = call(capsys, "evaluate", folder / "log.csv", "--scores", scores, *given, *measures)[1]
    assert json.loads(by_model)["measures"] == json.loads(by_scores)["measures"]
    assert Columns("query", "grade").labels(folder / "log.csv").queries.n_queries == 24


@pytest.mark.parametrize("name", ["log.csv.gz", "log.csv.xz", "bom.csv", "log.parquet"])
def test_every_form_of_a_table_is_the_same_data(folder, name):
    if name == "log.parquet":
        pytest.importorskip("pyarrow")
    columns = parse_columns(["clicks=ctr"], ["title"], (), "query", "grade")
    same, other = (columns.read(folder / n) for n in ("log.csv", name))
    assert other.feature_names == same.feature_names == tuple(FEATURES)
    np.testing.assert_allclose(other.features, same.features, rtol=1e-6)
    for source in ("relevance", "clicks"):
        np.testing.assert_allclose(other.queries.labels[source], same.queries.labels[source], rtol=1e-6)


def test_a_byte_order_mark_is_no_part_of_letor_text_and_scores(capsys, folder, tmp_path):
    n = LOG.queries.n_documents
    (tmp_path / "bom.txt").write_bytes(BOM_UTF8 + (folder / "log.txt").read_bytes())
    (tmp_path / "scores").write_bytes(BOM_UTF8 + b"1\n" * n)
    code, out, err = call(capsys, "evaluate", tmp_path / "bom.txt", "--scores", tmp_path / "scores", "--json")
    assert (code, err) == (0, "") and json.loads(out)["documents"] == n


GIVEN = ["--query", "query", "--label", "grade"]
MISTAKES = [
    ([], "log.csv has no column 'qid': choose among 'query', 'f0', 'f1'"),
    (["--query", "query"], "log.csv has no column 'label': choose among"),
    (["--query", "id"], "--query: "),
    (
        ["--query", "query", "--label", "title"],
        "log.csv, not a number: encode it as numbers, make it a category",
    ),
    (GIVEN, "column 'title' is 'a title' in row 1 of "),
    (
        [*GIVEN, "--drop", "title,tilte"],
        "has no column 'tilte' (did you mean 'title'?): choose among 'query'",
    ),
    ([*GIVEN, "--drop", "f11-f2"], "has no column 'f11-f2'"),
    ([*GIVEN, "--source", "clicks=title"], "column 'title' is 'a title' in row 1 of "),
    ([*GIVEN, "--source", "c=ctr", "--drop", "ctr"], "column 'ctr' is given twice"),
    ([*GIVEN, "--source", "c=ctr", "--source", "d=ctr"], "--source: column 'ctr' is given twice"),
    ([*GIVEN, "--drop", "title,grade"], "--label: column 'grade' is given twice"),
    ([*GIVEN, "--drop", "query"], "--query: column 'query' is given twice"),
    ([*GIVEN, "--source", "c=grade"], "--label: column 'grade' is given twice"),
    ([*GIVEN, "--source", "query"], "--query: column 'query' is given twice"),
    ([*GIVEN, "--drop", "title", "--features", "9"], "is a table, but the training data were LETOR text"),
]


@pytest.mark.parametrize(
    ("wrong", "message"), MISTAKES, ids=[" ".join(wrong) or "none" for wrong, _ in MISTAKES]
)
def test_mistakes_about_tables(capsys, folder, tmp_path, wrong, message):
    assert message in refused(capsys, "train", folder / "log.csv", "--out", tmp_path / "m", *wrong)
    assert os.listdir(tmp_path) == []


def test_the_label_is_no_source_of_an_evaluation_and_a_range_passes_over_it(capsys, tmp_path):
    rows = "".join(f"{i // 3},{i % 3},{i % 3 - i % 2},{i},x\n" for i in range(12))
    (tmp_path / "t.csv").write_text("qid,label,a,b,text\n" + rows)
    (tmp_path / "scores").write_text("1\n" * 12)
    wrong = "evaluate", tmp_path / "t.csv", "--scores", tmp_path / "scores", "--source", "clicks=label"
    assert "--label: column 'label' is given twice" in refused(capsys, *wrong)
    short = "--param", "min_data_in_leaf=1", "--rounds", 1, "--out", tmp_path / "m"
    code, _, err = call(capsys, "train", tmp_path / "t.csv", "--drop", "label-a,text", *short)
    assert code == 0, err
    columns = json.loads((tmp_path / "m.json").read_text())["columns"]
    assert columns["drop"] == ["a", "text"] and columns["features"] == ["b"]


def test_headers_that_pandas_would_mend_without_a_word(capsys, tmp_path):
    wrong = {
        "qid,label,x,x\n1,1,2,3\n": "it has two columns 'x'; rename one",
        "qid,qid,label,x\n1,1,2,3\n": "it has two columns 'qid'; rename one",
        "qid,label,x\n1,1,2,3\n": "rows have more cells than the header; name every column",
        "qid;label;x\n1;1;2\n": "columns are separated by ';'; separate them by commas",
    }
    for text, message in wrong.items():
        (tmp_path / "t.csv").write_text(text)
        told = refused(capsys, "train", tmp_path / "t.csv", "--out", tmp_path / "m")
        assert f"t.csv cannot be read as CSV with a header: {message}" in told
    (tmp_path / "t.csv").write_text(",qid,label,x,\n0,1,1,2,\n")  # without names, as pandas writes its index
    assert Columns().open(tmp_path / "t.csv").names == ["Unnamed: 0", "qid", "label", "x", "Unnamed: 4"]


def test_one_column_is_not_both_query_and_label(capsys, folder, tmp_path):
    given = ("--query", "grade", "--label", "grade", "--drop", "title", "--out", tmp_path / "m")
    assert "--query: column 'grade' is given twice" in refused(capsys, "train", folder / "log.csv", *given)


def test_an_index_in_parquet_is_a_column(folder, table, tmp_path):
    pytest.importorskip("pyarrow")
    table.drop(columns="market").set_index("query").to_parquet(tmp_path / "indexed.parquet")
    columns = parse_columns(["clicks=ctr"], ["title"], (), "query", "grade")
    indexed, plain = (columns.read(p) for p in (tmp_path / "indexed.parquet", folder / "log.csv"))
    np.testing.assert_allclose(indexed.features, plain.features, rtol=1e-6)
    assert indexed.queries.ids.tolist() == plain.queries.ids.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_with_the_engines_own_names_are_taken_by_name(capsys, table, tmp_path, engine):
    """A table with columns f0, f1, … or Column_0, … in another order is not scored in its order."""
    rows = table[FEATURES].to_numpy()
    if engine == "lightgbm":
        import lightgbm as lgb

        model = lgb.train({"verbose": -1, "min_data_in_leaf": 5}, lgb.Dataset(rows, table.grade), 3)
        expected, names = model.predict(rows), [f"Column_{i}" for i in range(12)]
    else:
        import xgboost as xgb

        model = xgb.train({}, xgb.DMatrix(rows, table.grade), 3)
        expected, names = model.predict(xgb.DMatrix(rows)), FEATURES
    model.save_model(tmp_path / "plain.txt" if engine == "lightgbm" else tmp_path / "plain.ubj")
    (path,) = tmp_path.glob("plain.*")
    shuffled = table[FEATURES].set_axis(names, axis=1)[names[::-1]].assign(further="text")
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False)
    code, out, err = call(capsys, "predict", path, tmp_path / "shuffled.csv")
    assert code == 0, err
    np.testing.assert_array_equal(np.array(out.split(), dtype=expected.dtype), expected)


def test_zstd_is_named(capsys, tmp_path):
    (tmp_path / "t.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    assert "is compressed by zstd: decompress it" in refused(
        capsys, "train", tmp_path / "t.csv.zst", "--out", tmp_path / "m"
    )


def test_files_that_are_no_tables(capsys, folder, tmp_path, monkeypatch):
    given = ("--query", "query", "--label", "grade", "--out", tmp_path / "m")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("query,grade,f0\n")
    (tmp_path / "torn.csv").write_text('query,grade\n"a,1\n')
    (tmp_path / "gap.csv").write_text("query,grade,f0\na,1,2\n,1,2\n")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"query,grade,f0\n" + b"a,1,2\n" * 999)[:60])
    (tmp_path / "text.parquet").write_text("query,grade\n")
    assert "empty.csv cannot be read as CSV with a header" in refused(
        capsys, "train", tmp_path / "empty.csv", *given
    )
    assert "header.csv has no rows" in refused(capsys, "train", tmp_path / "header.csv", *given)
    assert "torn.csv cannot be read as CSV" in refused(capsys, "train", tmp_path / "torn.csv", *given)
    assert "column 'query' is missing in row 2 of " in refused(capsys, "train", tmp_path / "gap.csv", *given)
    assert "cut.csv.gz" in refused(capsys, "train", tmp_path / "cut.csv.gz", *given)
    assert "text.parquet" in refused(capsys, "train", tmp_path / "text.parquet", *given)
    monkeypatch.chdir(tmp_path)
    elsewhere = (*given[:-1], folder / "m")
    assert ". is a folder: give a file" in refused(capsys, "train", ".", *elsewhere)
    assert ". is a folder: give a model file" in refused(capsys, "predict", ".", folder / "log.txt")


def test_a_model_and_a_file_of_other_columns(capsys, folder, tmp_path):
    model = tmp_path / "m"
    assert call(capsys, "train", folder / "log.csv", *SMALL, "--out", model)[0] == 0
    few = pd.read_csv(folder / "log.csv").drop(columns=["f3", "f4"])
    few.to_csv(tmp_path / "few.csv", index=False)
    assert "lacks features of the training data: 'f3', 'f4'" in refused(
        capsys, "predict", model, tmp_path / "few.csv"
    )
    assert "lacks features of the training data: 'f0', 'f1'" in refused(
        capsys, "predict", model, folder / "log.txt"
    )
    assert call(capsys, "train", folder / "log.txt", "--rounds", 2, "--out", tmp_path / "l")[0] == 0
    assert "is a table, but the training data were LETOR text" in refused(
        capsys, "predict", tmp_path / "l", folder / "log.csv"
    )
    # Without labels and queries a table can be scored.
    bare = pd.read_csv(folder / "log.csv")[FEATURES]
    bare.to_csv(tmp_path / "bare.csv", index=False)
    outs = [call(capsys, "predict", model, file)[1] for file in (tmp_path / "bare.csv", folder / "log.csv")]
    assert outs[0] == outs[1] != ""


def test_a_plain_lightgbm_model_finds_columns_whose_names_have_spaces(capsys, table, tmp_path):
    lgb = pytest.importorskip("lightgbm")

    rows = table.sort_values("query", kind="stable").rename(columns={name: f"my {name}" for name in FEATURES})
    names = ["my f7", "my f2", "my f5"]
    ranker = lgb.LGBMRanker(n_estimators=4, min_child_samples=2, verbose=-1)
    ranker.fit(rows[names], rows.grade, group=rows.groupby("query", sort=False).size().to_numpy())
    ranker.booster_.save_model(tmp_path / "named.txt")
    rows.to_csv(tmp_path / "log.csv", index=False)
    code, out, err = call(capsys, "predict", tmp_path / "named.txt", tmp_path / "log.csv")
    assert code == 0, err
    assert out.split() == [repr(float(score)) for score in ranker.predict(rows[names])]


@pytest.mark.parametrize("engine", ENGINES)
def test_plain_models_of_the_engines(capsys, folder, tmp_path, table, engine):
    """By name where model and table have names, else in the order of the columns."""
    rows = table.sort_values("query", kind="stable")
    sizes = rows.groupby("query", sort=False).size().to_numpy()
    names = ["f7", "f2", "f5"]
    if engine == "lightgbm":
        import lightgbm as lgb

        ranker = lgb.LGBMRanker(n_estimators=4, min_child_samples=2, verbose=-1)
        named = ranker.fit(rows[names], rows.grade, group=sizes).booster_
        expected = named.predict(table[names])
        bare = lgb.train({"verbose": -1}, lgb.Dataset(rows[FEATURES].to_numpy(), rows.grade), 3)
        by_order = bare.predict(LOG.features)
    else:
        import xgboost as xgb

        ranker = xgb.XGBRanker(n_estimators=4, min_child_weight=0)
        named = ranker.fit(rows[names], rows.grade, group=sizes).get_booster()
        expected = ranker.predict(table[names])
        bare = xgb.train({}, xgb.DMatrix(rows[FEATURES].to_numpy(), rows.grade), 3)
        by_order = bare.predict(xgb.DMatrix(LOG.features))
    named.save_model(tmp_path / "named.json")
    bare.save_model(tmp_path / "bare.ubj")
    code, out, err = call(capsys, "predict", tmp_path / "named.json", folder / "log.csv")
    assert code == 0 and np.array_equal(np.array(out.split(), dtype=expected.dtype), expected)
    assert f"is a plain {engine} model, without named.json.json: its 3 features are taken by name" in err
    code, out, err = call(capsys, "predict", tmp_path / "bare.ubj", folder / "log.txt")
    assert code == 0, err
    np.testing.assert_allclose(np.array(out.split(), dtype=float), by_order, rtol=1e-6)
    table.add_prefix("x_").to_csv(tmp_path / "renamed.csv", index=False)
    message = refused_with_note(
        capsys, "predict", tmp_path / "bare.ubj", tmp_path / "renamed.csv", "--drop", "x_title,x_market"
    )
    assert "has 15 features" in message and "needs 12" in message and "--drop" in message
    code, out, _ = call(capsys, "evaluate", folder / "log.csv", "--model", tmp_path / "named.json", "--query",
                        "query", "--label", "grade", "--measure", "ndcg@5", "--json")  # fmt: skip
    assert code == 0 and 0 < json.loads(out)["measures"]["NDCG(k=5)"] <= 1


def refused_with_note(capsys, *args):
    code, _, err = call(capsys, *args)
    assert code == 1
    return err.splitlines()[-1]


def test_what_is_no_model(capsys, folder, tmp_path):
    (tmp_path / "m").write_text("not a model")
    assert "is not a model: neither LightGBM's text nor XGBoost's" in refused_with_note(
        capsys, "predict", tmp_path / "m", folder / "log.txt"
    )


def test_train_reads_each_file_once(capsys, folder, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(
        columns,
        "read_letor",
        lambda path, **k: read.append(path.name) or replace(LOG, feature_names=None),
    )
    code, _, err = call(
        capsys, "train", folder / "log.txt", "--rounds", 2, "--features", 14, "--out", tmp_path / "m"
    )
    assert code == 0, err
    assert read == ["log.txt"]


def test_a_home_folder_is_expanded(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert call(capsys, "train", folder / "log.txt", "--rounds", 2, "--out=~/m")[0] == 0
    assert (tmp_path / "m").exists()
    code, _, err = call(capsys, "report", folder / "log.txt", "--model", "a=~/m", "--out=~/page.html")
    assert code == 0, err
    assert (tmp_path / "page.html").exists()


def test_a_report_without_matplotlib_says_so(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("lambdaboost.cli.report.has_matplotlib", lambda: False)
    np.savetxt(tmp_path / "scores", LOG.features[:, 0])
    command = ("report", folder / "log.txt", "--scores", tmp_path / "scores", "--out", tmp_path / "page.html")
    code, _, err = call(capsys, *command)
    assert code == 0 and "the page has no pictures: they need matplotlib, pip install 'matplotlib>=" in err


def test_the_help_of_demo_counts_its_systems(capsys):
    out = " ".join(call(capsys, "demo", "--help")[1].split())
    assert "Train four systems" in out and "Constrained" in out


@pytest.mark.parametrize("imported", ["typer", "numba.core", "scipy.sparse", "sklearn", "lightgbm"])
def test_ctrl_c_during_imports_is_one_line(folder, tmp_path, imported):
    """`-X importtime` tells what has been imported, so that the signal comes amid the imports."""
    command = [sys.executable, "-X", "importtime", "-m", "lambdaboost", "train", str(folder / "log.txt")]
    command += ["--rounds", "1000000", "--out", str(tmp_path / "m")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        begun = sent = False
        for line in process.stderr:
            name = line.rpartition("|")[2].strip()
            begun = begun or name == "lambdaboost.cli"
            if begun and name.startswith(imported):
                process.send_signal(signal.SIGINT)
                sent = True
                break
        rest = [line for line in process.stderr if not line.startswith("import time:")]
    assert sent and process.returncode == 130
    assert rest == ["lambdaboost: stopped, nothing written\n"] and os.listdir(tmp_path) == []


def test_ctrl_c_is_not_lost_in_a_callback_of_importlib():
    """Python ignores what such a callback raises; one of a module that is just imported is `cb`."""
    code = (
        "import signal, weakref\n"
        "from lambdaboost import cli\n"
        "signal.signal(signal.SIGINT, cli._interrupt)\n"
        "where = '<frozen importlib._bootstrap>'\n"
        "exec(compile('def cb(_): signal.raise_signal(signal.SIGINT)', where, 'exec'))\n"
        "module = type('Module', (), {})()\n"
        "lock = weakref.ref(module, cb)\n"
        "del module\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "lambdaboost: stopped, nothing written\n")


def test_a_submission_from_a_raw_table(capsys, tmp_path):
    """Train, evaluate, predict and submit: categories of text, two labels, positions, ids with leading zeros."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame({"srch_id": [f"{i:04}" for i in np.repeat(np.arange(40), n // 40)]})
    frame = frame.assign(prop_id=[f"0{i}" for i in range(n)], country=rng.choice(["de", "fr", "us"], n))
    frame = frame.assign(price=rng.random(n), rank=np.tile(np.arange(1, 16), 40))
    frame["booked"] = (frame.price + rng.normal(0, 0.2, n) > 0.9).astype(int)
    frame["clicks"] = np.maximum(frame.booked, rng.random(n) < 0.2).astype(int)
    frame = frame.sample(frac=1, random_state=0)
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    frame[frame.srch_id < "0030"].to_csv(train, index=False)
    frame[frame.srch_id >= "0030"].drop(columns=["rank"]).to_csv(test, index=False)
    labels = ("--query", "srch_id", "--label", "booked", "--source", "clicks", "--position", "rank")
    model, out = tmp_path / "model.txt", tmp_path / "submission.csv"
    small = ("--rounds", 10, "--param", "min_data_in_leaf=5")
    objective = ("--objective", "graded(0.3)")
    used = (*labels, "--categorical", "country", "--document", "prop_id")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, _, err = call(capsys, "train", train, *used, *objective, *small, "--out", model)
    assert code == 0 and "this objective does not read the positions" in err
    code, printed, err = call(
        capsys, "evaluate", test, "--model", model, "--categorical", "country", "--json"
    )
    assert code == 0, err
    assert json.loads(printed)["measures"]["NDCG(k=10)"] > 0.5
    assert call(capsys, "predict", model, test, "--ids", "--out", out)[0] == 0
    found, given = pd.read_csv(out, dtype=str), pd.read_csv(test, dtype=str)
    assert list(found.columns) == ["srch_id", "prop_id", "score"]
    assert (
        found.srch_id.tolist() == given.srch_id.tolist() and found.prop_id.tolist() == given.prop_id.tolist()
    )
    scores = call(capsys, "predict", model, test)[1].split()
    assert found.score.tolist() == scores and len(set(scores)) > 10


def test_submissions_of_letor_text(capsys, folder, tmp_path):
    code, _, err = call(capsys, "train", folder / "log.txt", "--rounds", 2, "--out", tmp_path / "model.txt")
    assert code == 0, err
    code, printed, err = call(capsys, "predict", tmp_path / "model.txt", folder / "log.txt", "--ids")
    assert code == 0, err
    header, first, *_ = printed.splitlines()
    q = read_letor(folder / "log.txt").queries
    assert header == "qid,document,score" and first.startswith(f"{q.ids[0]},")
    assert len(printed.splitlines()) == 1 + q.n_documents
