"""Folders of shards on the command line: the same bits as one file, and every mistake named before the first round."""

import os
import re
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from child import printed
from command import call, refused

from lambdaboost import InversePropensity, LambdaRank
from lambdaboost.cli import measuring
from lambdaboost.cli.columns import Columns
from lambdaboost.cli.measuring import figures_of
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Collection, Queries, folder, web_search_log, write_letor
from lambdaboost.datasets.shards import Shards
from lambdaboost.evaluation import MEASURES, ClickDCG

ENGINES = ("lightgbm", "xgboost")
BY_POSITION = InversePropensity(LambdaRank(), Propensities.power(1, 40)).text
LOG = web_search_log(60, documents=20, seed=3)
SIZES = LOG.queries.sizes
N = LOG.queries.n_documents
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(LOG.features[:, :4], columns=["a", "b", "c", "d"]).assign(
    qid=np.repeat(np.arange(SIZES.size) * 7 % 61, SIZES),
    label=LOG.queries.relevance,
    ctr=rng.integers(0, 9, N),
    rank=np.concatenate([rng.permutation(size) + 1 for size in SIZES]),
    weight=np.repeat(rng.integers(1, 4, SIZES.size), SIZES) / 2,
    market=pd.Categorical(rng.choice(["us", "de", "fr"], N), ["us", "de", "fr", "it"]),
    device=rng.choice(["phone", "desk"], N),
    name=[f"doc{i}" for i in range(N)],
    loc=np.repeat(rng.choice(["north", "south"], SIZES.size), SIZES),
)
CUTS = [0, 7, 201, 202, 500, N]  # inside queries
TABLE = (
    "--source",
    "clicks=ctr:rate",
    "--position",
    "rank",
    "--drop",
    "name,loc",
    "--categorical",
    "market,device",
)
LETOR = ("--source", "clicks=5:rate", "--position", "6")
# Not of XGBoost, which with weights makes other bins of batches than of all rows at once.
WEIGHT = {"txt": ("--weight", "7"), "parquet": ("--weight", "weight"), "csv": ("--weight", "weight")}


def write(path, frame):
    """A file of the frame by its suffix; LETOR text has the numbers alone."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        X = frame[["a", "b", "c", "d", "ctr", "rank", "weight"]].to_numpy(np.float32)
        write_letor(path, Collection(X, Queries(frame.label, ids=frame.qid), list(frame.name)))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Each kind as one file, and as a folder of shards that cut queries."""
    top = tmp_path_factory.mktemp("shards")
    for suffix in (".parquet", ".csv", ".txt"):
        write(top / f"one{suffix}", FRAME)
        (top / suffix[1:]).mkdir()
        (top / suffix[1:] / "_SUCCESS").touch()
        for i, (start, stop) in enumerate(pairwise(CUTS)):
            write(top / suffix[1:] / f"part-{i}{suffix}", FRAME[start:stop])
    return top


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(folder, "VALUES", 1500)
    monkeypatch.setattr(measuring, "BLOCK", 100)


def model_of(capsys, data, where, engine, kind, *more):
    out = where / "model"
    options = (*(LETOR if kind == "txt" else TABLE), *(WEIGHT[kind] if engine == "lightgbm" else ()))
    code, _, error = call(
        *(
            capsys,
            "train",
            data,
            "--valid",
            data,
            "--test",
            data,
            "--out",
            out,
            "--engine",
            engine,
            "--overwrite",
        ),
        *("--rounds", 2, "--early-stopping", 2, "--objective", BY_POSITION, *options, *more),
    )
    assert code == 0, error
    return out


