"""Positions on the command line: a column of a table or of LETOR text."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from command import done, refused

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
SHORT = ClickDCG(5, Propensities([1])).text
SMALL = ("--rounds", 2, "--param", "min_data_in_leaf=1")
FITS = (*SMALL, "--source", "clicks")


@pytest.fixture
def folder(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        qid=Q.query_of_row, label=Q.relevance, clicks=CLICKS, rank=RANKS
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.assign(rank=np.nan_to_num(RANKS)).to_csv(tmp_path / "zeros.csv", index=False)
    text = np.column_stack([X, CLICKS, np.nan_to_num(RANKS)])
    write_letor(tmp_path / "log.txt", Collection(text, Queries(Q.relevance, Q.sizes)))
    np.savetxt(tmp_path / "first", X[:, 0])
    return tmp_path


@pytest.mark.parametrize(
    ("file", "source", "position"), [("log.csv", "clicks", "rank"), ("log.txt", "clicks=5", "6")]
)
def test_a_column_of_positions_is_read_and_no_feature(capsys, folder, file, source, position):
    where = ("--source", source, "--position", position)
    measured = ("--measure", MEASURE, "--test", folder / file, "--json")
    out, _ = done(capsys, "train", folder / file, *SMALL, *where, *measured, "--out", folder / "m.txt")
    about = json.loads(out)
    assert about["columns"]["position"] == position
    done(capsys, "predict", folder / "m.txt", folder / file, "--out", folder / "scores")
    scores = np.loadtxt(folder / "scores")
    q = Queries(Q.relevance, Q.sizes, clicks=CLICKS, position=RANKS)
    expected = ClickDCG(5, CURVE)(scores, q)
    assert about["measures"]["test"][SHOWN] == pytest.approx(expected)
    for given in (("--model", folder / "m.txt"), ("--scores", folder / "scores", *where)):
        out, _ = done(capsys, "evaluate", folder / file, *given, "--measure", MEASURE, "--json")
        assert json.loads(out)["measures"][SHOWN] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("message", "file", "more"),
    [
        ("needs positions: give their column as --position COLUMN", "log.csv", ()),
        ("log.csv has no column 'place' (did you mean", "log.csv", ("--position", "place")),
        ("column 'rank' is 0 in row 9 of ", "zeros.csv", ("--position", "rank")),
        ("column 'clicks' is given twice", "log.csv", ("--position", "clicks")),
        ("position 8 is past the curve", "log.csv", ("--position", "rank", "--measure", SHORT)),
    ],
)
def test_wrong_positions_are_answered_in_a_line(capsys, folder, message, file, more):
    given = ("--scores", folder / "first", "--source", "clicks", "--measure", MEASURE, *more)
    assert message in refused(capsys, "evaluate", folder / file, *given)
    train = (*FITS, "--measure", MEASURE, "--test", folder / file, "--out", folder / "n")
    assert message in refused(capsys, "train", folder / file, *train, *more)
    assert not (folder / "n").exists()


def test_positions_that_nothing_reads_are_reported(capsys, folder):
    log, rank = folder / "log.csv", ("--position", "rank")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        _, err = done(capsys, "train", log, *FITS, *rank, "--out", folder / "m.txt")
        assert "warning: position: this objective does not read" in err
        more = ("--measure", MEASURE, "--test", log, "--out", folder / "n.txt")
        _, err = done(capsys, "train", log, *FITS, *rank, *more)
        assert "warning" not in err and f"log.csv shares {LOG.queries.n_queries} queries with" in err
        ignores = ("--objective", "rank_xendcg", "--out", folder / "ignores.txt")
        _, err = done(capsys, "train", log, *FITS, *rank, *ignores)
        assert "position: 'rank_xendcg' does not read" in err
    native = (*FITS, "--objective", "lambdarank")
    for name, more in (("plain", ("--drop", "rank")), ("corrected", rank)):
        done(capsys, "train", log, *native, *more, "--out", folder / name)
    trees = [(folder / name).read_text().partition("parameters:")[0] for name in ("plain", "corrected")]
    assert trees[0] != trees[1]  # LightGBM's own training with positions


def test_a_model_of_clicks_is_evaluated_on_graded_data_without_positions(capsys, folder):
    objective = f"InversePropensity(LambdaRank(CNDCG()), {CURVE.text})"
    model = ("--model", folder / "m.txt")
    where = ("--position", "rank", "--objective", objective, "--out", folder / "m.txt")
    done(capsys, "train", folder / "log.csv", *FITS, *where)
    graded = folder / "graded.csv"
    pd.read_csv(folder / "log.csv").drop(columns=["rank", "clicks"]).to_csv(graded, index=False)
    done(capsys, "evaluate", graded, *model, "--measure", "ndcg@3")
    done(capsys, "report", graded, *model, "--out", folder / "report.html")
    said = refused(capsys, "evaluate", graded, *model, "--measure", MEASURE)
    assert "needs the label source 'clicks'" in said
