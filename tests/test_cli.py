"""The command line on LETOR text: every command on both engines, and every mistake reported in one line."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from command import COMMANDS, SMALL, call, done, refused, write_parts

from lambdaboost import NDCG, Queries, Spearman, __version__, load, save
from lambdaboost.cli.evaluate import describe_undefined
from lambdaboost.cli.options import read_param
from lambdaboost.cli.run import describe_error
from lambdaboost.datasets import read_letor, web_search_log, write_letor


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    log = web_search_log(queries=36, documents=20, features=16, seed=0)
    parts = {"train": range(20), "valid": range(20, 28), "test": range(28, 36)}
    return write_parts(tmp_path_factory.mktemp("letor"), log, **parts)


def trained(capsys, folder, out, engine, *more):
    given = ("--engine", engine, "--rounds", 5, *SMALL[engine], "--out", out, *more)
    return done(capsys, "train", folder / "train.txt", *given)[0]


def described_by(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_train_predict_evaluate_agree(capsys, folder, tmp_path, engine):
    model, scores, test = tmp_path / "model", tmp_path / "scores.txt", folder / "test.txt"
    measures = ("--measure", "NDCG(k=3)", "--measure", "MAP")
    more = ("--valid", folder / "valid.txt", "--test", test, "--early-stopping", 3, *measures)
    table = trained(capsys, folder, model, engine, *more)
    about = described_by(tmp_path / "model.json")
    assert about["objective"] == "YetiLoss()" and about["engine"] == engine
    assert about["data"]["train"]["queries"] == 20 and about["rounds_kept"] <= 5
    assert done(capsys, "predict", model, test, "--out", scores) == ("", "")
    for standard in ((), ("--out", "-")):
        assert done(capsys, "predict", model, test, *standard) == (scores.read_text(encoding="utf-8"), "")
    by_scores, by_model = (
        json.loads(done(capsys, "evaluate", test, *given, "--json", *measures)[0])
        for given in (("--scores", scores), ("--model", model))
    )
    named = tmp_path / "named.csv"
    done(capsys, "predict", model, test, "--ids", "--out", named)
    said = refused(capsys, "evaluate", test, "--scores", named)
    assert f"{named}: " in said and "give one score a line, as predict writes them without --ids" in said
    assert by_scores == by_model and by_model["measures"] == about["measures"]["test"]
    assert f"{by_model['measures']['NDCG(k=3)']:.4f}" in table
    shown, _ = done(capsys, "evaluate", test, "--model", model, "--measure", "NDCG(k=3)")
    assert f"{by_model['measures']['NDCG(k=3)']:.4f}" in shown and "8 queries" in shown


def test_clicks_leave_the_features_and_teach(capsys, folder, tmp_path, engine):
    model, test = tmp_path / "model", folder / "test.txt"
    source = ("--source", "clicks=17:rate", "--measure", "CNDCG(k=3)")
    more = ("--objective", "graded", "--valid", folder / "valid.txt", "--drop", "15,16")
    trained(capsys, folder, model, engine, *source, *more)
    columns = described_by(tmp_path / "model.json")["columns"]
    assert columns["sources"] == {"clicks": "17"} and columns["rates"] == ["clicks"]
    assert columns["drop"] == ["15", "16"] and columns["features"] == [str(n) for n in range(1, 15)]
    plain = done(capsys, "predict", model, test)[0]
    # Neither the clicks nor the dropped columns of a file bear on its scores.
    part = read_letor(test)
    part.features[:, 14:] = 0.25
    write_letor(tmp_path / "other.txt", part)
    assert done(capsys, "predict", model, tmp_path / "other.txt")[0] == plain
    (tmp_path / "scores").write_text(plain)
    ways = (("--model", model), ("--model", model, *source), ("--scores", tmp_path / "scores", *source))
    found = [
        json.loads(done(capsys, "evaluate", test, *given, "--measure", "CNDCG", "--json")[0])["measures"]
        for given in ways
    ]
    assert found[0] == {"CNDCG()": found[1]["CNDCG()"]} and found[1] == found[2]
    assert 0 < found[0]["CNDCG()"] <= 1


def test_gradient_steps_have_their_own_smallest_leaf(capsys, folder, tmp_path):
    """Of 20 documents; XGBoost's default is 1."""
    for name, more in (("a", ()), ("b", ("--param", "min_child_weight=20"))):
        given = ("--engine", "xgboost", "--rounds", 5, "--objective", "GradientStep(LambdaRank())", *more)
        done(capsys, "train", folder / "train.txt", *given, "--out", tmp_path / name)
    scores = [done(capsys, "predict", tmp_path / name, folder / "test.txt")[0] for name in "ab"]
    assert scores[0] == scores[1]


