"""Positions on the command line: a column of a table or of LETOR text."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from command import call

from lambdaboost import ClickDCG, Queries
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Collection, web_search_log, write_letor

LOG = web_search_log(queries=12, documents=10, features=16, seed=0)
Q, X = LOG.queries, LOG.features[:, :4]
RANKS = np.concatenate([np.arange(1.0, size + 1) for size in Q.sizes])
RANKS[RANKS > 8] = np.nan
CLICKS = np.where(np.isnan(RANKS), 0, Q.labels["clicks"])
CURVE = Propensities.power(1, 8)
MEASURE = ClickDCG(5, CURVE).text
SHOWN = repr(ClickDCG(5, CURVE))
FITS = ("--rounds", 2, "--param", "min_data_in_leaf=1", "--source", "clicks")


@pytest.fixture
def folder(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        qid=Q.query_of_row, label=Q.relevance, clicks=CLICKS, rank=RANKS
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    place = pd.Series(np.where(RANKS <= 3, "top", "below")).where(~np.isnan(RANKS))
    frame.assign(rank=place).to_csv(tmp_path / "places.csv", index=False)
    frame.assign(rank=np.nan_to_num(RANKS)).to_csv(tmp_path / "zeros.csv", index=False)
    text = np.column_stack([X, CLICKS, np.nan_to_num(RANKS)])
    write_letor(tmp_path / "log.txt", Collection(text, Queries(Q.relevance, Q.sizes)))
    return tmp_path


@pytest.mark.parametrize(
    ("file", "source", "position"), [("log.csv", "clicks", "rank"), ("log.txt", "clicks=5", "6")]
)
def test_a_column_of_positions_is_read_and_no_feature(capsys, folder, file, source, position):
    where = ("--source", source, "--position", position)
    code, out, err = call(
        capsys, "train", folder / file, "--rounds", 2, "--param", "min_data_in_leaf=1", *where, "--measure", MEASURE,
        "--test", folder / file, "--out", folder / "m.txt", "--json",
    )  # fmt: skip
    assert code == 0, err
    about = json.loads(out)
    assert about["columns"]["position"] == position
    assert call(capsys, "predict", folder / "m.txt", folder / file, "--out", folder / "scores")[0] == 0
    scores = np.loadtxt(folder / "scores")
    q = Queries(Q.relevance, Q.sizes, clicks=CLICKS, position=RANKS)
    rows = q.shuffled_rows(0)
    expected = ClickDCG(5, CURVE)(scores[rows], q.reordered(rows))
    assert about["measures"]["test"][SHOWN] == pytest.approx(expected)
    for given in (("--model", folder / "m.txt"), ("--scores", folder / "scores", *where)):
        code, out, err = call(capsys, "evaluate", folder / file, *given, "--measure", MEASURE, "--json")
        assert code == 0, err
        assert json.loads(out)["measures"][SHOWN] == pytest.approx(expected)


def test_places_by_name(capsys, folder):
    np.savetxt(folder / "scores", X[:, 0])
    measure = ClickDCG(5, Propensities([0.25, 1.0], names=["below", "top"]))
    code, out, err = call(
        capsys, "evaluate", folder / "places.csv", "--scores", folder / "scores", "--source", "clicks",
        "--position", "rank", "--measure", measure.text, "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["measures"][repr(measure)] > 0


def test_wrong_positions_are_answered_in_a_line(capsys, folder):
    np.savetxt(folder / "scores", X[:, 0])
    evaluate = ("--scores", folder / "scores", "--source", "clicks", "--measure", MEASURE)
    model = folder / "m.txt"
    assert call(capsys, "train", folder / "log.csv", *FITS, "--drop", "rank", "--out", model)[0] == 0
    for message, args in (
        ("needs positions: give the column", ("evaluate", folder / "log.csv", *evaluate)),
        (
            "--test with --measure ClickDCG",
            (
                "train",
                folder / "log.csv",
                *FITS,
                "--position",
                "rank",
                "--measure",
                ClickDCG(5, Propensities([1])).text,
                "--test",
                folder / "log.csv",
                "--out",
                folder / "n",
            ),
        ),
        (
            "log.csv has no column 'place' (did you mean",
            ("evaluate", folder / "log.csv", *evaluate, "--position", "place"),
        ),
        (
            "column 'rank' is 0 in row 9 of ",
            ("evaluate", folder / "zeros.csv", *evaluate, "--position", "rank"),
        ),
        (
            "column 'clicks' is given twice",
            ("evaluate", folder / "log.csv", *evaluate, "--position", "clicks"),
        ),
        (
            "--measure ClickDCG",
            ("train", folder / "log.csv", *FITS, "--measure", MEASURE, "--out", folder / "n"),
        ),
    ):
        code, out, err = call(capsys, *args)
        assert code == 1 and out == "" and err.count("\n") == 1, err
        assert message in err
    assert not (folder / "n").exists()


def test_positions_that_nothing_reads_are_reported(capsys, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        args = (*FITS, "--position", "rank", "--out", folder / "m.txt")
        code, _, err = call(capsys, "train", folder / "log.csv", *args)
    assert code == 0 and "warning: --position: this objective does not read" in err
    native = ("--objective", "lambdarank")
    for name, more in (("plain", ("--drop", "rank")), ("corrected", ("--position", "rank"))):
        assert (
            call(capsys, "train", folder / "log.csv", *FITS, *native, *more, "--out", folder / name)[0] == 0
        )
    trees = [(folder / name).read_text().partition("parameters:")[0] for name in ("plain", "corrected")]
    assert trees[0] != trees[1]  # LightGBM's own training with positions


def test_a_model_of_clicks_is_evaluated_on_graded_data_without_positions(capsys, folder):
    objective = f"InversePropensity(LambdaRank(CNDCG()), {CURVE.text})"
    where = ("--position", "rank", "--objective", objective)
    assert call(capsys, "train", folder / "log.csv", *FITS, *where, "--out", folder / "m.txt")[0] == 0
    pd.read_csv(folder / "log.csv").drop(columns="rank").to_csv(folder / "graded.csv", index=False)
    for command in ("evaluate", "report"):
        out = ("--out", folder / "report.html") if command == "report" else ("--measure", "ndcg@3")
        code, _, err = call(capsys, command, folder / "graded.csv", "--model", folder / "m.txt", *out)
        assert code == 0, err
    asked = ("evaluate", folder / "graded.csv", "--model", folder / "m.txt", "--measure", MEASURE)
    code, _, err = call(capsys, *asked)
    assert code != 0 and "position" in err
