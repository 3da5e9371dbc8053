"""Training with LightGBM: data with any number of label sources, `train`, `cv` and a scikit-learn ranker.

>>> import numpy as np
>>> from lambdaboost import Blend, ClickTier, LambdaRank, Linear
>>> from lambdaboost.datasets import web_search_log
>>> from lambdaboost.lightgbm import Dataset, train
>>> X, q = web_search_log(queries=20, documents=30, seed=3)
>>> data = Dataset(X, q.relevance, group=q.sizes, sources={"clicks": q.labels["clicks"]})
>>> clicks_later = Blend(LambdaRank(), ClickTier(), Linear(0.0, 0.01))
>>> booster = train({"num_leaves": 7, "verbose": -1}, data, rounds=3, objective=clicks_later)
>>> booster.predict(X).shape
(584,)
"""

from lambdaboost._installed import package

package("lightgbm")

from lambdaboost.lightgbm.data import Dataset
from lambdaboost.lightgbm.ranker import LambdaRanker
from lambdaboost.lightgbm.training import cv, train

__all__ = ["Dataset", "LambdaRanker", "cv", "train"]
