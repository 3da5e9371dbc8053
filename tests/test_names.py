"""Names that people know: the engines' own objectives and metrics, and measures such as "mrr@10"."""

import importlib

import numpy as np
import pytest
from rankers import SMALL, Q, X, ranker, with_metric

from lambdaboost import load, save

STOCK = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker"}
NATIVE = [
    ("lightgbm", "lambdarank"),
    ("lightgbm", "rank_xendcg"),
    ("xgboost", "rank:ndcg"),
    ("xgboost", "rank:pairwise"),
    ("xgboost", "rank:map"),
]
native = pytest.mark.parametrize(("engine", "name"), NATIVE)


def grades(name):
    return (Q.relevance >= 2).astype(float) if name == "rank:map" else Q.relevance


# Objectives.


@native
def test_rankers_take_native_objectives(engine, name, tmp_path):
    made = ranker(engine, objective=name).fit(X, grades(name), group=Q.sizes)
    stock = getattr(importlib.import_module(engine), STOCK[engine])(objective=name, **SMALL)
    expected = stock.fit(X, grades(name), group=Q.sizes).predict(X)
    np.testing.assert_array_equal(made.predict(X), expected)
    assert made.get_params()["objective"] == name and repr(made.objective_) == name
    save(made, tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict(X), expected)


@native
def test_missing_and_equal_grades_are_warned_of_under_native_objectives(engine, name):
    missing = np.where(np.arange(len(X)) % 5, grades(name), np.nan)
    with pytest.warns(UserWarning, match="^NaN labels: .* own objective reads missing grades as 0; drop"):
        ranker(engine, objective=name).fit(X, missing, group=Q.sizes)
    with pytest.warns(UserWarning, match=f"^{name} has no pair of documents to order, so nothing is learnt"):
        ranker(engine, objective=name).fit(X, np.ones(len(X)), group=Q.sizes)


# Metrics.


def test_a_metric_that_the_engine_does_not_have(engine):
    made, metric = with_metric(engine, f"{engine}:cndcg")
    with pytest.raises(ValueError, match=f"^'{engine}:cndcg' is none of .*'s metrics: leave out '{engine}:'"):
        made.fit(X, Q.relevance, group=Q.sizes, **metric)
