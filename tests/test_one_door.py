"""One door for tables: what each file and column is taken for, and what is refused, by its name and all at once."""

import warnings
import zipfile

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from command import call, done

from lambdaboost import NDCG, Queries
from lambdaboost.datasets import (
    Collection,
    Columns,
    Encoder,
    open_table,
    read_letor,
    web_search_log,
    write_letor,
)
from lambdaboost.lightgbm import LambdaRanker

FRAME = pd.DataFrame({"q": ["b", "b", "a"], "y": [1, 0, 2], "x": [0.5, 1.5, 2.5], "site": [3, 4, 3]})
COLUMNS = Columns("q", "y")
LOG = web_search_log(queries=60, documents=20, features=16, seed=1)
TRAIN, TEST = LOG.take(range(40)), LOG.take(range(40, 60))


def same(one, other):
    np.testing.assert_array_equal(one.features, other.features)
    assert one.queries.ids.tolist() == other.queries.ids.tolist() and one.feature_names == other.feature_names


# Files by their ending (46).


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.TSV", "t.tsv.gz", "t.csv.zip", "t.csv.bz2", "t.csv.xz"]
)
def test_the_ending_says_how_a_table_is_read(tmp_path, name):
    separator = "\t" if "tsv" in name.lower() else ","
    FRAME.to_csv(tmp_path / name, index=False, sep=separator)
    same(COLUMNS.read(tmp_path / name), COLUMNS.read(FRAME))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "t.xlsx",
            r"is a \.xlsx file, which is not read here: read it with pandas\.read_excel, and give the table",
        ),
        ("t.json", r"read it with pandas\.read_json"),
        ("t.jsonl.gz", r"read it with pandas\.read_json"),
        ("t.pkl", r"read it with pandas\.read_pickle"),
        ("t.zip", "is a zip file of no table: unpack it"),
    ],
)
def test_other_files_are_no_letor_text(tmp_path, name, problem):
    (tmp_path / name).write_text("1 qid:1 1:2\n")
    with pytest.raises(ValueError, match=problem):
        COLUMNS.read(tmp_path / name)


def test_a_zip_file_holds_one_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.csv.zip", "w") as folder:
        folder.writestr("a.csv", "q,y,x\n1,0,2\n")
        folder.writestr("b.csv", "q,y,x\n1,0,2\n")
    with pytest.raises(ValueError, match="the zip file holds 2 files; it must hold one"):
        COLUMNS.read(tmp_path / "t.csv.zip")
    (tmp_path / "tabs.tsv").write_text("q,y,x\n1,0,2\n")
    with pytest.raises(ValueError, match="columns are separated by ','; separate them by tabs"):
        COLUMNS.read(tmp_path / "tabs.tsv")


# Columns: one use each (38), one value a row (40), all faults at once (47), categories as their texts (39).


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"features": ["x", "y"]}, "label: column 'y' is given twice"),
        ({"features": ["q", "x"]}, "query: column 'q' is given twice"),
        ({"features": ["x", "site"], "drop": ["site"]}, "drop: column 'site' is given twice"),
        ({"features": ["x", "w"], "weight": "w"}, "weight: column 'w' is given twice"),
        ({"features": ["x", "p"], "position": "p"}, "position: column 'p' is given twice"),
        ({"features": ["x", "c"], "sources": ["c"]}, "sources: column 'c' is given twice"),
        ({"features": ["x", "d"], "document": "d"}, "document: column 'd' is given twice"),
        ({"features": ["x", "x"]}, "features: column 'x' is given twice"),
        ({"sources": {"a": "c", "b": "c"}}, "sources: column 'c' is given twice"),
        ({"categorical": ["x"], "drop": ["x"]}, "drop: column 'x' is given twice"),
    ],
)
def test_a_column_has_one_use(columns, problem):
    with pytest.raises(ValueError, match=problem):
        Columns("q", "y", **columns)
    assert Columns("q", "y", features=["x", "site"], categorical=["site"]).read(FRAME).categories


ODD = {
    "array": pl.Series([[1, 2], [3, 4], [5, 6]], dtype=pl.Array(pl.Int64, 2)),
    "list": pl.Series([[1], [2], [3]]),
    "struct": pl.Series([{"a": 1}, {"a": 2}, {"a": 3}]),
}


