"""Tables and files of every kind are read in one way: endings, ids, missing values, positions, weights, categories."""

import re
import warnings
from codecs import BOM_UTF8

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xgboost as xgb
from command import call, done

from lambdaboost import NDCG, Queries, load, save
from lambdaboost.datasets import (
    Collection,
    Columns,
    open_table,
    read_letor,
    web_search_log,
    write_letor,
)
from lambdaboost.datasets.arrays import query_ids
from lambdaboost.lightgbm import LambdaRanker

FRAME = pd.DataFrame({"q": ["b", "b", "a"], "y": [1, 0, 2], "x": [0.5, 1.5, 2.5], "site": [3, 4, 3]})
COLUMNS = Columns("q", "y")
LOG = web_search_log(queries=60, documents=20, features=16, seed=1)
TRAIN, TEST = LOG.take(range(40)), LOG.take(range(40, 60))


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


WRITE = dict.fromkeys(
    ["t.csv", "t.csv.zip", "t.csv.bz2", "t.csv.xz"], lambda path: FRAME.to_csv(path, index=False)
)
WRITE |= dict.fromkeys(["t.tsv", "t.TSV", "t.tsv.gz"], lambda path: FRAME.to_csv(path, index=False, sep="\t"))
WRITE |= {
    "mark.csv": lambda path: path.write_bytes(BOM_UTF8 + FRAME.to_csv(index=False).encode()),
    "t.parquet": FRAME.to_parquet,
    "indexed.parquet": lambda path: FRAME.set_index("q").to_parquet(path),
}


@pytest.mark.parametrize("name", WRITE)
def test_the_ending_says_how_a_table_is_read(tmp_path, name):
    WRITE[name](tmp_path / name)
    found, wanted = COLUMNS.read(tmp_path / name), COLUMNS.read(FRAME)
    np.testing.assert_array_equal(found.features, wanted.features)
    assert found.queries.ids.tolist() == wanted.queries.ids.tolist()
    assert found.queries.relevance.tolist() == wanted.queries.relevance.tolist()
    assert found.feature_names == wanted.feature_names


def test_the_numbers_of_rows_in_another_order_are_no_feature(tmp_path):
    frame, path = FRAME[::-1], tmp_path / "t.parquet"
    frame.to_parquet(path)
    for given in (path, pa.Table.from_pandas(frame), pl.read_parquet(path, glob=False)):
        assert COLUMNS.read(given).feature_names == COLUMNS.read(FRAME).feature_names


def test_ids_are_keys():
    """Numbers and text do not merge, in whatever list or column they come."""
    assert Queries([0, 0], ids=np.array([1, 2], ">i8")).n_queries == 2
    for ids in ([1, "1"], np.array([1, "1"], dtype=object), pd.Series([1, "1"])):
        assert query_ids("ids", ids).tolist() == [1, "1"]
        assert Queries([0, 0], ids=ids).n_queries == 2
    with pytest.raises(ValueError, match=r"^ids\[1\] is of type list: give text or a number$"):
        query_ids("ids", np.array(["a", [1]], dtype=object))
    for kind, least in {np.float64: 2**53, np.float32: 2**24}.items():
        assert query_ids("ids", np.array([least - 1, 0.5], kind)).tolist() == [least - 1, 0.5]
        with pytest.raises(ValueError, match=rf"^ids\[1\] is {least}: float.* merges neighbouring"):
            query_ids("ids", np.array([1, least + 1], kind))


def test_copies_of_a_query_stay_copies():
    q = Queries([1, 0, 2, 0], ids=["a", "a", "b", "b"], weight=[1, 2], clicks=[0, 1, 0, 1])
    drawn = Collection(np.eye(4), q).take([0, 0, 1])
    for derived in (Collection.concat([drawn]), drawn.shuffled(3), drawn.take([True, True, True])):
        assert derived.queries.sizes.tolist() == [2, 2, 2]
        assert derived.queries.query_weight.tolist() == [1, 1, 2]
        assert derived.queries.labels["clicks"].sum() == 3


ODD = ["01", "1", "007", "7", "08", "8", "1.0", "null", "None", "NA", "nan", "1e3", "1000", " 1", "True"]


def test_ids_in_csv_are_text(tmp_path):
    path = written(tmp_path / "t.csv", "q,grade,x\n" + "".join(f"{odd},1,{i}\n" for i, odd in enumerate(ODD)))
    with pytest.warns(UserWarning, match="column 'q' of .* holds 'NA', 'None', 'nan', 'null', read as text"):
        q = Columns(query="q", label="grade").read(path).queries
    assert q.ids.tolist() == ODD and q.n_queries == len(ODD)


