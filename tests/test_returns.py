"""Labels below 0, such as returns: measures and objectives of their order take them, all others refuse them."""

import json
import os

import naive_measures
import numpy as np
import on_lightgbm
import on_xgboost
import pandas as pd
import pytest
import xgboost as xgb
from rules import RULES

from lambdaboost import (
    NDCG,
    Blend,
    GradientStep,
    LambdaRank,
    ListMLE,
    PairAccuracy,
    Queries,
    RankNet,
    Scorecard,
    SigmoidLocal,
    Spearman,
)
from lambdaboost.cli.run import run
from lambdaboost.evaluation import MEASURES

ROWS, DATES = 30, 12
rng = np.random.default_rng(7)
X = rng.normal(size=(ROWS * DATES, 3))
RETURNS = (0.02 * X[:, 0] + 0.02 * rng.standard_t(3, ROWS * DATES)).astype(np.float32)
SIZES = [ROWS] * DATES
PLACES = np.tile(np.arange(ROWS) + 1, DATES)
Q = Queries(RETURNS, sizes=SIZES, clicks=RETURNS, fresh=RETURNS, position=PLACES)
SHIFTED = Queries(
    pd.Series(RETURNS).rank().to_numpy(), sizes=SIZES, clicks=pd.Series(RETURNS).rank().to_numpy()
)
SCORES = X[:, 0] + 0.5 * X[:, 1]
OF_ORDER = [
    RankNet(),
    ListMLE(),
    LambdaRank(Spearman()),
    LambdaRank(PairAccuracy()),
    SigmoidLocal(Spearman()),
    GradientStep(LambdaRank(Spearman())),
    Blend(RankNet(), LambdaRank(Spearman()), 0.5),
    Scorecard((RankNet(), LambdaRank(Spearman())), (1.0, 2.0)),
]


REFUSED = r"^(relevance|clicks|fresh)\[\d+\] is -.*: labels must be ≥ 0, except for measures and objectives of their"


@pytest.mark.parametrize("name", MEASURES)
def test_measures_of_gains_refuse_them_and_those_of_the_order_do_not(name):
    measure = naive_measures.instance(MEASURES[name])
    assert measure.allows_negative == (name in ("Spearman", "Pearson", "PairAccuracy", "KendallTau"))
    if measure.allows_negative:
        expected = naive_measures.per_query(measure, SCORES, Q)
        np.testing.assert_allclose(measure.per_query(SCORES, Q), expected, atol=1e-12)
    else:
        with pytest.raises(ValueError, match=REFUSED):
            measure.per_query(SCORES, Q)
        with pytest.raises(ValueError, match=REFUSED):  # also where nothing was asked of these queries before
            measure(SCORES, Queries(RETURNS, sizes=SIZES, clicks=RETURNS))


@pytest.mark.parametrize("objective", OF_ORDER, ids=repr)
def test_objectives_of_the_order_have_the_gradient_of_the_ranks(objective):
    assert objective.allows_negative
    for given, expected in zip(
        objective.gradient(SCORES, Q), objective.gradient(SCORES, SHIFTED), strict=True
    ):
        np.testing.assert_array_equal(given, expected)


OF_GAINS = dict.fromkeys(rule.objective for rule in RULES if not rule.objective.allows_negative)


@pytest.mark.parametrize("objective", OF_GAINS, ids=repr)
def test_objectives_of_gains_refuse_them(objective):
    with pytest.raises(ValueError, match=REFUSED):
        objective.gradient(SCORES, Q)


ENGINES = pytest.mark.parametrize("engine", [on_lightgbm, on_xgboost], ids=["lightgbm", "xgboost"])


def trained(engine, objective, measures=None, labels=RETURNS):
    quiet = {"verbosity": -1 if engine is on_lightgbm else 0, "nthread": 1}
    if engine is on_xgboost:
        data = engine.dataset(X, labels, group=SIZES)
        valid = {
            "evals": [(engine.dataset(X, labels, group=SIZES), "valid")],
            "custom_metric": measures,
            "verbose_eval": False,
        }
    else:
        data = engine.dataset(X, labels, group=SIZES)
        valid = {"valid_sets": [engine.dataset(X, labels, reference=data, group=SIZES)], "feval": measures}
    booster = engine.train(quiet, data, 5, objective=objective, **(valid if measures else {}))
    return booster.predict(X if engine is on_lightgbm else xgb.DMatrix(X))


@ENGINES
def test_a_ranker_of_returns_is_that_of_their_ranks(engine):
    objective = LambdaRank(Spearman())
    scores = trained(engine, objective, Spearman())
    np.testing.assert_array_equal(scores, trained(engine, objective, Spearman(), SHIFTED.relevance))
    assert Spearman()(scores, Q) > 0.3


@ENGINES
@pytest.mark.parametrize("objective", [LambdaRank(), "measure"], ids=str)
def test_engines_refuse_them(engine, objective):
    measure = NDCG(5) if objective == "measure" else None
    given = RankNet() if objective == "measure" else objective
    with pytest.raises(ValueError, match=r"relevance\[\d+\] is -"):
        trained(engine, given, measure)


def test_the_command_line_takes_returns(capsys, tmp_path):
    frame = pd.DataFrame(X, columns=list("abc")).assign(qid=np.repeat(np.arange(DATES), ROWS), label=RETURNS)
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.txt"
    command = ["train", str(tmp_path / "t.csv"), "--out", str(out), "--rounds", "3"]
    assert run([*command, "--objective", "LambdaRank(Spearman())", "--json"]) == 0
    assert "Spearman()" in json.dumps(json.loads(capsys.readouterr().out))
    os.remove(out)
    os.remove(f"{out}.json")
    assert run(command) != 0
    assert "labels must be ≥ 0" in capsys.readouterr().err and not out.exists()