@pytest.mark.parametrize("kind", ODD)
def test_columns_of_lists_are_named(kind):
    frame = pl.from_pandas(FRAME).with_columns(odd=ODD[kind])
    given = [frame, frame.to_arrow()] if kind != "array" else [frame]
    for table in given:
        with pytest.raises(TypeError, match=r"^column 'odd' of df holds lists, such as"):
            COLUMNS.read(table)
        with pytest.raises(TypeError, match=r"^column 'odd' of df holds lists, such as"):
            Columns("odd", "y").read(table)


def test_all_columns_that_cannot_be_read_are_named(tmp_path):
    frame = FRAME.assign(title="a title", url=["u", "v", "w"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    for given in (frame, pl.from_pandas(frame), tmp_path / "t.csv"):
        with pytest.raises(
            ValueError, match=r"column 'title' .*; column 'url' .*: encode them as numbers"
        ) as told:
            COLUMNS.read(given)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "values",
    [
        pd.cut([1.0, 2.0, 3.0], [0, 1.5, 2.5, 4]),
        pd.Categorical(pd.to_datetime(["2026-01-01", "2026-02-01", "2026-01-01"])),
        pd.Categorical(pd.period_range("2026-01", periods=3, freq="M")),
        pd.Categorical([True, False, True]),
        pd.Categorical([("a", 1), ("b", 2), ("a", 1)]),
    ],
    ids=["cut", "dates", "periods", "truth", "tuples"],
)
def test_a_category_is_its_text(tmp_path, values):
    """In the engine, in a saved model, and in a table of another library."""
    from lambdaboost import load, save

    frame = pd.concat([FRAME.assign(c=values)] * 20).assign(q=np.repeat(np.arange(20), 3))
    ranker = LambdaRanker(query="q", n_estimators=3, verbose=-1, n_jobs=1, min_data_per_group=1)
    ranker.fit(frame.drop(columns="y"), frame.y)
    scores = ranker.predict(frame)
    save(ranker, tmp_path / "model.txt")
    texts = frame.assign(c=[str(value) for value in frame.c])
    for rows in (frame, texts):
        np.testing.assert_array_equal(load(tmp_path / "model.txt").predict(rows), scores)


def test_words_for_missing_values_in_columns_of_text_are_reported(tmp_path):
    (tmp_path / "t.csv").write_text("q,y,x,c\nNULL,0,1,NA\nNA,1,2,de\n")
    with pytest.warns(UserWarning) as told:
        Columns("q", "y", categorical=["c"]).read(tmp_path / "t.csv")
    messages = sorted(str(one.message) for one in told)
    assert "column 'c' of " in messages[0] and " holds 'NA', read as text" in messages[0]
    assert "column 'q' of " in messages[1] and " holds 'NA', 'NULL', read as text" in messages[1]


# Ids (41, 66) and weights (35).


def test_a_frame_of_one_column_is_a_column():
    X, qid, y = FRAME[["x"]].to_numpy(), FRAME[["site"]], FRAME[["y"]]
    for ids in (qid, pl.from_pandas(qid), pa.Table.from_pandas(qid), qid.to_numpy()):
        q = Columns().read(X, y, qid=ids).queries
        assert q.ids.tolist() == [3, 4] and q.relevance.tolist() == [1, 2, 0]
    assert Queries([1, 0, 2], ids=FRAME[["q"]]).ids.tolist() == ["b", "a"]
    with pytest.raises(ValueError, match=r"qid has shape \(3, 2\), expected one dimension"):
        Columns().read(X, y, qid=FRAME[["q", "site"]])


def test_ids_of_text_are_objects():
    q = Queries([0, 1, 1], ids=["a", "a\0", "x" * 2_000_000])
    assert q.n_queries == 3 and q.ids.nbytes == 24
    data = Collection(np.eye(3), q, ["d", "d\0", "x" * 2_000_000])
    assert data.documents.nbytes == 24 and data.take([2, 0]).queries.ids[1] == "a"


WEIGHTS = pd.Series([1.0, 2.0], index=["a", "b"])  # as groupby gives it


@pytest.mark.parametrize("apart", [False, True])
def test_weights_of_queries_are_matched_by_their_index(apart):
    frame = FRAME.iloc[[0, 2, 1]] if apart else FRAME
    q = COLUMNS.read(frame, weight=WEIGHTS).queries
    assert q.ids.tolist() == ["b", "a"] and q.query_weight.tolist() == [2, 1]
    if not apart:
        assert Queries([1, 0, 2], ids=FRAME.q, weight=WEIGHTS).query_weight.tolist() == [2, 1]
        assert COLUMNS.read(frame, weight=[2, 1]).queries.query_weight.tolist() == [2, 1]
        return
    with pytest.raises(ValueError, match="their ids do not ascend: their order is in doubt; give a Series"):
        COLUMNS.read(frame, weight=[2.0, 1.0])
    with pytest.raises(ValueError, match="its index lacks the query 'a'"):
        COLUMNS.read(frame, weight=pd.Series([1.0, 2.0], index=["b", "c"]))
    ascending = frame.assign(q=["a", "b", "a"])
    assert COLUMNS.read(ascending, weight=[2, 1]).queries.query_weight.tolist() == [2, 1]


# LETOR text: two conventions (33), and what does not fit (66).


def without_qid(path, part):
    """LightGBM's form of text, as in its examples."""
    write_letor(path, part)
    lines = (
        " ".join(word for word in line.split() if "qid" not in word) for line in path.read_text().splitlines()
    )
    path.write_text("\n".join(lines) + "\n")
    path.with_name(f"{path.name}.query").write_text("\n".join(map(str, part.queries.sizes)) + "\n")


@pytest.mark.filterwarnings("ignore:.*Text file input has been deprecated")
@pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])
def test_models_that_an_engine_trained_from_text(capsys, tmp_path, engine):
    """The engines' own readers count features from 0; XGBoost's takes absent ones as missing."""
    train, test, few, model = (
        tmp_path / name for name in ("rank.train", "rank.test", "few.test", "model.ubj")
    )
    keep = [0, 1, 2, 3]  # few features, so that 0 is often absent
    parts = [Collection(np.maximum(part.features[:, keep], 0), part.queries) for part in (TRAIN, TEST)]
    if engine == "lightgbm":
        without_qid(train, parts[0])
        without_qid(test, parts[1])
        params = {"objective": "lambdarank", "verbose": -1, "num_threads": 1}
        booster = lgb.train(params, lgb.Dataset(str(train)), 20)
        own = booster.predict(str(test))
    else:
        write_letor(train, parts[0])
        write_letor(test, parts[1])
        try:
            booster = xgb.train(
                {"objective": "rank:ndcg", "nthread": 1}, xgb.DMatrix(f"{train}?format=libsvm"), 20
            )
        except xgb.core.XGBoostError as error:
            pytest.skip(f"XGBoost reads no text: {error}")
        own = booster.predict(xgb.DMatrix(f"{test}?format=libsvm"))
    booster.save_model(model)
    assert booster.num_feature() == 5 if engine == "lightgbm" else booster.num_features() == 5
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        out, err = done(capsys, "predict", model, test)
    assert "read as trained by the engine's own reader of text, which counts features from 0" in err
    np.testing.assert_allclose(np.array(out.split(), float), own, rtol=1e-6)
    X, q = read_letor(test)
    assert NDCG(k=5)(own, q) > 0.5 and X.shape[1] == 4

    # Where a file has fewer features, the two conventions cannot be told apart.
    write_letor(few, Collection(parts[1].features[:, :2], parts[1].queries))
    code, _, told = call(capsys, "predict", model, few)
    assert (
        code == 1
        and "count features from 0" in told
        and "add 4:0 to a line" in told
        and "5:0 in the second" in told
    )


def test_one_high_index_makes_no_table_that_fills_memory(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("1 qid:1 1:1\n0 qid:1 900000000:1\n")
    assert read_letor(path).features.shape == (2, 900_000_000)
    with pytest.raises(ValueError, match=r"t.txt has a feature 900000000, above 1048576"):
        COLUMNS.read(path)
    rows = [f"{i % 3} qid:{i // 4} {1 + i % 7}:1 300000:{i}\n" for i in range(4000)]
    path.write_text("".join(rows))
    columns = Columns(label="label")
    data = columns.read(path)
    assert data.features.format == "csr" and data.features.shape == (4000, 300_000)
    encoder = Encoder.fit(columns, open_table(path))
    small = tmp_path / "small.txt"
    small.write_text("1 qid:1 2:1 299999:0.5\n")
    with pytest.warns(UserWarning, match="lacks the features '300000'"):
        again = encoder.transform(open_table(small))
    assert again.format == "csr" and again.shape == (1, 300_000) and again[0, 1] == 1
    assert Encoder.from_dict(encoder.to_dict()).sparse
