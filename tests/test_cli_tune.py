"""``lambdaboost tune``: files in, a model, its description and its script out; Ctrl-C keeps the best so far."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from command import call, done, refused
from scipy import sparse

from lambdaboost import Queries, load
from lambdaboost.cli.options import columns_of, read_source
from lambdaboost.cli.tune import reading_of
from lambdaboost.datasets import Collection, web_search_log, write_letor

pytest.importorskip("optuna")
QUICK = (
    "--objective",
    "lambdarank",
    "--objective",
    "LambdaRank",
    "--settings",
    3,
    "--rounds",
    15,
    "--workers",
    1,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    log = web_search_log(60, documents=12, seed=5)
    for name, part in (("train", log.take(range(40))), ("valid", log.take(range(40, 60)))):
        write_letor(folder / f"{name}.txt", part)
    return folder


def arguments(files, out, *more):
    return ["tune", files / "train.txt", "--valid", files / "valid.txt", "--out", out, *QUICK, *more]


def test_it_writes_a_model_with_a_script_that_trains_it_again(files, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    about = json.loads(done(capsys, *arguments(files, "model.txt", "--json"))[0])
    assert about["tuning"]["settings"] == 3 and about["data"]["valid"]["file"] == "valid.txt"
    script = (tmp_path / "model.txt.py").read_text(encoding="utf-8")
    assert not [word for word in script.split() if word.startswith("lambdaboost.") and "._" in word]
    exec(script, {})
    first, again = (tmp_path / name for name in ("model.txt", "again-model.txt"))
    trees = [path.read_text(encoding="utf-8").split("\nparameters:")[0] for path in (first, again)]
    assert trees[0] == trees[1]
    assert len(done(capsys, "predict", "model.txt", files / "valid.txt")[0].splitlines()) > 100


def test_it_prints_the_verdict(files, tmp_path, capsys):
    more = ("--measure", "ndcg@3", "--measure", "map", "--split", "given")
    out, _ = done(capsys, *arguments(files, tmp_path / "model.txt", *more))
    assert out.startswith("- Choice: ") and "NDCG(k=3)" in out and "queries of valid" in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--objective", "rank:map", "--out", "model"], "objective rank:map cannot train on these data"),
        (["--objective", "rank:map"], "is XGBoost's own, but the engine is lightgbm: choose xgboost"),
        (["--engine", "xgboost"], "model.txt has the suffix of another engine's format, and the model is XGBoost's"),
        (["--objective", "LambdaRang"], "'LambdaRang' is unknown"),
        (["--measure", "cndcg@3"], "CNDCG(k=3) needs the label source 'clicks': give its column as --source clicks="),
        (["--objective", "graded"], "give its column as --source clicks=COLUMN"),
        (["--keep", "0.1"], "error: keep takes two different measures"),
        (["--param", "objective=x"], "params has 'objective'"),
        (["--minutes", "1"], "error: settings is 3, and minutes is 1.0: give one of them"),
        (["--param", "num_leafs=3"], "params has 'num_leafs', which LightGBM does not know"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_writes_nothing(files, tmp_path, monkeypatch, capsys, more, said):
    monkeypatch.chdir(tmp_path)
    assert said in refused(capsys, *arguments(files, "model.txt", *more))
    assert list(tmp_path.iterdir()) == []


def kept(study):
    """The number of trials in a study."""
    return study.read_bytes().count(b'"result":') if study.exists() else 0


def test_ctrl_c_writes_the_best_so_far_and_the_same_command_goes_on(files, tmp_path, capsys):
    out, study = tmp_path / "model.txt", tmp_path / "study.log"
    given = [str(word) for word in arguments(files, out, "--settings", 1000, "--study", study)]
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
    settings = saved.about["tuning"]["settings"]
    assert 2 <= settings < 1000  # the third may be written, and not counted yet
    assert np.isfinite(saved.predict(np.zeros((1, saved.booster.num_feature())))).all()
    again = arguments(files, out, "--settings", settings + 1, "--study", study)
    assert call(capsys, *again)[0] == 1
    done(capsys, *again, "--overwrite")
    assert load(out).about["tuning"]["settings"] == settings + 1


LETOR = Collection(
    np.array([[1.0, 0, 1], [2, 4, 2], [1, 3, 1], [2, 0, 2]]), Queries([1, 0, 2, 0], sizes=[2, 2])
)
SPARSE = Collection(sparse.csr_matrix(([1.0] * 4, (range(4), [0, 5, 9, 299])), shape=(4, 300)), LETOR.queries)
TABLE = "q,label,a,b,c,d,rank\nx,1,0.5,,3,0,1\ny,0,1,2,4,1,1\nx,2,7,0,0,0,2\ny,1,3,3,1,0,2\n"


@pytest.mark.parametrize(
    ("content", "options"),
    [
        (LETOR, {"source": ["ctr=2:rate"], "position": "3"}),
        (LETOR, {"drop": ["2,3"]}),
        (SPARSE, {}),
        (TABLE, {"query": "q", "source": ["ctr=c:rate", "c2=d"], "position": "rank", "drop": ["b"]}),
    ],
    ids=["letor", "dropped", "sparse", "csv"],
)
def test_the_script_reads_files_as_the_command_does(tmp_path, content, options):
    path = tmp_path / ("train.csv" if content is TABLE else "train.txt")
    if content is TABLE:
        path.write_text(TABLE)
    else:
        write_letor(path, content)
    sources = [read_source(text) for text in options.get("source", ())]
    columns = columns_of(**{"query": "qid", "label": "label"} | options | {"source": sources})
    table, made = columns.open(path), {}
    wanted = columns.read(table)
    exec(reading_of({"train": path, "valid": None}, columns.recorded(wanted, table)), made)
    found = made["train"]
    assert type(found.features) is type(wanted.features)
    dense = [x if isinstance(x, np.ndarray) else x.toarray() for x in (found.features, wanted.features)]
    np.testing.assert_array_equal(*dense)
    assert found.queries.labels.keys() == wanted.queries.labels.keys()
    for name, labels in wanted.queries.labels.items():
        np.testing.assert_array_equal(found.queries.labels[name], labels)
    np.testing.assert_array_equal(found.queries.offsets, wanted.queries.offsets)
    assert (found.queries.positions is None) == ("position" not in options)
