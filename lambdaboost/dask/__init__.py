"""Training and evaluation over a Dask cluster, on either engine, with any objective and any number of label sources.

Each worker trains on its queries as `lambdaboost.lightgbm.train` or `lambdaboost.xgboost.train` does, within the
engine's own network, which adds up the workers' histograms. The result is an ordinary booster.

>>> from lambdaboost.dask import train
>>> booster = train(client, params, X, y, qid=qid, sources={"clicks": clicks}, objective="graded")  # doctest: +SKIP
"""

from lambdaboost.dask.evaluation import evaluate
from lambdaboost.dask.training import train

__all__ = ["evaluate", "train"]
