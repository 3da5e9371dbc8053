"""Positions on the command line: a column of a table or of LETOR text."""

import json

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
SMALL = ("--rounds", 2, "--param", "min_data_in_leaf=1")
FITS = (*SMALL, "--source", "clicks")


@pytest.fixture
def folder(tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        qid=Q.query_of_row, label=Q.relevance, clicks=CLICKS, rank=RANKS
    )
    frame.to_csv(tmp_path / "log.csv", index=False)
    text = np.column_stack([X, CLICKS, np.nan_to_num(RANKS)])
    write_letor(tmp_path / "log.txt", Collection(text, Queries(Q.relevance, Q.sizes)))
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
    given = ("--source", "clicks=a", *model, "--measure", MEASURE)
    said = refused(capsys, "evaluate", graded, *given)
    assert "needs positions: give their column as --position COLUMN" in said