@pytest.mark.parametrize(
    ("kind", "engine"),
    [("parquet", "lightgbm"), ("parquet", "xgboost"), ("csv", "lightgbm"), ("txt", "xgboost")],
)
def test_a_folder_is_one_file(capsys, data, tmp_path, kind, engine):
    found = []
    for path in (data / f"one.{kind}", data / kind):
        model = model_of(capsys, path, tmp_path, engine, kind)
        scores = tmp_path / "scores.txt"
        assert call(capsys, "predict", model, path, "--out", scores, "--overwrite")[0] == 0
        printed = call(capsys, "predict", model, path)[1]
        measures = ("--measure", "ndcg@3", "--measure", "ClickDCG(k=3, estimator='snips')", "--json")
        told = [
            call(capsys, "evaluate", path, *given, *measures)[1].replace(path.name, "")
            for given in (
                ("--model", model),
                ("--scores", scores, *TABLE[:4]) if kind != "txt" else ("--model", model),
            )
        ]
        assert printed == scores.read_text() and len(printed.split()) == N
        about = model.with_name("model.json").read_text().splitlines()
        about = [line for line in about if '"sha256"' not in line and '"file"' not in line]
        found.append((model.read_bytes(), printed, told, about))
    for one, many in zip(*found, strict=True):
        assert one == many


@pytest.mark.parametrize("engine", ENGINES)
def test_the_number_of_bins_is_that_of_the_training(capsys, data, tmp_path, engine):
    one, many = (
        model_of(capsys, data / name, tmp_path, engine, "txt", "--param", "max_bin=15").read_bytes()
        for name in ("one.txt", "txt")
    )
    assert one == many


@pytest.mark.parametrize("kind", ["parquet", "txt"])
def test_the_report_of_a_folder_is_that_of_one_file(capsys, data, tmp_path, kind, monkeypatch):
    monkeypatch.setattr("lambdaboost.evaluation.reports.page.has_matplotlib", lambda: False)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    model, pages = model_of(capsys, data / kind, tmp_path, "lightgbm", kind), []
    columns = () if kind == "txt" else ("--document", "name", "--segment", "loc")
    for path in (data / f"one.{kind}", data / kind):
        page = tmp_path / "page.html"
        given = ("--model", model, *columns, "--out", page, "--overwrite")
        code, _, error = call(capsys, "report", path, *given)
        assert code == 0, error
        text = re.sub("[0-9a-f]{64}", "", page.read_text())
        pages.append(text.replace(f": {path.name}<", "<").replace(f"<td>{path.name}</td>", ""))
        named = f"<td>{(data / kind).name}</td>"  # what the model was trained on
        pages[-1] = pages[-1].replace(named, "")
    assert pages[0] == pages[1] and "doc" in pages[0]


def test_shards_are_read_in_batches_of_whole_queries_and_any_number_of_times(data):
    shards = Columns.parse(["clicks=ctr:rate"], ["name,loc,market,device"]).read(data / "parquet").shuffled(5)
    whole = (
        Columns.parse(["clicks=ctr:rate"], ["name,loc,market,device"]).read(data / "one.parquet").shuffled(5)
    )
    assert isinstance(shards, Shards) and repr(shards).startswith(
        f"Shards({N} documents × 6 features in 60 queries"
    )
    for _ in range(2):
        parts = list(shards)
        assert max(part.queries.n_documents for part in parts) < 1500 // 6 + SIZES.max()
        joined = Collection.concat([part.without_ids() for part in parts])
        np.testing.assert_array_equal(joined.features, whole.features)
        np.testing.assert_array_equal(joined.queries.labels["clicks"], whole.queries.labels["clicks"])
        np.testing.assert_array_equal(np.concatenate([part.queries.ids for part in parts]), whole.queries.ids)
    rows = np.array([0, 63, 64, 500])
    np.testing.assert_array_equal(shards.rows(rows), whole.features[rows])


def test_leaks_are_found_in_folders(capsys, data, tmp_path):
    (tmp_path / "log").mkdir()
    leaky = FRAME.assign(told=FRAME.label * 2 + 1)
    leaky[:300].to_parquet(tmp_path / "log" / "a.parquet")
    leaky[300:].to_parquet(tmp_path / "log" / "b.parquet")
    columns = ("--source", "clicks=ctr:rate", "--drop", "name,loc,rank,market,device")
    for engine in ENGINES:
        given = ("--rounds", 1, "--engine", engine, *columns)
        _, _, error = call(capsys, "train", tmp_path / "log", "--out", tmp_path / engine, *given)
        assert "orders the documents of a query as the label source 'relevance' does" in error