def test_ids_that_a_spreadsheet_rounded_are_reported(tmp_path):
    path = written(tmp_path / "t.csv", "q,y,x\n1.23457E+12,1,2\n1.23457E+12,0,1.5E+3\n")
    with pytest.warns(UserWarning, match=r"column 'q' .* holds '1\.23457E\+12', as a spreadsheet rounds"):
        X, _ = COLUMNS.read(path)
    assert X.tolist() == [[2], [1500]]


def test_leading_zeros_of_a_feature_are_reported(tmp_path):
    """Wherever they stand: the first ones may be far below."""
    ones = "1,1,501,0.5\n" * 3_000
    text = f"q,grade,zip,x\n{ones}1,0,02134,05.5\n1,0,NA,0\n"
    path = written(tmp_path / "t.csv", text)
    for given in (written(tmp_path / "blank.csv", text.replace("02134", " 02134")), path):
        with pytest.warns(
            UserWarning, match="column 'zip' of .* holds ' ?02134', read as a number: if it is"
        ):
            X, _ = Columns("q", "grade").read(given)
    np.testing.assert_array_equal(X[-3:], [[501, 0.5], [2134, 5.5], [np.nan, 0]])
    with pytest.warns(UserWarning, match="holds 'NA', read as text"):
        categories = Columns("q", "grade", categorical=["zip"]).read(path).categories
    assert categories == {"zip": ("02134", "501", "NA")}


def test_leading_zeros_are_no_fault_of_labels_and_keep_ids_apart(tmp_path):
    """Also of a table that was opened before anything said which of its columns are ids."""
    ones = "".join(f"{1000 + at},1,2,a\n" for at in range(2_000))
    path = written(tmp_path / "t.csv", f'q,grade,x,name\n{ones}7,00,1,a\n"007",02,1,a\n 07,01,1,a\n')
    blank = written(path.with_name("blank.csv"), path.read_text().replace('"007"', " 007"))
    assert open_table(blank).values("q")[-2:].tolist() == [" 007", " 07"]
    for table in (path, open_table(path)):
        with warnings.catch_warnings(action="error"):
            q = Columns("q", "grade", drop=["name"]).read(table).queries
        assert q.ids.tolist()[-3:] == ["7", "007", " 07"]
        assert q.relevance.tolist()[-3:] == [0, 2, 1]


