"""The command line on CSV and Parquet, on models that it did not train, and on what users mistype."""

import importlib
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from command import SMALL as LEAF
from command import call, done, refused

from lambdaboost import NDCG
from lambdaboost.cli.evaluate import open_labelled, read_model
from lambdaboost.cli.options import columns_of
from lambdaboost.datasets import Columns, web_search_log, write_letor

GIVEN = ("--query", "query", "--label", "grade", "--weight", "w")
SMALL = ("--rounds", 5, *GIVEN, "--source", "clicks=ctr", "--drop", "title,f10,f11")
LOG = web_search_log(queries=24, documents=15, features=16, seed=0).without_features(range(12, 16))
FEATURES = [f"f{i}" for i in range(12)]


@pytest.fixture(scope="module")
def table():
    """Rows in random order, queries apart, a text column, columns in no particular order."""
    q = LOG.queries
    frame = pd.DataFrame(LOG.features, columns=FEATURES)
    frame.insert(0, "query", [f"q{i}" for i in q.query_of_row])
    frame.insert(5, "grade", q.relevance)
    frame["ctr"], frame["title"], frame["w"] = q.labels["clicks"], "a title", 1.0 + q.query_of_row
    return frame.sample(frac=1, random_state=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("tables")
    table.to_csv(folder / "log.csv", index=False)
    write_letor(folder / "log.txt", LOG)
    return folder


def test_a_csv_trains_predicts_and_measures(capsys, folder, tmp_path, table, engine):
    model, scores, log = tmp_path / "m", tmp_path / "scores", folder / "log.csv"
    given = (*SMALL, *LEAF[engine], "--engine", engine, "--test", log)
    out, _ = done(capsys, "train", log, *given, "--out", model)
    assert "CNDCG(k=10)" in out  # of the source, without being asked for
    columns = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["columns"]
    assert columns["features"] == FEATURES[:10] and columns["query"] == "query"
    done(capsys, "predict", model, log, "--out", scores)
    if engine == "lightgbm":  # in the order of the file, whatever the order of the queries
        import lightgbm as lgb

        expected = lgb.Booster(model_file=model).predict(table[FEATURES[:10]].to_numpy())
        assert np.array_equal(np.loadtxt(scores), expected)
    by_model, by_scores = (
        json.loads(done(capsys, "evaluate", log, *given, "--measure", "ndcg@5", "--json")[0])
        for given in (("--model", model), ("--scores", scores, *GIVEN))
    )
    assert by_model == by_scores and by_model["queries"] == 24
    weighted = Columns("query", "grade", weight="w", drop=["title"]).read(log)  # with its rows together
    value = NDCG(5)(np.loadtxt(scores)[weighted.rows], weighted.queries)
    assert by_model["measures"]["NDCG(k=5)"] == pytest.approx(value)
    few, bare = tmp_path / "few.csv", tmp_path / "bare.csv"
    table.drop(columns=["f3", "f4"]).to_csv(few, index=False)
    table[FEATURES].to_csv(bare, index=False)  # without labels and queries it can be scored
    assert "lacks the features 'f3', 'f4'" in refused(capsys, "predict", model, few)
    assert "lacks the features" in refused(capsys, "predict", model, folder / "log.txt")
    assert done(capsys, "predict", model, bare)[0] == scores.read_text()
    # Features have their names in the model's own file too.
    (tmp_path / "m.json").unlink()
    table[FEATURES[::-1]].to_csv(bare, index=False)
    assert done(capsys, "predict", model, bare)[0] == scores.read_text()


@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_a_grade_that_nothing_can_use_names_the_row_of_the_file(capsys, tmp_path, name):
    grades = ["1e30" if i == 8 else str(i % 3) for i in range(12)]
    text = "qid,label,x\n" + "".join(f"{i % 2},{g},{i}\n" for i, g in enumerate(grades))
    if name == "t.txt":
        text = "".join(f"{g} qid:{i // 6} 1:{i}\n" for i, g in enumerate(grades))
    bad, good = tmp_path / name, tmp_path / f"good.{name}"
    bad.write_text(text)
    good.write_text(text.replace("1e30", "1"))
    for files in ([bad], [good, "--valid", bad], [good, "--test", bad]):
        said = refused(capsys, "train", *files, "--measure", "ndcg@3", "--out", tmp_path / "m")
        assert f"relevance is 1e+30 in row 9 of {bad}: " in said and not (tmp_path / "m").exists()


def test_which_model_says_the_columns_of_sources(capsys, tmp_path):
    log = tmp_path / "t.csv"
    rows = "".join(f"{i // 3},{i % 3},{i % 3 - i % 2},{i},x\n" for i in range(12))
    log.write_text("qid,label,a,b,text\n" + rows)
    short = ("--param", "min_data_in_leaf=1", "--rounds", 1)
    done(capsys, "train", log, "--drop", "a,text", *short, "--out", tmp_path / "m")
    # A model's source may be the label of an evaluation.
    done(capsys, "train", log, "--drop", "text", "--source", "a", *short, "--out", tmp_path / "n")
    done(capsys, "evaluate", log, "--model", tmp_path / "n", "--label", "b", "--measure", "spearman")
    # Of two models with other columns for one source the first one decides.
    done(capsys, "train", log, "--drop", "text", "--source", "a=b", *short, "--out", tmp_path / "o")
    given = columns_of("qid", "label")
    for names, column in (("no", "a"), ("on", "b"), ("mo", "b")):
        models = [read_model(tmp_path / name, given) for name in names]
        assert open_labelled(log, given, models)[1].sources == {"a": column}


def last_line(capsys, *args):
    """The error of a command that notes something before."""
    code, _, err = call(capsys, *args)
    assert code == 1
    return err.splitlines()[-1]


# What makes a data set, parameters, those of a classifier, and the names of features without one.
STOCK = {
    "lightgbm": ("Dataset", {"verbose": -1, "min_data_in_leaf": 2}, "multiclass", "Column_{}"),
    "xgboost": ("DMatrix", {}, "multi:softprob", "f{}"),
}


def test_plain_models_take_columns_by_name_else_in_order(capsys, folder, tmp_path, table, engine):
    stock, (data, params, of_classes, own) = importlib.import_module(engine), STOCK[engine]
    rows, names = table[FEATURES].to_numpy(), ["my f7", "my f2", "my f5"]  # LightGBM keeps _ for blanks
    table, own = table.rename(columns="my {}".format), [own.format(i) for i in range(12)]

    def trained(name, X, **more):
        booster = stock.train(params | more, getattr(stock, data)(X, table["my grade"]), 4)
        booster.save_model(tmp_path / f"{name}.json")
        return booster

    named, bare = trained("named", table[names]), trained("bare", rows)
    trained("classes", rows, objective=of_classes, num_class=5)
    score = importlib.import_module(f"lambdaboost.engines.{engine}").scores
    expected, by_order = score(named, table[names]), score(bare, LOG.features)
    table.to_csv(tmp_path / "log.csv", index=False)

    def scores(model, file):
        out, err = done(capsys, "predict", tmp_path / model, file)
        found = "features are found by name" if model == "named.json" else "columns are taken in their order"
        assert f"has no {model}.json: " in err and found in err
        return np.array(out.split(), dtype=expected.dtype)

    np.testing.assert_array_equal(scores("named.json", tmp_path / "log.csv"), expected)
    np.testing.assert_allclose(scores("bare.json", folder / "log.txt"), by_order, rtol=1e-6)
    # A table with columns f0, f1, … or Column_0, … in another order is not scored in its order.
    shuffled = pd.DataFrame(rows, columns=own)[own[::-1]].assign(further="text")
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False)
    inverse = np.argsort(table.index)
    np.testing.assert_allclose(scores("bare.json", tmp_path / "shuffled.csv")[inverse], by_order, rtol=1e-6)
    bare = ("predict", tmp_path / "bare.json", tmp_path / "log.csv", "--drop", "my title")
    said = last_line(capsys, *bare)
    assert "column 'my query' is 'q3'" in said and "drop" in said
    said = last_line(capsys, *bare, "--drop", "my query")
    assert "has 15 features" in said and "needs 12: drop other columns" in said
    said = last_line(capsys, "predict", tmp_path / "classes.json", folder / "log.txt")
    assert "is a classifier of 5 classes" in said
    given = ("--model", tmp_path / "bare.json", "--measure", "ndcg@5", "--json")
    figures = json.loads(done(capsys, "evaluate", folder / "log.txt", *given)[0])["measures"]
    assert 0 < figures["NDCG(k=5)"] <= 1


