"""Measures as the engines call them: values and names."""

import re

import numpy as np
import pytest
from naive_measures import instance

from lambdaboost.datasets import Queries
from lambdaboost.engines import xgboost
from lambdaboost.evaluation import CNDCG, MAP, MEASURES, NDCG, PairAccuracy, parse

lgb = pytest.importorskip("lightgbm")
xgb = pytest.importorskip("xgboost")

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


def test_names_of_different_measures_differ():
    measures = [
        *(NDCG(k) for k in (None, 1, 3)),
        *(NDCG(3, gain=gain) for gain in ("linear", (0, 1, 3, 7, 15), tuple(range(40)))),
        NDCG(3, empty=float("nan")),
        *(CNDCG(k=3, source=source) for source in ("clicks", "sales", "Sales in €", "relevance")),
        *(
            CNDCG(k=3, source=source)
            for source in ("клики", "продажи", "a b", "a_b", "a-b", "a.20b", "gain_linear")
        ),
        *(NDCG(empty=empty) for empty in (-1, 1)),
        CNDCG(k=3, scale=2),
        MAP(threshold=2),
    ]
    names = [measure.name for measure in measures]
    assert len(set(names)) == len(measures)
    assert names[:3] == ["ndcg", "ndcg@1", "ndcg@3"] and "ndcg@3-clicks" in names
    assert all(re.fullmatch(r"[\w.@-]+", name) for name in names)
    plain = [one for one in measures if "gain" not in repr(one) or "linear" in repr(one)]
    for measure in [one for one in plain if one.empty != -1]:
        assert parse(measure.name) == parse(xgboost.metric_result(measure.name, 0.0)[0]) == measure