@pytest.mark.parametrize("made", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_text_positions_are_ranks_where_all_are_numbers(made):
    """In every table as in CSV; a mixture would be names of places that nobody meant."""
    columns = Columns("q", "y", position="place", features=["x"])

    def read(places, kind=None):
        return columns.read(made(FRAME.assign(place=pd.Series(places, dtype=kind)))).queries

    assert read(["2", "10", None]).position.tolist() == [2, 10, 0]
    assert read(["top", None, "side"]).position_names == ("side", "top")
    assert read(["2", "top", None], "category").position_names == ("2", "top")
    with pytest.raises(
        ValueError, match=r"^column 'place' is 'top' in row 1 of df: other rows have numbers; give"
    ):
        read(["2", "top", None])


def test_positions_in_csv_are_ranks_or_text(tmp_path):
    path = written(tmp_path / "t.csv", "q,y,x,place,rank\na,1,2,one,1\na,1,2,NA,2.0\na,1,2,,\na,1,2,one,03\n")
    ranks = Columns("q", "y", position="rank", features=["x"]).read(path).queries
    assert ranks.position.tolist() == [1, 2, 0, 3] and ranks.position_names is None
    with pytest.warns(UserWarning, match="column 'place' of .* holds 'NA', read as text like any other"):
        q = Columns("q", "y", position="place", features=["x"]).read(path).queries
    assert q.position.tolist() == [2, 1, 0, 2] and q.position_names == ("NA", "one")


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
    frame = pd.concat([FRAME.assign(c=values)] * 20).assign(q=np.repeat(np.arange(20), 3))
    ranker = LambdaRanker(query="q", n_estimators=3, verbose=-1, n_jobs=1, min_data_per_group=1)
    ranker.fit(frame.drop(columns="y"), frame.y)
    scores = ranker.predict(frame)
    save(ranker, tmp_path / "model.txt")
    texts = frame.assign(c=[str(value) for value in frame.c])
    for rows in (frame, texts):
        np.testing.assert_array_equal(load(tmp_path / "model.txt").predict(rows), scores)


def test_a_ranker_reads_the_categories_and_ids_of_a_file_as_text(tmp_path):
    """So that 07 and 7 are two, as in its training."""
    frame = pd.DataFrame({"q": np.repeat(["007", "7"], 20), "c": pd.Categorical(["07", "7"] * 20)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    ranker = LambdaRanker(query="q", n_estimators=3, verbose=-1, n_jobs=1, min_data_per_group=1)
    ranker.fit(frame, np.tile([0, 1], 20))
    scores = ranker.predict(frame)
    assert np.unique(scores).size == 2
    np.testing.assert_array_equal(ranker.predict(tmp_path / "t.csv"), scores)


def test_a_frame_of_one_column_is_a_column():
    X, qid, y = FRAME[["x"]].to_numpy(), FRAME[["site"]], FRAME[["y"]]
    for ids in (qid, pl.from_pandas(qid), pa.Table.from_pandas(qid), qid.to_numpy()):
        q = Columns().read(X, y, qid=ids).queries
        assert q.ids.tolist() == [3, 4] and q.relevance.tolist() == [1, 2, 0]
    assert Queries(y, ids=FRAME[["q"]], clicks=y).ids.tolist() == ["b", "a"]


def test_ids_of_text_are_objects():
    q = Queries([0, 1, 1], ids=["a", "a\0", "x" * 2_000_000])
    assert q.n_queries == 3 and q.ids.nbytes == 24
    data = Collection(np.eye(3), q, ["d", "d\0", "x" * 2_000_000])
    assert data.documents.nbytes == 24 and data.take([2, 0]).queries.ids[1] == "a"


def test_weights_of_queries_are_matched_by_their_index_or_by_their_order():
    """As groupby gives them."""
    apart, weights = FRAME.iloc[[0, 2, 1]], pd.Series([1.0, 2.0], index=["a", "b"])
    for q in (
        COLUMNS.read(FRAME, weight=weights).queries,
        COLUMNS.read(apart, weight=weights).queries,
        COLUMNS.read(FRAME, weight=[2, 1]).queries,
        Queries([1, 0, 2], ids=FRAME.q, weight=weights),
    ):
        assert q.ids.tolist() == ["b", "a"] and q.query_weight.tolist() == [2, 1]


def test_a_mask_is_missing_values_and_structured_arrays_and_dates_are_no_matrix():
    X = np.ma.masked_equal([[1, 9], [9, 2]], 9)
    np.testing.assert_array_equal(Columns().read(X, [1, 0], qid=[1, 1]).features, [[1, np.nan], [np.nan, 2]])
    with pytest.raises(TypeError, match=r"X is a structured array, .*: give pandas.DataFrame\(X\)"):
        Columns().read(np.zeros(2, [("x", float)]), [1, 0], qid=[1, 1])
    with pytest.raises(TypeError, match=r"X is datetime64.*: convert dates to numbers"):
        Columns().read(np.zeros((2, 1), "M8[D]"), [1, 0], qid=[1, 1])
    with pytest.raises(ValueError, match="categorical: df has no column 'site': give a table with it"):
        Columns(categorical=["site"]).read(np.eye(2), [1, 0], qid=[1, 1])


# LETOR text: two conventions, and what does not fit.


def without_qid(path, part):
    """LightGBM's form of text, as in its examples."""
    write_letor(path, part)
    path.write_text(re.sub(r" qid:\d+", "", path.read_text()))
    np.savetxt(path.with_name(f"{path.name}.query"), part.queries.sizes, fmt="%d")


@pytest.mark.filterwarnings("ignore:.*Text file input has been deprecated")
def test_models_that_an_engine_trained_from_text(capsys, tmp_path, engine):
    """The engines' own readers count features from 0; XGBoost's takes absent ones as missing."""
    train, test, few, model = (tmp_path / name for name in ("rank.train", "rank.test", "few.test", "m.ubj"))
    keep = [0, 1, 2, 3]  # few features, so that 0 is often absent
    parts = [Collection(np.maximum(part.features[:, keep], 0), part.queries) for part in (TRAIN, TEST)]
    for path, part in zip((train, test), parts, strict=True):
        {"lightgbm": without_qid, "xgboost": write_letor}[engine](path, part)
    if engine == "lightgbm":
        params = {"objective": "lambdarank", "verbose": -1, "num_threads": 1}
        booster = lgb.train(params, lgb.Dataset(str(train)), 20)
        own = booster.predict(str(test))
    else:
        params = {"objective": "rank:ndcg", "nthread": 1}
        try:
            booster = xgb.train(params, xgb.DMatrix(f"{train}?format=libsvm"), 20)
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
    assert code == 1 and "count features from 0" in told
    assert "add 4:0 to a line" in told and "5:0 in the second" in told


def test_text_whose_dense_table_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lambdaboost.datasets.table.MOST_VALUES", 100_000)
    path = tmp_path / "t.txt"
    for text in ("1 qid:1 3000:1\n" * 40, "1 qid:1 900000000:1\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"t.txt has \d+ rows of \d+ features, too many .* read_letor"):
            open_table(path)
        assert read_letor(path).features.format == "csr"
