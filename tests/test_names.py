"""Names that people know: the engines' own objectives and metrics, and measures such as "mrr@10"."""

import importlib

import numpy as np
import pytest

from lambdaboost import load, save
from lambdaboost.datasets import web_search_log

LOG = web_search_log(queries=40, documents=15, features=16, seed=5)
X, Q = LOG.features, LOG.queries
NATIVE = [
    ("lightgbm", "lambdarank"),
    ("lightgbm", "rank_xendcg"),
    ("xgboost", "rank:ndcg"),
    ("xgboost", "rank:pairwise"),
    ("xgboost", "rank:map"),
]
native = pytest.mark.parametrize(("engine", "name"), NATIVE)
engines = pytest.mark.parametrize("engine", ["lightgbm", "xgboost"])


def grades(name):
    return (Q.relevance >= 2).astype(float) if name == "rank:map" else Q.relevance


def front(engine):
    return importlib.import_module(f"lambdaboost.{engine}")


# Objectives.


@native
def test_rankers_take_native_objectives(engine, name, tmp_path):
    quiet = {"verbose": -1} if engine == "lightgbm" else {}
    ranker = front(engine).LambdaRanker(objective=name, n_estimators=3, n_jobs=1, random_state=1, **quiet)
    ranker.fit(X, grades(name), group=Q.sizes)
    parent = type(ranker).__mro__[2](objective=name, n_estimators=3, n_jobs=1, random_state=1, **quiet)
    expected = parent.fit(X, grades(name), group=Q.sizes).predict(X)
    np.testing.assert_array_equal(ranker.predict(X), expected)
    assert ranker.get_params()["objective"] == name and repr(ranker.objective_) == name
    save(ranker, tmp_path / "model.json")
    np.testing.assert_array_equal(load(tmp_path / "model.json").predict(X), expected)


@native
def test_missing_and_equal_grades_are_warned_of_under_native_objectives(engine, name):
    missing = np.where(np.arange(len(X)) % 5, grades(name), np.nan)
    ranker = front(engine).LambdaRanker(objective=name, n_estimators=1, n_jobs=1)
    with pytest.warns(UserWarning, match="^NaN labels: .* own objective reads missing grades as 0; drop"):
        ranker.fit(X, missing, group=Q.sizes)
    with pytest.warns(UserWarning, match=f"^{name} has no pair of documents to order, so nothing is learnt"):
        ranker.fit(X, np.ones(len(X)), group=Q.sizes)


# Metrics.


@engines
def test_a_metric_that_the_engine_does_not_have(engine):
    made = {"eval_metric": f"{engine}:cndcg"}
    fitted = made if engine == "lightgbm" else {}
    with pytest.raises(ValueError, match=f"^'{engine}:cndcg' is none of .*'s metrics: leave out '{engine}:'"):
        front(engine).LambdaRanker(**({} if fitted else made)).fit(X, Q.relevance, group=Q.sizes, **fitted)
