"""Tables of every kind are read in one way: ids and positions as they are, wrong values by the row of the file."""

import datetime
import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lambdaboost.cli.run import run
from lambdaboost.datasets import Collection, Columns, Queries
from lambdaboost.datasets.arrays import as_floats, positions_of, query_ids

KINDS = {"pandas": pd.DataFrame, "polars": lambda c: pl.DataFrame(c, strict=False), "pyarrow": pa.table}
EVERY = pytest.mark.parametrize("kind", KINDS)
COLUMNS = {
    "q": ["b", "b", "a", "a"],
    "grade": [1, None, 0, 2],
    "x": [0.5, 1.5, None, 2.5],
    "home": [True, False, True, True],
    "clicks": [3, 1, 0, 0],
    "place": ["top", None, "side", "top"],
}


def table(path, text):
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def message(capsys, *args):
    capsys.readouterr()
    code = run([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert code in (1, 2) and out == "" and err.count("\n") == 1, err
    return err


@EVERY
def test_a_collection_is_the_same_from_every_table(kind):
    given = {"query": "q", "label": "grade", "sources": ["clicks"], "position": "place"}
    X, q = Columns(**given).read(KINDS[kind](COLUMNS))
    np.testing.assert_array_equal(X, [[0.5, 1], [1.5, 0], [np.nan, 1], [2.5, 1]])
    np.testing.assert_array_equal(q.relevance, np.float32([1, np.nan, 0, 2]))
    assert q.ids.tolist() == ["b", "a"] and q.labels["clicks"].tolist() == [3, 1, 0, 0]
    assert q.position.tolist() == [2, 0, 1, 2] and q.position_names == ("side", "top")


@EVERY
@pytest.mark.parametrize("column", ["q", "grade", "x"])
def test_a_column_of_lists_is_named(kind, column):
    frame = KINDS[kind](COLUMNS | {column: [[1], [1], [2], [2]]})
    with pytest.raises(TypeError, match=f"^column '{column}' .*(lists|not numeric)") as told:
        Columns(query="q", label="grade", features=["x"]).read(frame)
    assert "\n" not in str(told.value)


@EVERY
def test_dates_are_no_numbers(kind):
    frame = KINDS[kind](COLUMNS | {"x": [datetime.datetime(2026, 1, 1)] * 4})
    with pytest.raises(TypeError, match=r"^column 'x' of df is Datetime.*, not numeric"):
        Columns(query="q", label="grade", features=["x"]).read(frame)


def test_ids_are_keys():
    """Numbers and text do not merge, in whatever list or column they come."""
    for ids in ([1, "1"], np.array([1, "1"], dtype=object), pd.Series([1, "1"])):
        assert query_ids("ids", ids).tolist() == [1, "1"]
        assert Queries([0, 0], ids=ids).n_queries == 2
    frame = pd.DataFrame({"q": [1, "1", 2], "y": [0, 1, 2], "x": [1, 2, 3]})
    assert Columns(query="q", label="y").read(frame).queries.ids.tolist() == [1, "1", 2]
    with pytest.raises(TypeError, match=r"^ids is a list in row 1: give text or a number$"):
        query_ids("ids", np.array(["a", [1]], dtype=object))
    largest = {np.float64: 2**53, np.float32: 2**24}
    for kind, least in largest.items():
        assert query_ids("ids", np.array([least - 1, 0.5], kind)).tolist() == [least - 1, 0.5]
        with pytest.raises(
            ValueError, match=rf"^ids is {least} in row 1, where float.* merges neighbouring numbers"
        ):
            query_ids("ids", np.array([1, least + 1], kind))


def test_copies_of_a_query_stay_copies():
    q = Queries(
        [1, 0, 2, 0], ids=["a", "a", "b", "b"], weight=[1, 2], position=[1, 2, 1, 2], clicks=[0, 1, 0, 1]
    )
    drawn = Collection(np.eye(4), q).take([0, 0, 1])
    for derived in (
        Collection.concat([drawn], keep_ids=False),
        drawn.without_features([1]),
        drawn.shuffled(3),
        Collection.concat([drawn]),
        drawn.take([True, True, True]),
    ):
        assert derived.queries.sizes.tolist() == [2, 2, 2]
        assert derived.queries.query_weight.tolist() == [1, 1, 2]
        assert derived.queries.labels["clicks"].sum() == 3
    assert drawn.queries.with_source("more", np.ones(6)).ids.tolist() == ["a", "a", "b"]


ODD = ["01", "1", "007", "7", "08", "8", "1.0", "null", "None", "NA", "nan", "1e3", "1000", " 1", "True"]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_ids_in_csv_are_text(tmp_path, name):
    path = table(tmp_path / name, "q,grade,x\n" + "".join(f"{odd},1,{i}\n" for i, odd in enumerate(ODD)))
    with pytest.warns(
        UserWarning, match="column 'q' of .* holds 'NA', 'None', 'nan', 'null', read as text like any other"
    ):
        q = Columns(query="q", label="grade").read(path).queries
    assert q.ids.tolist() == ODD and q.n_queries == len(ODD)


def test_what_is_missing_in_csv(tmp_path):
    path = table(tmp_path / "t.csv", "q,grade,x,y\na,1,NA,null\nb,NaN,2,n/a\n")
    X, q = Columns(query="q", label="grade").read(path)
    np.testing.assert_array_equal(X, [[np.nan, np.nan], [2, np.nan]])
    assert np.isnan(q.relevance[1])
    path = table(tmp_path / "t.csv", "q,grade,x\nnull,1,2\n,0,3\n")
    with pytest.raises(ValueError, match=r"^column 'q' is missing in row 2 of .*t\.csv: give the query"):
        Columns(query="q", label="grade").read(path)


def test_what_is_no_table_is_answered_in_a_line():
    two = pd.DataFrame(np.ones((2, 2)), columns=pd.MultiIndex.from_product([["a"], ["x", "y"]]))
    for df, error, problem in (
        ({"q": [1]}, TypeError, "pandas, polars or pyarrow"),
        (pl.DataFrame({"q": [1]}).lazy(), TypeError, "df is a LazyFrame: collect it first"),
        (pd.DataFrame([[1, 2]], columns=["q", "q"]), ValueError, "two columns 'q'"),
        (two, TypeError, r"has names of two levels, such as \('a', 'x'\): join them"),
        (
            pd.DataFrame({"y": [1]}, index=pd.Index([1], name="q")),
            ValueError,
            r"index; give df.reset_index\(\)",
        ),
    ):
        with pytest.raises(error, match=problem):
            Columns(query="q", label="y").read(df)


def test_positions_in_csv_are_ranks_or_text(tmp_path):
    def positions(*fields):
        rows = "".join(f"a,1,2,{field}\n" for field in fields)
        path = table(tmp_path / "t.csv", f"q,grade,x,place\n{rows}")
        return Columns(query="q", label="grade", position="place").read(path).queries

    assert positions("None", "NA", "", "None").position_names == ("NA", "None")
    assert positions("None", "NA", "", "None").position.tolist() == [2, 1, 0, 2]
    ranks = positions("1", "2.0", "", "03")
    assert ranks.position.tolist() == [1, 2, 0, 3] and ranks.position_names is None
    with pytest.raises(
        ValueError, match=r"column 'place' is 'NaN' in row 2 of .*t\.csv and a number in other"
    ):
        positions("1", "NaN", "3")
    with pytest.raises(ValueError, match=r"^column 'place' is 0 in row 3 of .*t\.csv: give the rank"):
        positions("1", "2", "0")


def test_a_wrong_value_names_the_row_of_the_file(tmp_path, capsys):
    text = "qid,label,x,c\nb,1,10,1\na,0,20,0\nb,inf,30,0\na,2,40,-1\n"
    path = table(tmp_path / "t.csv", text)
    with pytest.raises(
        ValueError, match=r"^column 'label' is inf in row 3 of .*t\.csv: labels must be finite"
    ):
        Columns(query="qid", label="label").read(path)
    told = message(
        capsys, "train", table(path, text.replace("inf", "1")), "--source", "c:rate", "--out", tmp_path / "m"
    )
    assert f"column 'c' is -1 in row 4 of {path}: counts of clicks must be ≥ 0" in told


@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_a_grade_that_nothing_can_use_names_the_row_of_the_file(tmp_path, capsys, name):
    grades = ["1e30" if i == 8 else str(i % 3) for i in range(12)]
    text = "qid,label,x\n" + "".join(f"{i % 2},{g},{i}\n" for i, g in enumerate(grades))
    if name == "t.txt":
        text = "".join(f"{g} qid:{i // 6} 1:{i}\n" for i, g in enumerate(grades))
    bad, good = table(tmp_path / name, text), table(tmp_path / f"good.{name}", text.replace("1e30", "1"))
    for files in ([bad], [good, "--valid", bad], [good, "--test", bad]):
        told = message(capsys, "train", *files, "--measure", "ndcg@3", "--out", tmp_path / "m")
        assert f"row 9 of {bad}: relevance is 1e+30: " in told and not (tmp_path / "m").exists()


def test_numbers_of_any_array():
    masked = np.ma.masked_equal([1.0, 2.0], 2.0)
    for given in (
        masked,
        pd.array([1, None], dtype="Int64"),
        pl.Series([1, None]),
        pa.chunked_array([[1, None]]),
    ):
        np.testing.assert_array_equal(as_floats("x", given), [1, np.nan])
    for given in (
        pl.Series(["b", None]),
        pa.chunked_array([["b", None]]),
        pd.Series(["b", None]),
        ["b", None],
    ):
        assert positions_of("p", given).codes.tolist() == [1, 0]