def test_measures_by_blocks_are_those_of_one_pass():
    q = LOG.queries.with_positions(FRAME["rank"]).with_weight(FRAME.weight)
    measures = [of(k=3) if "k" in of.__dataclass_fields__ else of() for of in MEASURES.values()]
    measures += [ClickDCG(3, Propensities(1 / np.arange(1, 41)), estimator=of) for of in ("ips", "snips")]
    scores = np.random.default_rng(1).normal(size=N).round(1)
    rows = q.shuffled_rows(9)
    shuffled = q.reordered(rows)
    for measure in measures:
        expected = float(measure(scores[rows], shuffled))
        np.testing.assert_equal(figures_of([measure], scores, q, 9), {repr(measure): expected})


# Mistakes.


def shards_of(folder, **frames):
    """A folder of Parquet shards."""
    folder.mkdir()
    for name, frame in frames.items():
        frame.to_parquet(folder / f"{name}.parquet")
    return folder


SMALL = FRAME[["qid", "label", "a", "b"]].astype({"label": float})


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        (
            {"one": SMALL[:50], "three": SMALL[200:], "two": SMALL[50:200]},
            r"column 'qid' has query .* in two places, row \d+ of .*one\.parquet and row 1 of .*two\.parquet: sort the",
        ),
        (
            {"one": SMALL[:50].iloc[::-1].sort_values("a"), "two": SMALL[50:]},
            r"column 'qid' has query .* in two places, row .* of .*one\.parquet and row .* of .*one\.parquet: sort",
        ),
        (
            {"one": SMALL[:50], "two": SMALL[50:].drop(columns="b")},
            r"column 'b' is missing in .*two\.parquet, and float in .*one\.parquet: write all shards",
        ),
        (
            {"one": SMALL[:50], "two": SMALL[50:].assign(e=1)},
            r"column 'e' is int64 in .*two\.parquet, and missing in .*one\.parquet",
        ),
        (
            {"one": SMALL[:50], "two": SMALL[50:].assign(b="x")},
            r"column 'b' is .*string in .*two\.parquet, and float in .*one\.parquet",
        ),
        ({"one": SMALL[:0], "two": SMALL[:0]}, "log has no rows: its shards are empty"),
        ({}, "log has no files: give a file, or a folder of Parquet, CSV or LETOR text"),
        (
            {"one": SMALL[:50], "two": SMALL[50:].assign(label=np.inf)},
            r"row 1 of .*two\.parquet: relevance is inf: labels must be finite",
        ),
        (
            {"train": SMALL[:50], "test": SMALL[50:]},
            "log holds test.parquet and train.parquet, which are no shards",
        ),
    ],
)
def test_wrong_shards_are_refused_before_the_first_round(capsys, tmp_path, frames, said):
    log = shards_of(tmp_path / "log", **frames)
    error = refused(capsys, "train", log, "--out", tmp_path / "model.txt")
    assert re.search(said, error), error
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@pytest.mark.parametrize(
    ("column", "value", "options", "said"),
    [
        ("label", -1, (), "relevance is -1: labels must be ≥ 0"),
        (
            "label",
            -1,
            ("--objective", "lambdarank"),
            "relevance is -1: LightGBM's own lambdarank takes grades ≥ 0",
        ),
        ("label", 1024, (), "relevance is 1024: its gain"),
        ("label", "x", (), "column 'label' is 'x' in row .*, not a number: encode"),
        (
            "weight",
            9,
            ("--weight", "weight", "--engine", "xgboost"),
            "weight is 9: unlike the first row of its query",
        ),
        (
            "rank",
            np.nan,
            ("--position", "rank", "--objective", BY_POSITION),
            "relevance is .: the row has no position",
        ),
    ],
)
def test_the_shard_and_the_row_of_a_wrong_value_are_named(capsys, tmp_path, column, value, options, said):
    log, wrong = tmp_path / "log", FRAME[["qid", "label", "weight", "rank", "a"]].astype(object)
    wrong.loc[570, column] = value
    log.mkdir()
    wrong[:500].to_csv(log / "one.csv", index=False)
    wrong[500:].to_csv(log / "two.csv", index=False)
    error = refused(capsys, "train", log, "--out", tmp_path / "model", *options)
    assert re.search(r"row 71 of .*two\.csv", error) and re.search(said, error), error