def test_output_that_lacks_characters_has_their_codes(capsys, tmp_path, monkeypatch):
    """As a file has to which Windows redirects; names of documents are data, and not changed."""
    rows = "qid,label,x,名\n" + "".join(f"1,{at % 2},{at},名{at}\n" for at in range(40))
    (tmp_path / "名.csv").write_text(rows, encoding="utf-8")
    given = [str(tmp_path / "名.csv"), "--drop", "名"]
    done(capsys, "train", *given, "--rounds", 1, "--out", tmp_path / "m")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "cp1252", write_through=True))
    assert call(capsys, "evaluate", *given, "--model", tmp_path / "m")[0] == 0
    assert rb"\u540d.csv: 1 query" in sys.stdout.buffer.getvalue()
    code, _, err = call(capsys, "predict", tmp_path / "m", given[0], "--ids", "--document", "名")
    assert code == 1 and "codec can't encode" in err


@pytest.mark.filterwarnings("always")
def test_ties_of_a_sorted_file_are_said_and_shuffled_by_a_seed(capsys, tmp_path):
    lines = [f"{grade} qid:{q} 1:0.5\n" for q in range(200) for grade in (1, 0)]
    (tmp_path / "sorted.txt").write_text("".join(lines))
    (tmp_path / "scores").write_text("0\n" * 400, encoding="utf-8-sig")  # as some editors write it
    given = (tmp_path / "sorted.txt", "--scores", tmp_path / "scores", "--measure", "P@1")
    out, err = done(capsys, "evaluate", *given, "--json")
    assert json.loads(out)["measures"] == {"Precision(k=1)": 1.0}
    assert "warning: scores tie in 200 of 200 queries" in err
    assert "in the reverse order 0.0000; shuffle" in err
    out, err = done(capsys, "evaluate", *given, "--json", "--seed", 0)
    assert 0.35 < json.loads(out)["measures"]["Precision(k=1)"] < 0.65 and err == ""
    _, err = done(capsys, "report", *given, "--out", tmp_path / "page.html")
    assert "warning: 'scores': scores tie in 200 of 200" in err


def test_queries_of_lightgbms_form_are_numbered(capsys, folder, tmp_path):
    """Text without qid, and the sizes of the queries in another file."""
    trained(capsys, folder, tmp_path / "m", "lightgbm")
    n = read_letor(folder / "test.txt").queries.n_documents
    (tmp_path / "rank.test").write_text(re.sub(r"qid:\d+ ", "", (folder / "test.txt").read_text()))
    (tmp_path / "rank.test.query").write_text(f"2\n{n - 2}\n")
    lines = done(capsys, "predict", tmp_path / "m", tmp_path / "rank.test", "--ids")[0].splitlines()
    assert lines[0] == "qid,document,score" and len(lines) == 1 + n
    assert lines[1].startswith("1,1,") and lines[3].startswith("2,3,")


@pytest.mark.filterwarnings("default")
def test_features_of_other_files_are_found_by_name(capsys, folder, tmp_path):
    trained(capsys, folder, tmp_path / "m", "lightgbm")
    narrow, wide = tmp_path / "narrow.txt", tmp_path / "wide.txt"
    narrow.write_text("1 qid:1 1:0.5\n0 qid:1 2:0.5\n")
    wide.write_text("1 qid:1 1:0.5 18:1\n0 qid:1 2:0.5\n")
    _, err = done(capsys, "predict", tmp_path / "m", narrow)
    assert "narrow.txt lacks the features '3', '4'" in err and "which count as 0" in err
    scores, err = done(capsys, "predict", tmp_path / "m", wide)
    assert "count as 0" not in err and len(scores.split()) == 2


