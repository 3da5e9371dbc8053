"""`Columns`: tables and files of every kind give equal queries and features, and what is missing or apart."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lambdaboost import Queries
from lambdaboost.datasets import Collection, Columns, Encoder, web_search_log, write_letor
from lambdaboost.datasets.arrays import positions_of
from lambdaboost.datasets.table import open_table

LOG = web_search_log(queries=20, documents=8, features=16, seed=2)
Q, N = LOG.queries, LOG.queries.n_documents
RNG = np.random.default_rng(0)
MARKET = np.where(RNG.random(N) < 0.1, None, RNG.choice(["de", "fr", "us"], N)).astype(object)
IDS = np.array([2**53 + int(query) for query in Q.query_of_row])
FRAME = pd.DataFrame(LOG.features[:, :5].astype(np.float64), columns=[f"x{i}" for i in range(5)]).assign(
    query=IDS,
    grade=Q.relevance.astype(np.int64),
    ctr=Q.labels["clicks"].astype(np.float64),
    rank=pd.array(np.where(RNG.random(N) < 0.2, None, RNG.integers(1, 9, N)), dtype="Int64"),
    weight=np.repeat(RNG.integers(1, 4, Q.n_queries), Q.sizes),
    home=np.arange(N) % 3 == 0,
    market=pd.Categorical(MARKET, categories=["de", "fr", "us"]),
)
FRAME.loc[3, "x1"] = np.nan
ORDER = np.concatenate([np.arange(0, N, 2), np.arange(1, N, 2)])  # queries apart
COLUMNS = Columns("query", "grade", {"clicks": "ctr"}, "rank", "weight", categorical=["market"])


def arrow(frame):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table.set_column(
        table.column_names.index("market"), "market", pa.array(frame.market).dictionary_encode()
    )


def csv(frame, folder):
    frame.to_csv(folder / "log.csv.gz", index=False)
    return folder / "log.csv.gz"


def parquet(frame, folder):
    frame.to_parquet(folder / "log.parquet", index=False)
    return folder / "log.parquet"


KINDS = {
    "numpy": lambda frame, folder: frame.astype({"rank": np.float64}),
    "nullable": lambda frame, folder: frame.convert_dtypes().assign(market=frame.market),
    "arrow types": lambda frame, folder: arrow(frame).to_pandas(types_mapper=pd.ArrowDtype),
    "object": lambda frame, folder: frame.astype(dict.fromkeys(["query", "rank", "x1"], object)),
    "polars": lambda frame, folder: pl.from_pandas(frame),
    "pyarrow": lambda frame, folder: arrow(frame),
    "csv": csv,
    "parquet": parquet,
}


def equal(one, other):
    np.testing.assert_array_equal(one.features, other.features)
    a, b = one.queries, other.queries
    assert list(map(str, a.ids)) == list(map(str, b.ids)) and a.labels.keys() == b.labels.keys()
    for name in a.labels:
        np.testing.assert_array_equal(a.labels[name], b.labels[name])
    for name in ("offsets", "weight", "position"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert one.categories == other.categories and one.feature_names == other.feature_names


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_equal_queries_and_features(kind, tmp_path):
    """Rows in order or apart, of which rankers train and predict."""
    expected = COLUMNS.read(FRAME)
    assert expected.queries.n_queries == 20 and expected.rows is None
    np.testing.assert_array_equal(expected.features[:, expected.feature_names.index("home")], FRAME.home)
    assert expected.categories == {"market": ("de", "fr", "us")}
    equal(COLUMNS.read(KINDS[kind](FRAME, tmp_path)), expected)
    apart = COLUMNS.read(KINDS[kind](FRAME.iloc[ORDER], tmp_path))
    equal(apart, COLUMNS.read(FRAME.iloc[ORDER]))
    np.testing.assert_array_equal(FRAME.iloc[ORDER].x0.to_numpy()[apart.rows], apart.features[:, 0])
    fitted = Encoder(COLUMNS, expected.feature_names, expected.categories)
    equal(fitted.read(KINDS[kind](FRAME, tmp_path)), expected)
    rows = FRAME.iloc[ORDER].drop(columns=["grade", "ctr", "weight"])
    np.testing.assert_array_equal(
        fitted.transform(open_table(KINDS[kind](rows, tmp_path), text=fitted.text)), expected.features[ORDER]
    )


def test_letor_text_gives_equal_queries_and_features(tmp_path):
    plain = FRAME.fillna({"x1": 0.5}).drop(columns=["home", "market", "weight"])
    names = [f"x{i}" for i in range(5)]
    features = np.column_stack([plain[names], plain.ctr, plain["rank"].fillna(0)]).astype(np.float64)
    write_letor(tmp_path / "log.txt", Collection(features, Queries(plain.grade, ids=Q.query_of_row)))
    table = Columns("query", "grade", {"clicks": "ctr"}, "rank").read(plain.assign(query=Q.query_of_row))
    columns = Columns(label="label", sources={"clicks": "6"}, position="7")
    letor = columns.read(tmp_path / "log.txt")
    np.testing.assert_allclose(letor.features, table.features, rtol=1e-6)
    np.testing.assert_allclose(letor.queries.labels["clicks"], table.queries.labels["clicks"], rtol=1e-6)
    np.testing.assert_array_equal(letor.queries.position, table.queries.position)
    assert letor.queries.ids.tolist() == table.queries.ids.tolist() and letor.feature_names == tuple("12345")


def nullable(table):
    return table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)


def of_128_bits(table):
    if not hasattr(pl, "Int128"):
        pytest.skip("polars has numbers of 128 bits since 1.18")
    return pl.from_arrow(table).cast(pl.Int128)


@pytest.mark.parametrize("made", [nullable, pl.from_arrow, of_128_bits, pa.Table.combine_chunks])
def test_large_numbers_are_kept_apart_beside_a_missing_one(made):
    big = [2**53, 2**53 + 1, None, 2**53 + 1]
    table = pa.table({"q": [1, 1, 1, 1], "y": [0, 1, 2, 0], "c": pa.array(big), "d": pa.array(big)})
    found = Columns(query="q", label="y", categorical=["c"], document="d", features=["c"]).read(made(table))
    assert found.categories == {"c": (str(2**53), str(2**53 + 1))}
    assert found.documents.tolist() == [str(2**53), str(2**53 + 1), "", str(2**53 + 1)]


def test_a_missing_value_of_arrows_dictionaries_is_missing():
    """`ChunkedArray.to_numpy` gives it the value of another row."""
    named = {name: pa.array(["b", None, "a", "b"]).dictionary_encode() for name in ("place", "name")}
    named["c"] = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["b", None, "a"]))
    table = pa.table({"q": [1, 1, 2, 2], "y": [0, 1, 2, 0], **named})
    found = Columns(query="q", label="y", position="place", document="name").read(table)
    np.testing.assert_array_equal(found.features[:, 0], [1, np.nan, 0, 1])
    assert found.queries.position.tolist() == [2, 0, 1, 2] and found.documents.tolist() == ["b", "", "a", "b"]
    assert positions_of("position", table["place"]).codes.tolist() == [2, 0, 1, 2]
    with pytest.raises(ValueError, match="column 'c' is missing in row 1 of df: give the query of every row"):
        Columns(query="c", label="y", features=["q"]).read(table)


def test_a_column_without_a_name_is_warned_of_in_training(tmp_path):
    path = tmp_path / "t.csv"  # as pandas writes it without index=False
    pd.DataFrame({"q": [1, 1], "y": [0, 1], "x": [0.5, 0.25]}, [7, None]).to_csv(path)
    with pytest.warns(
        UserWarning, match="has a column without a name, 'Unnamed: 0', which becomes a feature"
    ):
        data = Columns(query="q", label="y").read(path)
    assert data.feature_names == ("Unnamed: 0", "x") and np.isnan(data.features[1, 0])
    assert Columns(query="q", label="y", drop=["Unnamed: 0"]).read(path).feature_names == ("x",)


def test_the_value_is_recorded_and_read_back():
    fitted = Encoder.fit(COLUMNS, open_table(FRAME))
    described = json.loads(json.dumps(fitted.to_dict() | {"of_a_later_version": 1}))
    assert Encoder.from_dict(described) == fitted and fitted.categories == {"market": ("de", "fr", "us")}
    assert eval(repr(fitted)) == fitted


def test_grades_of_other_rows_are_refused():
    frame = pd.DataFrame({"q": [1, 1], "x": [1.0, 2]}, index=[1, 0])
    with pytest.raises(ValueError, match="y has the rows of df in another order"):
        Columns(query="q").read(frame, pd.Series([0, 1]))
    with pytest.raises(ValueError, match="qid has the rows of y in another order"):
        Columns().read(np.eye(2), frame.x, qid=pd.Series([1, 2]))