def test_files_that_are_no_shards_of_one_kind(capsys, data, tmp_path):
    out = ("--out", tmp_path / "model.txt")
    mixed = shards_of(tmp_path / "mixed", one=SMALL[:50])
    (mixed / "two.csv").write_text("qid,label,a\n1,1,2\n")
    error = refused(capsys, "train", mixed, *out)
    assert (
        "mixed is a folder of CSV (two.csv) and Parquet (one.parquet): give a file, or a folder of shards"
        in error
    )
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    assert "outer is a folder of folders" in refused(capsys, "train", tmp_path / "outer", *out)
    letor = tmp_path / "letor"
    letor.mkdir()
    for name, text in {
        "README.md": "# Log\n\nClicks of May\n",
        "m.txt": "tree\nversion=v4\n",
        "s": "0.5\n",
    }.items():
        (letor / name).write_text(text)
        error = refused(capsys, "train", letor, *out)
        assert (
            f"{letor / name} is neither Parquet, CSV nor LETOR text: move it out of the folder, or call"
            in error
        )
        (letor / name).rename(letor / f"_{name}")
    (letor / "a.txt.crc").write_bytes(b"crc")
    (letor / "a.txt").write_text("1 qid:1 1:2\n")
    (letor / "b.txt").write_text("")
    assert "b.txt has no rows" in refused(capsys, "train", letor, *out)
    torn = shards_of(tmp_path / "torn", one=SMALL[:50])
    (torn / "two.parquet").write_bytes(b"PAR1")
    assert "two.parquet cannot be read as Parquet" in refused(capsys, "train", torn, *out)
    assert "parquet is a folder: give a file, LETOR text" in refused(capsys, "tune", data / "parquet", *out)
    assert "lacks features of the training data: 'b'" in refused(
        *(capsys, "predict", model_of(capsys, data / "parquet", tmp_path, "lightgbm", "parquet")),
        *(shards_of(tmp_path / "less", one=FRAME[:50].drop(columns="b")), "--out", tmp_path / "scores.txt"),
    )


def test_a_shard_of_categories_that_training_had_not_is_refused(capsys, data, tmp_path):
    model = model_of(capsys, data / "parquet", tmp_path, "xgboost", "parquet")
    new = shards_of(tmp_path / "new", one=FRAME[:50], two=FRAME[50:99].assign(device="watch"))
    error = refused(capsys, "evaluate", new, "--model", model)
    assert re.search(r"column 'device' is 'watch' in row 1 of .*two\.parquet, none of its categories", error)


def same_columns(one, many):
    """Raise unless a file and a folder have the same features and categories."""
    one, many = Columns().read(one), Columns().read(many)
    assert (one.feature_names, one.categories) == (many.feature_names, many.categories)
    np.testing.assert_array_equal(one.features, np.concatenate([part.features for part in many]))


INDEX = {
    "row numbers": pd.RangeIndex(N, name="row"),
    "a column": pd.Index(FRAME.c, name="c"),
    "levels": [FRAME.c, np.arange(N)],
}


@pytest.mark.parametrize("index", INDEX.values(), ids=INDEX)
def test_an_index_of_pandas_is_the_same_in_a_folder(tmp_path, index):
    frame = SMALL.set_index(index)
    frame.to_parquet(tmp_path / "one.parquet")
    same_columns(tmp_path / "one.parquet", shards_of(tmp_path / "log", one=frame[:50], two=frame[50:]))


