"""``lambdaboost tune``: files in, a model, its description and its script out; Ctrl-C keeps the best so far."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from typer.main import get_command

from lambdaboost import Queries, load
from lambdaboost.cli.app import app
from lambdaboost.cli.columns import parse_columns
from lambdaboost.cli.run import BAD_INPUT, OK, OPTIONS, in_options, run
from lambdaboost.cli.tune import reading_of
from lambdaboost.datasets import Collection, web_search_log, write_letor

pytest.importorskip("optuna")
QUICK = [
    "--objective",
    "lambdarank",
    "--objective",
    "LambdaRank",
    "--settings",
    "3",
    "--rounds",
    "15",
    "--workers",
    "1",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    log = web_search_log(60, documents=12, seed=5)
    for name, part in (("train", log.take(range(40))), ("valid", log.take(range(40, 60)))):
        write_letor(folder / f"{name}.txt", part)
    return folder


def arguments(files, out, *more):
    return [
        "tune",
        str(files / "train.txt"),
        "--valid",
        str(files / "valid.txt"),
        "--out",
        str(out),
        *QUICK,
        *more,
    ]


def test_it_writes_a_model_with_a_script_that_trains_it_again(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(arguments(files, "model.txt", "--json")) == OK
    about = json.loads(capsys.readouterr().out)
    assert about["tuning"]["settings"] == 3
    assert about["data"]["valid"]["file"] == "valid.txt"
    exec((tmp_path / "model.txt.py").read_text(encoding="utf-8"), {})
    first, again = (tmp_path / name for name in ("model.txt", "again-model.txt"))
    trees = [path.read_text(encoding="utf-8").split("\nparameters:")[0] for path in (first, again)]
    assert trees[0] == trees[1]
    assert run(["predict", "model.txt", str(files / "valid.txt")]) == OK
    assert len(capsys.readouterr().out.splitlines()) > 100


def test_it_prints_the_verdict(files, tmp_path, capsys):
    more = ("--measure", "ndcg@3", "--measure", "map", "--split", "given")
    assert run(arguments(files, tmp_path / "model.txt", *more)) == OK
    out = capsys.readouterr().out
    assert out.startswith("- Choice: ") and "NDCG(k=3)" in out and "queries of valid" in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--objective", "rank:map", "--out", "model"], "objective rank:map cannot train on these data"),
        (
            ["--objective", "rank:map"],
            "is XGBoost's own, but the engine is lightgbm: choose xgboost",
        ),
        (
            ["--engine", "xgboost"],
            "--out model.txt: .txt is LightGBM's format, and the model is XGBoost's: give .ubj",
        ),
        (["--objective", "LambdaRang"], "'LambdaRang' is unknown"),
        (["--measure", "cndcg@3"], "--measure CNDCG(k=3) needs the label source 'clicks'"),
        (["--objective", "graded"], "give its column as --source clicks=COLUMN"),
        (["--keep", "0.1"], "lambdaboost: --keep takes two different measures"),
        (["--keep", "0.1"], "give such as"),
        (["--param", "objective=x"], "lambdaboost: --param 'objective=x': objective has its own option"),
        (["--minutes", "1"], "lambdaboost: --settings is 3, and minutes is 1.0: give one of them"),
        (["--study", "no/study"], "study no/study: folder no does not exist"),
        (["--study", "."], "study . is a folder: give a file name in it"),
        (["--param", "num_leafs=3"], "has no parameter 'num_leafs'"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(files, tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.chdir(tmp_path)
    assert run(arguments(files, "model.txt", *more)) == BAD_INPUT
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_messages_name_options_of_the_commands():
    params = [one for command in get_command(app).commands.values() for one in command.params]
    known = {option for one in params for option in (*one.opts, *one.secondary_opts)}
    assert {option for option in OPTIONS.values() if option != "TRAIN"} <= known
    for message in (
        "NDCG(k=3, empty=1) in LambdaRank(metric=NDCG(keep=2))",
        "'keep=3'",
        "omit --source query=query",
        "split=test/query=7/part.parquet has no rows",
        "the engine's keep 'x'",
        "no keep",
    ):
        assert in_options(message) == message
    assert in_options("folds is 5") == "--folds is 5"
    assert in_options("sources: column 'x' is given twice") == "--source: column 'x' is given twice"


def kept(study):
    """The number of trials in a study."""
    return study.read_bytes().count(b'"result":') if study.exists() else 0


def test_ctrl_c_writes_the_best_so_far_and_the_same_command_goes_on(files, tmp_path):
    out, study = tmp_path / "model.txt", tmp_path / "study.log"
    given = arguments(files, out, "--settings", "1000", "--study", str(study))
    process = subprocess.Popen(
        [sys.executable, "-m", "lambdaboost", *given], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 600
    try:
        while kept(study) < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=600)[1]
    finally:
        process.kill()
    assert process.returncode == 130, error
    assert "becomes the best so far" in error and "Traceback" not in error and "nothing written" not in error
    saved = load(out)
    done = saved.about["tuning"]["settings"]
    assert 2 <= done < 1000  # the third may be written, and not counted yet
    assert np.isfinite(saved.predict(np.zeros((1, saved.booster.num_feature())))).all()
    again = arguments(files, out, "--settings", str(done + 1), "--study", str(study))
    assert run(again) == BAD_INPUT and run([*again, "--overwrite"]) == OK
    assert load(out).about["tuning"]["settings"] == done + 1


LETOR = Collection(
    np.array([[1.0, 0, 1], [2, 4, 2], [1, 3, 1], [2, 0, 2]]), Queries([1, 0, 2, 0], sizes=[2, 2])
)
SPARSE = Collection(sparse.csr_matrix(([1.0] * 4, (range(4), [0, 5, 9, 299])), shape=(4, 300)), LETOR.queries)
TABLE = "q,label,a,b,c,d,rank\nx,1,0.5,,3,0,1\ny,0,1,2,4,1,1\nx,2,7,0,0,0,2\ny,1,3,3,1,0,2\n"


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (LETOR, {"sources": ["ctr=2:rate"], "position": "3"}),
        (LETOR, {"drop": ["2-3"]}),
        (SPARSE, {}),
        (TABLE, {"query": "q", "sources": ["ctr=c:rate", "c2=d"], "position": "rank", "drop": ["b"]}),
    ],
    ids=["letor", "dropped", "sparse", "csv"],
)
def test_the_script_reads_files_as_the_command_does(tmp_path, content, options):
    path = tmp_path / ("train.csv" if content is TABLE else "train.txt")
    if content is TABLE:
        path.write_text(TABLE)
    else:
        write_letor(path, content)
    columns = parse_columns(**options)
    table, made = columns.open(path), {}
    wanted = columns.read(table)
    exec(reading_of({"train": path}, columns.recorded(wanted, table)), made)
    found = made["train"]
    assert type(found.features) is type(wanted.features)
    dense = [x if isinstance(x, np.ndarray) else x.toarray() for x in (found.features, wanted.features)]
    np.testing.assert_array_equal(*dense)
    assert found.queries.labels.keys() == wanted.queries.labels.keys()
    for name, labels in wanted.queries.labels.items():
        np.testing.assert_array_equal(found.queries.labels[name], labels)
    np.testing.assert_array_equal(found.queries.offsets, wanted.queries.offsets)
    assert (found.queries.positions is None) == ("position" not in options)
