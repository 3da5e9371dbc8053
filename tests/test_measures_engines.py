"""Measures as the engines call them: values and names."""

import re
from dataclasses import field

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from naive_measures import instance

from lambdaboost import LambdaRank, attach
from lambdaboost.clicks import Propensities
from lambdaboost.datasets import Queries
from lambdaboost.engines import xgboost
from lambdaboost.evaluation import CNDCG, MAP, MEASURES, NDCG, ClickDCG, PairAccuracy, Spearman, parse
from lambdaboost.evaluation.measure import Measure

N_QUERIES, SIZE = 40, 10
SIZES = np.full(N_QUERIES, SIZE)
WEIGHT = np.linspace(1.0, 2.0, N_QUERIES)
SCORES = np.random.default_rng(3).normal(size=N_QUERIES * SIZE)
X = np.random.default_rng(0).normal(size=(N_QUERIES * SIZE, 4))
GRADES = np.clip(np.round(X[:, 0] + np.random.default_rng(1).normal(size=len(X))), 0, 4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", [NDCG(3, empty=1.0), MAP(threshold=2), PairAccuracy()], ids=repr)
def test_every_form_gives_the_same_figure(measure, weighted):
    rows = np.repeat(WEIGHT, SIZES) if weighted else None
    figure = measure(SCORES, Queries(GRADES, SIZES, weight=rows))
    name = measure.name
    data = lgb.Dataset(X, GRADES, group=SIZES, weight=rows, params={"verbose": -1}).construct()
    assert measure(SCORES, data) == (name, pytest.approx(figure, abs=1e-12), True)
    assert measure(GRADES, SCORES, rows, SIZES) == (name, pytest.approx(figure, abs=1e-12), True)
    data = xgb.DMatrix(X, GRADES, group=SIZES, weight=WEIGHT if weighted else None)
    shown, value = measure(SCORES, data)
    assert shown.endswith(name) and value == pytest.approx(figure, abs=1e-6)


@pytest.mark.parametrize("cls", MEASURES.values(), ids=lambda cls: cls.__name__)
def test_xgboost_maximises_every_name_and_can_split_it(cls):
    name = xgboost.metric_result(instance(cls, empty=float("nan")).name, 0.0)[0]
    assert name.startswith(("ndcg", "map", "pre", "auc")) and name != "mape"
    assert re.fullmatch(r"[a-z0-9_.@-]+", name)  # MLflow takes these, and @ as _at_


def test_names_in_results_read_back_or_are_refused():
    """Where characters are lost a name is never read as another measure."""
    read_back = [
        *(NDCG(k) for k in (None, 1, 3)),
        NDCG(3, gain="linear"),
        NDCG(empty=1.0),
        NDCG(3, empty=float("nan")),
        *(CNDCG(3, source) for source in ("clicks", "sales", "relevance", "клики", "a_b", "gain_linear")),
        CNDCG(3, scale=2),
        MAP(threshold=2),
        *(Spearman("clicks"), NDCG(3, source="clicks")),
        ClickDCG(5, clip=2.5, estimator="snips"),
    ]
    for measure in read_back:
        assert parse(measure.name) == parse(xgboost.metric_result(measure.name, 0.0)[0]) == measure
    refused = [
        *(NDCG(gain=gain) for gain in ((0, 1, 3, 7, 15), (0,), tuple(range(40)))),
        *(NDCG(empty=empty) for empty in (-1.0, 1e-9, 1e20)),
        *(CNDCG(3, source) for source in ("Sales in €", "a b", "a-b", "a.20b")),
        ClickDCG(propensities=Propensities.power(1.0, 100)),
    ]
    for measure in refused:
        with pytest.raises(
            ValueError, match="may be a name that has lost characters: give the measure's repr"
        ):
            parse(measure.name)
    names = [measure.name for measure in (*read_back, *refused)]
    assert names[:3] == ["ndcg", "ndcg@1", "ndcg@3"] and "ndcg@3-clicks" in names
    assert type("Clipped", (CNDCG,), {}, registered=False)(3).name == "clipped@3-clicks"
    assert all(re.fullmatch(r"[\w.@-]{1,80}", name) for name in names)


class OfTable(Measure, registered=False):
    """A field without a hash."""

    table: dict[int, float] = field(default_factory=dict)

    def values(self, scores, q):
        return np.array([self.table[i] for i in range(q.n_queries)])


def test_a_measure_without_a_hash_is_evaluated_in_every_round():
    data = lgb.Dataset(X, GRADES, group=SIZES)
    results, measure = {}, OfTable(dict(enumerate(SIZES)))
    params = {"objective": LambdaRank(), "metric": "None", "verbose": -1}
    lgb.train(params, data, 2, [data], feval=measure, callbacks=[lgb.record_evaluation(results)])
    assert [*results["training"].values()] == [[pytest.approx(np.mean(SIZES))] * 2]


def test_two_metrics_of_one_name_in_a_training_are_refused():
    pair = [CNDCG(source="a b"), CNDCG(source="a-b")]
    data = attach(lgb.Dataset(X, GRADES, group=SIZES), **{"a b": GRADES / 4, "a-b": GRADES / 4})
    params = {"objective": LambdaRank(), "metric": "None", "verbose": -1}
    with pytest.raises(ValueError, match=r"are both called 'ndcg-a\.b' in results: leave one out"):
        lgb.train(params, data, 2, [data], feval=pair)