def test_categories_of_polars_are_coded_as_in_one_file(tmp_path):
    frame = pl.from_pandas(SMALL).with_columns(
        pl.Series("market", FRAME.market.astype(str)).cast(pl.Categorical)
    )
    (tmp_path / "log").mkdir()
    for name, part in {"one": frame, "log/a": frame[:2], "log/b": frame[2:]}.items():
        part.write_parquet(tmp_path / f"{name}.parquet")
    assert frame[:2, "market"].n_unique() < 3
    same_columns(tmp_path / "one.parquet", tmp_path / "log")


def test_shards_without_rows_are_left_out(capsys, tmp_path):
    log = shards_of(tmp_path / "log", a=SMALL[:0], b=SMALL[:50], c=SMALL[50:50], d=SMALL[50:])
    (tmp_path / "csv").mkdir()
    for i, part in enumerate((SMALL[:70], SMALL[:0], SMALL[70:])):
        part.to_csv(tmp_path / "csv" / f"{i}.csv", index=False)
    for path in (log, tmp_path / "csv"):
        assert isinstance(shards := Columns().read(path), Shards)
        assert [part.queries.n_documents for part in shards] and shards.queries.n_documents == N


def test_a_shard_that_changes_ends_a_pass_and_leaves_no_file(capsys, data, tmp_path, monkeypatch):
    log = shards_of(tmp_path / "log", one=SMALL[:50], two=SMALL[50:])
    shards = Columns().read(log)
    os.utime(log / "two.parquet", (0, 0))
    with pytest.raises(ValueError, match=r"two\.parquet changed while it was read: run it again"):
        list(shards)
    (log / "two.parquet").unlink()
    with pytest.raises(ValueError, match=r"two\.parquet changed while it was read"):
        list(shards)


@pytest.mark.parametrize(("command", "after"), [("train", 15), ("predict", 8)])
def test_ctrl_c_in_a_pass_leaves_no_file(capsys, data, tmp_path, monkeypatch, command, after):
    model = model_of(capsys, data / "parquet", tmp_path, "lightgbm", "parquet")
    passes, check = [], folder._check_unchanged

    def interrupted(file, stamp):
        passes.append(file)
        if len(passes) == after:  # the labels are read, and some features
            raise KeyboardInterrupt
        check(file, stamp)

    monkeypatch.setattr(folder, "_check_unchanged", interrupted)
    before, out = sorted(tmp_path.iterdir()), ("--out", tmp_path / "new.txt")
    given = TABLE if command == "train" else ()
    code, _, error = call(
        capsys, command, *([model] if command == "predict" else []), data / "parquet", *given, *out
    )
    assert (code, len(passes), sorted(tmp_path.iterdir())) == (130, after, before), error
    assert error.endswith("lambdaboost: stopped, nothing written\n")


def test_outputs_are_no_shards(capsys, tmp_path):
    log = shards_of(tmp_path / "log", one=SMALL)
    for name in ("one.parquet", "model.txt"):
        error = refused(capsys, "train", log, "--out", log / name, "--overwrite")
        assert f"--out {log / name} is in TRAIN {log}, whose files are read: give another folder" in error
    assert len(list(log.iterdir())) == 1


@pytest.mark.parametrize("part", ["train", "valid"])
@pytest.mark.parametrize(
    ("engine", "param"),
    [
        ("xgboost", "tree_method=exact"),
        ("xgboost", "tree_method=approx"),
        ("xgboost", "booster=gblinear"),
        ("lightgbm", "linear_tree=true"),
        ("lightgbm", "linear_trees=true"),
    ],
)
def test_what_an_engine_cannot_do_with_bins_is_refused_before_reading(capsys, tmp_path, engine, param, part):
    log = shards_of(tmp_path / "log", one=SMALL)
    (log / "one.parquet").write_bytes(b"not read")
    parts = {"train": (log,), "valid": (log / "one.parquet", "--valid", log)}
    error = refused(
        capsys, "train", *parts[part], "--out", tmp_path / "m", "--engine", engine, "--param", param
    )
    title = {"xgboost": "XGBoost", "lightgbm": "LightGBM"}[engine]
    assert (
        f"--param '{param}': of a folder {title} holds bins alone, which only {param.split('=')[0]}=" in error
    )


