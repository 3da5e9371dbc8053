"""Both `LambdaRanker`s with few rounds on a small search log, for tests of what is the same on both engines."""

import importlib

import pandas as pd

from lambdaboost.datasets import web_search_log

LOG = web_search_log(queries=30, documents=15, features=16, seed=5)
X, Q = LOG.features, LOG.queries
QID, CLICKS = Q.query_of_row, Q.labels["clicks"]
SMALL = {"n_estimators": 3, "n_jobs": 1, "random_state": 0}


def ranker(engine, **more):
    quiet = {"verbose": -1} if engine == "lightgbm" else {}
    return importlib.import_module(f"lambdaboost.{engine}").LambdaRanker(**SMALL | quiet | more)


def stock(engine):
    """What makes its data sets and trains on them: `on_lightgbm` or `on_xgboost`."""
    return importlib.import_module(f"on_{engine}")


def table(X=X, q=Q, **columns):
    """A frame of the features f0, f1, …, the query of each row, and labels; the ranker names all but the features."""
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    sources = {name: labels for name, labels in q.labels.items() if name != "relevance"}
    return frame.assign(**{"qid": q.query_of_row, **sources, **columns})


def with_metric(engine, metric, **more):
    """A ranker and the arguments of `fit` that evaluate a metric; each engine takes it elsewhere."""
    if engine == "lightgbm":
        return ranker(engine, **more), {"eval_metric": metric}
    return ranker(engine, eval_metric=metric, **more), {}


def curves_of(fitted):
    """The results of each validation set."""
    results = fitted.evals_result_ if hasattr(fitted, "evals_result_") else fitted.evals_result()
    return list(results.values())
