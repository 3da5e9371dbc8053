"""Training over a Dask cluster, on either engine, with any objective and any number of label sources.

Each worker runs `lambdaboost.lightgbm.train` or `lambdaboost.xgboost.train` on its queries, within the engine's own
network, which adds up the workers' histograms. The result is an ordinary booster.

>>> from lambdaboost.dask import train_lightgbm
>>> booster = train_lightgbm(client, params, X, y, qid=qid, sources={"clicks": clicks}, objective="graded")
... # doctest: +SKIP
"""

from lambdaboost.dask.lightgbm import train_lightgbm
from lambdaboost.dask.xgboost import train_xgboost

__all__ = ["train_lightgbm", "train_xgboost"]
