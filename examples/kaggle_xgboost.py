"""From a CSV to a saved XGBoost ranker: python examples/kaggle_xgboost.py examples/data/netflix.csv.xz"""

import sys

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from lambdaboost import NDCG, Queries, graded
from lambdaboost.xgboost import LambdaRanker

QUERY, LABEL, MEASURE = "normalized_query", "score", NDCG(k=10, gain="linear")
text = {"type": "category", "age_certification": "category"}
df = pd.read_csv(sys.argv[1], dtype=text).sample(frac=1, random_state=0)  # no order by label
df = df.sort_values(QUERY, kind="stable")  # the rows of a query are adjacent
df = df[df.groupby(QUERY)[LABEL].transform("nunique") > 1]  # one label only: nothing to rank
df = df.assign(imdb_score=df["imdb_score"].rank(pct=True))  # a label source in [0, 1]; NaN where unknown
X, y, queries = df.drop(columns=["id", LABEL]), df[LABEL], df[QUERY]


def fitted(rows):  # a fifth of the queries say when to stop
    split = GroupShuffleSplit(1, test_size=0.2, random_state=0).split(rows, groups=queries.iloc[rows])
    train, valid = (rows[part] for part in next(split))
    ranker = LambdaRanker(objective=graded(0.1, "imdb_score", MEASURE), query=QUERY, sources=["imdb_score"])
    ranker.set_params(n_estimators=300, learning_rate=0.05, max_depth=3, min_child_weight=0)
    ranker.set_params(enable_categorical=True, eval_metric=MEASURE, early_stopping_rounds=50, n_jobs=1)
    return ranker.fit(X.iloc[train], y.iloc[train], eval_set=[(X.iloc[valid], y.iloc[valid])], verbose=False)


scores = np.zeros(len(X))
for train, test in GroupKFold(5).split(X, groups=queries):
    scores[test] = fitted(train).predict(X.iloc[test])
print(f"NDCG@10 over five folds: {MEASURE(scores, Queries(y, ids=queries)):.3f}")
model = fitted(np.arange(len(X)))
print(pd.Series(model.get_booster().get_score(importance_type="total_gain")).nlargest(5))
booster = model.get_booster()[: model.best_iteration + 1]
booster.save_model("ranker.json")
features = xgb.DMatrix(X[booster.feature_names], enable_categorical=True)
assert (xgb.Booster(model_file="ranker.json").predict(features) == model.predict(X)).all()
