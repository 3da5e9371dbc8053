"""From a CSV to a saved LightGBM ranker: python examples/kaggle_lightgbm.py examples/data/netflix.csv.xz"""

import sys

import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from lambdaboost import NDCG, Queries, graded
from lambdaboost.lightgbm import LambdaRanker

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
    ranker.set_params(n_estimators=300, learning_rate=0.05, num_leaves=8, verbose=-1, n_jobs=1)
    evals, stop = [(X.iloc[valid], y.iloc[valid])], [lgb.early_stopping(50, verbose=False)]
    return ranker.fit(X.iloc[train], y.iloc[train], eval_set=evals, eval_metric=MEASURE, callbacks=stop)


scores = np.zeros(len(X))
for train, test in GroupKFold(5).split(X, groups=queries):
    scores[test] = fitted(train).predict(X.iloc[test])
print(f"NDCG@10 over five folds: {MEASURE(scores, Queries(y, ids=queries)):.3f}")
model = fitted(np.arange(len(X)))
print(pd.Series(model.booster_.feature_importance("gain"), model.feature_name_).nlargest(5))
model.booster_.save_model("ranker.txt", num_iteration=model.best_iteration_)
assert (lgb.Booster(model_file="ranker.txt").predict(X[model.feature_name_]) == model.predict(X)).all()