def test_a_part_with_labels_of_another_kind_is_refused_before_training(capsys, tmp_path):
    one, log = (
        tmp_path / "one.parquet",
        shards_of(tmp_path / "log", a=SMALL[:500], b=SMALL[500:].assign(label=-1.0)),
    )
    SMALL.to_parquet(one)
    error = refused(capsys, "train", one, "--test", log, "--out", tmp_path / "model.txt")
    assert re.search(r"--test with --measure NDCG\(k=10\): row 1 of .*b\.parquet: relevance is -1", error), (
        error
    )


# Memory.

OUT_OF_CORE = """
import resource, sys, tempfile
from pathlib import Path
{train}
train(f"{{sys.argv[1]}}/small")  # imports, kernels and threads are no matter of the data
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
limit = size + {megabytes} * 10**6
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
train(f"{{sys.argv[1]}}/large")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
# LightGBM holds the sample three times, and by default the bins twice, by columns and by rows.
COMMAND = """
from lambdaboost.cli.run import run

def train(folder):
    params = ("--param", "bin_construct_sample_cnt=2000", "--param", "force_col_wise=true")
    assert run(["train", folder, "--out", f"{folder}.txt", "--rounds", "3", *params]) == 0
"""
# The command line holds all bins with XGBoost, twice; here they are on disk.
ITERATOR = """
import numpy as np
import pyarrow.parquet as pq
import xgboost as xgb
from lambdaboost.xgboost import ExtMemQuantileDMatrix, train as trained

class Batches(xgb.DataIter):
    def __init__(self, folder, cache):
        self.folder = folder
        super().__init__(cache_prefix=f"{cache}/cache")

    def reset(self):
        files = sorted(Path(self.folder).iterdir())
        self.left = (batch for file in files for batch in pq.ParquetFile(file).iter_batches(1000))

    def next(self, input_data):
        if (batch := next(self.left, None)) is None:
            return False
        *X, label, qid = (column.to_numpy() for column in batch.columns)
        input_data(data=np.column_stack(X), label=label, qid=qid)
        return True

def train(folder):
    with tempfile.TemporaryDirectory() as cache:
        data = ExtMemQuantileDMatrix(Batches(folder, cache), nthread=1)
        assert trained({"nthread": 1}, data, 3, verbose_eval=False).num_boosted_rounds() == 3
        del data  # and with it the cache
"""


@pytest.fixture(scope="module")
def two_gigabytes(tmp_path_factory):
    """Folders of 268,000 and of 4,000 rows × 1,000 columns: 2.1 GB as float64, which a frame of them has."""
    top = tmp_path_factory.mktemp("wide")
    (top / "large").mkdir()
    numbers, fields, values, n = 100, 9, 100, 268_000 // 16
    for shard in range(16):
        rng = np.random.default_rng(shard)
        indicators = [np.eye(values)[rng.integers(0, values, n)] for _ in range(fields)]
        X = np.hstack([rng.integers(0, 1000, (n, numbers)) / 8, *indicators])
        frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
        frame["label"] = (X[:, 0] + X[:, 1] > 200).astype(np.float32)
        frame["qid"] = np.arange(shard * n, (shard + 1) * n) // 27  # over the borders of shards
        frame.to_parquet(top / "large" / f"{shard:02}.parquet")
    shards_of(top / "small", one=frame[:2000], two=frame[2000:4000])
    return top


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
@pytest.mark.parametrize(("train", "megabytes"), [(COMMAND, 200), (ITERATOR, 300)], ids=ENGINES)
def test_data_of_2_gigabytes_are_trained_in_a_seventh_of_their_size(two_gigabytes, train, megabytes):
    """XGBoost reads pages ahead: on a busy machine more of them wait, and 200 MB were too few now and then."""
    one_thread = {"OMP_NUM_THREADS": "1", "ARROW_IO_THREADS": "1"}
    code = OUT_OF_CORE.format(train=train, megabytes=megabytes)
    printed("-c", code, two_gigabytes, env=os.environ | one_thread)