MISTAKES = [
    ("--objective LambdaRank(sigma='a')", "Invalid value for '--objective': sigma is 'a': give a number"),
    ("--objective SigmoidLocal()", "train with GradientStep(SigmoidLocal())"),
    ("--objective graded", "needs the label source 'clicks': give its column as --source clicks=COLUMN"),
    ("--objective reg:squarederror", "which is unknown: give such as YetiLoss(), or an engine's own of ranking"),
    ("--objective lambdarnk", "'lambdarnk', which is unknown: did you mean 'lambdarank'?"),
    ("--measure NDGC", "Invalid value for '--measure': cannot read"),
    ("--measure CNDCG --test TEST", "CNDCG() needs the label source 'clicks'"),
    ("--measure CNDCG --test TEST --source clicks=17", "CNDCG(): clicks is 16 in row 1 of TEST: "),
    ("--source clicks=17:log", "has no column '17:log'"),
    ("--source =17", "expected NAME=COLUMN or NAME=COLUMN:rate"),
    ("--source clicks", "has no column 'clicks': choose among '1', '2'"),
    ("--source clicks=17 --source clicks=16", "label source 'clicks' exists already"),
    ("--source clicks=17 --drop 17", "error: sources: column '17' is given twice"),
    ("--query q", "error: query: "),
    ("--param num_leaves", "expected KEY=VALUE"),
    ("--param learning_rte=1", "--param learning_rte is unknown to LightGBM: did you mean 'learning_rate'"),
    ("--param num_trees=9", "--param num_trees has its own option"),
    ("--early-stopping 5", "--early-stopping watches a measure of the validation file: give --valid"),
    ("--rounds 0", "See lambdaboost train --help"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "message"), MISTAKES, ids=[wrong[:40] for wrong, _ in MISTAKES])
def test_train_refuses(capfd, folder, tmp_path, wrong, message):
    out, test = tmp_path / "model", str(folder / "test.txt")
    out.write_text("an older model")
    wrong = [test if word == "TEST" else word for word in wrong.split()]
    said = refused(capfd, "train", folder / "train.txt", "--out", out, "--overwrite", *wrong)
    assert message.replace("TEST", test) in said
    assert out.read_text(encoding="utf-8") == "an older model" and os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize(
    ("engine", "param", "said"),
    [("lightgbm", "num_leaves=1", "Check failed: (num_leaves) > (1)"), ("xgboost", "eta=-1", "")],
)
def test_an_engines_refusal_is_reported_without_its_stack(capfd, folder, tmp_path, engine, param, said):
    given = ("--out", tmp_path / "m", "--engine", engine, "--param", param)
    code, _, err = call(capfd, "train", folder / "train.txt", *given)
    last = err.splitlines()[-1]  # LightGBM's C++ prints a line of its own before
    assert code == 1 and re.match(r"error: (LightGBM|XGBoost) reports: ", last) and said in last
    assert "Stack trace" not in err and "0x" not in last and os.listdir(tmp_path) == []


PLACES = {
    "does not exist; create it": "train TRAIN --out HERE/no/model",
    "is a folder": "train TRAIN --out HERE",
    "'HERE/none.txt' does not exist": "train HERE/none.txt --out HERE/m",
    "is a directory": "train HERE --out HERE/m",
    "HERE/bad.txt:2: ": "train HERE/bad.txt --out HERE/m",
    "for '--model': file 'absent.txt' does not exist": "report TRAIN --model a=absent.txt",
    "give either --scores or --model": "evaluate TRAIN",
    "give either --scores or --model ": "evaluate TRAIN --scores TRAIN --model TRAIN",
    "TRAIN is not a model that": "predict TRAIN TRAIN",
    "give .ubj or .json, or no suffix": "train TRAIN --engine xgboost --out HERE/a.txt",
}