def test_a_report_without_matplotlib_says_so(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("lambdaboost.cli.report.has_matplotlib", lambda: False)
    np.savetxt(tmp_path / "scores", LOG.features[:, 0])
    given = ("--scores", tmp_path / "scores", "--out", tmp_path / "page.html")
    _, err = done(capsys, "report", folder / "log.txt", *given)
    assert "charts are left out: they need matplotlib, pip install 'matplotlib>=" in err


def _check_worst(page, frame):
    """Two rows of one query, the lower label above, with the values of the file."""
    text = page.read_text(encoding="utf-8")
    which = re.search(
        r"<figcaption>Query (\w+), where .*? row (\d+), with 0 .*? row (\d+) with 1; rows", text
    )
    query, above, below = which[1], frame.iloc[int(which[2])], frame.iloc[int(which[3])]
    assert above.srch_id == below.srch_id == query
    assert (above.booked, below.booked) == (0, 1)
    price = re.search(r"<td>price</td>\s*<td>([\d.]+)</td>\s*<td>([\d.]+)</td>", text)
    assert [float(price[1]), float(price[2])] == pytest.approx([above.price, below.price], rel=1e-5)


def test_a_submission_from_a_raw_table(capsys, tmp_path):
    """Train, evaluate, predict, submit, report: categories of text, two labels, positions, ids with leading zeros."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame({"srch_id": [f"{i:04}" for i in np.repeat(np.arange(40), n // 40)]})
    frame = frame.assign(prop_id=[f"0{i}" for i in range(n)], country=rng.choice(["de", "fr", "us"], n))
    frame = frame.assign(price=rng.random(n), rank=np.tile(np.arange(1, 16), 40))
    frame["booked"] = (frame.price + rng.normal(0, 0.2, n) > 0.9).astype(int)
    frame["clicks"] = np.maximum(frame.booked, rng.random(n) < 0.2).astype(int)
    frame = frame.sample(frac=1, random_state=0)
    train, test, labelled = (tmp_path / name for name in ("train.csv", "test.csv", "labelled.csv"))
    frame[frame.srch_id < "0030"].to_csv(train, index=False)
    rest = frame[frame.srch_id >= "0030"]
    rest = rest.assign(country=rest.country.where(rest.price > 0.1, "at"))  # which training did not have
    rest.drop(columns=["rank"]).to_csv(labelled, index=False)
    rest.drop(columns=["rank", "booked", "clicks"]).to_csv(test, index=False)
    used = ("--query", "srch_id", "--label", "booked", "--source", "clicks", "--position", "rank")
    used += ("--document", "prop_id", "--categorical", "country", "--unseen", "missing")
    model, out = tmp_path / "model.txt", tmp_path / "submission.csv"
    small = ("--rounds", 10, "--param", "min_data_in_leaf=5", "--objective", "graded(0.3)")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        _, err = done(capsys, "train", train, *used, *small, "--out", model)
        assert "this objective does not read the positions" in err
        printed, err = done(
            capsys, "evaluate", labelled, "--model", model, "--categorical", "country", "--json"
        )
        assert json.loads(printed)["measures"]["NDCG(k=10)"] > 0.5 and "such as 'at'" in err
        done(capsys, "predict", model, test, "--ids", "--out", out)
        _, err = done(capsys, "report", labelled, "--model", model, "--out", tmp_path / "page.html")
        assert err.count("such as 'at'") == 1  # the scores and the worst query need the features
        _check_worst(tmp_path / "page.html", pd.read_csv(labelled, dtype={"srch_id": str}))
        scores = done(capsys, "predict", model, test)[0].split()
    said = refused(capsys, "predict", model, test, "--unseen", "error")
    assert (
        "'at' in row" in said
        and "none of its categories in training" in said
        and "give unseen='missing'" in said
    )
    found, given = pd.read_csv(out, dtype=str), pd.read_csv(test, dtype=str)
    assert list(found.columns) == ["srch_id", "prop_id", "score"]
    assert found.srch_id.tolist() == given.srch_id.tolist()
    assert found.prop_id.tolist() == given.prop_id.tolist()
    assert found.score.tolist() == scores and len(set(scores)) > 10


def test_a_feature_names_documents_too(capsys, folder, tmp_path, engine):
    """It is read as text for the names, and as numbers for the model; earlier it was refused as not numeric."""
    model, log = tmp_path / "m", folder / "log.csv"
    done(capsys, "train", log, *SMALL, *LEAF[engine], "--engine", engine, "--out", model)
    plain = done(capsys, "predict", model, log)[0]
    for role in ("--document", "--query"):
        assert done(capsys, "predict", model, log, role, "f3")[0] == plain
    named = done(capsys, "predict", model, log, "--ids", "--document", "f3")[0].splitlines()
    assert named[0] == "query,f3,score" and [line.rpartition(",")[2] for line in named[1:]] == plain.split()
