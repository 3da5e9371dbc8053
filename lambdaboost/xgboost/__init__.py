"""Training with XGBoost: data with any number of label sources, `train`, `cv` and a scikit-learn ranker.

>>> from lambdaboost import NDCG
>>> from lambdaboost.datasets import web_search_log
>>> from lambdaboost.xgboost import DMatrix, train
>>> log = web_search_log(queries=20, documents=30, seed=3)
>>> q = log.queries
>>> data = DMatrix(log.features, q.relevance, qid=q.query_of_row, sources={"clicks": q.labels["clicks"]})
>>> booster = train({"max_depth": 3, "nthread": 1}, data, rounds=3, objective="graded")
>>> booster.predict(data).shape
(584,)
"""

from lambdaboost._installed import package

package("xgboost")

from lambdaboost.xgboost.data import DMatrix, ExtMemQuantileDMatrix, QuantileDMatrix
from lambdaboost.xgboost.ranker import LambdaRanker
from lambdaboost.xgboost.training import cv, train

__all__ = [
    "DMatrix",
    "ExtMemQuantileDMatrix",
    "LambdaRanker",
    "QuantileDMatrix",
    "cv",
    "train",
]