@pytest.mark.parametrize("said", PLACES)
def test_places_and_files_that_cannot_be(capsys, folder, tmp_path, said):
    (tmp_path / "bad.txt").write_text("1 qid:1 1:0.5\n0 qid:1 2:zero\n")

    def placed(text):
        return text.replace("TRAIN", str(folder / "train.txt")).replace("HERE", str(tmp_path))

    assert placed(said).strip() in refused(capsys, *map(placed, PLACES[said].split()))
    assert os.listdir(tmp_path) == ["bad.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(capsys, folder, tmp_path):
    tmp_path.chmod(0o500)
    try:
        assert "is not writable" in refused(capsys, "train", folder / "train.txt", "--out", tmp_path / "m")
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(os.name != "posix", reason="other systems have other limits")
def test_the_longest_name_is_written_and_a_longer_one_refused_before_the_training(capsys, folder, tmp_path):
    longest = "m" * (255 - len(".json"))
    trained(capsys, folder, tmp_path / longest, "lightgbm")
    assert sorted(os.listdir(tmp_path)) == [longest, f"{longest}.json"]
    for name in (longest + "m", "m" * 256):
        said = refused(capsys, "train", folder / "train.txt", "--out", tmp_path / name)
        assert "name too long; give another name" in said
    with pytest.raises(ValueError, match="name too long"):
        save(load(tmp_path / longest).booster, tmp_path / (longest + "m"), objective="LambdaRank")
    assert len(os.listdir(tmp_path)) == 2


def test_scores_and_descriptions_that_are_wrong(capsys, folder, tmp_path):
    test, model, scores = folder / "test.txt", tmp_path / "m", tmp_path / "scores"
    trained(capsys, folder, model, "lightgbm")
    n = read_letor(test).queries.n_documents
    for text, said in {
        "1\n": f"has 1 scores: give a finite one for each of {n} documents",
        "1\n" * (n - 1) + "nan\n": f"has {n} scores: give a finite one",
        "1\n" * (n - 1) + "high\n": "'high'",
    }.items():
        scores.write_text(text)
        assert said in refused(capsys, "evaluate", test, "--scores", scores)
    # A model knows its features, whatever else is given.
    assert done(capsys, "predict", model, test, "--drop", 1) == done(capsys, "predict", model, test)


HOSTILE = {"escapes": "\x1b]0;owned\x07\x1b[31m\u202e", "long": "x" * 1_000_000, "braces": "{0} %s [bold]"}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_does_not_reach_the_terminal(capsys, tmp_path, kind):
    """Names in a file's header and values of options: one line, short, without control characters."""
    evil, table = HOSTILE[kind], tmp_path / "t.csv"
    table.write_text(f"qid,label,f,a{evil}\n1,1,0,x\n1,0,1,y\n", encoding="utf-8")
    (tmp_path / "scores").write_text(f"1\n{evil}\n", encoding="utf-8")
    out, scores = ("--out", tmp_path / "m"), ("--scores", tmp_path / "scores")
    for words in (
        ("train", table, *out),
        ("train", table, "--drop", evil, "--query", f"no{evil}", *out),
        ("train", table, "--source", f"c=a{evil}", *out),
        ("train", table, "--objective", f"LambdaRank({evil!r})", *out),
        ("train", table, "--param", f"{evil}=1", *out),
        ("evaluate", table, "--measure", f"n{evil}", *scores),
        ("report", table, "--scores", f"{evil}={tmp_path / 'scores'}", "--out", tmp_path / "p"),
    ):
        error = refused(capsys, *words)
        assert len(error) < 3_000 and error[:-1].isprintable(), words[:1]
    assert sorted(os.listdir(tmp_path)) == ["scores", "t.csv"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command(capsys, command):
    """Its help has an example that is read, keeps brackets, fits; its mistakes are reported in one line."""
    out, err = done(capsys, command, "--help")
    assert err == "" and f"Example: lambdaboost {command}" in out and max(map(len, out.splitlines())) <= 80
    hints = get_type_hints(COMMANDS[command], include_extras=True)
    assert all(get_args(hint)[1].help for name, hint in hints.items() if name != "return")
    for example in re.findall(r"Example: lambdaboost (.*)", COMMANDS[command].__doc__):
        said = call(capsys, *shlex.split(example), "--no-such-option")[2]
        assert said.startswith("error: No such option: --no-such-option")
    assert f"See lambdaboost {command} --help." in refused(capsys, command, "--no-such-option")


def test_help_is_a_table_of_contents(capsys):
    assert done(capsys, "--version") == (f"lambdaboost {__version__}\n", "")
    for args in ([], ["--help"]):
        out, _ = done(capsys, *args)
        assert out.index(" Train and predict ") < out.index(" Measure and compare ")
        names = re.findall("^│ ([a-z]\\w+)  ", out, re.M)
        assert names == ["demo", "train", "tune", "predict", "evaluate", "report"]
    assert "Did you mean 'train'? See lambdaboost --help" in refused(capsys, "trian")


def test_a_defect_and_a_missing_extra(capsys, tmp_path):
    assert describe_error(ZeroDivisionError("x"))[0] == 70
    assert describe_error(ImportError("charts need matplotlib: pip install 'lambdaboost[plots]'"))[0] == 1
    code, _, err = call(capsys, "predict", tmp_path / "a", tmp_path / "b", "--debug")
    assert code == 2 and "Traceback" in err and err.splitlines()[-1].startswith("error: ")


def test_texts_of_options():
    values = {"a=1": 1, "a=0.5": 0.5, "a=true": True, "a=True": True, "a=[1, 2]": [1, 2], "a=gbdt": "gbdt"}
    values |= {"a=nan": "nan", "a=NaN": "NaN", "a=b=c": "b=c"}
    assert {text: read_param(text)[1] for text in values} == values


@pytest.mark.parametrize("engine", ["lightgbm", pytest.param("xgboost", marks=pytest.mark.slow)])
def test_demo_prints_one_table_and_writes_a_page(capsys, tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    out, _ = done(capsys, "demo", "--queries", 24, "--rounds", 3, "--engine", engine)
    assert os.listdir() == ["lambdaboost-report.html"] and out.endswith("lambdaboost-report.html\n")
    page = (tmp_path / "lambdaboost-report.html").read_text(encoding="utf-8")
    assert f"lambdaboost demo, {engine}" in page and "Learning curves" in page
    assert "over 12 test queries" in out and "on 6 other queries" in out and "paired t-test" in out
    table = [line for line in out.splitlines() if line.startswith(" ")]
    assert all(len(line) <= 80 for line in table)
    rows = {line.split()[0]: line.split()[1:] for line in table if len(line.split()) > 4}
    measures = {f"NDCG(k={k})" for k in range(1, 11)} | {"NDCG()", "CNDCG(k=3)", "CNDCG(k=10)"}
    assert measures <= rows.keys()
    assert set(rows["learning"][1:]) <= {"0.025", "0.05", "0.1", "0.2"} and len(rows["learning"]) == 5
    assert all(float(seconds) >= 0 for seconds in rows["seconds"])


AT_TRAINING = """
import os, signal
from lambdaboost.objectives.bound import Bound

gradient = Bound.gradient


def interrupted(self, scores, iteration=0):
    if iteration == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return gradient(self, scores, iteration)


Bound.gradient = interrupted
"""
AT_IMPORT = """
import os, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)


class Interrupting:
    def find_spec(self, name, *_):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Interrupting())
"""
COMMAND = "from lambdaboost.cli import main; main()"


def test_ctrl_c_is_one_line_and_leaves_nothing(folder, tmp_path):
    """In another process: silent progress in a pipe, 130, and no model left behind."""
    command = [sys.executable, "-c", AT_TRAINING + COMMAND, "train", folder / "train.txt", "--out"]
    ran = subprocess.run([*command, tmp_path / "m"], capture_output=True, text=True, timeout=600)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "lambdaboost: stopped, nothing written\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("module", "is_module"),
    [
        ("lambdaboost.attaching", False),
        ("lambdaboost.attaching", True),
        ("typer", False),
        ("lightgbm", False),
    ],
)
def test_ctrl_c_while_it_starts_is_one_line(folder, tmp_path, module, is_module):
    """Earlier a traceback, for as long as the package itself was imported."""
    (tmp_path / "sitecustomize.py").write_text(AT_IMPORT.format(module=module), encoding="utf-8")
    (tmp_path / "lambdaboost").write_text(COMMAND, encoding="utf-8")  # as pip writes it
    program = ["-m", "lambdaboost"] if is_module else [tmp_path / "lambdaboost"]
    command = [sys.executable, *program, "train", folder / "train.txt", "--out", tmp_path / "m"]
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parent.parent)])
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env=os.environ | {"PYTHONPATH": path}
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "lambdaboost: stopped, nothing written\n")
    assert not (tmp_path / "m").exists()


def test_queries_on_which_a_measure_is_undefined_are_told_measure_by_measure():
    q = Queries([0, 0, 1, 0, 2, 2], sizes=[2, 2, 2])
    both = describe_undefined("file", q, [NDCG(3), NDCG()])
    assert both == "file: 3 queries; NDCG(k=3), NDCG() undefined on 1 of them, counted as 0"
    left = describe_undefined("file", q, [Spearman(empty=float("nan"))])
    assert left.endswith(" undefined on 2 of them, left out")
