"""The command line on small files: every command on both engines, and every mistake reported in one line."""

import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
import typer
from command import call, refused

from lambdaboost import __version__, load, save
from lambdaboost._installed import SUFFIXES, TITLES
from lambdaboost.cli.app import MEASURE as MEASURE_PANEL
from lambdaboost.cli.app import TRAIN as TRAIN_PANEL
from lambdaboost.cli.app import app
from lambdaboost.cli.columns import parse_columns
from lambdaboost.cli.run import _described, run
from lambdaboost.datasets import read_letor, web_search_log, write_letor
from lambdaboost.evaluation import MAP

ENGINES = ("lightgbm", "xgboost")
SMALL = {"lightgbm": ("--param", "min_data_in_leaf=5"), "xgboost": ("--param", "min_child_weight=0")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """train, valid and test of LETOR text; column 17 holds clicks."""
    folder = tmp_path_factory.mktemp("letor")
    log = web_search_log(queries=36, documents=20, features=16, seed=0)
    for name, queries in (("train", range(20)), ("valid", range(20, 28)), ("test", range(28, 36))):
        part = log.take(list(queries))
        clicks = np.round(part.queries.labels["clicks"] * 200)
        write_letor(
            folder / f"{name}.txt",
            type(part)(np.column_stack([part.features, clicks]).astype(np.float32), part.queries),
        )
    return folder


def trained(capsys, folder, out, engine, *further):
    code, stdout, err = call(
        capsys,
        "train",
        folder / "train.txt",
        "--engine",
        engine,
        "--rounds",
        5,
        *SMALL[engine],
        "--out",
        out,
        *further,
    )
    assert code == 0, err
    return stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_train_predict_evaluate_agree(capsys, folder, tmp_path, engine):
    model, scores = tmp_path / "model", tmp_path / "scores.txt"
    test, measures = folder / "test.txt", ("--measure", "NDCG(k=3)", "--measure", "MAP")
    table = trained(
        capsys,
        folder,
        model,
        engine,
        "--valid",
        folder / "valid.txt",
        "--test",
        test,
        "--early-stopping",
        3,
        *measures,
    )
    about = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert about["objective"] == "LambdaRank()" and about["engine"] == engine
    assert about["data"]["train"]["queries"] == 20 and about["rounds_kept"] <= 5
    assert call(capsys, "predict", model, test, "--out", scores) == (0, "", "")
    assert call(capsys, "predict", model, test)[1] == scores.read_text(encoding="utf-8")
    by_scores = json.loads(call(capsys, "evaluate", test, "--scores", scores, "--json", *measures)[1])
    by_model = json.loads(call(capsys, "evaluate", test, "--model", model, "--json", *measures)[1])
    assert by_scores == by_model
    assert by_model["measures"] == about["measures"]["test"]
    assert f"{by_model['measures']['NDCG(k=3)']:.4f}" in table
    q = read_letor(test).queries
    values = np.loadtxt(scores)
    if np.unique(values).size == values.size:
        assert by_model["measures"]["MAP()"] == pytest.approx(MAP()(values, q))
    shown = call(capsys, "evaluate", test, "--model", model, "--measure", "NDCG(k=3)")[1]
    assert f"{by_model['measures']['NDCG(k=3)']:.4f}" in shown and "8 queries" in shown


@pytest.mark.parametrize("engine", ENGINES)
def test_model_is_the_engines_own(capsys, folder, tmp_path, engine):
    model = tmp_path / f"model{SUFFIXES[engine][-1]}"
    trained(capsys, folder, model, engine)
    features = read_letor(folder / "test.txt").features
    if engine == "lightgbm":
        import lightgbm as lgb

        expected = lgb.Booster(model_file=model).predict(features)
    else:
        import xgboost as xgb

        expected = xgb.Booster(model_file=model).predict(xgb.DMatrix(features))
    scores = call(capsys, "predict", model, folder / "test.txt")[1].split()
    assert np.array_equal(np.array(scores, dtype=expected.dtype), expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_clicks_leave_the_features_and_teach(capsys, folder, tmp_path, engine):
    model = tmp_path / "model"
    options = (
        "--objective",
        "graded",
        "--source",
        "clicks=17:rate",
        "--drop",
        "15-17",  # 17 is a source already
        "--measure",
        "CNDCG(k=3)",
    )
    trained(capsys, folder, model, engine, *options, "--valid", folder / "valid.txt")
    about = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    columns = about["columns"]
    assert columns["sources"] == {"clicks": "17"} and columns["rates"] == ["clicks"]
    assert columns["drop"] == ["15", "16"] and columns["features"] == [str(n) for n in range(1, 15)]
    assert columns["n_features"] == 17 and columns["sparse"] is False and columns["position"] is None
    plain = call(capsys, "predict", model, folder / "test.txt")[1]
    # Neither the clicks nor the dropped columns of a file bear on its scores.
    part = read_letor(folder / "test.txt")
    part.features[:, 14:] = 0.25
    write_letor(tmp_path / "other.txt", part)
    assert call(capsys, "predict", model, tmp_path / "other.txt")[1] == plain
    code, out, _ = call(
        capsys, "evaluate", folder / "test.txt", "--model", model, "--json", "--measure", "CNDCG"
    )
    assert code == 0 and 0 < json.loads(out)["measures"]["CNDCG()"] <= 1


def test_evaluate_scores_with_a_source(capsys, folder, tmp_path):
    scores = tmp_path / "scores"
    q = parse_columns(["clicks=17:rate"]).labels(folder / "test.txt").queries
    np.savetxt(scores, q.labels["clicks"])
    command = ("evaluate", folder / "test.txt", "--scores", scores, "--source", "clicks=17:rate", "--json")
    figures = json.loads(call(capsys, *command, "--measure", "CNDCG")[1])["measures"]
    assert figures["CNDCG()"] == pytest.approx(1.0, abs=1e-6) or figures["CNDCG()"] > 0.8


def test_a_sorted_file_gains_nothing_from_ties(capsys, tmp_path):
    lines = [f"{grade} qid:{q} 1:0.5\n" for q in range(200) for grade in (1, 0)]
    (tmp_path / "sorted.txt").write_text("".join(lines))
    (tmp_path / "scores").write_text("0\n" * 400)
    command = (
        "evaluate",
        tmp_path / "sorted.txt",
        "--scores",
        tmp_path / "scores",
        "--json",
        "--measure",
        "WTA",
    )
    assert 0.35 < json.loads(call(capsys, *command)[1])["measures"]["WTA()"] < 0.65


def test_lightgbms_form_without_qid(capsys, folder, tmp_path):
    part = read_letor(folder / "train.txt")
    lines = (folder / "train.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "rank.train").write_text(
        "\n".join(" ".join(w for w in line.split() if "qid" not in w) for line in lines)
    )
    (tmp_path / "rank.train.query").write_text("\n".join(map(str, part.queries.sizes)))
    for out, file in (("a", tmp_path / "rank.train"), ("b", folder / "train.txt")):
        assert call(capsys, "train", file, "--rounds", 3, "--out", tmp_path / out)[0] == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.filterwarnings("default")
def test_narrow_files_are_widened_and_wide_ones_refused(capsys, folder, tmp_path):
    trained(capsys, folder, tmp_path / "m", "lightgbm")
    narrow, wide = tmp_path / "narrow.txt", tmp_path / "wide.txt"
    narrow.write_text("1 qid:1 1:0.5\n0 qid:1 2:0.5\n")
    wide.write_text("1 qid:1 1:0.5 18:1\n0 qid:1 2:0.5\n")
    code, _, err = call(capsys, "predict", tmp_path / "m", narrow)
    assert code == 0 and "narrow.txt has 2 features, the training data 17: missing ones count as 0" in err
    assert "has 18 features, the training data only 17" in refused(capsys, "predict", tmp_path / "m", wide)
    message = refused(capsys, "train", folder / "train.txt", "--valid", wide, "--out", tmp_path / "n")
    assert "train with 18 features" in message and not (tmp_path / "n").exists()
    code, _, err = call(
        capsys,
        "train",
        folder / "train.txt",
        "--valid",
        wide,
        "--features",
        18,
        "--rounds",
        2,
        "--out",
        tmp_path / "n",
    )
    assert code == 0, err


@pytest.mark.filterwarnings("default")
def test_sparse_training_scores_dense_files_alike(capsys, tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for q in range(30):
        for _ in range(8):
            column = int(rng.integers(1, 30))
            lines.append(f"{int(column > 20)} qid:{q} {column}:1\n")
    (tmp_path / "sparse.txt").write_text("".join(lines))
    dense = "".join(
        f"{line.split()[0]} {line.split()[1]} "
        + " ".join(f"{c}:{int(line.split()[2] == f'{c}:1')}" for c in range(1, 31))
        + "\n"
        for line in lines
    )
    (tmp_path / "dense.txt").write_text(dense)
    for engine in ENGINES:
        model = tmp_path / engine
        command = ("train", tmp_path / "sparse.txt", "--features", 30, "--engine", engine, *SMALL[engine])
        assert call(capsys, *command, "--rounds", 3, "--out", model)[0] == 0
        assert json.loads((tmp_path / f"{engine}.json").read_text(encoding="utf-8"))["columns"]["sparse"]
        scores = [call(capsys, "predict", model, tmp_path / name)[1] for name in ("sparse.txt", "dense.txt")]
        assert scores[0] == scores[1] and len(set(scores[0].split())) > 1


TRAIN = [
    (["--objective", "LamdaRank"], "--objective 'LamdaRank': cannot read"),
    (["--objective", "LambdaRank(sigma='a')"], "sigma is 'a': give a number"),
    (["--objective", "SigmoidLocal()"], "train with GradientStep(SigmoidLocal())"),
    (["--objective", "graded"], "needs the label source 'clicks', but there is only relevance"),
    (["--objective", "rank:ndcg"], "'rank:ndcg', which is XGBoost's own: on LightGBM give 'lambdarank' or"),
    (["--objective", "lambdarnk"], "'lambdarnk', which is unknown: did you mean 'lambdarank'?"),
    (["--measure", "NDGC"], "--measure 'NDGC': cannot read"),
    (["--measure", "wta@10"], "WTA has no cutoff; write WTA, without @10"),
    (["--measure", "CNDCG"], "--measure CNDCG() needs the label source 'clicks'"),
    (["--source", "clicks=17:log"], "expected NAME=COLUMN or NAME=COLUMN:rate"),
    (["--source", "clicks"], "has no column 'clicks': choose among 1 to 17"),
    (["--source", "clicks=99"], "has no column '99': choose among 1 to 17"),
    (["--source", "clicks=0"], "has no column '0': choose among 1 to 17"),
    (["--source", "relevance=3"], "a label source cannot be called 'relevance'"),
    (["--source", "clicks=17", "--source", "clicks=16"], "label source 'clicks' exists already"),
    (["--source", "clicks=17", "--drop", "17"], "--source: column '17' is given twice"),
    (["--drop", "x"], "has no column 'x': choose among 1 to 17"),
    (["--drop", "16-18"], "has no column '16-18': choose among 1 to 17"),
    (["--query", "q"], "train.txt is LETOR text, which has its own: leave query out"),
    (["--drop", ",".join(map(str, range(1, 18)))], "features is empty"),
    (["--features", "3"], "has 17 features, the training data only 3"),
    (["--param", "num_leaves"], "expected KEY=VALUE"),
    (["--param", "learning_rte=1"], "has no parameter 'learning_rte'; did you mean 'learning_rate'"),
    (["--param", "num_trees=9"], "num_trees has its own option"),
    (["--param", "num_leaves=9", "--param", "num_leaves=8"], "num_leaves is given twice"),
    (["--early-stopping", "5"], "--early-stopping needs --valid"),
    (["--rounds", "0"], "See lambdaboost train --help"),
    (["--rouns", "7"], "See lambdaboost train --help"),
    (["--engine", "catboost"], "See lambdaboost train --help"),
    (["--valid", "nowhere.txt"], "nowhere.txt: No such file or directory; check the path"),
]


@pytest.mark.parametrize(("wrong", "message"), TRAIN, ids=[" ".join(wrong)[:40] for wrong, _ in TRAIN])
def test_train_refuses(capfd, folder, tmp_path, wrong, message):
    out = tmp_path / "model"
    out.write_text("an older model")
    assert message in refused(capfd, "train", folder / "train.txt", "--out", out, "--overwrite", *wrong)
    assert out.read_text(encoding="utf-8") == "an older model" and os.listdir(tmp_path) == ["model"]


def test_an_engines_refusal_is_reported(capsys, folder, tmp_path):
    """LightGBM's C++ prints a line of its own before."""
    code, _, err = call(
        capsys, "train", folder / "train.txt", "--out", tmp_path / "m", "--param", "num_leaves=1"
    )
    last = "lambdaboost: LightGBM reports: Check failed: (num_leaves) > (1); correct --param or the data"
    assert code == 1 and err.splitlines()[-1] == last and os.listdir(tmp_path) == []


def test_a_refusal_of_xgboost_is_reported_without_its_stack(capfd, folder, tmp_path):
    out = tmp_path / "m.ubj"
    said = refused(
        capfd, "train", folder / "train.txt", "--out", out, "--engine", "xgboost", "--param", "eta=-1"
    )
    assert "XGBoost reports: " in said and "Stack trace" not in said and "0x" not in said


@pytest.mark.parametrize(
    ("engine", "name", "give"), [("xgboost", "a.txt", ".ubj or .json"), ("lightgbm", "a.json", ".txt")]
)
def test_a_suffix_of_the_other_engines_format_is_refused(capfd, folder, tmp_path, engine, name, give):
    out = tmp_path / name
    said = refused(capfd, "train", folder / "train.txt", "--engine", engine, "--out", out)
    assert f"format, and the model is {TITLES[engine]}'s: give {give} or no suffix" in said
    assert os.listdir(tmp_path) == []


def test_places_and_files_that_cannot_be(capsys, folder, tmp_path):
    train = folder / "train.txt"
    assert "does not exist; create it" in refused(capsys, "train", train, "--out", tmp_path / "no" / "model")
    assert "is a folder" in refused(capsys, "train", train, "--out", tmp_path)
    assert "check the path" in refused(capsys, "train", tmp_path / "none.txt", "--out", tmp_path / "m")
    assert "give a file" in refused(capsys, "train", tmp_path, "--out", folder / "m")
    assert "See lambdaboost train --help" in refused(capsys, "train", train)
    bad = tmp_path / "bad.txt"
    bad.write_text("1 qid:1 1:0.5\n0 qid:1 2:zero\n")
    assert f"{bad}:2: " in refused(capsys, "train", bad, "--out", tmp_path / "m")
    assert os.listdir(tmp_path) == ["bad.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(capsys, folder, tmp_path):
    tmp_path.chmod(0o500)
    try:
        assert "is not writable" in refused(capsys, "train", folder / "train.txt", "--out", tmp_path / "m")
    finally:
        tmp_path.chmod(0o700)


def test_a_write_that_fails_keeps_the_model_that_stands(capsys, folder, tmp_path):
    model = tmp_path / "m"
    trained(capsys, folder, model, "lightgbm")
    before = model.read_bytes()
    (tmp_path / "m.json").unlink()
    (tmp_path / "m.json").mkdir()  # nothing can take this place
    error = refused(capsys, "train", folder / "train.txt", "--rounds", 2, "--out", model, "--overwrite")
    assert "m.json beside --out" in error and "is a folder" in error
    assert model.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["m", "m.json"]


@pytest.mark.skipif(os.name != "posix", reason="other systems have other limits")
def test_the_longest_name_is_written_and_a_longer_one_refused_before_the_training(capsys, folder, tmp_path):
    longest = "m" * (255 - len(".json"))
    trained(capsys, folder, tmp_path / longest, "lightgbm")
    assert sorted(os.listdir(tmp_path)) == [longest, f"{longest}.json"]
    for name in (longest + "m", "m" * 256):
        assert "name too long; give another name" in refused(
            capsys, "train", folder / "train.txt", "--out", tmp_path / name
        )
    with pytest.raises(ValueError, match="name too long"):
        save(load(tmp_path / longest).booster, tmp_path / (longest + "m"), objective="LambdaRank")
    assert len(os.listdir(tmp_path)) == 2


def test_a_description_of_a_later_version_is_read(capsys, folder, tmp_path):
    trained(capsys, folder, tmp_path / "m", "lightgbm")
    before = call(capsys, "predict", tmp_path / "m", folder / "test.txt")
    about = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    about["columns"]["of_a_later_version"] = about["of_another"] = [1]
    (tmp_path / "m.json").write_text(json.dumps(about), encoding="utf-8")
    assert call(capsys, "predict", tmp_path / "m", folder / "test.txt") == before


def test_a_dash_is_standard_output(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trained(capsys, folder, tmp_path / "m", "lightgbm")
    expected = call(capsys, "predict", "m", folder / "test.txt")
    assert expected[0] == 0 and call(capsys, "predict", "m", folder / "test.txt", "--out", "-") == expected
    assert sorted(os.listdir()) == ["m", "m.json"]


def test_predict_and_evaluate_refuse(capsys, folder, tmp_path):
    test, model = folder / "test.txt", tmp_path / "m"
    trained(capsys, folder, model, "lightgbm")
    n = read_letor(test).queries.n_documents
    assert "give either --scores SCORES or --model MODEL" in refused(capsys, "evaluate", test)
    assert "give either --scores SCORES or --model MODEL" in refused(
        capsys, "evaluate", test, "--scores", test, "--model", model
    )
    assert "m.json records its columns" in refused(capsys, "evaluate", test, "--model", model, "--drop", "1")
    assert "m.json records its columns" in refused(capsys, "predict", model, test, "--drop", "1")
    assert "check the path" in refused(capsys, "predict", tmp_path / "none", test)
    assert "check the path" in refused(capsys, "predict", model, tmp_path / "none")
    assert "does not exist; create it" in refused(
        capsys, "predict", model, test, "--out", tmp_path / "no" / "s"
    )
    scores = tmp_path / "scores"
    scores.write_text("1\n")
    assert f"has 1 lines, {test} has {n} documents" in refused(capsys, "evaluate", test, "--scores", scores)
    scores.write_text("1\n" * (n - 1) + "high\n")
    assert f"{scores}:{n}: 'high' is not a finite number" in refused(
        capsys, "evaluate", test, "--scores", scores
    )
    about = (tmp_path / "m.json").read_text(encoding="utf-8")
    model.write_text(model.read_text(encoding="utf-8") + "\n")
    assert "describes another model" in refused(capsys, "predict", model, test)
    (tmp_path / "m.json").write_text(about[:50])
    assert "is not the description of a model" in refused(capsys, "predict", model, test)


HOSTILE = {
    "escapes": "\x1b]0;owned\x07\x1b[31m\u202e",
    "long": "x" * 1_000_000,
    "braces": "{0} {name} %s [bold]",
    "blanks": "\u00a0 \t ",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_does_not_reach_the_terminal(capsys, tmp_path, kind):
    """Names in a file's header and values of options: one line, short, without control characters."""
    evil = HOSTILE[kind]
    table = tmp_path / "t.csv"
    table.write_text(f"qid,label,f,a{evil}\n1,1,0,x\n1,0,1,y\n", encoding="utf-8")
    (tmp_path / "scores").write_text(f"1\n{evil or 0}\n", encoding="utf-8")
    out = ("--out", tmp_path / "m")
    for words in (
        ("train", table, *out),
        ("train", table, "--drop", evil, "--query", f"no{evil}", *out),
        ("train", table, "--label", f"a{evil}", *out),
        ("train", table, "--source", f"c=a{evil}", *out),
        ("train", table, "--objective", f"LambdaRank({evil!r})", *out),
        ("train", table, "--param", f"{evil}=1", *out),
        ("train", table, "--engine", evil, *out),
        ("evaluate", table, "--measure", f"n{evil}", "--scores", tmp_path / "scores"),
        ("evaluate", table, "--scores", tmp_path / "scores", "--drop", f"a{evil}"),
        ("report", table, "--scores", f"{evil}={tmp_path / 'scores'}", "--baseline", f"b{evil}"),
    ):
        error = refused(capsys, *words)
        assert len(error) < 3_000 and error[:-1].isprintable(), words[:1]
    assert sorted(os.listdir(tmp_path)) == ["scores", "t.csv"]


def test_evaluate_takes_sources_as_report_does(capsys, folder, tmp_path):
    """A described model knows its features; the labels of the evaluation are the caller's."""
    model, test = tmp_path / "m", folder / "test.txt"
    trained(capsys, folder, model, "lightgbm", "--drop", "17")
    given = ("--model", model, "--source", "clicks=17:rate", "--measure", "CNDCG")
    figure = json.loads(call(capsys, "evaluate", test, *given, "--json")[1])["measures"]["CNDCG()"]
    scores = tmp_path / "scores"
    assert call(capsys, "predict", model, test, "--out", scores)[0] == 0
    by_scores = ("--scores", scores, *given[2:], "--json")
    assert json.loads(call(capsys, "evaluate", test, *by_scores)[1])["measures"]["CNDCG()"] == figure > 0


def commands(group=None, path=()):
    """Every command, as the words that call it."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command(capsys, monkeypatch, words):
    """Its help has an example that runs, keeps brackets, fits; its mistakes are reported in one line."""
    monkeypatch.setenv("COLUMNS", "80")
    call_, path = " ".join(("lambdaboost", *words)), tuple(words)
    code, out, err = call(capsys, *path, "--help")
    assert (code, err) == (0, "") and f"Example: {call_}" in out and max(map(len, out.splitlines())) <= 80
    text = COMMANDS[words].help
    assert not any("\n" in p and ": " not in p.splitlines()[-1] for p in text.split("\n\n"))
    for extra in re.findall(r"lambdaboost\\(\[\w+\])", text):
        assert extra in "".join(out.split())
    for example in re.findall(r"Example: lambdaboost (.*)", COMMANDS[words].epilog):
        args = shlex.split(example)[len(path) :]
        COMMANDS[words].make_context(call_, args)  # parses, runs nothing
    assert f"See {call_} --help." in refused(capsys, *path, "--no-such-option")
    assert all(o.help for o in COMMANDS[words].params)


def test_help_is_a_table_of_contents(capsys):
    assert call(capsys, "--version") == (0, f"lambdaboost {__version__}\n", "")
    sections = (TRAIN_PANEL, MEASURE_PANEL)
    for args in ([], ["--help"]):
        code, out, _ = call(capsys, *args)
        places = [out.index(f" {section} ") for section in sections]
        assert code == 0 and places == sorted(places)
        assert re.findall("^│ ([a-z]\\w+)  ", out, re.M) == [
            "demo",
            "train",
            "tune",
            "predict",
            "evaluate",
            "report",
        ]
    assert "Did you mean 'train'? See lambdaboost --help" in refused(capsys, "trian")


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("lambdaboost ev", {"evaluate"}),
    ],
)
def test_shells_complete(capsys, monkeypatch, words, completed):
    monkeypatch.setenv("_LAMBDABOOST_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit) as end:
        run([])
    assert end.value.code in (0, None) and set(capsys.readouterr().out.split()) == completed


def test_show_completion():
    """The script for the shell that asks, which is found by its process."""
    command = f"{shlex.quote(sys.executable)} -m lambdaboost --show-completion bash; true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=600)
    assert "_LAMBDABOOST_COMPLETE" in done.stdout, done.stderr


def test_trec_runs(capsys, tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    (tmp_path / "run").write_text("1 Q0 b 1 3.5 x\n1 Q0 a 2 3.5 x\n9 Q0 z 1 1 x\n")
    given = ("--run", tmp_path / "run", "--qrels", tmp_path / "qrels")
    code, out, err = call(capsys, "evaluate", *given, "--measure", "MRR", "--json")
    assert (code, err) == (0, "")
    # Of equal scores b, the later name, stands first; query 2 was not answered.
    assert json.loads(out) == {
        "file": "run",
        "qrels": "qrels",
        "queries": 2,
        "documents": 3,
        "measures": {"MRR()": (1 / 2 + 0) / 2},
    }
    assert "0.2500" in call(capsys, "evaluate", *given, "--measure", "MRR")[1]
    assert "give both" in refused(capsys, "evaluate", *given[:2])
    assert "FILE, --model cannot be combined with --run and --qrels" in refused(
        capsys, "evaluate", "f", "--model", "m", *given
    )
    assert "needs the label source 'clicks'" in refused(capsys, "evaluate", *given, "--measure", "CNDCG")
    (tmp_path / "run").write_text("1 b 3.5\n")
    assert "run: Too many columns specified: expected 6 and found 3" in refused(capsys, "evaluate", *given)
    assert "the judgments are missing: give FILE" in refused(capsys, "evaluate")


def test_train_tells_json(capsys, folder, tmp_path):
    out = trained(capsys, folder, tmp_path / "m", "lightgbm", "--valid", folder / "valid.txt", "--json")
    assert json.loads(out) == json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert json.loads(out)["measures"]["valid"]["NDCG(k=10)"] > 0


def test_a_defect_and_a_missing_extra():
    assert _described(ZeroDivisionError("x"))[0] == 70
    assert _described(ImportError("pictures need matplotlib: pip install 'lambdaboost[plots]'"))[0] == 1


def test_debug_prints_the_traceback(capsys, tmp_path):
    code, _, err = call(capsys, "predict", tmp_path / "a", tmp_path / "b", "--debug")
    assert code == 1 and "Traceback" in err and err.splitlines()[-1].startswith("lambdaboost: ")


def test_sources_are_counted_from_one():
    columns = parse_columns(["clicks=134:rate", " fresh=2 "])
    assert columns.sources == {"clicks": "134", "fresh": "2"} and columns.rates == ("clicks",)
    with pytest.raises(ValueError, match="expected NAME=COLUMN"):
        parse_columns(["clicks=134:log"])


@pytest.mark.parametrize("engine", ENGINES)
def test_demo_prints_one_table(capsys, tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    command = ("demo", "--queries", 24, "--rounds", 3, "--engine", engine, "--report", "page.html")
    code, out, err = call(capsys, *command)
    assert code == 0 and os.listdir() == ["page.html"], err
    assert "train / valid / test 6 / 6 / 12 queries" in out and "paired t-test" in out
    table = [line for line in out.splitlines() if line.startswith(" ")]
    assert all(len(line) <= 80 for line in table)
    rows = {line.split()[0]: line.split()[1:] for line in table if len(line.split()) > 4}
    measures = {f"NDCG(k={k})" for k in range(1, 11)} | {"NDCG()", "CNDCG(k=3)", "CNDCG(k=10)"}
    assert measures <= rows.keys()
    assert set(rows["learning"][1:]) <= {"0.025", "0.05", "0.1", "0.2"} and len(rows["learning"]) == 5
    assert all(float(seconds) >= 0 for seconds in rows["seconds"])


INTERRUPTED = """
import os, signal
from lambdaboost import LambdaRank
from lambdaboost.cli import main

lambdas = LambdaRank.lambdas


def interrupted(self, scores, q, iteration):
    if iteration == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return lambdas(self, scores, q, iteration)


LambdaRank.lambdas = interrupted
main()
"""


def test_module_and_interrupt(folder, tmp_path):
    """As another process: silent progress in a pipe, 130 on Ctrl-C, and no model left behind."""
    command = [sys.executable, "-m", "lambdaboost"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lambdaboost {__version__}\n" and done.stderr == ""
    train = tmp_path / "train.txt"
    train.write_bytes((folder / "train.txt").read_bytes())
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-c", INTERRUPTED, "train", train, "--out", tmp_path / "out" / "m"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "lambdaboost: stopped, nothing written\n"
    assert os.listdir(tmp_path / "out") == []


def test_queries_on_which_a_measure_is_undefined_are_told_measure_by_measure():
    from lambdaboost import NDCG, Queries, Spearman
    from lambdaboost.cli.measuring import remark

    q = Queries([0, 0, 1, 0, 2, 2], sizes=[2, 2, 2])
    assert remark("file", q, [NDCG(3)]) == "file: 3 queries; 1 on which NDCG(k=3) is undefined count as 0"
    left = remark("file", q, [Spearman(empty=float("nan"))])
    assert left == "file: 3 queries; 2 on which Spearman(empty=float('nan')) is undefined are left out"
    assert remark("file", q.take([1]), [NDCG(3), Spearman()]) == "file: 1 query"
