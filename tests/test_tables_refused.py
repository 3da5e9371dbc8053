"""What cannot be read as a table: each fault is one sentence that names the argument, or the column and the row."""

import gzip
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lambdaboost.datasets import Columns

FRAME = pd.DataFrame({"q": ["b", "b", "a"], "y": [1, 0, 2], "x": [0.5, 1.5, 2.5], "site": [3, 4, 3]})
APART = FRAME.iloc[[0, 2, 1]]
LEVELS = pd.DataFrame(np.ones((2, 2)), columns=pd.MultiIndex.from_product([["a"], ["x", "y"]]))
INDEXED = pd.DataFrame({"y": [1], "x": [2]}, index=pd.Index([1], name="q"))
TEXTS = FRAME.assign(title="a title", url=["u", "v", "w"])
DATES = FRAME.assign(x=pd.to_datetime(["2026-01-01"] * 3))
LISTS = [
    pl.from_pandas(FRAME).with_columns(odd=pl.Series(values, dtype=kind))
    for values, kind in (([[1, 2]] * 3, pl.Array(pl.Int64, 2)), ([[1]] * 3, None), ([{"a": 1}] * 3, None))
]


def csv(text, name="t.csv"):
    """A file by its name and content, which a test writes."""
    content = text.encode()
    return name, gzip.compress(content) if name == "t.csv.gz" else content


def packed(*names):
    """A zip file of several tables."""

    def write(path):
        with zipfile.ZipFile(path, "w") as folder:
            for name in names:
                folder.writestr(name, "q,y,x\n1,0,2\n")

    return "t.csv.zip", write


# What is given, as a table or the name of a file with its content; the columns; the error and its words.
REFUSED = [
    # Tables
    ({"q": [1]}, {}, TypeError, "df must be a pandas, polars or pyarrow table"),
    (pl.DataFrame({"q": [1]}).lazy(), {}, TypeError, "df is of type LazyFrame: collect it first"),
    (pd.DataFrame([[1, 2]], columns=["q", "q"]), {}, ValueError, "df has two columns 'q'"),
    (LEVELS, {}, TypeError, r"df has names of two levels, such as \('a', 'x'\): join them"),
    (INDEXED, {}, ValueError, r".* it is in the index; give df.reset_index\(\)"),
    (FRAME.iloc[:0], {}, ValueError, "df has no rows: give those of one query at least$"),
    # Columns
    (FRAME, {"label": "gain"}, ValueError, "label: df has no column 'gain'"),
    (FRAME, {"features": ["z"]}, ValueError, "df lacks the features 'z'"),
    (FRAME, {"features": []}, ValueError, "features is empty"),
    (FRAME, {"sources": "ctr"}, TypeError, "sources is 'ctr': give a list"),
    (FRAME, {"sources": {"clicks": "site"}, "rates": ["site"]}, ValueError, "rates: 'site' is no source: .*'clicks'"),
    (FRAME, {"sources": {"weight": "x"}}, ValueError, "a label source cannot be called 'weight'"),
    (FRAME.assign(x=[0.5, 1.5, None]), {"weight": "x"}, ValueError, "column 'x' is nan in row 2 of df: weights"),
    (FRAME, {"categorical": ["x"]}, ValueError, "column 'x' of df holds numbers, such as 0.5: categories are texts"),
    (TEXTS, {}, ValueError, "column 'title' .*; column .url. .*, make them categorical, or drop them$"),
    (pl.from_pandas(TEXTS), {}, ValueError, "column 'title' is 'a title' in row 0 of df, not a number; column 'url' "),
    (FRAME.assign(x=[b"1", b"2", b"3"]), {}, ValueError, "column 'x' of df holds text, such as .*: encode it as numb"),
    (FRAME.assign(y=["00", "01", "02"]), {}, ValueError, "column 'y' of df holds text, such as '00': labels are"),
    *((make(DATES), {}, ValueError, "column 'x' of df is Datetime.*, not numeric: encode it as numbers")
      for make in (pd.DataFrame, pl.from_pandas, pa.Table.from_pandas)),
    *((FRAME.assign(x=dates), {}, ValueError, "column 'x' is '2026-01.*' in row 0 of df, not a number: encode it")
      for dates in (DATES.x.astype(object).where([True, False, True]), pd.period_range("2026-01", None, 3, "M"))),
    *((FRAME.assign(d=[None, 2.0**53, 2.0**53 + 2]), role, ValueError,
       "column 'd' is 9007199254740992 in row 1 of df: float64 merges neighbouring numbers")
      for role in ({"document": "d"}, {"categorical": ["d"]})),
    *((table, columns, ValueError, "column 'odd' of df holds lists, such as")
      for table in (*LISTS, LISTS[1].to_arrow(), LISTS[2].to_pandas())
      for columns in ({"query": "odd", "features": ["x"]}, {"features": ["odd"]})),
    # A column has one use
    (FRAME, {"features": ["x", "y"]}, ValueError, "label: column 'y' is given twice"),
    (FRAME, {"features": ["q", "x"]}, ValueError, "query: column 'q' is given twice"),
    (FRAME, {"features": ["x", "site"], "drop": ["site"]}, ValueError, "drop: column 'site' is given twice"),
    (FRAME, {"sources": ["w"], "weight": "w"}, ValueError, "weight: column 'w' is given twice"),
    (FRAME, {"features": ["x", "x"]}, ValueError, "features: column 'x' is given twice"),
    (FRAME, {"sources": {"a": "e", "b": "e"}}, ValueError, "sources: column 'e' is given twice"),
    (FRAME, {"categorical": ["x"], "drop": ["x"]}, ValueError, "drop: column 'x' is given twice"),
    # Files
    (csv("", "t.xlsx"), {}, ValueError, r".* is a \.xlsx file, .*: read it with pandas, and give"),
    (csv("", "t.jsonl.gz"), {}, ValueError, r".* read it with pandas"),
    (csv("", "t.zip"), {}, ValueError, ".* is a zip file of no table: unpack it"),
    (packed("a.csv", "b.csv"), {}, ValueError, ".* is a zip file of 2 files; it must hold one"),
    (csv("q,y,x\n1,0,2\n", "t.tsv"), {}, ValueError, ".* columns are separated by ','; separate them by tabs"),
    (csv("q;y;x\n1;1;0,5\n"), {}, ValueError, ".* columns are separated by ';'; separate them by commas"),
    (csv("q,y,x,x\n1,1,2,3\n"), {}, ValueError, ".* it has two columns 'x'; rename one"),
    (csv("q,y,x\n1,1,2,3\n"), {}, ValueError, ".* row 1 has more cells than the header, which has 3; name each"),
    (("t.csv", b"q,y,x\n\xe9,1,2\n"), {}, ValueError, ".* can't decode byte 0xe9 .*; save it as UTF-8$"),
    (csv(""), {}, ValueError, r".*t\.csv cannot be read as CSV with a header"),
    (csv("q,y,x\n"), {}, ValueError, r".*t\.csv has no rows"),
    (csv('q,y\n"a,1\n'), {}, ValueError, r".*t\.csv cannot be read as CSV"),
    (csv("q,y\n", "t.parquet"), {}, ValueError, r".*t\.parquet cannot be read as Parquet"),
    (("t.parquet", lambda path: pq.write_table(pa.Table.from_arrays([pa.array([1])] * 2, names=["q", "q"]), path)), {},
     ValueError, ".* cannot be read as Parquet: .* q"),
    (("t.csv.zst", b"\x28\xb5\x2f\xfd"), {}, ValueError, ".* is compressed by zstd: decompress it"),
    (("t.csv.gz", gzip.compress(b"q,y,x\n" + b"a,1,2\n" * 999)[:40]), {}, ValueError, r".*t\.csv\.gz"),
    *((f"folder {name}", {}, ValueError, rf"path .*{name} is a folder: give a file$")
      for name in ("t.txt", "t.csv", "t.parquet")),
    # Rows of a file
    (csv("q,y,x\na,1,2\n,1,2\n"), {}, ValueError, "column 'q' is missing in row 2 of .*: give the query"),
    (csv("q,y,x\nb,1,1\na,0,2\nb,inf,3\n"), {}, ValueError, "column 'y' is inf in row 3 of .*: labels must be"),
    (csv("q,y,z,x\nb,1,1,1\na,0,1,2\nb,1,1,-1\n"), {"sources": ["x"], "rates": ["x"]}, ValueError,
     r"rates: x: counts is -1 in row 3 of .*t\.csv: counts must be finite and ≥ 0"),
    (csv("q,y,x\na,1,b\n"), {"label": "x"}, ValueError, "column 'x' is 'b' in row 1 of .*: labels are numbers"),
    (csv("q,y,x,p\na,1,2,1\na,1,2,0\n"), {"position": "p"}, ValueError, "column 'p' is 0 in row 2 .*: give the rank"),
    *((csv(f"q,y,x\n1,0,{other}\n1,1,{word}\n"), {}, ValueError, f"column 'x' is '{word}' in row 2 of .*, not a number")
      for word in ("1_000", "0x10", "one") for other in ("2", "NA")),
    *((csv(text, name), {}, ValueError, rf".* cannot be read .*: row {row} has \d of 3 cells; complete it")
      for name in ("t.csv", "t.csv.gz") for text, row in {
          "q,x,y\n1,2,0\n1,3\n": 2, "q,x,y\n\n1,2,0\n1,,\n1\n": 3, 'q,x,y\n1,"2,\n3",1\n2,5': 2}.items()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "columns", "error", "words"), REFUSED, ids=[case[3][:60] for case in REFUSED]
)
def test_each_fault_is_a_sentence(tmp_path, given, columns, error, words):
    if isinstance(given, str):
        given = tmp_path / given.removeprefix("folder ")
        given.mkdir()
    elif isinstance(given, tuple):
        name, content = given
        given = tmp_path / name
        if callable(content):
            content(given)
        else:
            given.write_bytes(content)
    with pytest.raises(error, match=f"^{words}") as told:
        Columns(**{"query": "q", "label": "y"} | columns).read(given)
    assert "\n" not in str(told.value)


def test_arrays_beside_a_table():
    with pytest.raises(ValueError, match=r"^qid has shape \(3, 2\), expected one dimension"):
        Columns().read(FRAME[["x"]].to_numpy(), FRAME.y, qid=FRAME[["q", "site"]])
    with pytest.raises(
        ValueError, match=r"^weight .* but the rows of queries are apart, so that their order is"
    ):
        Columns("q", "y").read(APART, weight=[2.0, 1.0])
    with pytest.raises(ValueError, match=r"^weight has .* its index lacks the query 'a'"):
        Columns("q", "y").read(APART, weight=pd.Series([1.0, 2.0], index=["b", "c"]))
